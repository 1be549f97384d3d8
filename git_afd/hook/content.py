"""The expensive stage: patch functions against the pinned upstreams, guarded values against what stood at the freeze.

Entered only where a staged file may hold one (hook.commit), and for what a push would publish. Standard library only;
objects are read through git.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from git_afd.actions.judge_content import Content, Doors, judge_content
from git_afd.adapters.analysis_cache import AnalysisCache
from git_afd.adapters.configuration import read_policy
from git_afd.adapters.content import FILE_MODES
from git_afd.adapters.git import Git
from git_afd.adapters.objects import ProgramObjects
from git_afd.core.finding import Finding
from git_afd.core.hook_rules import Staged
from git_afd.core.hook_state import OpenUpgrade
from git_afd.core.state import Upgrade
from git_afd.errors import Blocked, Refused
from git_afd.hook.explain import reading
from git_afd.hook.place import Place


def refuse(place: Place, up: OpenUpgrade, staged: Sequence[Staged]) -> None:
    """Raise Refused for what is wrong with the staged content, Blocked when it cannot be judged."""
    git = Git(Path(place.common_dir), place=(f"--git-dir={place.common_dir}",))
    known = reading(place.common_dir).state.upgrades[up.id]
    files = {item.path: item.blob if item.mode in FILE_MODES else "" for item in staged}
    raise_first(findings(git, known, place.head, files), "git afd verify --patches --staged")


def findings(git: Git, up: Upgrade, old: str, files: Mapping[str, str]) -> Sequence[Finding]:
    """Return what refuses `files` (path to blob id, empty where it is gone) on top of the commit `old`.

    `git` is bound to the common git dir.
    """
    objects = ProgramObjects(git)
    blobs = objects.blobs(name for name in files.values() if name)
    lost = next((path for path, name in files.items() if name and blobs[name] is None), None)
    if lost is not None:
        raise Blocked(f"the content of {lost} is missing from the object store", "git fsck")
    policy = read_policy(up.freeze.policy_text, f"the policy frozen with {up.id}").policy
    content = Content(old, up.freeze.base, {path: blobs.get(name) for path, name in files.items()})
    doors = Doors(git, objects, lambda there, _: ProgramObjects(there), AnalysisCache(git.cwd, writes=False))
    return judge_content(doors, up, policy, content).refused


def raise_first(found: Iterable[Finding], more: str) -> None:
    """Raise Refused for the first finding, and say how many there are; `more` shows all. Nothing found: return."""
    listed = list(found)
    if listed:
        first = listed[0]
        others = f" (and {len(listed) - 1} more: {more})" if listed[1:] else ""
        raise Refused(f"{first.place}: {first.message}{others}", first.remedy, code=first.code)
