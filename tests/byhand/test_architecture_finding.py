"""A failure that shows a major change of architecture sends the upgrade back to Phase 3 (workflow, Phase 7)."""

from __future__ import annotations

from kit import Done, Kit, call
from kit_upgrade import PRODUCTION, TEST, FrozenUpgrade, frozen
from rows import DIFF, with_diff, with_inventory

from git_afd.adapters.hook_install import inspect, install

CONDITIONS = "".join(
    f'[[condition]]\nnumber = {number}\nholds = false\nevidence = "engine-step"\nwhy = "it maps one to one"\n'
    for number in range(2, 8)
)
FIX = ["root-cause", "add", "--title", "mend", "--kind", "failure-fix", "--invariant", "i", "--file", PRODUCTION]
NEW = "def step(self, batch):\n    return batch or []\n"


def afd(up: FrozenUpgrade, *words: str) -> Done:
    return call([*words], up.plugin.path)


def decide(up: FrozenUpgrade, answers: str) -> Done:
    up.plugin.write(".git/answers.toml", answers)
    words = ("gate", "architecture", "--answers", ".git/answers.toml", "--decide", "continue", "--why", "local")
    return afd(up, *words, "--json")


def failed_later(kit: Kit) -> FrozenUpgrade:
    """An upgrade with hooks that was decided to go on, and whose static gate failed afterwards."""
    up = frozen(kit)
    with_inventory(up)
    with_diff(up, DIFF)
    assert decide(up, CONDITIONS).ok().json["data"]["recorded"]
    run = {"run": "R-1", "op": "finished", "status": "FAIL", "gate": "static", "commit": "", "bound": {"content": "c"}}
    up.record(("run", run), ("failure", {"op": "open", "failure": "F-1", "run": "R-1", "failing": [f"{TEST}::test"]}))
    for hook in inspect(up.session, probe=False):
        install(hook)
    return up


def shown(up: FrozenUpgrade) -> tuple[str, str]:
    row = afd(up, "status", "--json").ok().json["data"]["phases"][3]
    return row["status"], row["blocker"]


def test_an_architecture_finding_stops_production_edits_until_the_gate_is_decided_anew(kit: Kit) -> None:
    up = failed_later(kit)
    assert shown(up)[0] == "PASS"
    finding = ("failure", "classify", "F-1", "afd", "--why", "the step is gone", "--architecture", "--json")
    tip = up.session.ledger.tip()
    rehearsed = afd(up, *finding, "--dry-run").ok().json["data"]
    assert (rehearsed["architecture"], up.session.ledger.tip()) == (True, tip)
    assert afd(up, *finding).ok().json["next"] == "git afd gate architecture"
    tip = up.session.ledger.tip()
    assert not afd(up, *finding).ok().json["data"]["changed"]  # the same word again
    assert up.session.ledger.tip() == tip
    assert shown(up) == ("BLOCKED", "F-1 is an architecture finding: the step is gone")
    assert "(the step is gone), an architecture finding" in afd(up, "status").ok().out
    planned = afd(up, *FIX, "--test", TEST, "--failure", "F-1")
    assert (planned.code, "ARCHITECTURE_GATE is BLOCKED" in planned.err) == (3, True)
    before = up.plugin.path.joinpath(PRODUCTION).read_text()
    up.plugin.write(PRODUCTION, NEW)
    edited = up.plugin.run(["git", "commit", "-qam", "edit"])
    assert (edited.code != 0, "waits for ARCHITECTURE_GATE" in edited.err) == (True, True)
    up.plugin.write(PRODUCTION, before)
    blind = decide(up, CONDITIONS)  # the old answers do not speak of it
    assert (blind.code, "no answer cites ARCHITECTURAL F-1" in blind.out) == (6, True)
    assert decide(up, CONDITIONS.replace("engine-step", "F-1", 1)).ok().json["data"]["recorded"]
    assert shown(up) == ("PASS", "")
    assert not up.session.ledger.read().state.findings
    afd(up, *FIX, "--test", TEST, "--failure", "F-1").ok()
