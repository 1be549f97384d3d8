"""What a plugin's texts say of the upstream modules that its analysis will read."""

from __future__ import annotations

import pytest

from git_afd.core.source.index import index_module
from git_afd.core.source.mentioned import mentioned, with_bases

KNOWN = ("up", "up.a", "up.a.b", "up.c", "up_more", "up_more.d")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("import up.a.b as x", ["up.a.b"]),
        ("from up.a import b, c", ["up.a", "up.a.b"]),  # a name that is a module, and one that is none
        ("from up import (\n    a,  # why\n    c as z,\n)", ["up", "up.a", "up.c"]),
        ("    x = 'up.a.b.Klass.method'", ["up.a.b"]),  # a text, as far as it is a module
        ("import up_more.d", ["up_more.d"]),  # the longer package is not taken for the shorter one
        ("import upper.a, sup.a", []),  # other words
    ],
)
def test_modules_are_told_from_text(text: str, found: list[str]) -> None:
    assert mentioned([text], KNOWN) == found


def test_nothing_is_known_of_no_package() -> None:
    assert mentioned(["import up.a"], ()) == []


def test_bases_are_followed_and_what_cannot_be_read_is_left_out() -> None:
    texts = {
        "up.a": "from up.c import Base\nimport up.lost\nclass A(Base): pass\nclass B(up.lost.X): pass",
        "up.c": "from up.other import Unused\nclass Base: pass",
        "up.lost": "class (",
    }
    modules = with_bases(["up.a"], texts, lambda name: index_module(texts[name], name))
    assert [module.name for module in modules] == ["up.a", "up.c"]
