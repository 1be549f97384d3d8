"""``git afd verify --patches``: check patch files any day, with an upgrade or without one, staged content or not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from git_afd.actions.check_patches import check_patches
from git_afd.actions.inventory_at import current_upgrade
from git_afd.adapters.analysis_cache import AnalysisCache
from git_afd.adapters.configuration import policy_at
from git_afd.adapters.objects import open_objects
from git_afd.adapters.plugin_texts import Texts, below
from git_afd.adapters.revisions import Unresolved, commits_of, resolve
from git_afd.adapters.session import Session
from git_afd.adapters.upstream_sources import Revision, frozen_revisions
from git_afd.adapters.upstream_tree import SourceTree
from git_afd.core.identity.candidates import Candidate
from git_afd.core.names import UPSTREAMS
from git_afd.core.outcome import Json, Outcome
from git_afd.core.patch_checks.model import Checked
from git_afd.core.patch_checks.unchecked import unchecked
from git_afd.core.plain import fields
from git_afd.core.policy import Policy
from git_afd.core.state import Upgrade
from git_afd.errors import EnvironmentFault, Exit, UsageFault


@dataclass(frozen=True, slots=True)
class Request:
    """What is checked: paths (files or folders; none: all that changed or hold markers), staged or not, since when.

    `sources` and `currents` are clones and revisions of upstreams; without an upgrade the plugin's own pins decide
    which revision counts.
    """

    paths: tuple[str, ...] = ()
    staged: bool = False
    base: str = "HEAD"
    sources: Mapping[str, Path] = field(default_factory=dict)
    currents: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Sources:
    """The upstreams at hand, and why the others are not."""

    revisions: Mapping[str, Revision]
    missing: Mapping[str, str]


def verify_patches(session: Session, request: Request) -> Outcome:
    """Return what is wrong: exit 1 with findings, 6 when something could not be checked, 0 only when all was."""
    base = _commit(session, request.base)
    up = current_upgrade(session)
    policy = session.policy(up).policy if up else _policy(session)
    texts = Texts(session, base, request.staged)
    paths = _paths(texts, request.paths, policy)
    sources = _sources(session, up, request) if paths else _Sources({}, {})
    checked = _checked(session, texts, paths, sources)
    return _outcome(checked, paths, sources)


def _commit(session: Session, ref: str) -> str:
    if ref == "HEAD":
        return session.head or ""
    found = resolve(session.git, ref)
    if isinstance(found, Unresolved):
        raise UsageFault(f"--base {ref} {found.why}", found.fix)
    return found.commit


def _policy(session: Session) -> Policy:
    if not session.head:
        raise UsageFault("there is no commit yet, so nothing says which files are the plugin's", "git commit first")
    return policy_at(session.git, session.head).policy


def _paths(texts: Texts, asked: Sequence[str], policy: Policy) -> tuple[str, ...]:
    """Return production files: those named, else those that changed, and when nothing is staged those with markers."""
    listed = set(texts.changed()) | (set() if texts.staged else set(texts.marked()))
    named = {path for path in asked if path.endswith(".py")}
    lost = [path for path in named if texts.now(path) is None]
    if lost and not texts.staged:
        raise UsageFault(f"{lost[0]} is no text file there", "name files relative to the repository's root")
    found = below(sorted(listed | (named - set(lost))), asked)
    return tuple(path for path in found if policy.kind_of(path) == "production")


def _sources(session: Session, up: Upgrade | None, request: Request) -> _Sources:
    if up is not None and not request.sources:
        return _Sources(frozen_revisions(session.git, up.freeze, "target"), {})
    revisions: dict[str, Revision] = {}
    missing: dict[str, str] = {}
    pins = _Pins(session)
    for name in UPSTREAMS:
        folder = request.sources.get(name)
        if folder is None:
            missing[name] = f"no source of {name} is at hand (--source {name}=DIR)"
            continue
        git = session.git.at(folder)
        if not folder.is_dir() or not git.run("rev-parse", "--git-dir").ok:
            message = f"the source of {name}, {folder}, is no git repository"
            raise EnvironmentFault(message, f"name a clone: --source {name}=DIR")
        ref, why = (request.currents[name], "") if name in request.currents else pins.of(name, folder)
        found = resolve(git, ref) if ref else None
        if found is None or isinstance(found, Unresolved):
            missing[name] = why or f"{ref} in the source of {name} {found.why if found else 'is unknown'}"
            continue
        revisions[name] = Revision(git, folder, found.commit, ref)
    return _Sources(revisions, missing)


@dataclass(slots=True)
class _Pins:
    """What the plugin itself says of the revisions that it is made for (workflow, Phase 0); read when first asked."""

    session: Session
    _candidates: tuple[Candidate, ...] | None = None

    def _read(self) -> tuple[Candidate, ...]:
        from git_afd.core.identity.plugin import plugin_candidates, wanted_paths

        session = self.session
        tree = SourceTree(open_objects(session.git, session.root), session.head or "", wanted=lambda _: True)
        paths = wanted_paths(tree.ids)
        tree.read(paths)
        return plugin_candidates({path: text for path in paths if isinstance(text := tree.text(path), str)})

    def of(self, name: str, folder: Path) -> tuple[str, str]:
        """Return the commit that the strongest evidence names in a source, or why there is none."""
        from git_afd.core.identity.decide import infer
        from git_afd.core.identity.spelling import spelling

        if self._candidates is None:
            self._candidates = self._read()
        texts = {item.text for item in self._candidates if item.upstream == name and item.text}
        spelled = {text: spelling(text) for text in texts}
        known = commits_of(self.session.git.at(folder), [word for words in spelled.values() for word in words])
        resolved = {
            text: next((known[word] for word in words if known.get(word)), None) for text, words in spelled.items()
        }
        found = infer(name, self._candidates, resolved, source=str(folder))
        return found.commit or "", f"{found.reason} ({found.fix})" if found.commit is None else ""


def _checked(session: Session, texts: Texts, paths: Sequence[str], sources: _Sources) -> Checked:
    held = SourceTree(open_objects(session.git, session.root), session.head) if session.head else None
    files = {path: (text, texts.then(path)) for path in paths if (text := texts.now(path)) is not None}
    cache = AnalysisCache(session.common_dir)
    return check_patches(files, held, sources.revisions, sources.missing, cache=cache)


def _outcome(checked: Checked, paths: Sequence[str], sources: _Sources) -> Outcome:
    data: dict[str, Json] = {
        "files": list(paths),
        "functions": checked.functions,
        "upstreams": {name: revision.commit for name, revision in sources.revisions.items()},
        "missing": dict(sources.missing),
        "not_checked": [fields(item) for item in checked.not_checked],
    }
    left = unchecked(checked.not_checked)
    wrong = any(item.severity == "error" for item in checked.findings)
    code = Exit.FAIL if wrong else Exit.BLOCKED if left else Exit.DONE
    after = "git afd verify --patches, when it is mended" if wrong else ""
    return Outcome("verify.patches", data, (*checked.findings, *left), after, code)
