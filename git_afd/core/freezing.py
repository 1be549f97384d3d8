"""Decisions of `git afd freeze`: what must be named, which branch, is it the same again (workflow Phase 0)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from git_afd.core.names import REVISION_KEYS, SIDES, UPSTREAMS, revision_key
from git_afd.core.outcome import Json
from git_afd.core.phases import PHASES
from git_afd.core.records import Draft, digest, drafted
from git_afd.core.state import Freeze, State, Upgrade
from git_afd.errors import Refused, UsageFault

PHASE: Final = PHASES[0]
_NEXT: Final = PHASES[1].command
_ID_LENGTH: Final = 8


@dataclass(frozen=True, slots=True)
class Request:
    """What the command line asked for: sources as given, refs by upstream; empty texts where nothing was said."""

    sources: Mapping[str, str]
    targets: Mapping[str, str]
    currents: Mapping[str, str]
    branch: str = ""
    worktrees: str = ""
    explain: bool = False
    dry_run: bool = False


def named(option: str, values: Iterable[str]) -> dict[str, str]:
    """Read repeated ``NAME=VALUE`` options. Raises UsageFault on a wrong form, an unknown name or a second value."""
    found: dict[str, str] = {}
    for value in values:
        name, sign, rest = value.partition("=")
        if not sign or not rest:
            raise UsageFault(f"{option} {value!r} is not NAME=VALUE", f"write {option} {UPSTREAMS[0]}=VALUE")
        if name not in UPSTREAMS:
            known = " and ".join(UPSTREAMS)
            raise UsageFault(f"{option} names {name!r}, which is no upstream", f"the upstreams are {known}")
        if name in found:
            raise UsageFault(f"{option} names {name} twice", f"give {option} {name}=VALUE once")
        found[name] = rest
    return found


def insist(request: Request) -> None:
    """Raise UsageFault naming every source and target that is missing (workflow: ask for it and stop)."""
    lacking = [f"--source {name}=DIR" for name in UPSTREAMS if name not in request.sources]
    lacking += [f"--target {name}=REF" for name in UPSTREAMS if name not in request.targets]
    if lacking:
        words = [f"the {what[2:].partition('=')[0].replace(' ', ' of ')}" for what in lacking]
        verb = "is" if len(words) == 1 else "are"
        raise UsageFault(f"{' and '.join(words)} {verb} missing: a freeze needs both", f"add {' '.join(lacking)}")


def branch_for(asked: str, current: str | None, default: str) -> str:
    """Return the upgrade's branch: the one asked for, else the current one. The default branch is never it.

    `current` is None when HEAD is detached. Raises Refused naming ``--branch``.
    """
    if asked:
        if asked == default:
            raise Refused(f"{asked} is the default branch, where no upgrade is made", "name another: --branch NAME")
        return asked
    if current is None:
        raise Refused("HEAD is detached, and an upgrade needs a branch of its own", "name one: --branch NAME")
    if current == default:
        raise Refused(f"{current} is the default branch, where no upgrade is made", "name one: --branch NAME")
    return current


def unused_id(state: State, branch: str, base: str, commits: Mapping[str, str], policy: str) -> str:
    """Return the id of a new upgrade: the same input gives the same one, until an upgrade of that id was closed.

    `commits` has the keys of REVISION_KEYS and full ids, `policy` is the policy's digest.
    """
    said: dict[str, Json] = {"branch": branch, "base": base, "commits": dict(commits), "policy": policy}
    times = 0
    while (name := f"U-{digest({**said, 'times': times})[:_ID_LENGTH]}") in state.upgrades:
        times += 1
    return name


def existing(state: State, branch: str) -> Upgrade | None:
    """Return the open upgrade of a branch, None when there is none."""
    return next(iter(state.on_branch(branch)), None)


def insist_same(up: Upgrade, commits: Mapping[str, str], sources: Mapping[str, str], folder: str) -> None:
    """Raise Refused when a repeated freeze asks for something else than the existing one holds.

    `commits` maps revision keys to the commits now asked for (currents only when they were named), `sources`
    upstreams to directories, `folder` the folder of worktrees asked for (empty when not).
    """
    freeze = up.freeze
    where = f"upgrade {up.id} is frozen on branch {freeze.branch}"
    fix = f"keep it, or give it up with git afd close; its freeze is record {freeze.record[:12]} (git afd status)"
    for key, commit in commits.items():
        held = freeze.revisions[key].commit
        if held != commit:
            raise Refused(f"{where} with {key} {held[:12]}, not {commit[:12]}", fix, code="frozen-otherwise")
    for upstream, path in sources.items():
        held = source_path(freeze, upstream)
        if held and held != path:
            raise Refused(f"{where} with {upstream} from {held}, not {path}", fix, code="frozen-otherwise")
    for upstream, path in freeze.worktrees.items():
        if folder and path != source_path(freeze, upstream) and not path.startswith(folder.rstrip("/") + "/"):
            raise Refused(f"{where} with its {upstream} target in {path}, not below {folder}", fix)


def source_path(freeze: Freeze, upstream: str) -> str:
    """Return the directory of a source as the freeze recorded it, empty when it did not."""
    sources = freeze.body.get("sources")
    source = sources.get(upstream) if isinstance(sources, dict) else None
    path = source.get("path") if isinstance(source, dict) else None
    return path if isinstance(path, str) else ""


def phase_body(status: str, evidence: Sequence[str], blocker: str = "", action: str = _NEXT) -> dict[str, Json]:
    """Return the phase record of FREEZE_IDENTITY: exactly the workflow's five fields."""
    return {
        "phase": PHASE.name,
        "status": status,
        "evidence": list(evidence),
        "blocker": blocker,
        "next_allowed_action": action,
    }


def judged(body: Mapping[str, Json], evidence: Sequence[str]) -> dict[str, Json]:
    """Return the phase record that a freeze's body amounts to: PASS only for a supported pair."""
    pairs = body.get("pair")
    target = pairs.get("target") if isinstance(pairs, dict) else None
    verdict = target.get("verdict") if isinstance(target, dict) else None
    if verdict == "supported":
        return phase_body("PASS", evidence)
    reason = target.get("reason") if isinstance(target, dict) else None
    said = reason if isinstance(reason, str) and reason else "no verdict on the target pair is recorded"
    return phase_body("BLOCKED", evidence, said, "git afd approve pair")


def drafts(state: State, upgrade: str, body: Mapping[str, Json], base: str) -> tuple[Draft, ...]:
    """Decide what a freeze appends: the freeze and its phase record, or nothing when it is there already.

    Raises Refused when another upgrade has taken the branch meanwhile.
    """
    if upgrade in state.upgrades:
        return ()
    other = existing(state, str(body["branch"]))
    if other is not None:
        raise Refused(f"branch {other.freeze.branch} got upgrade {other.id} meanwhile", "git afd status")
    return Draft("freeze", upgrade, body, base), Draft("phase", upgrade, judged(body, [drafted(0)]), base)


def asked_commits(targets: Mapping[str, str], currents: Mapping[str, str]) -> dict[str, str]:
    """Return commits by revision key from commits by upstream, one mapping per side."""
    sides = dict(zip(SIDES, (currents, targets), strict=True))
    found = {revision_key(name, side): commit for side, by in sides.items() for name, commit in by.items()}
    return {key: found[key] for key in REVISION_KEYS if key in found}
