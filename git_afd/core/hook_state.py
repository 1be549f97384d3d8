"""What the hooks must know of the ledger: plain lines below the common git dir, rebuilt after every append.

Derived, and trusted only at the tip that it names; a hook that finds it behind computes the same value from the
records. Read without json, re or dataclasses, as the intent is (each costs one to two bare starts of Python).
"""

from __future__ import annotations

from itertools import pairwise

from git_afd.core.intent import escape, unescape

TYPE_CHECKING = False  # what `typing` would say, without its price
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

FILE = "afd/hook-state"
"""The file's place below the common git dir."""

HEADER = "afd-hook-state 2"

HANDOFF = "afd-handoff"
"""A file of this name in a worktree's git dir says that a handoff owns it: nothing is committed there."""


class Plan:
    """An open root cause: its kind, and what the frozen policy calls each path it may touch."""

    __slots__ = ("kind", "paths")

    def __init__(self, kind: str, paths: Mapping[str, str]) -> None:
        """Keep the kind, and what the policy calls each repository-relative path (policy.Policy.kind_of)."""
        self.kind = kind
        self.paths = dict(paths)


class OpenUpgrade:
    """An upgrade that is not closed, as the hooks see it.

    `revisions` maps the keys of names.REVISION_KEYS to full commit ids; `phases` maps the twelve names, in their
    order, to the recorded status or ``not run``; `dirty` are the paths that were dirty at the freeze; `words` are
    those of the policy's guards (guards.words_of): a file without any of them holds no guarded value.
    """

    __slots__ = ("base", "branch", "dirty", "id", "phases", "plans", "primary", "revisions", "words")

    def __init__(  # noqa: PLR0913 - a plain value: one argument per field
        self,
        *,
        id: str,  # noqa: A002 - the field's name everywhere
        branch: str,
        base: str,
        primary: str,
        revisions: Mapping[str, str],
        phases: Mapping[str, str],
        plans: Mapping[str, Plan],
        dirty: Iterable[str],
        words: Iterable[str],
    ) -> None:
        """Keep all of it."""
        self.id = id
        self.branch = branch
        self.base = base
        self.primary = primary
        self.revisions = dict(revisions)
        self.phases = dict(phases)
        self.plans = dict(plans)
        self.dirty = tuple(dirty)
        self.words = tuple(words)


class HookState:
    """The ledger at `tip` (full id).

    `damage` is how many lines of it are unreadable, `heads` are the ids of the records that none follows; `upgrades`
    are the open ones, `closed` the ids of the others.
    """

    __slots__ = ("closed", "damage", "heads", "tip", "upgrades")

    def __init__(
        self, tip: str, damage: int, heads: Iterable[str], upgrades: Iterable[OpenUpgrade], closed: Iterable[str]
    ) -> None:
        """Keep the five."""
        self.tip = tip
        self.damage = damage
        self.heads = tuple(heads)
        self.upgrades = {up.id: up for up in upgrades}
        self.closed = tuple(closed)


class HookStateFault(ValueError):
    """The file is no hook state: truncated, of another version, or damaged."""


def write_hook_state(state: HookState) -> str:
    """Return the state as the text of its file."""
    lines = [HEADER, f"tip {state.tip}", f"damage {state.damage}", f"heads {' '.join(state.heads)}"]
    lines += [f"closed {escape(name)}" for name in state.closed]
    for up in state.upgrades.values():
        lines += _block(up)
    return "\n".join([*lines, "end", ""])


def read_hook_state(text: str) -> HookState:
    """Read :func:`write_hook_state`'s text. Raises HookStateFault on anything else."""
    lines = text.split("\n")
    if lines[0] != HEADER or lines[-2:] != ["end", ""]:
        raise HookStateFault("it does not begin and end as the hooks' state does")
    starts = [number for number, line in enumerate(lines) if line.startswith("upgrade ")]
    starts.append(len(lines) - 2)
    upgrades = [_upgrade(lines[start:end]) for start, end in pairwise(starts)]
    said: dict[str, list[str]] = {"tip": [], "damage": [], "heads": [], "closed": []}
    for line in lines[1 : starts[0]]:
        word, _, rest = line.partition(" ")
        if word not in said:
            raise HookStateFault(f"{word} is not known")
        said[word].append(rest)
    if [len(said[word]) for word in ("tip", "damage", "heads")] != [1, 1, 1] or not said["damage"][0].isdigit():
        raise HookStateFault("a line is missing or double")
    closed = [unescape(name) for name in said["closed"]]
    return HookState(said["tip"][0], int(said["damage"][0]), said["heads"][0].split(), upgrades, closed)


def _block(up: OpenUpgrade) -> Iterator[str]:
    yield f"upgrade {escape(up.id)}"
    yield f"branch {escape(up.branch)}"
    yield f"base {up.base}"
    yield f"primary {escape(up.primary)}"
    yield from (f"revision {key} {commit}" for key, commit in up.revisions.items())
    yield from (f"phase {name} {status}" for name, status in up.phases.items())
    for name, plan in up.plans.items():
        yield f"plan {name} {plan.kind}"
        yield from (f"path {kind} {escape(path)}" for path, kind in plan.paths.items())
    yield from (f"dirty {escape(path)}" for path in up.dirty)
    yield from (f"word {word}" for word in up.words)


def _upgrade(block: list[str]) -> OpenUpgrade:
    heads: dict[str, str] = {}
    revisions: dict[str, str] = {}
    phases: dict[str, str] = {}
    plans: dict[str, Plan] = {}
    dirty: list[str] = []
    words: list[str] = []
    plan = Plan("", {})
    for line in block[1:]:
        word, _, rest = line.partition(" ")
        first, _, second = rest.partition(" ")
        if word == "path":
            plan.paths[unescape(second)] = first
        elif word == "plan":
            plan = plans[first] = Plan(second, {})
        elif word == "dirty":
            dirty.append(unescape(rest))
        elif word == "word":
            words.append(rest)
        elif word == "phase":
            phases[first] = second
        elif word == "revision":
            revisions[first] = second
        elif word in ("branch", "base", "primary"):
            heads[word] = unescape(rest)
        else:
            raise HookStateFault(f"{word} is not known")
    if len(heads) != 3:  # noqa: PLR2004 - the three above
        raise HookStateFault("a line of an upgrade is missing")
    name = unescape(block[0].partition(" ")[2])
    return OpenUpgrade(id=name, revisions=revisions, phases=phases, plans=plans, dirty=dirty, words=words, **heads)
