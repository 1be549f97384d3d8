from __future__ import annotations

from typing import Any

import pytest
from kit import Kit
from kit_upgrade import FrozenUpgrade, frozen
from rows import DIFF, with_inventory

from git_afd.actions.diff import Request
from git_afd.actions.diff import diff as act
from git_afd.core.names import REVISION_KEYS
from git_afd.core.source.index import index_module
from git_afd.core.source.lookup import Tree, module_paths
from git_afd.core.source.world import World
from git_afd.core.workbook.check import check_impacts, impact_places
from git_afd.core.workbook.frozen import survey
from git_afd.core.workbook.impacts import Impact, Impacts, TargetPlace
from git_afd.core.workbook.inventory import Contract, Inventory, PluginPlace, UpstreamPlace


@pytest.fixture
def case(kit: Kit) -> FrozenUpgrade:
    made = frozen(kit)
    with_inventory(made)
    return made


def diff(case: FrozenUpgrade, text: str, *more: str) -> Any:
    case.plugin.write(".git/diff.toml", text)
    return case.plugin.afd(["diff", "--json", "--from", ".git/diff.toml", *more])


GONE = 'state = "removed"\n'
MOVED = 'state = "moved"'
TARGET = 'target = { path = "vllm_ascend/worker.py", symbol = "Worker.load_model" }'

# what is replaced in the good file, by what, field, a word of the reason
WRONG = (
    ('state = "signature-changed"', 'state = "unchanged"', "state", "is not unchanged"),  # the commits say otherwise
    ('state = "signature-changed"', GONE, "state", "it is not removed: vllm/engine.py defines Engine.step"),
    ('state = "signature-changed"', 'state = "vanished"', "state", "'vanished' is not known"),
    (TARGET, "", "target", "is missing"),
    ('"Worker.load_model"', '"Worker.fly"', "target", "defines no Worker.fly"),  # a new home must be there
    (MOVED, 'state = "removed"', "target", "is given for a removed contract"),
    (f'{MOVED}\nclass = "MECHANICAL"', f'{MOVED}\nclass = "NONE"', "class", "NONE is said of a contract that is moved"),
    ('class = "BEHAVIORAL"', 'class = "NONE"', "class", "NONE is said of a breaking impact"),
    ('class = "BEHAVIORAL"', 'class = "HARMLESS"', "class", "'HARMLESS' is not known"),
    ('contract = "worker-load"', 'contract = "worker-lode"', "contract", "is no contract"),
    ('reason = "load became load_model with the same body"', "", "reason", "is missing"),
    ("patch.py::step", "patch.py::leap", "consumers", "defines no leap"),
    ('id = "worker-renamed"', 'id = "engine-step"', "id", "is the id of row 1 too"),
    (MOVED, f'{MOVED}\naction = "remove"', "proof", "is missing for action remove"),  # absorbed? then show it
)


@pytest.mark.parametrize(("old", "new", "field", "word"), WRONG)
def test_a_wrong_row_is_refused_and_nothing_is_recorded(
    case: FrozenUpgrade, old: str, new: str, field: str, word: str
) -> None:
    assert DIFF.count(old) == 1
    file = case.plugin.write(".git/diff.toml", DIFF.replace(old, new))
    outcome = act(case.session, Request(file, "diff.toml"))
    assert outcome.exit == 3
    found = [item for item in outcome.findings if word in item.message]
    assert found, outcome.findings
    assert f"{field}: " in found[0].message
    assert found[0].place.startswith("diff.toml:")
    assert case.upgrade.diff is None


GONE_AWAY = "class Gone:\n    def away(self): ...\n"

# the upstream file at the current and at the target commit, other files at the target, and which states of
# `Gone.away` are believed
BELIEVED: tuple[tuple[str, str | None, dict[str, str], set[str]], ...] = (
    (GONE_AWAY, "class Gone: ...\n", {}, {"removed", "moved"}),  # really absent
    (GONE_AWAY, "", {}, {"removed", "moved"}),
    (GONE_AWAY, None, {}, {"removed", "moved"}),  # the file is gone
    # reformatted and commented: the same definition
    (GONE_AWAY, "class Gone:\n    # why\n    def away(\n        self,\n    ): ...\n", {}, {"unchanged"}),
    (GONE_AWAY, "class Gone:\n    def away(self): return 1\n", {}, {"body-changed"}),
    (GONE_AWAY, "class Gone:\n    def away(self, x): ...\n", {}, {"signature-changed", "body-changed"}),
    # inherited from its new home: not removed
    (
        GONE_AWAY,
        "from vllm.other import Base\nclass Gone(Base): ...\n",
        {"vllm/other.py": "class Base:\n    def away(self): ...\n"},
        {"moved"},
    ),
    # reached by a re-export, a star, a package that took the file's name: not removed
    (GONE_AWAY, "from vllm.other import Gone\n", {"vllm/other.py": GONE_AWAY}, {"moved"}),
    (GONE_AWAY, "from vllm.other import *\n", {"vllm/other.py": GONE_AWAY}, {"moved"}),
    (GONE_AWAY, None, {"vllm/u/__init__.py": GONE_AWAY}, {"moved"}),
    # a module __getattr__ may serve anything
    (GONE_AWAY, "def __getattr__(name): return table[name]\n", {}, {"moved"}),
    # a base outside the upstreams is nobody's contract here
    (GONE_AWAY, "import torch\nclass Gone(torch.nn.Module): ...\n", {}, {"removed", "moved"}),
    (GONE_AWAY, "def broken(:\n", {}, set()),  # what cannot be read is never removed
    # defined under a condition, then annotated only
    (
        "class Gone:\n    if DEBUG:\n        def away(self): ...\n",
        "class Gone:\n    away: int\n",
        {},
        {"body-changed", "signature-changed"},
    ),
    # assigned on self
    (
        "class Gone:\n    def __init__(self):\n        self.away = 1\n",
        "class Gone:\n    def __init__(self):\n        self.gone = 1\n",
        {},
        {"removed", "moved"},
    ),
    (
        "class Gone:\n    def __init__(self):\n        self.away = 1\n",
        "class Gone:\n    def __init__(self):\n        self.away = 1\n",
        {},
        {"unchanged"},
    ),
)


@pytest.mark.parametrize(("before", "after", "others", "believed"), BELIEVED)
def test_the_two_commits_decide_which_state_is_believed(
    before: str, after: str | None, others: dict[str, str], believed: set[str]
) -> None:
    place = UpstreamPlace("vllm", "vllm/u.py", "Gone.away")
    inventory = Inventory((Contract("c", "call", PluginPlace("p.py"), place),))
    target = {"vllm/new.py": GONE_AWAY, **others, **({} if after is None else {"vllm/u.py": after})}
    files = {("vllm.current", "vllm/u.py"): ("1", before.encode())}
    files |= {("vllm.target", path): (path, text.encode()) for path, text in target.items()}
    tree = Tree(module_paths(list(target)), lambda path: index_module(target[path], path[:-3].replace("/", ".")))
    found = set()
    for state in ("unchanged", "signature-changed", "body-changed", "removed", "moved"):
        new = TargetPlace("vllm/new.py", "Gone.away") if state == "moved" else None
        impacts = Impacts((Impact("i", "c", state, False, "BEHAVIORAL", "why", new),))
        commits = dict.fromkeys(("plugin", *REVISION_KEYS), "0" * 40)
        seen = survey(commits, impact_places(impacts, inventory), files, World({"vllm": tree}))
        if not check_impacts(impacts, inventory, seen):
            found.add(state)
    assert found == believed


def test_of_an_imported_name_nothing_is_decided() -> None:
    inventory = Inventory((Contract("c", "call", PluginPlace("p.py"), UpstreamPlace("vllm", "u.py", "Gone")),))
    impacts = Impacts((Impact("i", "c", "unchanged", False, "NONE", "why"),))
    files = {(side, "u.py"): ("1", b"from .here import Gone\n") for side in ("vllm.current", "vllm.target")}
    commits = dict.fromkeys(("plugin", *REVISION_KEYS), "0" * 40)
    faults = check_impacts(impacts, inventory, survey(commits, impact_places(impacts, inventory), files))
    assert "only imports Gone" in faults[0].reason


def test_good_rows_pass_the_phase_and_are_the_items_to_dispose_of(case: FrozenUpgrade) -> None:
    done = diff(case, DIFF).ok()
    first, second = done.json["data"]["impacts"]
    assert first["id"] == "engine-step"  # an impact without an id has that of its contract
    assert first["target"] == {"path": "vllm/engine.py", "symbol": "Engine.step", "line": 2}
    assert (second["state"], second["class"], second["target"]["line"]) == ("moved", "MECHANICAL", 2)
    assert done.json["next"] == "git afd gate architecture"
    assert case.upgrade.recorded["DIFF_BOTH_UPSTREAMS"] == "PASS"
    assert case.upgrade.undisposed == ("engine-step", "worker-renamed")


def test_the_same_file_again_changes_nothing(case: FrozenUpgrade) -> None:
    diff(case, DIFF).ok()
    before = case.plugin("git rev-parse refs/notes/afd/ledger")
    assert diff(case, DIFF).ok().json["data"]["recorded"] is False
    assert case.plugin("git rev-parse refs/notes/afd/ledger") == before


# what is changed in the good file, and what the blocker names
WAITING = (
    (DIFF[: DIFF.index("[[impact]]\nid")], "not compared at the target: worker-load"),
    (DIFF.replace('class = "BEHAVIORAL"', ""), "without a class: engine-step"),
    (DIFF.replace('state = "signature-changed"', 'state = "unknown"'), "unknown at the target: engine-step"),
)


@pytest.mark.parametrize(("text", "blocker"), WAITING)
def test_the_phase_waits_until_every_contract_is_compared_and_classified(
    case: FrozenUpgrade, text: str, blocker: str
) -> None:
    done = diff(case, text)
    assert done.code == 6
    assert blocker in done.json["findings"][0]["message"]
    assert case.upgrade.recorded["DIFF_BOTH_UPSTREAMS"] == "BLOCKED"


def test_the_recorded_impacts_are_shown_without_options(case: FrozenUpgrade) -> None:
    assert case.plugin.afd("diff").code == 6
    diff(case, DIFF).ok()
    shown = case.plugin.afd("diff").ok().out
    assert "(breaking)" in shown
    assert "DIFF_BOTH_UPSTREAMS: PASS" in shown
