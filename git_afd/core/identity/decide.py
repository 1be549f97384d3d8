"""Which commit the evidence decides for, or why it decides for none (workflow Phase 0)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from git_afd.core.few import few
from git_afd.core.finding import Finding
from git_afd.core.identity.candidates import CORROBORATION, KINDS, Candidate, ordered
from git_afd.core.identity.spelling import spelling
from git_afd.core.names import is_full_id


@dataclass(frozen=True, slots=True)
class Inference:
    """The outcome for one upstream.

    Either `commit` is a full commit id and `deciding` holds the candidates that name it, or `commit` is None and
    `reason` (one sentence) and `fix` (one line) say why identity is BLOCKED. `findings` stand in both cases.
    """

    upstream: str
    commit: str | None
    deciding: tuple[Candidate, ...] = ()
    findings: tuple[Finding, ...] = ()
    reason: str = ""
    fix: str = ""


def infer(
    upstream: str,
    candidates: Iterable[Candidate],
    resolved: Mapping[str, str | None],
    *,
    source: str = "DIR",
) -> Inference:
    """Decide the current commit of `upstream`.

    `resolved` gives, for each candidate's text, the full commit id it peels to in that upstream's source, None when it
    names nothing there; a text that is not in it counts as unresolved. `source` is the source directory, for messages.

    The strongest kind that speaks decides. Its candidates agree when they peel to one commit; two commits, or none,
    block; weaker kinds never step in, and installed packages and adjacent checkouts never decide.
    """
    mine = ordered(candidate for candidate in candidates if candidate.upstream == upstream)
    voices = [candidate for candidate in mine if candidate.rank < CORROBORATION]
    if not voices:
        return _nothing_speaks(upstream, mine)
    kind = voices[0].kind
    strongest = [candidate for candidate in voices if candidate.kind == kind]
    unreadable = [candidate for candidate in strongest if not candidate.text]
    commits = _by_commit(strongest, resolved)
    flag = f"--current {upstream}=REF"
    if unreadable:
        reason = (
            f"{unreadable[0].path} {unreadable[0].note}, so the strongest evidence for current {upstream} is unknown"
        )
        return Inference(upstream, None, reason=reason, fix=f"mend {unreadable[0].path}, or name the revision: {flag}")
    if not commits:
        return _none_resolves(upstream, strongest, source)
    if kind == "commit-lock":
        _add_absent_locks(commits, strongest)
    if len(commits) > 1:
        return _two_commits(upstream, commits)
    commit, deciding = next(iter(commits.items()))
    rest = [candidate for candidate in mine if candidate not in deciding]
    return Inference(upstream, commit, tuple(deciding), tuple(_findings(commit, rest, resolved)))


def _by_commit(candidates: Iterable[Candidate], resolved: Mapping[str, str | None]) -> dict[str, list[Candidate]]:
    commits: dict[str, list[Candidate]] = {}
    for candidate in candidates:
        commit = resolved.get(candidate.text) if candidate.text else None
        if commit:
            commits.setdefault(commit, []).append(candidate)
    return commits


def _add_absent_locks(commits: dict[str, list[Candidate]], locks: Iterable[Candidate]) -> None:
    """Count a lock whose id the source does not hold as another commit: an id differs whether it is present or not."""
    known = {candidate for voices in commits.values() for candidate in voices}
    for lock in locks:
        if lock not in known and not any(commit.startswith(lock.text) for commit in commits):
            commits[lock.text] = [lock]


def _nothing_speaks(upstream: str, mine: tuple[Candidate, ...]) -> Inference:
    heard = f"; only corroboration was found ({_places(mine)})" if mine else ""
    reason = f"no file of the plugin says which revision of {upstream} is current{heard}"
    return Inference(upstream, None, reason=reason, fix=f"name it: --current {upstream}=REF")


def _two_commits(upstream: str, commits: Mapping[str, list[Candidate]]) -> Inference:
    named = " and ".join(f"{voices[0].text} = {commit[:12]} ({_places(voices)})" for commit, voices in commits.items())
    kind = next(iter(commits.values()))[0].kind
    reason = f"evidence of one kind ({kind}) names {len(commits)} commits for current {upstream}: {named}"
    if kind == "commit-lock":
        reason += "; the two locks are pins for two purposes and cannot choose"
    return Inference(upstream, None, reason=reason, fix=f"say which is authoritative: --current {upstream}=REF")


def _none_resolves(upstream: str, strongest: list[Candidate], source: str) -> Inference:
    texts = list(dict.fromkeys(candidate.text for candidate in strongest))
    reason = (
        f"current {upstream} is named by {' and '.join(texts)} ({_places(strongest)}),"
        f" which {'is' if len(texts) == 1 else 'are'} no commit of {source}; weaker evidence does not step in"
    )
    return Inference(upstream, None, reason=reason, fix=fetch_advice(upstream, texts[0], source))


def fetch_advice(upstream: str, text: str, source: str) -> str:
    """Return the one line that would bring the revision `text` into `source`, or the flag when it is no fixed one."""
    revisions = spelling(text)
    if not revisions:
        return f"{text} is no fixed revision; name one: --current {upstream}=REF"
    if revisions[0].startswith("refs/tags/"):
        return (
            f"git -C {source} fetch origin tag {revisions[0].removeprefix('refs/tags/')}, or --current {upstream}=REF"
        )
    if is_full_id(revisions[0]):
        return f"git -C {source} fetch origin {revisions[0]}, or --current {upstream}=REF"
    branches = "'+refs/heads/*:refs/remotes/origin/*'"
    return f"git -C {source} fetch --tags origin {branches} (to find {revisions[0]}), or --current {upstream}=REF"


def _findings(commit: str, rest: Iterable[Candidate], resolved: Mapping[str, str | None]) -> Iterable[Finding]:
    """Yield one finding per text: unresolved beside resolved ones, or contradicting the decision."""
    groups: dict[tuple[str, str], list[Candidate]] = {}
    for candidate in rest:
        groups.setdefault((candidate.kind, candidate.text), []).append(candidate)
    for (kind, text), voices in groups.items():
        other = resolved.get(text) if text else None
        place, places = voices[0].place, _places(voices)
        if not text:
            yield Finding("identity-unreadable", place, f"{voices[0].path} {voices[0].note}", severity="note")
        elif other is None:
            message = (
                f"{text} ({kind}, rank {KINDS[kind]}: {places}) names no commit of this {voices[0].upstream} source"
            )
            yield Finding("identity-unresolved", place, message, "fetch it, or correct the text", "note")
        elif other != commit:
            message = f"{text} ({kind}, rank {KINDS[kind]}: {places}) is {other[:12]}, not the decided {commit[:12]}"
            remedy = "bring it up to date, or keep it as history on purpose"
            yield Finding("identity-contradiction", place, message, remedy, "note")


def _places(candidates: Iterable[Candidate]) -> str:
    places = [candidate.place for candidate in candidates]
    return few(places)
