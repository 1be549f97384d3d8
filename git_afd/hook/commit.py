"""The stages `pre-commit` and `commit-msg`: on an upgrade branch, only what `git afd commit` announced goes through."""

from __future__ import annotations

from git_afd.adapters.quick_git import ask
from git_afd.core.hook_rules import PATCH_WORDS, judge_announced, judge_message, parse_staged
from git_afd.core.hook_state import FILE, HANDOFF, HookStateFault, read_hook_state
from git_afd.core.kept_message import kept_message
from git_afd.core.pointers import FETCH
from git_afd.errors import Blocked, EnvironmentFault, Refused
from git_afd.hook.place import Place, read

TYPE_CHECKING = False  # what `typing` would say, without its price
if TYPE_CHECKING:
    from collections.abc import Sequence

    from git_afd.core.hook_rules import Staged
    from git_afd.core.hook_state import HookState, OpenUpgrade
    from git_afd.core.intent import Intent


_COMMITTER = ("var", "GIT_COMMITTER_IDENT")
_COMMENT = ("config", "--null", "--get-regexp", r"^core\.comment(char|string)$")


def check_content(argv: list[str]) -> None:  # noqa: ARG001 - git gives pre-commit none
    """Judge what is staged. Raises what stops this commit, returns when git may go on.

    Patch functions and guarded values are judged here only: commit-msg finds the same blobs staged, or refuses.
    """
    place = Place()
    found = _judge(place)
    if found is None:
        return
    up = found[0].upgrades[found[1].upgrade]
    staged = parse_staged(place.staged or "")
    if _asks_for_more(up, staged):
        from git_afd.hook.content import refuse

        refuse(place, up, staged)


def check_message(argv: list[str]) -> None:
    """Judge what is staged once more, a hook may have changed it, and the message in the file ``argv[0]``."""
    place = Place(_COMMITTER, _COMMENT)
    found = _judge(place)
    if found is None:
        return
    text = read(argv[0]) if argv else None
    if text is None:
        raise EnvironmentFault("git did not say where the commit message is", "git afd doctor")
    committer, comment = place.answers
    marks = [entry.partition("\n")[2] for entry in comment.split("\0") if entry]
    judge_message(*found, kept_message(text, (marks or ["#"])[-1]), committer.rsplit(" ", 2)[0])


def _judge(place: Place) -> tuple[HookState, Intent] | None:
    """Judge the index; return what the ledger says and what was announced, None when this commit is not ours."""
    if place.has(HANDOFF):
        raise Refused(
            "this worktree belongs to a handoff: its changes go back as a diff, and the primary commits them",
            "git afd handoff return",
            code="handoff-worktree",
        )
    intent = place.intent()
    name = place.pointers.get(place.branch, "")
    if not place.branch and intent is not None:
        name = intent.upgrade  # a scratch worktree of `git afd commit`: HEAD is detached there
    if not name or place.operation():
        return None
    state = known(place)
    if name in state.closed:
        return None
    up = _open(state, name)
    if intent is None:
        from git_afd.hook.explain import refusal

        raise refusal(place, up)
    if place.staged is None:
        raise EnvironmentFault("git cannot compare the index with HEAD", "git diff --cached")
    judge_announced(up, intent, place.head, parse_staged(place.staged), lambda path: _at(up.base, path))
    return state, intent


def _asks_for_more(up: OpenUpgrade, staged: Sequence[Staged]) -> bool:
    """Say whether a staged file may hold a patch or a guarded value, now or (a value) in HEAD. Any doubt says yes."""
    kinds = {path: kind for plan in up.plans.values() for path, kind in plan.paths.items()}
    paths = [item.path for item in staged]
    python = [path for path in paths if path.endswith(".py") and kinds.get(path) == "production"]
    calls = [_grep(PATCH_WORDS, "--cached", "--", *python)] if python else []
    calls += [_grep(up.words, *where, "--", *paths) for where in (("--cached",), ("HEAD",)) if up.words and paths]
    return any(code != 1 for code, _ in ask(*calls))  # 1: git looked and found none


def _grep(words: Sequence[str], *rest: str) -> Sequence[str]:
    patterns = (part for word in words for part in ("-e", word))
    return ("--literal-pathspecs", "grep", "-q", "-a", "-F", *patterns, *rest)


def _open(state: HookState, name: str) -> OpenUpgrade:
    if state.damage:
        raise Blocked(f"the ledger holds {state.damage} line(s) that cannot be read", "git afd log --damage")
    up = state.upgrades.get(name)
    if up is None:
        raise Blocked(f"this branch points to upgrade {name}, which the ledger lacks", FETCH)
    return up


def known(place: Place) -> HookState:
    """Return what the ledger says: from the derived file when it stands at the ledger's tip, else from the records."""
    text = read(f"{place.common_dir}/{FILE}")
    try:
        state = read_hook_state(text) if text is not None else None
    except HookStateFault:
        state = None
    if state is None or state.tip != place.tip:
        from git_afd.hook.explain import state_from_records

        return state_from_records(place)
    return state


def _at(commit: str, path: str) -> bool:
    ((code, _),) = ask(("cat-file", "-e", f"{commit}:{path}"))
    return code == 0
