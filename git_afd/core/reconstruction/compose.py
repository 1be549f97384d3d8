"""Two upstream functions behind one of the plugin's: their bodies put together as the copy puts them together.

The form that is understood: ``if isinstance(self, Class): <body of Class's function>`` and then the other body.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from git_afd.core.contracts.signatures import compare, verdict
from git_afd.core.reconstruction.layout import dedented, moved
from git_afd.core.reconstruction.model import Part, Question
from git_afd.core.reconstruction.skeleton import function_in, signature_in
from git_afd.core.source.definitions import Signature

_LEAVES = (ast.Return, ast.Raise)


@dataclass(frozen=True, slots=True)
class Composed:
    """Both sides as one function each (lines from the margin), the class for ``super()``, and what is to be asked."""

    old: list[str]
    new: list[str]
    klass: str
    questions: tuple[Question, ...] = ()


def composed(parts: Sequence[Part], copy: ast.FunctionDef | ast.AsyncFunctionDef, text: str) -> Composed:
    """Return the upstream's side of a copy: one function as it is, several put together. Raises SyntaxError."""
    distinct = list({part.new or part.symbol: part for part in parts}.values())
    if len(distinct) == 1:
        part = distinct[0]
        return Composed(dedented(part.old), dedented(part.new), part.klass)
    branches = _branches(copy, text)
    inner = [part for part in distinct if part.klass in branches]
    outer = [part for part in distinct if part.klass not in branches]
    if len(outer) != 1 or not inner:
        return _not_composed(distinct, copy)
    questions = tuple(_ends(part) for part in inner if not _leaves(part.new)) + _signatures(distinct)
    sides = [(dedented(outer[0].old), [dedented(part.old) for part in inner])]
    sides.append((dedented(outer[0].new), [dedented(part.new) for part in inner]))
    tests = [branches[part.klass] for part in inner]
    old, new = (_together(base, branch, tests) for base, branch in sides)
    return Composed(old, new, outer[0].klass, questions)


def _not_composed(parts: Sequence[Part], copy: ast.FunctionDef | ast.AsyncFunctionDef) -> Composed:
    names = " and ".join(part.symbol for part in parts)
    text = f"{copy.name} stands in for {names}, and no isinstance branch of it holds one of their bodies"
    first = parts[0]
    question = Question("composition", f"{text}: say which body goes where, then reconstruct each by itself")
    return Composed(dedented(first.old), dedented(first.new), first.klass, (question,))


def _branches(copy: ast.FunctionDef | ast.AsyncFunctionDef, text: str) -> dict[str, str]:
    """Map the classes that the copy tells apart by isinstance to the source of the test."""
    found: dict[str, str] = {}
    for statement in copy.body:
        test = statement.test if isinstance(statement, ast.If) and not statement.orelse else None
        if isinstance(test, ast.Call) and ast.unparse(test.func) == "isinstance" and len(test.args) == 2:  # noqa: PLR2004 - object and class
            found[ast.unparse(test.args[1]).rpartition(".")[2]] = ast.get_source_segment(text, test) or ""
    return found


def _together(base: list[str], branches: Sequence[list[str]], tests: Sequence[str]) -> list[str]:
    head, body = _split(base)
    inner: list[str] = []
    for lines, test in zip(branches, tests, strict=True):
        inner += [f"    if {test}:", *moved(_split(lines)[1], 4), ""]
    return [*head, *inner, *body]


def _split(lines: list[str]) -> tuple[list[str], list[str]]:
    node = function_in(lines)
    first = node.body[0].lineno - 1
    while lines[first - 1].lstrip().startswith("#"):
        first -= 1
    return lines[:first], lines[first:]


def _leaves(source: str) -> bool:
    last = function_in(dedented(source)).body[-1]
    return isinstance(last, _LEAVES)


def _ends(part: Part) -> Question:
    text = f"the body of {part.symbol} no longer ends with return or raise, so what follows its branch would run too"
    return Question("composition", f"{text}: end the branch with `return`, or join the bodies in another way?")


def _signatures(parts: Sequence[Part]) -> tuple[Question, ...]:
    first, *others = parts
    mine = _signature(first.new)
    for other in others:
        differences = compare(mine, _signature(other.new))
        if verdict(differences) == "different":
            what = "; ".join(f"{item.what}: {item.upstream} and {item.plugin}" for item in differences)
            text = f"{first.symbol} and {other.symbol} no longer have one signature ({what})"
            return (Question("composition", f"{text}: one function for both, or two?"),)
    return ()


def _signature(source: str) -> Signature:
    lines = dedented(source)
    return signature_in(lines) or Signature(())
