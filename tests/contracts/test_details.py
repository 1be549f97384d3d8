from __future__ import annotations

from textwrap import dedent
from typing import Any

import pytest
from kit_contracts import contracts, short, taken

from git_afd.core.contracts.model import Contract
from git_afd.core.contracts.uses import Attribute, Call, Fake, Import, Override, Patch, Subclass, Use


def use(row: Contract, sort: type[Use]) -> Any:
    """Return the one use of a sort."""
    (found,) = (item for item in row.uses if isinstance(item, sort))
    return found


def test_every_writer_of_a_target_is_listed_in_install_order() -> None:
    text = """
        from vllm.engine.core import EngineCore
        def step(self, batch, *, dry=False): ...
        def shutdown(self): ...
        EngineCore.step = step
        EngineCore.shutdown = shutdown
        """
    found = contracts(dedent(text))
    step, shutdown = found["monkeypatch EngineCore.step@step"], found["monkeypatch EngineCore.shutdown@shutdown"]
    # a platform patch of the other upstream is there before plugins are loaded; a worker patch comes after them
    assert [(item.who, item.order) for item in step.writers] == [("vllm-ascend", 1), ("plugin", 2)]
    assert [(item.who, item.order) for item in shutdown.writers] == [("plugin", 1), ("vllm-ascend", 2)]
    assert step.writers[0].path == "vllm_ascend/patch/platform/patch_core.py"


def test_aliases_of_a_patched_function_are_rebound_or_missed() -> None:
    text = """
        import vllm.engine.core as core
        import vllm.engine.client as client
        def launch(config, count=1): ...
        core.launch = launch
        client.launch = launch
        """
    rows = taken({"plug/__init__.py": "", "plug/patch.py": dedent(text)}).contracts
    patches = {row.upstream.path: use(row, Patch) for row in rows if row.kind == "monkeypatch"}
    main, alias = patches["vllm/engine/core.py"], patches["vllm/engine/client.py"]
    assert (main.form, alias.form) == ("module-attribute", "alias")
    assert alias.defined_path == "vllm/engine/core.py"
    assert main.rebound == ("vllm.engine.client",)
    assert main.missed == ("vllm.engine.serve",)  # not vllm.engine.late: it imports when it is called
    assert alias.missed == ()


def test_a_loop_over_all_loaded_modules_misses_no_alias() -> None:
    text = """
        import sys
        import vllm.engine.core as core
        def launch(config, count=1): ...
        original = core.launch
        core.launch = launch
        for module in list(sys.modules.values()):
            if getattr(module, "launch", None) is original:
                module.launch = launch
        """
    patch = use(contracts(dedent(text))["monkeypatch launch@launch"], Patch)
    assert patch.rebound == ("sys.modules[*]",)
    assert patch.missed == ()
    assert patch.saved == "original"


# the plugin's function, how its signature compares, what differs
SIGNATURES = [
    ("def step(self, batch, *, dry: bool = False) -> tuple[dict, bool]:", "exact", []),
    ("def step(self, batch, *, dry: 'bool' = False) -> 'tuple[dict, bool]':", "exact", []),  # quotes say nothing
    ("def step(self, batch, *, dry=False):", "annotations", ["annotation of dry", "returns"]),
    ("def step(self, batch, *, dry: bool = True) -> tuple[dict, bool]:", "different", ["default of dry"]),
    ("def step(self, batch, dry: bool = False) -> tuple[dict, bool]:", "different", ["kind of dry"]),
    ("def step(self, work, *, dry: bool = False) -> tuple[dict, bool]:", "different", ["parameters"]),
    ("def step(batch, self, *, dry: bool = False) -> tuple[dict, bool]:", "different", ["order"]),
    ("async def step(self, batch, *, dry: bool = False) -> tuple[dict, bool]:", "different", ["async"]),
    ("@cached\ndef step(self, batch, *, dry: bool = False) -> tuple[dict, bool]:", "different", ["decorators"]),
]


@pytest.mark.parametrize(("head", "verdict", "differs"), SIGNATURES)
def test_a_signature_is_compared_exactly(head: str, verdict: str, differs: list[str]) -> None:
    body = "    # ### PATCH START: x\n    ...\n    # ### PATCH END: x\n    return 1\n"
    found = contracts(f"from vllm.engine.core import EngineCore\n{head}\n{body}EngineCore.step = step\n")
    row = found["copied-body EngineCore.step@step"]
    assert row.signature == verdict
    assert found["monkeypatch EngineCore.step@step"].signature == verdict
    assert row.notes is not None
    assert [item.what for item in row.notes.differences] == differs


HEAD = "from vllm.engine.core import EngineCore\n"
# the function with its markers, and each marker as (label, form, fault)
MARKERS = [
    (
        "def step(self, batch):\n    # ### PATCH START: one\n    a = 1\n    # ### PATCH END: one\n    return a\n",
        [("one", "statements", "")],
    ),
    # the end after the last statement, outside the function's node
    (
        "def step(self, batch):\n    # ### PATCH START: one\n    return 1\n    # ### PATCH END: one\n",
        [("one", "after the body", "")],
    ),
    # inside a call's arguments
    (
        (
            "def step(self, batch):\n    return f(\n        1,\n        # ### PATCH START: one\n        2,\n"
            "        # ### PATCH END: one\n    )\n"
        ),
        [("one", "inside an expression", "")],
    ),
    # a block that begins with a branch
    (
        (
            "def step(self, batch):\n    if batch:\n        a = 1\n    # ### PATCH START: one\n    elif self:\n"
            "        a = 2\n    # ### PATCH END: one\n    return a\n"
        ),
        [("one", "branch", "")],
    ),
    # a label used twice
    (
        (
            "def step(self, batch):\n    # ### PATCH START: one\n    a = 1\n    # ### PATCH END: one\n"
            "    # ### PATCH START: one\n    b = 1\n    # ### PATCH END: one\n    return a\n"
        ),
        [("one", "statements", ""), ("one", "statements", "")],
    ),
    # an end without a label, a start without an end, an end without a start, an end with another label
    (
        "def step(self, batch):\n    # ### PATCH START: one\n    a = 1\n    # ### PATCH END\n    return a\n",
        [("one", "statements", "no label")],
    ),
    (
        "def step(self, batch):\n    # ### PATCH START: one\n    a = 1\n    return a\n",
        [("one", "statements", "no end")],
    ),
    (
        "def step(self, batch):\n    a = 1\n    # ### PATCH END: one\n    return a\n",
        [("one", "statements", "no start")],
    ),
    (
        "def step(self, batch):\n    # ### PATCH START: one\n    a = 1\n    # ### PATCH END: two\n    return a\n",
        [("one", "statements", "other label")],
    ),
    # nested
    (
        (
            "def step(self, batch):\n    # ### PATCH START: one\n    a = 1\n    # ### PATCH START: two\n    b = 1\n"
            "    # ### PATCH END: two\n    # ### PATCH END: one\n    return a\n"
        ),
        [("one", "statements", ""), ("two", "statements", "")],
    ),
]


@pytest.mark.parametrize(("text", "markers"), MARKERS)
def test_marker_blocks_are_read_in_all_their_forms(text: str, markers: list[tuple[str, str, str]]) -> None:
    row = contracts(f"{HEAD}{text}EngineCore.step = step\n")["copied-body EngineCore.step@step"]
    assert [(item.label, item.form, item.fault) for item in row.markers] == markers


def test_one_function_in_two_places_is_two_copies_that_know_of_each_other() -> None:
    text = """
        from vllm.engine.core import DPEngineCoreProc, EngineCoreProc
        def run_busy_loop(self):
            # ### PATCH START: x
            pass
            # ### PATCH END: x
            while True:
                self.step([])
        EngineCoreProc.run_busy_loop = run_busy_loop
        DPEngineCoreProc.run_busy_loop = run_busy_loop
        """
    found = contracts(dedent(text))
    first = found["copied-body EngineCoreProc.run_busy_loop@run_busy_loop"]
    assert first.uses[0].parts == ("vllm.engine.core.DPEngineCoreProc.run_busy_loop",)  # type: ignore[union-attr]
    assert "copied-body DPEngineCoreProc.run_busy_loop@run_busy_loop" in found


def test_markers_without_any_upstream_are_unknown_and_counted() -> None:
    found = taken(
        {"plug/a.py": "def mine():\n    # ### PATCH START: x\n    a = 1\n    # ### PATCH END: x\n    return a\n"}
    )
    (row,) = (row for row in found.contracts if row.kind == "copied-body")
    assert row.unknown == "no upstream function is named, patched, overridden or like it"
    assert (found.coverage["markers"], found.coverage["markers_sound"]) == (1, 1)


# the stated source, whether it is true of EngineCore.step at v1.0.0
SOURCES = [
    ("Upstream source: ``vllm/engine/core.py`` at tag ``v1.0.0``.", True),
    ("Upstream: vLLM v1.0.0, vllm/engine/core.py", True),
    ("Upstream source: vllm/engine/core.py, EngineCore.step.", True),
    ("Upstream source: vllm commit a1a1a1a1a, EngineCore.step.", True),  # a short id
    ("Upstream: vLLM v1.0.0, vllm/engine/core.py c3c3c3c3c", True),  # a version goes before the id of another clone
    ("Upstream: vLLM v0.9.0, vllm/engine/core.py", False),  # another version
    ("Upstream source: ``vllm/engine/client.py``.", False),  # another file
    ("Upstream source: vllm/engine/core.py, EngineCore.shutdown.", False),  # another function
    ("Copied from vLLM commit b2b2b2b2b", False),
    ("Upstream source: somewhere.", None),  # nothing that can be compared
    ("Patch reason: none is stated.", None),
]


@pytest.mark.parametrize(("said", "true"), SOURCES)
def test_a_stated_source_is_compared_with_the_real_one(said: str, true: bool | None) -> None:
    text = f"{HEAD}# {said}\ndef step(self, batch):\n    # ### PATCH START: x\n    # ### PATCH END: x\n    return 1\n"
    row = contracts(f"{text}EngineCore.step = step\n")["copied-body EngineCore.step@step"]
    assert row.notes is not None
    assert row.notes.declared_true is true


# a source stated without a path, the upstream function that it is
NAMED = [
    ("Upstream source: vllm v1.0.0, EngineCore.step.", "EngineCore.step"),  # a class that the module imports
    ("Upstream source: ``core.launch``.", "launch"),  # a module by its last name
]


@pytest.mark.parametrize(("said", "symbol"), NAMED)
def test_a_source_is_found_by_class_or_module_name(said: str, symbol: str) -> None:
    text = f"{HEAD}# {said}\ndef mine(x):\n    # ### PATCH START: x\n    a = x\n    # ### PATCH END: x\n    return a\n"
    row = contracts(text)[f"copied-body {symbol}@mine"]
    assert row.upstream.path == "vllm/engine/core.py"
    assert row.unknown is None


def test_the_header_tells_reason_invariant_exception_and_removal() -> None:
    text = '''
        """Patches.

        Future plan:
            Remove it with
            vLLM 9.
        """
        from vllm.engine.core import EngineCore
        # Patch reason: the step must
        # be short.
        # Patch functionality: keep the rest.
        # Expansion exception: too large.
        # Signature: matches upstream.
        def step(self, batch):
            # ### PATCH START: x
            self.runner.log("a", 1)
            # ### PATCH END: x
            return 1
        EngineCore.step = step
        '''
    tests = "from plug.patch import step\ndef test_step():\n    step(None, 1)\ndef test_other():\n    pass\n"
    rows = taken({"plug/patch.py": dedent(text), "tests/test_patch.py": tests}).contracts
    notes = next(row.notes for row in rows if row.kind == "copied-body")
    assert notes is not None
    assert notes.reason == "the step must be short."
    assert notes.invariant == "keep the rest."
    assert notes.exception == "too large."
    assert notes.stated_signature == "matches upstream."
    assert notes.removal == "Remove it with vLLM 9."
    assert "vllm.worker.runner.Runner.log" in notes.dependencies
    assert notes.tests == ("tests/test_patch.py::test_step",)


STEP = """\
    outputs = {}
    for item in batch:
        if item in outputs:
            continue
        outputs[item] = self.runner.execute_model(item)
    if dry:
        outputs.clear()
    self.log_stats = bool(outputs)
    return outputs, not dry
"""
# a function, the upstream function that it is a copy of; None: no copy
SHADOWS = [
    (f"def step(self, batch, dry):\n{STEP}", "EngineCore.step"),  # a namesake anywhere
    (f"def step(self, batch, dry):\n    # why\n{STEP.replace('outputs = {}', 'outputs = dict()')}", "EngineCore.step"),
    (f"def other(self, batch, dry):\n{STEP}", None),  # no name, no source: likeness alone is no proof
    (
        f"# Upstream source: vllm/engine/core.py, EngineCore.step.\ndef other(self, batch, dry):\n{STEP}",
        "EngineCore.step",
    ),
    ("def step(self, batch, dry):\n    return [1, 2, 3]\n", None),  # the same name, another body
    ("def shutdown(self):\n    self.runner = None\n", None),  # too short to be a copy
    (
        (
            "from vllm.worker.runner import Runner\nclass Mine(Runner):\n"
            "    def execute_model(self, scheduler_output):\n        return super().execute_model(scheduler_output)\n"
        ),
        None,  # it delegates
    ),
]


@pytest.mark.parametrize(("text", "origin"), SHADOWS)
def test_a_copy_without_markers_is_found_by_name_or_source_and_likeness(text: str, origin: str | None) -> None:
    found = [row.upstream.symbol for row in contracts(text).values() if row.kind == "shadow-copy"]
    assert found == ([origin] if origin else [])


# a call, and what the use says of it
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("core.step([1])", {"positional": 1, "keywords": (), "discarded": True, "bound": "method"}),
    ("core.step(*a, dry=True, **k)", {"positional": 0, "keywords": ("dry",), "star": True, "star_star": True}),
    ("x, y = core.step([1])", {"unpacked": 2, "unpacked_star": False}),
    ("x, *y = core.step([1])", {"unpacked": 1, "unpacked_star": True}),
    ("core.step([1]).items", {"attributes": ("items",)}),
    ("r = core.step([1])\n    r.keys\n    r[0]", {"attributes": ("keys", "[]")}),
    ("for x in core.step([1]): ...", {"iterated": True}),
    ("with core.step([1]) as x: ...", {"entered": True}),
    ("await core.step([1])", {"awaited": True}),
    ("EngineCore.step(core, [1])", {"positional": 2, "bound": "unbound"}),
]


@pytest.mark.parametrize(("call", "says"), CALLS)
def test_a_call_says_what_is_passed_and_what_becomes_of_the_result(call: str, says: dict[str, Any]) -> None:
    found = contracts(f"{HEAD}async def f(core: EngineCore, a, k):\n    {call}\n")["call EngineCore.step@f"]
    noted = use(found, Call)
    assert {name: getattr(noted, name) for name in says} == says


# a read, whether its absence is provided for, and whether upstream defines it
READS = [
    ("core.runner", False, "defined"),
    ("getattr(core, 'runner')", False, "defined"),
    ("getattr(core, 'runner', None)", True, "defined"),
    ("hasattr(core, 'runner')", True, "defined"),
    ("hasattr(core, 'nothing')", True, "absent"),
]


@pytest.mark.parametrize(("read", "soft", "presence"), READS)
def test_a_read_says_whether_it_may_fail(read: str, soft: bool, presence: str) -> None:
    rows = contracts(f"{HEAD}def f(core: EngineCore):\n    return {read}\n")
    (row,) = (row for row in rows.values() if row.kind == "attribute-read")
    noted = use(row, Attribute)
    assert (noted.soft, noted.presence) == (soft, presence)
    assert row.unknown is None


def test_an_attribute_that_the_plugin_keeps_on_an_upstream_object_is_its_own_addition() -> None:
    rows = contracts(
        f"{HEAD}def f(core: EngineCore):\n    core.afd = 1\ndef g(core: EngineCore):\n    return core.afd\n"
    )
    assert use(rows["attribute-read EngineCore.afd@f"], Attribute).presence == "added"
    assert use(rows["attribute-read EngineCore.afd@g"], Attribute).presence == "added"
    assert rows["attribute-read EngineCore.afd@g"].unknown is None


def test_an_override_says_what_it_stands_in_for_and_how_it_calls_the_base() -> None:
    text = """
        from vllm_ascend.worker.runner import NPURunner
        class Between(NPURunner): ...
        class Mine(Between):
            def log(self, word, value, more=1):
                super().log(word, value)
            def own(self): ...
        """
    found = contracts(dedent(text))
    noted = use(found["override Runner.log@Mine.log"], Override)
    assert (noted.base, noted.distance) == ("vllm_ascend.worker.runner.NPURunner", 3)
    assert [item.positional for item in noted.supers] == [2]
    assert found["override Runner.log@Mine.log"].signature == "different"
    below = use(found["inherited-read NPURunner@Mine"], Subclass)
    assert below.through == ("plug.patch.Between",)
    assert below.own == ("own",)  # a target that defines one of these collides with it


# an import, how it is used
IMPORTS = [
    ("from vllm.config import VllmConfig\ndef f(): return VllmConfig()\n", "module", True),
    (
        "from __future__ import annotations\nfrom vllm.config import VllmConfig\ndef f(x: VllmConfig): ...\n",
        "module",
        False,
    ),
    (
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from vllm.config import VllmConfig\n",
        "type-checking",
        False,
    ),
    (
        "try:\n    from vllm.config import VllmConfig\nexcept ImportError:\n    VllmConfig = None\nx = VllmConfig\n",
        "guarded",
        True,
    ),
    ("from vllm.config import VllmConfig\n__all__ = ['VllmConfig']\n", "module", True),  # passed on
]


# what asks for an imported class, whether only a class serves there
HELD = [
    ("isinstance(x, VllmConfig)", True),
    ("issubclass(type(x), (dict, VllmConfig))", True),
    ("isinstance(VllmConfig, type)", False),  # it is the one that is asked about
    ("VllmConfig(x)", False),  # a function may make the object as well
]


# a branch by version (the current one is 1.0.0), whether what it uses may be gone at another version
BRANCHES = [
    ('    if vllm_version_is("1.0.0"):\n', True),
    ('    if not vllm_version_is("1.0.0"):\n        pass\n    else:\n', True),
    ('    if not vllm_version_is("0.9.0"):\n', False),  # every later version takes it as well
    ('    if vllm_version_is("1.0.0") or vllm_version_is("2.0.0"):\n', False),
    ("    if x:\n", False),
]


@pytest.mark.parametrize(("head", "soft"), BRANCHES)
def test_what_only_the_current_version_runs_may_be_gone_at_another(head: str, soft: bool) -> None:
    body = "        from vllm.config import VllmConfig\n        return runner.device\n"
    found = contracts(f"from vllm.worker.runner import Runner\ndef f(x, runner: Runner):\n{head}{body}")
    assert use(found["import VllmConfig@f"], Import).place == ("guarded" if soft else "inline")
    assert use(found["attribute-read Runner.device@f"], Attribute).soft is soft


@pytest.mark.parametrize(("asked", "held"), HELD)
def test_an_import_says_whether_objects_are_held_against_it(asked: str, held: bool) -> None:
    row = contracts(f"from vllm.config import VllmConfig\ndef f(x): return {asked}\n")["import VllmConfig@"]
    assert use(row, Import).held is held


@pytest.mark.parametrize(("text", "place", "runtime"), IMPORTS)
def test_an_import_says_where_it_stands_and_whether_it_runs(text: str, place: str, runtime: bool) -> None:
    row = contracts(text)["import VllmConfig@"]
    noted = use(row, Import)
    assert (noted.place, noted.runtime) == (place, runtime)
    assert (row.upstream.path, row.upstream.named) == ("vllm/config/vllm.py", "vllm.config.VllmConfig")


FAKES = [
    # a module among the loaded ones, with what it stands for
    (
        (
            "import sys, types\ndef test_a(monkeypatch):\n    fake = types.ModuleType('x')\n"
            "    fake.VllmConfig = object\n    monkeypatch.setitem(sys.modules, 'vllm.config', fake)\n"
        ),
        "test-fake vllm/config/__init__.py@test_a",
        ("VllmConfig",),
    ),
    # a target given as a text
    (
        "def test_a(monkeypatch):\n    monkeypatch.setattr('vllm.engine.core.launch', None)\n",
        "test-fake launch@test_a",
        (),
    ),
    (
        "from unittest import mock\ndef test_a():\n    mock.patch('vllm.engine.core.launch')\n",
        "test-fake launch@test_a",
        (),
    ),
    # an upstream name in a plugin module
    (
        "import plug.patch as patch\ndef test_a(monkeypatch):\n    monkeypatch.setattr(patch, 'launch', None)\n",
        "test-fake launch@test_a",
        (),
    ),
    # what is passed where the plugin expects something upstream
    (
        (
            "from types import SimpleNamespace\nfrom plug.patch import use\ndef test_a():\n"
            "    use(SimpleNamespace(parallel_config=1))\n"
        ),
        "test-fake VllmConfig@test_a",
        ("parallel_config",),
    ),
    # an assignment in a test patches nothing for good
    (
        "import vllm.engine.core as core\ndef test_a():\n    core.launch = print\n",
        "test-fake launch@test_a",
        (),
    ),
]


@pytest.mark.parametrize(("text", "name", "attributes"), FAKES)
def test_a_stand_in_of_a_test_says_for_what_it_stands(text: str, name: str, attributes: tuple[str, ...]) -> None:
    own = "from vllm.engine.core import launch\nfrom vllm.config import VllmConfig\ndef use(config: VllmConfig): ...\n"
    rows = taken({"plug/__init__.py": "", "plug/patch.py": own, "tests/test_x.py": text}).contracts
    found = {short(row): row for row in rows if row.plugin.path == "tests/test_x.py"}
    assert use(found[name], Fake).attributes == attributes
    assert not any(row.kind == "monkeypatch" for row in rows)


# what upstream or the plugin holds, the contract that is unknown, a word of its reason
UNKNOWN = [
    ({}, "from vllm.engine.core import gone\n", "import gone@", "has no gone"),
    ({}, "import vllm.gone\n", "import gone@", "has no gone"),
    ({"vllm/bad.py": "def f(:\n"}, "from vllm.bad import f\n", "import f@", "cannot be read"),
    ({"vllm/newer.py": "type X[T: = int\n"}, "from vllm.newer import X\n", "import X@", "cannot be read"),
    (
        {"vllm/a.py": "from vllm.b import x\n", "vllm/b.py": "from vllm.a import x\n"},
        "from vllm.a import x\n",
        "import x@",
        "leads to itself",
    ),
    (
        {},
        f"{HEAD}def f(core: EngineCore):\n    return core.gone\n",
        "attribute-read EngineCore.gone@f",
        "defines no gone",
    ),
]


@pytest.mark.parametrize(("upstream", "text", "name", "reason"), UNKNOWN)
def test_what_cannot_be_found_is_unknown_with_its_reason(
    upstream: dict[str, str], text: str, name: str, reason: str
) -> None:
    row = contracts(text, upstream=upstream)[name]
    assert row.unknown is not None
    assert reason in row.unknown


def test_a_plugin_file_that_does_not_parse_is_counted_with_its_reason() -> None:
    found = taken({"plug/a.py": "def f(:\n", "plug/b.py": "import vllm\n"})
    assert found.coverage["files_unreadable"] == {"plug/a.py": "line 1: invalid syntax"}
    assert [short(row) for row in found.contracts] == ["import vllm/__init__.py@"]


def test_an_id_does_not_move_with_lines() -> None:
    text = f"{HEAD}def step(self, batch): ...\nEngineCore.step = step\n"
    before = {row.id for row in contracts(text).values()}
    assert before == {row.id for row in contracts(f"# a line more\n\n{text}").values()}
    assert "monkeypatch:vllm/engine/core.py::EngineCore.step@plug/patch.py::step" in before


def test_the_json_has_the_fixed_names() -> None:
    row = contracts(f"{HEAD}def step(self, batch): ...\nEngineCore.step = step\n")["monkeypatch EngineCore.step@step"]
    body: Any = row.as_json()
    assert set(body) >= {"id", "kind", "plugin", "upstream", "signature", "markers", "writers", "unknown"}
    assert set(body["plugin"]) == {"path", "symbol", "line", "end_line"}
    assert set(body["upstream"]) >= {"name", "path", "symbol", "module"}
    assert body["unknown"] is None
    assert body["uses"][0]["use"] == "patch"


# a test around a read of Runner.device, and whether its absence is provided for
GUARDS = [
    ("if hasattr(r, 'device'):\n    use(r.device)", True),
    ("use(r.device)", False),
    ("if not hasattr(r, 'device'):\n    return\nuse(r.device)", True),
    ("if hasattr(r, 'device') and r.ready:\n    use(r.device)", True),
    ("use(hasattr(r, 'device') and r.device)", True),
    ("use(r.device if hasattr(r, 'device') else 0)", True),
    ("use(0 if hasattr(r, 'device') else r.device)", False),
    ("if getattr(r, 'device', None):\n    use(r.device)", True),  # it is there: the default does not get here
    ("if getattr(r, 'device', 1):\n    use(r.device)", False),  # the default gets here as well
    ("if hasattr(r, 'log'):\n    use(r.device)", False),  # another attribute was found
    ("if hasattr(s, 'device'):\n    use(r.device)", False),  # on another object
    ("for name in ('device',):\n    if hasattr(r, name):\n        use(getattr(r, name))", True),
    ("if hasattr(r, 'device'):\n    pass\nuse(r.device)", False),  # outside of it
]


@pytest.mark.parametrize(("body", "soft"), GUARDS)
def test_a_read_after_the_attribute_was_found_is_provided_for(body: str, soft: bool) -> None:
    lines = "\n".join(f"    {line}" for line in body.split("\n"))
    text = f"from vllm.worker.runner import Runner\ndef f(r: Runner, s):\n{lines}\n"
    reads = [item for item in contracts(text)["attribute-read Runner.device@f"].uses if isinstance(item, Attribute)]
    assert reads[-1].soft is soft
