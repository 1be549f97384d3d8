from __future__ import annotations

import pytest
from kit import Kit
from kit_upgrade import frozen

from git_afd.core.phases import BY_NAME, PHASES


@pytest.mark.parametrize("up_to", ["FREEZE_IDENTITY", "ARCHITECTURE_GATE", "NPU_ACCURACY_GATE"])
def test_the_builder_makes_exactly_the_phases_pass_that_were_asked_for(kit: Kit, up_to: str) -> None:
    case = frozen(kit, up_to=up_to)
    document = case.plugin.afd("status --json").ok().json
    assert [item for item in document["findings"] if item["code"] != "hooks-inert"] == []  # none are installed here
    shown = {row["phase"]: row["status"] for row in document["data"]["phases"]}
    passed = [phase.name for phase in PHASES if shown[phase.name] == "PASS"]
    assert passed == [phase.name for phase in PHASES if phase.number <= BY_NAME[up_to].number]
