"""The way through an upgrade, step by step: what a person types, why, and what must come of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from git_afd.actions.demo import plugin, upstreams
from git_afd.actions.demo.analysis import ANSWERS, DIFF, INVENTORY
from git_afd.adapters.demo_stage import Said, Stage, stage
from git_afd.errors import EnvironmentFault, Exit

_FREEZE: Final = (
    "git afd freeze --source vllm=../vllm --source vllm-ascend=../vllm-ascend "
    "--target vllm=v2.0.0 --target vllm-ascend=v2.0.0 --branch upgrade/v2.0.0"
)
_CAUSE: Final = (
    "git afd root-cause add --title 'follow the graph parameter of Engine.start' --kind adaptation --layer 2 "
    "--upstream 'vllm: vllm/engine.py::Engine.start: start() takes graph' --class MECHANICAL "
    "--invariant 'the experts keep half of the devices' "
    f"--file {plugin.PATCH} --file {plugin.PIN} --test {plugin.TEST} "
    "--removal 'when upstream can split devices' --disposes I-1=rebased"
)
_LINE: Final = "+---------------------------+---------------+----------------------------------------------------+"
_BOLD: Final = _LINE.replace("-", "=")
_NPU_SMI: Final = f"""\
#!/bin/sh
# A host that only plays an NPU: its records say "simulated", and only the demo's own policy accepts them.
cat <<'TABLE'
{_LINE}
| npu-smi 25.5.2                   Version: 25.5.2 (simulated)                                   |
{_LINE}
| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|
| Chip                      | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |
{_BOLD}
| 0     910B2               | OK            | 91.5        35                0    / 0             |
| 0                         | 0000:C1:00.0  | 0           0    / 0          3397 / 65536         |
{_BOLD}
{_LINE}
| NPU     Chip              | Process id    | Process name             | Process memory(MB)      |
{_BOLD}
| No running processes found in NPU 0                                                            |
{_BOLD}
TABLE
"""


@dataclass(frozen=True, slots=True)
class Step:
    """One step: `why` for a person, the command as typed, the exit code it must end with, what to do before it."""

    why: str
    command: str
    expect: int = Exit.DONE
    before: Callable[[Stage], None] | None = None


@dataclass(frozen=True, slots=True)
class Shown:
    """A step that was taken: its number, the step, and what the command said."""

    number: int
    step: Step
    said: Said


def walk(keep: Path | None) -> Iterator[Shown]:
    """Take every step in a stage of its own; yield each when it is done.

    `keep` is a folder that does not exist yet and stays afterwards. Raises EnvironmentFault when a step ends
    otherwise than it must: the demo never tells of a step that did not happen.
    """
    if keep is not None and keep.exists():
        raise EnvironmentFault(f"{keep} exists already", "name a folder that does not exist yet")
    with stage(keep) as on:
        build(on)
        for number, step in enumerate(STEPS, start=1):
            if step.before:
                step.before(on)
            said = on.run(step.command)
            if said.code != step.expect:
                raise EnvironmentFault(
                    f"step {number} ({step.command.partition(' --')[0]}) ended with {said.code}, not {step.expect}:\n"
                    f"{said.text.strip()}",
                    "git afd doctor",
                )
            yield Shown(number, step, said)


def build(on: Stage) -> None:
    """Make the three repositories: both upstreams with a tag per version (at the old one), and the plugin."""
    for name, tags in (("vllm", upstreams.VLLM), ("vllm-ascend", upstreams.VLLM_ASCEND)):
        _do(on, f"git init -q -b main {name}", ".")
        for tag, files in tags.items():
            for path, text in files.items():
                on.write(f"{name}/{path}", text)
            _do(on, "git add -A", name)
            _do(on, f"git commit -q -m {tag}", name)
            _do(on, f"git tag -a {tag} -m {tag}", name)
        _do(on, "git switch -q --detach v1.0.0", name)
    _do(on, "git init -q -b main plugin", ".")
    for path, text in plugin.FILES.items():
        on.write(f"plugin/{path}", text)
    _do(on, "git add -A", "plugin")
    _do(on, "git commit -q -s -m 'feat: a toy plugin'", "plugin")
    for name, text in (("inventory.toml", INVENTORY), ("diff.toml", DIFF), ("answers.toml", ANSWERS)):
        on.write(name, text)
    _do(on, "git init -q --bare elsewhere", ".")


def _do(on: Stage, command: str, cwd: str) -> None:
    said = on.run(command, cwd)
    if said.code:
        raise EnvironmentFault(f"the demo cannot be set up: {command}: {said.text.strip()}", "git --version")


def _quick_edit(on: Stage) -> None:
    on.write(f"plugin/{plugin.PATCH}", plugin.PATCH_2)


def _put_back(on: Stage) -> None:
    on.write(f"plugin/{plugin.PATCH}", plugin.FILES[plugin.PATCH])


def _adapt(on: Stage) -> None:
    on.write(f"plugin/{plugin.PATCH}", plugin.PATCH_2)
    on.write(f"plugin/{plugin.TEST}", plugin.TEST_2)
    on.write(f"plugin/{plugin.PIN}", plugin.FILES[plugin.PIN].replace("vllm==1.0.0", "vllm==2.0.0"))
    on.write("plugin/README.md", plugin.FILES["README.md"] + "\nA line that a colleague is still writing.\n")


def _plug_in(on: Stage) -> None:
    on.write("bin/npu-smi", _NPU_SMI).chmod(0o755)


STEPS: Final = (
    Step("Fix what is upgraded to what. What is current nobody says: the plugin's pins and annotations do.", _FREEZE),
    Step("Let git's hooks watch over this branch; other branches stay as they were.", "git afd hooks install"),
    Step(
        "Somebody edits a patch at once. Before the architecture gate no production code may change:",
        "git commit -a -s -m 'fix: quick one'",
        Exit.FAIL,
        _quick_edit,
    ),
    Step(
        "So the edit is put back, and the analysis comes first. What the plugin relies on (here by hand) ...",
        "git afd inventory --from ../inventory.toml",
        before=_put_back,
    ),
    Step("... and what the target does to it.", "git afd diff --from ../diff.toml"),
    Step(
        "Seven stop conditions, each answered with evidence; then the primary decides.",
        "git afd gate architecture --answers ../answers.toml --decide continue --why 'one narrow seam'",
    ),
    Step("One root cause: why, what it must preserve, which files, which test.", _CAUSE),
    Step(
        "One commit for it: exactly these files, signed off. The README that a colleague is editing stays out.",
        "git afd commit --root-cause RC-1 --validation 'python tests/run.py tests/unit: 2 passed'",
        before=_adapt,
    ),
    Step("The message carries the commit ids of the freeze.", "git log -1 --stat --format=%B"),
    Step("The colleague's line is where it was.", "git status --short"),
    Step("Phase 5: the static checks and the unit tests, judged by exit code and report.", "git afd gate static"),
    Step("Phase 6 needs an NPU. This host has none, so the word is BLOCKED:", "git afd gate native", Exit.BLOCKED),
    Step(
        "Now the host plays an NPU. Records say simulated, which only this demo's policy accepts.",
        "git afd gate native",
        before=_plug_in,
    ),
    Step("Phase 7: every end-to-end test but accuracy.", "git afd gate basic"),
    Step(
        "Seven samples are no full accuracy run. A variable that lowers the bar is refused by name:",
        "env AFD_GSM8K_LIMIT=7 git afd gate accuracy",
        Exit.REFUSED,
    ),
    Step("Phase 8: eager and graph, all 40 questions, against the frozen threshold.", "git afd gate accuracy"),
    Step("A push of an open upgrade is refused, under whatever name.", "git push ../elsewhere HEAD:main", Exit.FAIL),
    Step("Where it stands: what is owed is said, and nothing is called complete.", "git afd status"),
)
