from __future__ import annotations

from collections.abc import Mapping

import pytest

from git_afd.core.source.definitions import Module, Unreadable
from git_afd.core.source.index import index_module
from git_afd.core.source.lookup import Absent, External, Found, Tree, Unknown, module_paths
from git_afd.core.source.world import Located, World


def tree(files: Mapping[str, str], vllm: str = "") -> Tree:
    paths = module_paths(list(files))
    names = {path: name for name, path in paths.items()}

    def load(path: str) -> Module | Unreadable:
        package = path.endswith("__init__.py")
        return index_module(files[path], names[path], is_package=package, versions={"vllm": vllm} if vllm else {})

    return Tree(paths, load)


FILES = {
    "up/__init__.py": (
        "from .a import *\nTABLE = {'Lazy': '.b:Real', 'Plain': '.b'}\ndef __getattr__(name):\n    return TABLE[name]\n"
    ),
    "up/a.py": (
        "from up.b import Base, other as renamed\nimport torch\n"
        "class Child(Base):\n    def own(self): ...\n"
        "class Net(torch.nn.Module):\n    pass\n"
        "Alias = Child\n"
        "if FLAG:\n    def either(): ...\nelse:\n    def either(x): ...\n"
    ),
    "up/b.py": (
        "class Base:\n    field: int = 3\n    def run(self, x, *, y=1) -> int: ...\n"
        "def other(): ...\nclass Real: ...\nclass Plain: ...\n"
    ),
    "up/cycle1.py": "from up.cycle2 import name\n",
    "up/cycle2.py": "from up.cycle1 import name\n",
    "up/broken.py": "def f(:\n",
    "up/dynamic.py": "def __getattr__(name):\n    return compute(name)\n",
    "up/uses_broken.py": "from up.broken import thing\nclass Odd(thing): ...\n",
}

# asked, what comes of it: a place, or the kind of answer
LOOKUPS = [
    ("up.b.Base.run", "up.b:Base.run"),  # where it stands
    ("up.a.Child.own", "up.a:Child.own"),
    ("up.a.Child.run", "up.b:Base.run"),  # inherited, in another module
    ("up.a.Child.field", "up.b:Base.field"),  # an annotated field
    ("up.a.renamed", "up.b:other"),  # a renaming re-export
    ("up.Child", "up.a:Child"),  # through a star
    ("up.Lazy", "up.b:Real"),  # a lazy table with module:symbol
    ("up.Plain", "up.b:Plain"),  # a lazy table with a module only
    ("up.a.Alias.own", "up.a:Child.own"),  # Name = Other
    ("up.a.either", "up.a:either"),  # conditional definitions
    ("up.a", "up.a:"),  # a module itself
    ("up.a.Child.gone", Absent),  # every base was read
    ("up.b.gone", Absent),
    ("up.gone.name", Absent),
    ("up.a.Net.forward", External),  # a base outside the tree may define it
    ("torch.nn.Module", External),
    ("up.cycle1.name", Unknown),  # an import cycle
    ("up.broken.thing", Unknown),  # does not parse
    ("up.uses_broken.Odd.member", Unknown),  # a base that cannot be read
    ("up.dynamic.anything", Unknown),  # names are computed
]


@pytest.mark.parametrize(("asked", "expected"), LOOKUPS)
def test_a_name_is_found_as_python_would_find_it(asked: str, expected: str | type) -> None:
    answer = tree(FILES).resolve(asked)
    if isinstance(expected, str):
        assert isinstance(answer, Found), answer
        assert f"{answer.module}:{answer.symbol}" == expected
    else:
        assert isinstance(answer, expected), answer


# the module's body, the frozen vLLM, the names that are left
BRANCHES = [
    ("if vllm_version_is('0.19.1'):\n    def f(): ...\nelse:\n    def g(): ...\n", "0.19.1", {"f"}),
    ("if vllm_version_is('0.19.1'):\n    def f(): ...\nelse:\n    def g(): ...\n", "0.26.0", {"g"}),
    ("if not vllm_version_is('v0.19.1'):\n    def f(): ...\n", "0.26.0", {"f"}),
    ("if vllm_version_is('0.19.1') or vllm_version_is('0.26.0'):\n    def f(): ...\n", "0.26.0", {"f"}),
    ("if vllm_version_is('0.19.1') and FLAG:\n    def f(): ...\n", "0.26.0", set()),  # false whatever FLAG is
    ("if vllm_version_is('0.26.0') and FLAG:\n    def f(): ...\n", "0.26.0", {"f"}),  # depends on FLAG: read
    ("if vllm_version_is(X):\n    def f(): ...\nelse:\n    def g(): ...\n", "0.26.0", {"f", "g"}),  # not a literal
    ("if vllm_version_is('0.19.1'):\n    def f(): ...\nelse:\n    def g(): ...\n", "", {"f", "g"}),  # vLLM not known
]


@pytest.mark.parametrize(("text", "vllm", "names"), BRANCHES)
def test_the_dead_branch_of_a_version_test_is_not_read(text: str, vllm: str, names: set[str]) -> None:
    module = index_module(text, "m", versions={"vllm": vllm} if vllm else {})
    assert isinstance(module, Module)
    assert set(module.definitions) == names


def test_a_signature_keeps_order_kinds_defaults_and_annotations() -> None:
    module = index_module("def f(a, /, b: int = 1, *args, c, d=(1,\n  2), **kw) -> 'X': ...\n", "m")
    assert isinstance(module, Module)
    signature = module.definitions["f"].signature
    assert signature is not None
    assert [(p.name, p.kind, p.default, p.annotation) for p in signature.parameters] == [
        ("a", "positional-only", None, None),
        ("b", "positional", "1", "int"),
        ("args", "var-positional", None, None),
        ("c", "keyword", None, None),
        ("d", "keyword", "(1, 2)", None),
        ("kw", "var-keyword", None, None),
    ]
    assert signature.returns == "'X'"


# text, reason's beginning
UNPARSABLE = [
    ("def f(:\n", "line 1"),
    ("match x:\n    case [1, *", "line 2"),
    ("a\0b", "line"),  # a NUL byte
    ("(" * 300, ""),  # too deep for the parser
]


@pytest.mark.parametrize(("text", "reason"), UNPARSABLE)
def test_a_text_that_does_not_parse_is_unreadable_with_its_reason(text: str, reason: str) -> None:
    module = index_module(text, "m")
    assert isinstance(module, Unreadable)
    assert reason in module.reason or "ValueError" in module.reason


@pytest.mark.parametrize(
    ("dotted", "found"),
    [
        ("two.Child.own", "two.Child.own"),
        ("two.Child.inherited", "one.Base.inherited"),  # the base lies in another tree: its member, not the base itself
        ("two.Child.state", "one.Base.state"),  # what a method of that base sets
        ("two.Child.Inner.deep", "one.Base.Inner.deep"),  # a member of an inherited class
        ("two.Again.inherited", "one.Base.inherited"),  # under the name by which another module passes it on
        ("two.Child.lost", None),
        ("two.Child.inherited.more", None),  # a function has no members
    ],
)
def test_a_member_is_found_through_bases_in_another_tree(dotted: str, found: str | None) -> None:
    one = "class Base:\n def inherited(self): self.state = 1\n class Inner:\n  def deep(self): ..."
    two = "from one import Base\nfrom one import Base as Again\nclass Child(Base):\n def own(self): ..."
    place = World({"one": tree({"one.py": one}), "two": tree({"two.py": two})}).resolve(dotted)
    assert (place.dotted if isinstance(place, Located) else None) == found
