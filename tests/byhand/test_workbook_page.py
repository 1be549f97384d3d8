from __future__ import annotations

import re

from kit import ROOT, Kit
from kit_upgrade import frozen

from git_afd.core.contracts.model import KINDS
from git_afd.core.workbook.answers import STOP_TEXTS
from git_afd.core.workbook.impacts import STATES, Impact
from git_afd.core.workbook.inventory import AXES, FEATURE_STATUSES, Contract, Feature

PAGE = (ROOT / "docs/reference/workbook.md").read_text()


def test_the_examples_of_the_page_pass_phases_1_to_3(kit: Kit) -> None:
    case = frozen(kit)
    for name, text in re.findall(r"```toml file=(\S+)\n(.*?)```", PAGE, re.DOTALL):
        case.plugin.write(f".git/{name}", text)
    case.plugin.afd("inventory --from .git/inventory.toml").ok()
    case.plugin.afd("diff --from .git/diff.toml").ok()
    done = case.plugin.afd("gate architecture --answers .git/answers.toml --decide continue --why mapped").ok()
    assert "ARCHITECTURE_GATE: PASS" in done.out
    shown = {row["phase"]: row["status"] for row in case.plugin.afd("status --json").json["data"]["phases"][:4]}
    assert set(shown.values()) == {"PASS"}


def test_the_page_names_every_field_and_word() -> None:
    rows = (Contract, Feature, Impact)
    fields = {name.rstrip("_") for row in rows for name in row.__dataclass_fields__}
    words = {*KINDS, *STATES, *AXES, *FEATURE_STATUSES, *STOP_TEXTS, *fields}
    assert not {word for word in words if f"`{word}`" not in PAGE}
