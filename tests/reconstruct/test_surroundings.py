"""What a rebuilt function needs of its surroundings: attributes that others set, module aliases, the file's imports."""

# ruff: noqa: E501 - a row of a table holds whole functions

from __future__ import annotations

from collections.abc import Mapping

import pytest
from copy_forms import copy_of, rebuilt, text
from kit import Kit, call

from git_afd.core.reconstruction.alias import stale
from git_afd.core.reconstruction.model import Lost, Names
from git_afd.core.reconstruction.placing import put

INIT = Lost("plugin/p.py::__init__", "up/k.py::K.__init__", {"on": (7, "setup"), "size": (8, "setup"), "kept": (9, "")})
HELPERS = (
    "def grow(layer):\n    return limit(layer)\n\n\ndef limit(it):\n    it.size = it.size + 1\n    return it.size\n\n\n"
)

# what the block reads, the block, the helpers, the attributes that are named
READS = [
    ("an attribute that only the lost patch set", "if a.on:\n        mine(a)", "", ["`on` (set in line 7, block 'setup')"]),
    ("one that it asks for by name", 'if getattr(a, "on", False):\n        mine(a)', "", ["`on` (set in line 7, block 'setup')"]),
    ("one behind two functions of the plugin", "grow(a)", HELPERS, ["`size` through limit (set in line 8, block 'setup')"]),
    ("one behind a keyword", "limit(it=a)", HELPERS, ["`size` through limit"]),
    ("several of one patch", "mine(a.on, a.size)", "", ["`on` (set", "`size` (set", "what sets them now?"]),
    ("one that upstream's own lines had set", "mine(a.kept)", "", ["`kept` (set in line 9)"]),
    ("one that the block itself sets", "a.on = 1", "", []),
    ("another one", "mine(a.other)", "", []),
    ("what another function of the plugin reads of something else", "grow(b)", "def grow(layer, other=None):\n    return other.size\n\n\n", []),
]  # fmt: skip


@pytest.mark.parametrize(("block", "helpers", "named"), [row[1:] for row in READS], ids=[row[0] for row in READS])
def test_an_attribute_that_went_with_another_patch_is_asked_about(block: str, helpers: str, named: list[str]) -> None:
    copy = f"{helpers}def f(a, b):\n    one(a)\n    <x\n    {block}\n    >x\n    two(a)"
    body = "def f(a, b):\n    one(a)\n    two(a)"
    found = rebuilt(copy, body, body, lost=(INIT,))
    asked = [item.text for item in found.questions]
    assert [item.code for item in found.questions] == (["attribute-unset"] if named else [])
    assert all(word in asked[0] for word in [*named, "plugin/p.py::__init__", "up/k.py::K.__init__"]) if named else True
    assert all(item.fate == "placed" for item in found.blocks)


def test_what_the_target_s_own_function_reads_is_there() -> None:
    copy = "def f(a):\n    one(a)\n    <x\n    mine(a.on)\n    >x\n    two(a)"
    body = "def f(a):\n    one(a)\n    two(a)"
    assert (
        rebuilt(copy, body, body.replace("one(a)", "one(a)\n    three(a.on)\n    one(a)"), lost=(INIT,)).complete
        is False
    )
    assert rebuilt(copy, body, body.replace("two(a)", "two(a)\n    three(a.on)"), lost=(INIT,)).complete


MODULE = """
import os

import up.core as core
from up.core import Held, gone


def f(self, a):
    <x
    mine(a)
    >x
    return core.run(a)


def g(a):
    return {other}(a)


core.K.f = f
"""
HOME = {"run": "up.loop.run", "K": "up.loop.K", "new": "up.loop.new"}
OLD, NEW = "def f(self, a):\n    return run(a)", "def f(self, a):\n    return run(new(a))"


def moved(other: str, reach: frozenset[str], source: str = MODULE) -> tuple[str, Names]:
    source = source.replace("{other}", other)
    copy = copy_of(source)
    mark = {"core": stale(copy, "core", "up.core", "K", reach, frozenset({"run", "K", "left"}))}
    return source, Names(("core",), {"core": "up.core"}, frozenset(), HOME, {}, home="up.loop", stale=mark)


def test_an_alias_whose_module_has_the_names_still_stays() -> None:
    source, names = moved("core.run", frozenset(HOME))
    found = rebuilt(source, OLD, NEW, names)
    assert "return core.run(core.new(a))" in found.text
    assert (found.complete, found.replaced) == (True, ())


def test_an_alias_that_nothing_else_needs_follows_the_function() -> None:
    source, names = moved("print", frozenset({"run"}))
    found = rebuilt(source, OLD, NEW, names)
    assert (found.complete, found.replaced) == (True, (("import up.core as core", "import up.loop as core"),))
    assert "import up.loop as core\n" in put(text(source), found)
    assert "up.core as" not in put(text(source), found)


# why it cannot follow: the file, words of the question
KEPT = [
    # another function reads the old module through it
    (moved("core.other", frozenset({"run"})), ["up.loop", "reads new there", "(15)"]),
    # what installs the function puts it over another class
    (moved("print", frozenset({"run"}), MODULE.replace("core.K.f", "core.Old.f")), ["up.loop", "(18)"]),
    # it is imported together with others
    (moved("print", frozenset({"run"}), MODULE.replace("import up.core as core", "import os, up.core as core")), ["no import of its own line"]),
]  # fmt: skip


@pytest.mark.parametrize(("case", "words"), KEPT)
def test_an_alias_that_cannot_follow_is_asked_about(case: tuple[str, Names], words: list[str]) -> None:
    found = rebuilt(case[0], OLD, NEW, case[1])
    (question,) = found.questions
    assert question.code == "alias-moved"
    assert all(word in question.text for word in [*words, "under which alias", "up.loop"]), question.text
    assert found.replaced == ()


# the block's name behind the alias, whether the alias follows, what is asked
THROUGH = [
    ("run", "print", []),  # the new module has it as well
    ("left", "print", ["core.left", "up.loop lacks"]),  # the alias follows, and only the old module has it
    ("lost", "core.left", ["core.lost", "up.core lacks"]),  # the alias stays, and the old module has it no longer
]  # fmt: skip


@pytest.mark.parametrize(("name", "other", "words"), THROUGH)
def test_a_block_that_reads_through_the_alias_is_checked_where_it_leads(
    name: str, other: str, words: list[str]
) -> None:
    reach = frozenset({"run"}) if other == "print" else frozenset(HOME)
    source, names = moved(other, reach, MODULE.replace("mine(a)", f"mine(core.{name})"))
    asked = [item.text for item in rebuilt(source, OLD, NEW, names).questions]
    assert len(asked) == bool(words)
    assert all(word in asked[0] for word in words) if words else True


def test_a_name_whose_import_is_broken_is_imported_from_where_the_target_has_it() -> None:
    copy = "from up.core import (\n    Held,\n    gone,\n)\n\n\ndef f(a):\n    <x\n    mine(a)\n    >x\n    return gone(Held)"
    plugin = {"Held": "up.core.Held", "gone": "up.core.gone"}
    upstream = {"Held": "up.core.Held", "gone": "up.far.gone"}
    names = Names((), plugin, frozenset(), upstream, {"gone": "from up.far import gone"}, broken=frozenset({"gone"}))
    body = "def f(a):\n    return gone(Held)"
    found = rebuilt(copy, body, body, names)
    assert (found.complete, found.imports, found.unused) == (True, ("from up.far import gone",), ("gone",))
    assert put(text(copy), found).startswith("from up.core import (\n    Held,\n)\nfrom up.far import gone\n\n\ndef f")


# the file's imports, those left when only the function used `old` and `os`
IMPORTS = [
    ("import os\nimport sys\n", "import sys\n"),
    ("from up import old\nimport sys\n", "import sys\n"),
    ("from up import old, sys\n", "from up import sys\n"),
    ("from up import (\n    old,\n    sys,\n)\n", "from up import (\n    sys,\n)\n"),
    ("from up import (\n    old,\n    os,\n)\nimport sys\n", "import sys\n"),
    ("from up import old  # noqa: F401\nimport sys\n", "import sys\n"),
    # in a list of what the module offers
    ("from up import old\nimport sys\n\n__all__ = ['old']\n", "from up import old\nimport sys\n\n__all__ = ['old']\n"),
]  # fmt: skip


@pytest.mark.parametrize(("before", "after"), IMPORTS)
def test_imports_that_nothing_uses_any_more_go(before: str, after: str) -> None:
    copy = f"{before}\n\ndef g():\n    return sys.path\n\n\ndef f(a):\n    <x\n    mine(a)\n    >x\n    return old(os, a)\n"
    found = rebuilt(copy, "def f(a):\n    return old(os, a)", "def f(a):\n    return a")
    assert put(text(copy), found).startswith(f"{after}\n\ndef g")


LATE = "from __future__ import annotations\n"
# the file before the function, the same with the import that an annotation needs
TYPED = [
    (f"{LATE}from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    from up import A\n", f"{LATE}from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    from up import A\n    from up.kinds import Kind\n"),
    (f"{LATE}import os\n", f"{LATE}import os\nfrom typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    from up.kinds import Kind\n"),
    ("import os\n", "import os\nfrom up.kinds import Kind\n"),  # an annotation is looked up when the function is defined
]  # fmt: skip


@pytest.mark.parametrize(("before", "after"), TYPED)
def test_what_only_annotations_name_is_imported_for_type_checkers(before: str, after: str) -> None:
    copy = f"{before}\n\ndef f(a):\n    <x\n    mine(os, A)\n    >x\n    one(a)"
    names = Names(
        (),
        {"one": "up.one"},
        frozenset(),
        {"one": "up.one", "Kind": "up.kinds.Kind"},
        {"Kind": "from up.kinds import Kind"},
    )
    found = rebuilt(copy, "def f(a):\n    one(a)", "def f(a: Kind):\n    one(a)", names)
    assert found.complete, found.questions
    assert put(text(copy), found).startswith(f"{after}\n\ndef f(a: Kind)")


def _fixture(kit: Kit, upstreams: Mapping[str, str], plugin: Mapping[str, str]) -> list[str]:
    ascend = {"vllm_ascend/__init__.py": ""}
    words = ["--at", "HEAD"]
    for name, old, new in (("vllm", upstreams["old"], upstreams["new"]), ("vllm-ascend", "", "")):
        package = {"vllm/__init__.py": ""} if name == "vllm" else ascend
        trees = [{**package, **({"vllm/moe.py": side} if side else {})} for side in (old, new)]
        repo = kit.upstream(name, {"v1.0": trees[0], "v2.0": {**trees[1], "vllm/x.py": ""}})
        words += ["--source", f"{name}={repo.path}", "--current", f"{name}=v1.0", "--target", f"{name}=v2.0"]
    kit.repo("plugin").commit("base", {"afd_plugin/__init__.py": "", **plugin})
    return words


LAYER = "class Layer:\n    def __init__(self, size):\n        self.size = size\n        self.kept = size\n        self.scale = size * 2\n        self.table = [size]\n\n\n"
METHOD = (
    "class Method:\n    def apply(self, layer, x):\n        y = prepare(layer, x)\n        return finish(layer, y)\n"
)
PATCHES = """
from vllm.moe import Layer, Method, finish, prepare


def __init__(self, size):
    self.size = size
    self.kept = size
    # ### PATCH START: knobs
    self.forced = True
    # ### PATCH END: knobs
    self.scale = size * 2
    self.table = [size]


def apply(self, layer, x):
    y = prepare(layer, x)
    # ### PATCH START: force
    if layer.forced:
        y = y[: layer.size]
    y.kept = layer.kept
    # ### PATCH END: force
    return finish(layer, y)


Layer.__init__ = __init__
Method.apply = apply
"""


def test_the_real_sources_say_what_went_with_a_patch(kit: Kit) -> None:
    functions = "def prepare(layer, x):\n    return x\n\n\ndef finish(layer, x):\n    return x\n"
    runner = "class Runner:\n    def __init__(self):\n        self.kept = 1\n\n\n"
    words = _fixture(
        kit,
        {"old": LAYER + METHOD + functions, "new": runner + METHOD + functions},
        {"afd_plugin/moe.py": PATCHES},
    )
    done = call(["reconstruct", "afd_plugin/moe.py::apply", *words, "--json"], kit.folder / "plugin")
    (question,) = done.json["data"]["questions"]
    assert (done.code, question["code"]) == (1, "attribute-unset")
    # `kept` is still set by something there, `size` and `forced` by nothing
    assert "`forced` (set in line 9, block 'knobs'), `size` (set in line 6)" in question["text"]
    assert "kept" not in question["text"]
    assert "afd_plugin/moe.py::__init__" in question["text"]
    assert "vllm/moe.py::Layer.__init__" in question["text"]
