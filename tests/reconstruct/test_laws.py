"""Laws of the reconstruction over made-up functions: total, honest, and true to the blocks."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from copy_forms import START, rebuilt
from hypothesis import given, settings
from hypothesis import strategies as st

_NAMES = ("alpha", "beta", "gamma", "delta", "omega")
_simple = st.sampled_from([f"{name}({n})" for name in _NAMES for n in range(4)] + [f"x{n} = {n}" for n in range(4)])


@st.composite
def _bodies(draw: st.DrawFn, depth: int = 0) -> list[str]:
    """Statements of a function's body, as lines from the margin."""
    lines: list[str] = []
    for _ in range(draw(st.integers(1, 4))):
        if depth < 2 and draw(st.integers(0, 3)) == 0:
            lines.append(f"if {draw(st.sampled_from(_NAMES))}:")
            lines += [f"    {line}" for line in draw(_bodies(depth + 1))]
        else:
            lines.append(draw(_simple))
    return lines


def _function(body: Sequence[str]) -> str:
    return "def f(a):\n" + "\n".join(f"    {line}" for line in body)


def _with_block(body: Sequence[str], at: int, label: str = "x") -> list[str]:
    """Put a block before the statement at a line, at its indentation."""
    at %= len(body) + 1
    margin = body[at][: len(body[at]) - len(body[at].lstrip())] if at < len(body) else ""
    block = [f"<{label}", f"mine_{label}(a)", f">{label}"]
    return [*body[:at], *(margin + line for line in block), *body[at:]]


@settings(max_examples=60, deadline=None)
@given(_bodies(), st.integers(0, 30))
def test_with_an_unchanged_target_the_copy_comes_back(body: list[str], at: int) -> None:
    copy = _function(_with_block(body, at))
    found = rebuilt(copy, _function(body), _function(body))
    if found.complete:
        assert ast.dump(ast.parse(found.text)) == ast.dump(ast.parse(copy.replace("<x", "#").replace(">x", "#")))
    else:  # only a place that the function has several times may be asked about
        assert {item.code for item in found.questions} == {"anchor-doubled"}


@settings(max_examples=80, deadline=None)
@given(_bodies(), _bodies(), st.integers(0, 30), st.data())
def test_the_result_parses_and_holds_its_blocks_or_says_what_is_open(
    body: list[str], other: list[str], at: int, data: st.DataObject
) -> None:
    cut = data.draw(st.integers(0, len(other)))
    target = other if data.draw(st.booleans()) else [*body, *[line for line in other[:cut] if line[:1] != " "]]
    target = target if _parses(_function(target)) else body
    found = rebuilt(_function(_with_block(body, at)), _function(body), _function(target))
    unsound = any(item.code == "unparsable" for item in found.questions)
    assert unsound or _parses(found.text)
    assert found.complete == (found.questions == ())
    placed = sum(item.fate in ("placed", "merged") for item in found.blocks)
    assert found.text.count(START.format("x")) == found.text.count("mine_x(a)") == placed
    if found.complete:
        without = [line for line in found.text.split("\n") if "mine_x" not in line]
        assert ast.dump(ast.parse("\n".join(without))) == ast.dump(ast.parse(_function(target)))


def _parses(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True
