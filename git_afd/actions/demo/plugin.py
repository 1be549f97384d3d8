"""The demo's plugin: one patched upstream function, its tests, its own policy, and the edits of the upgrade."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

PATCH: Final = "afd_plugin/patches/engine.py"
TEST: Final = "tests/unit/test_engine.py"
PIN: Final = "pyproject.toml"

_PATCH_1 = '''\
"""Starts the engine with the devices that the split leaves to attention.

Upstream source: ``vllm/engine.py`` at tag ``v1.0.0``.
"""

from vllm.engine import Engine


# Patch reason: attention and experts share the devices.
# Patch functionality: only the attention devices are started.
# Signature: unchanged.
# Upstream source: vllm/engine.py at tag v1.0.0
def start(self, devices: int = 1) -> None:
    # ### PATCH START: leave devices to the experts
    devices = max(1, devices // 2)
    # ### PATCH END: leave devices to the experts
    self.devices = devices
    self.ready = True


def install() -> None:
    Engine.start = start
'''

PATCH_2: Final = '''\
"""Starts the engine with the devices that the split leaves to attention.

Upstream source: ``vllm/engine.py`` at tag ``v2.0.0``.
"""

from vllm.engine import Engine


# Patch reason: attention and experts share the devices.
# Patch functionality: only the attention devices are started.
# Signature: unchanged.
# Upstream source: vllm/engine.py at tag v2.0.0
def start(self, devices: int = 1, *, graph: bool = False) -> None:
    # ### PATCH START: leave devices to the experts
    devices = max(1, devices // 2)
    # ### PATCH END: leave devices to the experts
    self.devices = devices
    self.graph = graph
    self.ready = True


def install() -> None:
    Engine.start = start
'''

_TEST_1 = """\
import unittest

from afd_plugin.patches import engine as patch
from vllm.engine import Engine


class TestEngine(unittest.TestCase):
    def setUp(self):
        patch.install()

    def test_the_experts_keep_their_devices(self):
        engine = Engine("toy")
        engine.start(devices=8)
        self.assertEqual(engine.devices, 4)
"""

TEST_2: Final = (
    _TEST_1
    + """
    def test_graph_mode_reaches_the_engine(self):
        engine = Engine("toy")
        engine.start(devices=8, graph=True)
        self.assertTrue(engine.graph)
"""
)

_RUNNER = '''\
"""Runs a folder of tests and writes a JUnit file: ``run.py FOLDER JUNIT PATH...`` (PATHs go onto sys.path)."""

import sys
import unittest
from xml.sax.saxutils import quoteattr

folder, junit, *paths = sys.argv[1:]
sys.path[:0] = [".", *paths]
suite = unittest.defaultTestLoader.discover(folder, top_level_dir=".")
cases = []


class Result(unittest.TextTestResult):
    def addSuccess(self, test):
        super().addSuccess(test)
        cases.append((test, ""))

    def addFailure(self, test, err):
        super().addFailure(test, err)
        cases.append((test, f"<failure message={quoteattr(str(err[1]))}/>"))

    def addError(self, test, err):
        super().addError(test, err)
        cases.append((test, f"<error message={quoteattr(str(err[1]))}/>"))


result = unittest.TextTestRunner(resultclass=Result).run(suite)
rows = "".join(
    f"<testcase classname={quoteattr(type(test).__module__ + '.' + type(test).__name__)} "
    f"name={quoteattr(getattr(test, '_testMethodName', str(test)))} time='0.001'>{inner}</testcase>"
    for test, inner in cases
)
with open(junit, "w") as file:
    file.write(
        f"<testsuites><testsuite name='demo' tests='{len(cases)}' failures='{len(result.failures)}' "
        f"errors='{len(result.errors)}' skipped='0'>{rows}</testsuite></testsuites>"
    )
sys.exit(0 if result.wasSuccessful() and cases else 1)
'''

_SERVE = '''\
"""A toy `vllm serve`: the target's engine behind an OpenAI-compatible endpoint (``serve.py PORT``)."""

import json
import os
import signal
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer

from vllm.engine import Engine

port = int(sys.argv[1])
engine = Engine("toy")
engine.start(devices=8)


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.answer({})

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        text = str(engine.answer(tuple(map(int, asked["prompt"].split("+")))))
        self.answer({"model": asked["model"], "choices": [{"text": text, "finish_reason": "stop"}]})

    def answer(self, body):
        data = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
print("DEBUG No plugins for group vllm.general_plugins found.")
print(f"INFO non-default args: {{'port': {port}}}")
print(
    "INFO Initializing a V1 LLM engine (v2.0.0) with config: model='toy', tensor_parallel_size=8, "
    "pipeline_parallel_size=1, data_parallel_size=1, quantization=None, enforce_eager=True, device_config=npu",
    flush=True,
)
HTTPServer(("127.0.0.1", port), Handler).serve_forever()
'''

_FEATURE = """\
import unittest

from afd_plugin.patches import engine as patch
from vllm.engine import Engine


class TestServing(unittest.TestCase):
    def test_requests_are_served_with_half_the_devices(self):
        patch.install()
        engine = Engine("toy")
        engine.start(devices=8)
        self.assertEqual([engine.answer((n, n)) for n in range(5)], [0, 2, 4, 6, 8])
"""

_ACCURACY = '''\
"""Asks every question and writes what lm-eval writes: ``measure.py MODE OUT VLLM [LIMIT]``."""

import json
import pathlib
import sys
import time

mode, out, vllm, *limit = sys.argv[1:]
sys.path[:0] = [".", vllm]

from afd_plugin.patches import engine as patch
from vllm.engine import Engine

patch.install()
engine = Engine("toy")
engine.start(devices=8, graph=mode == "graph") if mode == "graph" else engine.start(devices=8)
questions = [(n, n + 1) for n in range(40)]
asked = questions[: int(limit[0])] if limit else questions
rows = [
    {"doc_id": n, "filter": "strict-match", "exact_match": float(engine.answer(question) == sum(question))}
    for n, question in enumerate(asked)
]
value = sum(row["exact_match"] for row in rows) / len(rows)
folder = pathlib.Path(out) / "toy"
stamp = time.strftime("%Y-%m-%dT%H-%M-%S", time.gmtime())
folder.mkdir(parents=True, exist_ok=True)
(folder / f"samples_sums_{stamp}.jsonl").write_text("".join(json.dumps(row) + "\\n" for row in rows))
document = {
    "results": {"sums": {"alias": "sums", "exact_match,strict-match": value, "exact_match_stderr,strict-match": 0.0}},
    "n-samples": {"sums": {"original": len(questions), "effective": len(asked)}},
    "config": {"limit": float(limit[0]) if limit else None, "model": "toy", "model_args": {"mode": mode}},
    "versions": {"sums": 1.0},
    "n-shot": {"sums": 0},
    "task_hashes": {"sums": "5d0e5f"},
    "model_name": "toy",
    "date": time.time(),
}
(folder / f"results_{stamp}.json").write_text(json.dumps(document, indent=2))
'''

_POLICY = """\
# The demo's own policy: a toy task, and a host that only plays an NPU. No other policy accepts such evidence.
schema = 1
name = "demo"
simulated = true

[paths]
lessons = ".agents/skills/upgrade-npu/references"
documentation = ["docs/**", "**/*.md"]
tests = ["tests/**"]
production = ["afd_plugin/**", "pyproject.toml"]
must-read = ["AGENTS.md", ".agents/skills/upgrade-npu/references/upgrade-workbook.md"]

[stack]
dockerfiles = ["Dockerfile.a3"]

[commit]
bots = ["*noreply@*"]

[[guard]]
name = "threshold"
kind = "threshold"
path = "tests/accuracy/threshold.py"
pattern = "THRESHOLD = ([0-9.]+)"

[[gates.static.command]]
name = "diff-check"
run = ["git", "diff", "--check", "{base}", "HEAD"]
[[gates.static.command]]
name = "compile"
run = ["{python}", "-m", "compileall", "-q", "afd_plugin"]
[[gates.static.command]]
name = "unit"
run = ["{python}", "tests/run.py", "tests/unit", "{out}/unit.xml", "{vllm}", "{vllm-ascend}"]
junit = "unit.xml"

[gates.native]
npu = true
[[gates.native.cell]]
name = "eager"
run = ["{python}", "{plugin}/tests/native/serve.py", "{port}"]
env = {PYTHONPATH = "{vllm}:{vllm-ascend}"}
request = {model = "toy", prompt = "2+3", expect = "^5$"}
[gates.native.cell.asked]
model = "toy"
quantization = "None"
topology = "tp=8 pp=1 dp=1"
mode = "enforce_eager=True"
device = "npu"

[gates.basic]
npu = true
[[gates.basic.command]]
name = "features"
run = ["{python}", "tests/run.py", "tests/features", "{out}/features.xml", "{vllm}", "{vllm-ascend}"]
junit = "features.xml"

[gates.accuracy]
npu = true
[[gates.accuracy.command]]
name = "eager"
mode = "eager"
run = ["{python}", "tests/accuracy/measure.py", "eager", "{out}/eager", "{vllm}"]
results = "eager/**/results*.json"
[[gates.accuracy.command]]
name = "graph"
mode = "graph"
run = ["{python}", "tests/accuracy/measure.py", "graph", "{out}/graph", "{vllm}"]
results = "graph/**/results*.json"

[accuracy]
task = "sums"
metric = "exact_match,strict-match"
expected-size = 40
modes = ["eager", "graph"]
threshold = 0.9
threshold-guard = "threshold"
"""

FILES: Final[Mapping[str, str]] = {
    "README.md": (
        "# A toy plugin\n\n| Component | Version |\n| --- | --- |\n| vLLM | `1.0.0` |\n| vLLM-Ascend | `1.0.0` |\n"
    ),
    "AGENTS.md": "# Rules\n\nMark every difference from upstream. One commit per cause.\n",
    ".agents/skills/upgrade-npu/references/upgrade-workbook.md": "# Workbook\n\nThe tables that an upgrade fills in.\n",
    ".gitignore": "__pycache__/\n",
    PIN: (
        '[project]\nname = "vllm-afd-plugin"\nversion = "0.1.0"\nrequires-python = ">=3.11"\n\n'
        '[project.optional-dependencies]\nvllm = ["vllm==1.0.0"]\n'
    ),
    "afd.toml": _POLICY,
    "afd_plugin/__init__.py": "",
    "afd_plugin/patches/__init__.py": "",
    PATCH: _PATCH_1,
    "tests/__init__.py": "",
    "tests/unit/__init__.py": "",
    TEST: _TEST_1,
    "tests/native/serve.py": _SERVE,
    "tests/features/__init__.py": "",
    "tests/features/test_serving.py": _FEATURE,
    "tests/run.py": _RUNNER,
    "tests/accuracy/measure.py": _ACCURACY,
    "tests/accuracy/threshold.py": "THRESHOLD = 0.9\n",
}
