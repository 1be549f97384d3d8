"""One small case for every form that a marked block takes, and what becomes of it at the target."""

# ruff: noqa: E501 - a row of a table holds whole functions

from __future__ import annotations

import ast

import pytest
from copy_forms import rebuilt, text

from git_afd.core.reconstruction.model import Names, Part
from git_afd.core.reconstruction.reconstruct import reconstruct

# name, the plugin's copy, old upstream, target, the right result (header comments left out), fates
PLACED = [
    (
        "between two statements",
        "def f(a):\n    one(a)\n    <x\n    mine(a)\n    >x\n    two(a)",
        "def f(a):\n    one(a)\n    two(a)",
        "def f(a, b=1):\n    zero()\n    one(a)\n    two(a)\n    three(b)",
        "def f(a, b=1):\n    zero()\n    one(a)\n    <x\n    mine(a)\n    >x\n    two(a)\n    three(b)",
        ["placed"],
    ),
    (
        "instead of a statement",
        "def f(a):\n    one(a)\n    <x\n    if a:\n        mine(a)\n    else:\n        two(a)\n    >x\n    three(a)",
        "def f(a):\n    one(a)\n    two(a)\n    three(a)",
        "def f(a):\n    first()\n    one(a, 1)\n    two(a)\n    three(a)",
        "def f(a):\n    first()\n    one(a, 1)\n    <x\n    if a:\n        mine(a)\n    else:\n        two(a)\n    >x\n    three(a)",
        ["placed"],
    ),
    (
        "in the argument list of a call that the target writes on one line",
        "def f(a):\n    x = Call(\n        a,\n        <x\n        # why\n        flag=(a and mine()),\n        >x\n    )\n    return x",
        "def f(a):\n    x = Call(a, flag=a)\n    return x",
        "def f(a):\n    x = Call(a, flag=a, new=1)\n    return x",
        "def f(a):\n    x = Call(\n        a,\n        <x\n        # why\n        flag=(a and mine()),\n        >x\n        new=1,\n    )\n    return x",
        ["placed"],
    ),
    (
        "an operand more, where upstream has a single one",
        "def f(a):\n    if (\n        a > 1\n        <x\n        and not mine(a)\n        >x\n    ):\n        one(a)\n    return a",
        "def f(a):\n    if a > 1:\n        one(a)\n    return a",
        "def f(a):\n    zero()\n    if a > 1:  # why\n        one(a)\n        two(a)\n    return a",
        "def f(a):\n    zero()\n    if (\n        a > 1\n        <x\n        and not mine(a)\n        >x\n    ):  # why\n        one(a)\n        two(a)\n    return a",
        ["placed"],
    ),
    (
        "an operand more among others, one of which is new",
        "def f(a):\n    while (\n        (a or 1)\n        <x\n        # why\n        and not mine(a)\n        >x\n        and a.b\n    ):\n        one(a)\n    return a",
        "def f(a):\n    while (a or 1) and a.b:\n        one(a)\n    return a",
        "def f(a):\n    while ((a or 1) and a.b and a.c):\n        one(a)\n    return a",
        "def f(a):\n    while (\n        (a or 1)\n        <x\n        # why\n        and not mine(a)\n        >x\n        and a.b\n        and a.c\n    ):\n        one(a)\n    return a",
        ["placed"],
    ),
    (
        "instead of an operand of what is returned",
        "def f(a):\n    return (\n        a.b\n        <x\n        or mine(a)\n        >x\n    )",
        "def f(a):\n    return a.b or a.c",
        "def f(a):\n    one(a)\n    return a.b or a.c",
        "def f(a):\n    one(a)\n    return (\n        a.b\n        <x\n        or mine(a)\n        >x\n    )",
        ["placed"],
    ),
    (
        "in a condition that is assigned, while another statement has it too",
        "def f(a):\n    if a.b and a.c:\n        one(a)\n    x = (\n        a.b\n        <x\n        and mine(a)\n        >x\n        and a.c\n    )\n    return x",
        "def f(a):\n    if a.b and a.c:\n        one(a)\n    x = a.b and a.c\n    return x",
        "def f(a):\n    if a.b and a.c:\n        one(a)\n    x: bool = a.b and a.c\n    return x",
        "def f(a):\n    if a.b and a.c:\n        one(a)\n    x: bool = (\n        a.b\n        <x\n        and mine(a)\n        >x\n        and a.c\n    )\n    return x",
        ["placed"],
    ),
    (
        "an entry more of a dict",
        "def f(a):\n    x = {\n        'a': a,\n        <x\n        'mine': mine(a),\n        >x\n        **a.more,\n    }\n    return x",
        "def f(a):\n    x = {'a': a, **a.more}\n    return x",
        "def f(a):\n    x = {'a': a, **a.more, 'new': 1}\n    return x",
        "def f(a):\n    x = {\n        'a': a,\n        <x\n        'mine': mine(a),\n        >x\n        **a.more,\n        'new': 1,\n    }\n    return x",
        ["placed"],
    ),
    (
        "a keyword argument more, beside one that the target added",
        "def f(a):\n    return g(\n        a,\n        <x\n        b=1,\n        >x\n    )",
        "def f(a):\n    return g(a)",
        "def f(a):\n    return g(a, c=(a + (1)))",
        "def f(a):\n    return g(\n        a,\n        <x\n        b=1,\n        >x\n        c=(a + (1)),\n    )",
        ["placed"],
    ),
    (
        "behind an argument whose brackets end on a line of their own",
        "def f(a):\n    return g(\n        a,\n        c=a,\n        <x\n        b=1,\n        >x\n    )",
        "def f(a):\n    return g(a, c=a)",
        "def f(a):\n    return g(\n        a,\n        c=(\n            a\n        ),\n    )",
        "def f(a):\n    return g(\n        a,\n        c=(\n            a\n        ),\n        <x\n        b=1,\n        >x\n    )",
        ["placed"],
    ),
    (
        "an argument more",
        "def f(a):\n    x = Call(\n        a,\n        <x\n        extra=1,\n        >x\n    )\n    return x",
        "def f(a):\n    x = Call(a)\n    return x",
        "def f(a):\n    log()\n    y = Call(a)\n    return y",
        "def f(a):\n    log()\n    y = Call(\n        a,\n        <x\n        extra=1,\n        >x\n    )\n    return y",
        ["placed"],
    ),
    (
        "a branch of upstream's if statement, whose body changed",
        "def f(a):\n    if a:\n        one(a)\n        two()\n    <x\n    elif mine(a):\n        three(a)\n    >x\n    four(a)",
        "def f(a):\n    if a:\n        one(a)\n        two()\n    four(a)",
        "def f(a):\n    if a:\n        one(a, 1)\n        two()\n        more()\n\n    # four\n    four(a)",
        "def f(a):\n    if a:\n        one(a, 1)\n        two()\n        more()\n    <x\n    elif mine(a):\n        three(a)\n    >x\n\n    # four\n    four(a)",
        ["placed"],
    ),
    (
        "around unchanged upstream lines",
        "def f(a):\n    <x\n    if not mine(a):\n        one(a)\n        two(a)\n    >x\n    three(a)",
        "def f(a):\n    one(a)\n    two(a)\n    three(a)",
        "def f(a):\n    one(a)\n    two(a)\n    three(a, 1)",
        "def f(a):\n    <x\n    if not mine(a):\n        one(a)\n        two(a)\n    >x\n    three(a, 1)",
        ["placed"],
    ),
    (
        "around upstream lines that the target changed",
        "def f(a):\n    <x\n    if not mine(a):\n        one(a)\n        two(a)\n    >x\n    three(a)",
        "def f(a):\n    one(a)\n    two(a)\n    three(a)",
        "def f(a):\n    one(a, 2)\n    between(a)\n    two(a)\n    three(a)",
        "def f(a):\n    <x\n    if not mine(a):\n        one(a, 2)\n        between(a)\n        two(a)\n    >x\n    three(a)",
        ["merged"],
    ),
    (
        "around a condition and a body that the target both changed",
        "def f(a):\n    <x\n    # why\n    if not mine(a) and (\n        a > 1\n        and a.b\n    ):\n        one(a)\n    >x\n    return a",
        "def f(a):\n    if (\n        a > 1\n        and a.b\n    ):\n        one(a)\n    return a",
        "def f(a):\n    if (\n        (a > 1 or a.c)\n        and a.b\n    ):\n        one(a)\n    elif a:\n        two(a)\n    return a",
        "def f(a):\n    <x\n    # why\n    if not mine(a) and (\n        (a > 1 or a.c)\n        and a.b\n    ):\n        one(a)\n    elif a:\n        two(a)\n    >x\n    return a",
        ["merged"],
    ),
    (
        "a statement in which both changed other words",
        "def f(a):\n    <x\n    x = call(mine(a), b=1)\n    >x\n    return x",
        "def f(a):\n    x = call(a, b=1)\n    return x",
        "def f(a):\n    x = call(a, b=1, c=2)\n    return x",
        "def f(a):\n    <x\n    x = call(mine(a), b=1, c=2)\n    >x\n    return x",
        ["merged"],
    ),
    (
        "first in the function: before whatever upstream does first",
        "def f(a):\n    <x\n    if mine(a):\n        return\n    >x\n\n    one(a)\n    two(a)",
        "def f(a):\n    one(a)\n    two(a)",
        'def f(a):\n    """Doc."""\n    zero(a)\n    one(a)\n    two(a)',
        'def f(a):\n    """Doc."""\n    <x\n    if mine(a):\n        return\n    >x\n\n    zero(a)\n    one(a)\n    two(a)',
        ["placed"],
    ),
    (
        "first in the function, before a statement that lost its try",
        'def f(a):\n    """Doc."""\n    <x\n    mine(a)\n    >x\n    try:\n        one(a)\n    except E:\n        pass\n    two(a)',
        'def f(a):\n    """Doc."""\n    try:\n        one(a)\n    except E:\n        pass\n    two(a)',
        'def f(a):\n    """Doc."""\n    one(a)\n    two(a)',
        'def f(a):\n    """Doc."""\n    <x\n    mine(a)\n    >x\n    one(a)\n    two(a)',
        ["placed"],
    ),
    (
        "its end after the last statement, and without a label",
        "def f(a):\n    one(a)\n    two(a)\n    <x\n    mine(a)\n    >",
        "def f(a):\n    one(a)\n    two(a)",
        "def f(a):\n    one(a, 1)\n    two(a)",
        "def f(a):\n    one(a, 1)\n    two(a)\n    <x\n    mine(a)\n    >",
        ["placed"],
    ),
    (
        "two blocks of one label",
        "def f(a):\n    <x\n    b = mine(a)\n    >x\n    one(a)\n    two(a)\n    <x\n    late(b)\n    >x\n    return a",
        "def f(a):\n    one(a)\n    two(a)\n    return a",
        "def f(a):\n    one(a)\n    more()\n    two(a)\n    return a",
        "def f(a):\n    <x\n    b = mine(a)\n    >x\n    one(a)\n    more()\n    two(a)\n    <x\n    late(b)\n    >x\n    return a",
        ["placed", "placed"],
    ),
    (
        "nothing: the block leaves upstream's statement out",
        "def f(a):\n    one(a)\n    <x\n    # not for us\n    >x\n    three(a)",
        "def f(a):\n    one(a)\n    two(a)\n    three(a)",
        "def f(a):\n    zero(a)\n    one(a)\n    two(a)\n    three(a)",
        "def f(a):\n    zero(a)\n    one(a)\n    <x\n    # not for us\n    >x\n    three(a)",
        ["placed"],
    ),
    (
        "a block that upstream took over",
        "def f(a):\n    one(a)\n    <x\n    guard(a)\n    >x\n    two(a)",
        "def f(a):\n    one(a)\n    two(a)",
        "def f(a):\n    one(a)\n    guard(a)  # now here\n    two(a)",
        "def f(a):\n    one(a)\n    guard(a)  # now here\n    two(a)",
        ["absorbed"],
    ),
    (
        "beside a statement that stands there twice",
        "def f(a):\n    check(a)\n    one(a)\n    <x\n    mine(a)\n    >x\n    check(a)\n    two(a)",
        "def f(a):\n    check(a)\n    one(a)\n    check(a)\n    two(a)",
        "def f(a):\n    check(a)\n    zero()\n    one(a)\n    check(a)\n    two(a)",
        "def f(a):\n    check(a)\n    zero()\n    one(a)\n    <x\n    mine(a)\n    >x\n    check(a)\n    two(a)",
        ["placed"],
    ),
    (
        "deeper in the target than in the copy",
        "def f(a):\n    one(a)\n    <x\n    mine(a)\n    >x\n    two(a)",
        "def f(a):\n    one(a)\n    two(a)",
        "def f(a):\n    with lock:\n        one(a)\n        two(a)",
        "def f(a):\n    with lock:\n        one(a)\n        <x\n        mine(a)\n        >x\n        two(a)",
        ["placed"],
    ),
]


@pytest.mark.parametrize(
    ("copy", "old", "new", "right", "fates"), [row[1:] for row in PLACED], ids=[r[0] for r in PLACED]
)
def test_a_block_is_replayed_in_the_target(copy: str, old: str, new: str, right: str, fates: list[str]) -> None:
    found = rebuilt(copy, old, new)
    assert found.text == text(right)
    assert [item.fate for item in found.blocks] == fates
    assert all(item.found == item.expected == 1 for item in found.blocks)
    assert (found.complete, found.questions) == (True, ())


# name, copy, old, target, code of the question, words it must name
ASKED = [
    (
        "the replaced statement is gone",
        "def f(a):\n    one(a)\n    <x\n    mine(a)\n    >x\n    three(a)",
        "def f(a):\n    one(a)\n    two(a, deep=1)\n    three(a)",
        "def f(a):\n    one(a)\n    three(a)\n    other(a)",
        "anchor-gone",
        ["'x'", "two(a, deep=1)", "no longer"],
    ),
    (
        "the replaced statement is there twice",
        "def f(a):\n    one(a)\n    <x\n    mine(a)\n    >x\n    three(a)",
        "def f(a):\n    one(a)\n    two(a)\n    three(a)",
        "def f(a):\n    one(a)\n    two(a)\n    three(a)\n    two(a)",
        "anchor-doubled",
        ["two(a)", "lines 3, 5", "2 times"],
    ),
    (
        "both neighbours are gone",
        "def f(a):\n    zero(a)\n    one(alpha)\n    <x\n    mine(a)\n    >x\n    two(beta)\n    last(a)",
        "def f(a):\n    zero(a)\n    one(alpha)\n    two(beta)\n    last(a)",
        "def f(a):\n    zero(a)\n    last(a)",
        "anchor-gone",
        ["one(alpha)", "two(beta)", "neither"],
    ),
    (
        "new statements where the block stood",
        "def f(a):\n    one(a)\n    <x\n    mine(a)\n    >x\n    two(a)",
        "def f(a):\n    one(a)\n    two(a)",
        "def f(a):\n    one(a)\n    new(a)\n    two(a)",
        "order",
        ["new(a)", "before or after", "line 3"],
    ),
    (
        "both changed the same words",
        "def f(a):\n    <x\n    x = call(a, mode=mine)\n    >x\n    return x",
        "def f(a):\n    x = call(a, mode=old)\n    return x",
        "def f(a):\n    x = call(a, mode=new)\n    return x",
        "both-changed",
        ["mode=mine", "mode=new"],
    ),
    (
        "the target has another branch where the block's was",
        "def f(a):\n    if a:\n        one(a)\n    <x\n    elif mine(a):\n        two(a)\n    >x\n    return a",
        "def f(a):\n    if a:\n        one(a)\n    return a",
        "def f(a):\n    if a:\n        one(a)\n    elif a.b:\n        new(a)\n    return a",
        "order",
        ["elif a.b", "which branch"],
    ),
    (
        "another operator joins the condition now",
        "def f(a):\n    if (\n        a > 1\n        <x\n        and not mine(a)\n        >x\n    ):\n        one(a)\n    return a",
        "def f(a):\n    if a > 1:\n        one(a)\n    return a",
        "def f(a):\n    if a > 1 or a.b:\n        one(a)\n    return a",
        "anchor-gone",
        ["a > 1", "if a > 1 or a.b"],
    ),
    (
        "a new operand where the block's was",
        "def f(a):\n    if (\n        a > 1\n        <x\n        and not mine(a)\n        >x\n    ):\n        one(a)\n    return a",
        "def f(a):\n    if a > 1:\n        one(a)\n    return a",
        "def f(a):\n    if a > 1 and a.b:\n        one(a)\n    return a",
        "order",
        ["a.b", "before or after", "the end of it"],
    ),
    (
        "the condition is there twice",
        "def f(a):\n    if (\n        a > 1\n        <x\n        and not mine(a)\n        >x\n    ):\n        one(a)\n    return a",
        "def f(a):\n    if a > 1:\n        one(a)\n    return a",
        "def f(a):\n    if a > 1:\n        zero(a)\n    if a > 1:\n        one(a)\n    return a",
        "anchor-gone",
        ["if a > 1", "before which statement"],
    ),
    (
        "the first operand, which no operator stands before",
        "def f(a):\n    if (\n        <x\n        not mine(a)\n        >x\n        and a > 1\n    ):\n        one(a)\n    return a",
        "def f(a):\n    if a > 1:\n        one(a)\n    return a",
        "def f(a):\n    if a > 1:\n        one(a)\n    return a",
        "straddle",
        ["'x'", "mark the whole statement"],
    ),
    (
        "a local that the block reads is gone",
        "def f(a):\n    size = len(a)\n    one(a)\n    <x\n    mine(size)\n    >x\n    two(a)",
        "def f(a):\n    size = len(a)\n    one(a)\n    two(a)",
        "def f(a):\n    one(a)\n    two(a)",
        "name-gone",
        ["size"],
    ),
    (
        "a parameter that the block reads is gone",
        "def f(a, stats):\n    one(a)\n    <x\n    mine(stats)\n    >x\n    two(a)",
        "def f(a, stats):\n    one(a)\n    two(a)",
        "def f(a):\n    one(a)\n    two(a)",
        "name-gone",
        ["stats"],
    ),
    (
        "a difference that no marker covers",
        "def f(a):\n    one(a, 7)\n    <x\n    mine(a)\n    >x\n    two(a)",
        "def f(a):\n    one(a, 1)\n    two(a)",
        "def f(a):\n    one(a, 1)\n    two(a)",
        "deviation",
        ["one(a, 7)", "one(a, 1)", "--drop D1"],
    ),
    (
        "a condition that no marker covers leads to the block",
        "def f(a):\n    if not mine(a):\n        one(a)\n        two(a)\n        three(a)\n        return\n    <x\n    one(a)\n    three(a)\n    >x",
        "def f(a):\n    one(a)\n    two(a)\n    three(a)",
        "def f(a):\n    one(a)\n    two(a)\n    three(a)",
        "unmarked-condition",
        ["if not mine(a)", "two(a)"],
    ),
    (
        "a header whose body stands outside of the block",
        "def f(a):\n    <x\n    if mine(a):\n    >x\n        one(a)\n    two(a)",
        "def f(a):\n    one(a)\n    two(a)",
        "def f(a):\n    one(a)\n    two(a)",
        "straddle",
        ["if mine(a)", "not its body", "one(a)"],
    ),
    (
        "a block without an end",
        "def f(a):\n    one(a)\n    <x\n    mine(a)\n    two(a)",
        "def f(a):\n    one(a)\n    two(a)",
        "def f(a):\n    one(a)\n    two(a)",
        "markers",
        ["no PATCH END"],
    ),
    (
        "the target is gone",
        "def f(a):\n    one(a)\n    <x\n    mine(a)\n    >x\n    two(a)",
        "def f(a):\n    one(a)\n    two(a)",
        "",
        "target-gone",
        ["up/core.py::f is gone", "`x`"],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("copy", "old", "new", "code", "words"), [row[1:] for row in ASKED], ids=[r[0] for r in ASKED])
def test_what_cannot_be_told_is_asked_by_name(copy: str, old: str, new: str, code: str, words: list[str]) -> None:
    found = rebuilt(copy, old, new)
    asked = [item.text for item in found.questions if item.code == code]
    assert not found.complete
    assert asked, found.questions
    assert all(any(word in one for one in asked) for word in words), asked
    ast.parse(found.text)


# name, copy, old, target: a difference outside any block that a rule decides for the target's form
DECIDED = [
    ("a docstring of its own", 'def f(a):\n    """Ours."""\n    one(a)', "def f(a):\n    one(a)", ""),
    ("a check for type checkers", "def f(a):\n    one(a)", "def f(a):\n    assert a is not None\n    one(a)", ""),
    ("an unused parameter deleted", "def f(a, b):\n    del b\n    one(a)", "def f(a, b):\n    one(a)", ""),
    ("a return that ends it anyway", "def f(a):\n    one(a)\n    return None", "def f(a):\n    one(a)", ""),
    ("a decorator", "def f(a):\n    one(a)", '@trace(name="f")\ndef f(a):\n    one(a)', ""),
    ("what the target does now as well", "def f(a):\n    one(a, 2)", "def f(a):\n    one(a)", "def f(a):\n    one(a, 2)"),
    ("a statement that is gone", "def f(a):\n    z()\n    one(a)", "def f(a):\n    z()\n    y(2)\n    one(a)", "def f(a):\n    z()\n    one(a)"),
]  # fmt: skip


@pytest.mark.parametrize(("copy", "old", "new"), [row[1:] for row in DECIDED], ids=[row[0] for row in DECIDED])
def test_a_deviation_without_a_question_is_listed_with_its_rule(copy: str, old: str, new: str) -> None:
    found = rebuilt(copy, old, new or old)
    assert found.text == text(new or old)
    assert found.complete
    assert [item.decided != "" for item in found.deviations] == [True]


# name, copy, old: differences that are understood and no deviation at all
UNDERSTOOD = [
    ("a module alias", "def f(a):\n    core.log.info('x')\n    return core.X", 'def f(a):\n    log.info("x")\n    return X'),
    ("global as an attribute", "def f(a):\n    core.last = a", "def f(a):\n    global last\n    last = a"),
    ("formatting and comments", "def f(a):\n    x = call(\n        a,\n    )", "def f(a):\n    # why\n    x = call(a)"),
    ("local annotations", "def f(a):\n    x = 1\n    return x", "def f(a):\n    x: int = 1\n    return x"),
    ("annotations of parameters", "def f(a: Any) -> None:\n    one(a)", "def f(a):\n    one(a)"),
    ("super with its class", "def f(self):\n    super(K, self).f()", "def f(self):\n    super().f()"),
    ("type arguments of a call", "def f(a):\n    q = Queue()", "def f(a):\n    q = Queue[int]()"),
    ("a local of another name", "def f(a):\n    try:\n        one(a)\n    except E as exc:\n        raise exc", "def f(a):\n    try:\n        one(a)\n    except E as e:\n        raise e"),
    ("a local text in other quotes", "def f(a):\n    return 'x' 'y'", 'def f(a):\n    return "xy"'),
]  # fmt: skip


@pytest.mark.parametrize(("copy", "old"), [row[1:] for row in UNDERSTOOD], ids=[row[0] for row in UNDERSTOOD])
def test_an_understood_rewrite_is_no_deviation(copy: str, old: str) -> None:
    names = Names(
        ("core",), {"core": "up.core"}, frozenset(), {"log": "up.log", "X": "up.core.X", "last": "up.core.last"}
    )
    found = rebuilt(copy, old, old, names, klass="K")
    assert found.deviations == ()
    assert found.complete, found.questions


def test_names_of_the_target_are_read_as_the_plugin_can_reach_them() -> None:
    copy = (
        "import gc\nimport up.core as core\n\n\ndef f(a: core.A):\n    <x\n    mine(a)\n    >x\n    return core.log(a)"
    )
    new = """
        @static
        def f(a: A, b=DEFAULT):
            global last
            last = time.time()
            gc.collect()
            x: Kind = make(f"{log}", log=log)
            super().f()
            return [item for item in log(a) if item in KNOWN]
    """
    upstream = {name: f"up.core.{name}" for name in ("A", "DEFAULT", "KNOWN", "last", "log", "make", "static")}
    upstream |= {"time": "time", "gc": "gc", "Kind": "up.kinds.Kind"}
    plugin = {"core": "up.core", "gc": "gc", "KNOWN": "up.core.KNOWN"}
    names = Names(("core",), plugin, frozenset(), upstream, {"Kind": "from up.kinds import Kind"})
    found = rebuilt(copy, "def f(a):\n    return log(a)", new, names, klass="Up")
    assert found.text == text("""
        @core.static
        def f(a: A, b=core.DEFAULT):
            <x
            mine(a)
            >x
            core.last = core.time.time()
            gc.collect()
            x: Kind = core.make(f"{core.log}", log=core.log)
            super(Up, a).f()
            return [item for item in core.log(a) if item in KNOWN]
    """)
    assert found.imports == ()
    assert "from up.kinds import Kind" in found.notes[-1]


def test_a_decorator_s_arguments_are_the_target_s() -> None:
    copy = "@compile(dynamic=True)\ndef f(a):\n    <x\n    mine(a)\n    >x\n    one(a)"
    found = rebuilt(
        copy, "@torch.compile(dynamic=True)\ndef f(a):\n    one(a)", "@torch.compile(fast=True)\ndef f(a):\n    one(a)"
    )
    assert found.text.startswith("@torch.compile(fast=True)\ndef f(a):\n    # ### PATCH START: x")


def test_without_an_alias_the_imports_that_are_needed_are_listed() -> None:
    names = Names((), {"one": "up.core.one"}, frozenset(), {"one": "up.core.one", "new": "up.lib.new"}, {"new": "from up.lib import new"})  # fmt: skip
    found = rebuilt(
        "def f(a):\n    <x\n    mine(a)\n    >x\n    one(a)",
        "def f(a):\n    one(a)",
        "def f(a):\n    one(new(a))",
        names,
    )
    assert found.imports == ("from up.lib import new",)
    assert found.complete


def test_a_name_that_the_plugin_uses_for_something_else_is_asked_about() -> None:
    names = Names((), {"log": "plugin:log"}, frozenset(), {"log": "up.core.log"}, {"log": "from up.core import log"})
    found = rebuilt(
        "def f(a):\n    <x\n    mine(a)\n    >x\n    a()", "def f(a):\n    a()", "def f(a):\n    a()\n    log(a)", names
    )
    assert [item.code for item in found.questions] == ["name-clash"]


COMPOSED = """
    def f(self):
        <x
        if mine(self):
            return run(self)
        >x

        if isinstance(self, core.Sub):
            while self.on():
                self.sub()
            raise SystemExit

        while self.on():
            self.base()
        raise SystemExit
"""


def _part(klass: str, *body: str) -> Part:
    lines = "".join(f"        {line}\n" for line in body)
    source = f"    def f(self):\n{lines}"
    return Part(f"{klass}.f", "up/core.py", source.replace("new()", "on()"), source, klass)


def test_two_upstream_bodies_composed_into_one_function_are_both_rebuilt() -> None:
    from copy_forms import copy_of

    parts = [
        _part("Base", '"""Base."""', "while self.new():", "    self.base()", "raise SystemExit"),
        _part("Sub", "while self.new():", "    self.sub()", "raise SystemExit"),
    ]
    found = reconstruct(
        copy_of(COMPOSED), parts, Names(("core",), {"core": "up.core"}, upstream={"Sub": "up.core.Sub"})
    )
    assert found.complete, found.questions
    assert found.text.count("self.new()") == 2
    assert found.text.index("core.Sub") < found.text.index("self.sub()") < found.text.index("self.base()")


# the parts that no longer fit together, and the words of the question
NOT_COMPOSED = [
    ((("Base", "self.base()"), ("Other", "self.other()")), "no isinstance branch"),
    ((("Base", "self.base()"), ("Sub", "self.sub()")), "no longer ends with return or raise"),
]


@pytest.mark.parametrize(("parts", "words"), NOT_COMPOSED)
def test_bodies_that_no_longer_fit_together_are_asked_about(parts: tuple[tuple[str, str], ...], words: str) -> None:
    from copy_forms import copy_of

    found = reconstruct(copy_of(COMPOSED), [_part(klass, body) for klass, body in parts], Names(("core",)))
    assert any(words in item.text for item in found.questions if item.code == "composition")


def test_a_function_that_delegates_takes_the_target_s_signature_and_keeps_its_body() -> None:
    copy = "def f(self, a):\n    <x\n    saved = save(a)\n    >x\n    return _original(self, a)"
    old = "def f(self, a):\n" + "".join(f"    step{n}(a)\n" for n in range(9))
    kept = rebuilt(copy, old, old.replace("(self, a)", "(self, a: int)"))
    assert kept.text == text(copy.replace("(self, a)", "(self, a: int)", 1))
    asked = rebuilt(copy, old, old.replace("(self, a)", "(self, a, mode=None)"))
    assert [(item.code, "mode" in item.text) for item in asked.questions] == [("parameter", True)]


def test_the_header_is_kept_and_its_source_brought_to_the_target() -> None:
    body = "def f(a):\n    <x\n    mine(a)\n    >x\n    one(a)"
    names = Names(ref="v2.0", old_refs=("v1.0",))
    stated = rebuilt(f"# Patch reason: since v1.0 it fails.\n# Upstream source: ``up/core.py`` at ``v1.0``.\n{body}", "def f(a):\n    one(a)", "def f(a):\n    one(a)", names)  # fmt: skip
    assert stated.text.splitlines()[:2] == [
        "# Patch reason: since v1.0 it fails.",
        "# Upstream source: ``up/core.py`` at ``v2.0``.",
    ]
    silent = rebuilt(f"# Patch reason: it fails.\n{body}", "def f(a):\n    one(a)", "def f(a):\n    one(a)", names)
    assert silent.text.splitlines()[1] == "# Upstream source: ``up/core.py`` ``f`` at ``v2.0``."


def test_a_dropped_deviation_is_decided_for_the_target() -> None:
    case = ("def f(a):\n    one(a, 7)\n    two(a)", "def f(a):\n    one(a, 1)\n    two(a)")
    assert not rebuilt(*case, case[1]).complete
    found = rebuilt(*case, case[1], dropped=frozenset({"D1"}))
    assert (found.complete, found.text) == (True, text(case[1]))


def test_an_early_return_past_new_statements_is_noted() -> None:
    copy = "def f(a):\n    <x\n    if mine(a):\n        free(a)\n        return\n    >x\n    one(a)"
    target = "def f(a):\n    one(a)\n    logger.info('x')\n    free(a)\n    cleanup(a)"
    found = rebuilt(copy, "def f(a):\n    one(a)", target)
    assert found.complete
    (note,) = (note for note in found.notes if "returns early" in note)
    assert note.endswith("past what the target added: `cleanup(a)`")
