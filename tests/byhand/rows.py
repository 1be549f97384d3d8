"""Workbook files for the upgrade that kit_upgrade freezes."""

from __future__ import annotations

from kit_upgrade import FrozenUpgrade

from git_afd.actions.diff import Request as DiffRequest
from git_afd.actions.diff import diff
from git_afd.actions.inventory import Request, inventory

INVENTORY = """\
[[contract]]
id = "engine-step"
kind = "monkeypatch"
plugin = { path = "afd_plugin/patch.py", symbol = "step" }
upstream = { name = "vllm", path = "vllm/engine.py", symbol = "Engine.step" }
invariant = "a batch comes back as it went in"
state_owner = "Engine"
lifetime = "one call"
dependencies = ["Engine"]
tests = ["tests/test_patch.py::test_step"]
removal = "when upstream takes a hook"

[[contract]]
id = "worker-load"
kind = "call"
plugin = { path = "afd_plugin/other.py", symbol = "OTHER" }
upstream = { name = "vllm-ascend", path = "vllm_ascend/worker.py", symbol = "Worker.load" }

[[feature]]
cell = "eager"
axis = "execution-mode"
evidence = ["tests/test_patch.py:1", "engine-step"]
status = "unit-only"

[[read]]
path = "AGENTS.md"
by = "Ada Example <ada@example.org>"
"""

DIFF = """\
[[impact]]
contract = "engine-step"
state = "signature-changed"
breaking = true
class = "BEHAVIORAL"
reason = "the engine passes dbo, which the patch does not take"
consumers = ["afd_plugin/patch.py::step"]

[[impact]]
id = "worker-renamed"
contract = "worker-load"
state = "moved"
class = "MECHANICAL"
reason = "load became load_model with the same body"
target = { path = "vllm_ascend/worker.py", symbol = "Worker.load_model" }
"""


def with_inventory(case: FrozenUpgrade, text: str = INVENTORY) -> None:
    """Pass phase 1 by hand."""
    assert inventory(case.session, Request(case.plugin.write(".git/rows.toml", text), "rows.toml")).exit == 0


def with_diff(case: FrozenUpgrade, text: str = DIFF) -> None:
    """Pass phase 2 by hand."""
    assert diff(case.session, DiffRequest(case.plugin.write(".git/diff.toml", text), "diff.toml")).exit == 0
