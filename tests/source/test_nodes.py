"""Walking a syntax tree: the same nodes in the same order as ``ast.walk``, without signs and contexts."""

from __future__ import annotations

import ast

import pytest

from git_afd.core.source.nodes import children, walk

_SIGNS = (ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop)


@pytest.mark.parametrize(
    "text",
    [
        "a = not b or c < d + -e",  # signs of every sort
        "def f(a, /, b=1, *c, d: int = 2, **e) -> None: return lambda x: x",  # optional fields and None among defaults
        "with a as b, c:\n  for d in e: pass\nelse_ = {**f, 'k': [*g]}",  # None among a dict's keys
        "match a:\n  case {'k': [x, *_], **rest} if x: pass\n  case A(1, b=None) | 2: pass",  # patterns
        "try:\n  pass\nexcept* (A, B) as e:\n  raise\nfinally:\n  f'{a!r:>{w}}'",  # handlers, formatted texts
        "import a.b as c\nfrom . import *\nglobal d\nx: int\ndel y[1:2]",  # names that are no nodes
    ],
)
def test_a_walk_meets_what_the_standard_one_meets(text: str) -> None:
    tree = ast.parse(text)
    assert walk(tree) == [node for node in ast.walk(tree) if not isinstance(node, _SIGNS)]
    for node in ast.walk(tree):
        plain = [part for part in ast.iter_child_nodes(node) if not isinstance(part, _SIGNS)]
        assert isinstance(node, _SIGNS) or children(node) == plain
