from __future__ import annotations

import pytest
from kit import Kit
from kit_upgrade import frozen

from git_afd.actions.present import rows_of

ANALYSIS = {"how": "by hand", "artifact": "", "items": {}}

# what is recorded anew after all three passed, and what the three show then
REPLACED = (
    (("inventory", ANALYSIS), ("stale", "stale", "stale")),  # its PASS spoke of the old rows; the others rest on them
    (("diff", ANALYSIS), ("PASS", "stale", "stale")),  # the decision judged the old impacts
    (("decision", {"decide": "continue", "why": "again", "conditions": []}), ("PASS", "PASS", "stale")),
    (("approval", {"what": "pair", "name": "Ada", "reason": "seen"}), ("PASS", "PASS", "PASS")),  # touches none of them
)


@pytest.mark.parametrize(("record", "shown"), REPLACED)
def test_an_analysis_that_is_replaced_makes_what_rests_on_it_stale(
    kit: Kit, record: tuple[str, dict[str, object]], shown: tuple[str, ...]
) -> None:
    case = frozen(kit, up_to="ARCHITECTURE_GATE")
    assert [rows_of(case.session, case.upgrade)[number].shown for number in (1, 2, 3)] == ["PASS"] * 3
    case.record(record)
    assert tuple(rows_of(case.session, case.upgrade)[number].shown for number in (1, 2, 3)) == shown
