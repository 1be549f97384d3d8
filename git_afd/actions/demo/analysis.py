"""The demo's analysis, as a person would write it down: contracts, impacts, the seven answers.

The form of these files is described in docs/reference/workbook.md.
"""

from __future__ import annotations

from typing import Final

INVENTORY: Final = """\
[[contract]]
id = "engine-start"
kind = "monkeypatch"
plugin = { path = "afd_plugin/patches/engine.py", symbol = "start" }
upstream = { name = "vllm", path = "vllm/engine.py", symbol = "Engine.start" }
invariant = "the experts keep half of the devices"
state_owner = "Engine"
lifetime = "from start to the end of the process"
dependencies = ["Engine"]
tests = ["tests/unit/test_engine.py"]
removal = "when upstream can split devices"

[[feature]]
cell = "eager"
axis = "execution-mode"
evidence = ["tests/features/test_serving.py"]
npu_test = "tests/features/test_serving.py"
status = "implemented"

[[read]]
path = "AGENTS.md"

[[read]]
path = ".agents/skills/upgrade-npu/references/upgrade-workbook.md"
"""

DIFF: Final = """\
[[impact]]
id = "I-1"
contract = "engine-start"
state = "signature-changed"
breaking = true
class = "MECHANICAL"
reason = "start() takes graph, which the patch does not"
consumers = ["afd_plugin/patches/engine.py::start"]
invariant = "the experts keep half of the devices"
adaptation = "take the parameter and keep it, as the target does"
tests = ["tests/unit/test_engine.py"]
risk = "low"
"""

_ANSWERS: Final = (
    (2, "vllm/engine.py::Engine@vllm.target", "the engine is the same class with the same life"),
    (3, "engine-start", "the seam is there; it takes one more parameter"),
    (4, "tests/features/test_serving.py@base", "nothing that the plugin supports is gone"),
    (5, "I-1", "one function, one place"),
    (6, "I-1", "one parameter"),
    (7, "vllm_ascend/platform.py@vllm-ascend.target", "the target's image builds as one environment"),
)

ANSWERS: Final = "\n".join(
    f'[[condition]]\nnumber = {number}\nholds = false\nevidence = "{evidence}"\nwhy = "{why}"\n'
    for number, evidence, why in _ANSWERS
)
