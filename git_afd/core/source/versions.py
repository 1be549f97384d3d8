"""Deciding ``vllm_version_is("…")`` and its kin for the frozen vLLM, so that dead branches of vLLM-Ascend are not read.

vLLM-Ascend serves two vLLM versions from one tree; only the branch of the frozen one is what the plugin meets.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Final

Versions = Mapping[str, str]
"""What is known: ``{"vllm": "0.26.0"}``. Empty: nothing is decided and both branches are read."""

ASKS: Final = "vllm_version_is"
"""The function that asks; only a file that holds its name reads differently for another version."""


def verdict(test: ast.expr, versions: Versions) -> bool | None:
    """Return what a test is for these versions: True, False, or None when it is not about them or not known."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = verdict(test.operand, versions)
        return None if inner is None else not inner
    if isinstance(test, ast.BoolOp):
        return _combined(test, versions)
    if isinstance(test, ast.Call) and _called(test) == ASKS:
        return _equals(test, versions)
    return None


def only_now(test: ast.expr, versions: Versions) -> bool:
    """Say whether a decided test asks for nothing but the frozen version: at another one the other branch is taken."""
    if verdict(test, versions) is None:
        return False
    calls = (node for node in ast.walk(test) if isinstance(node, ast.Call) and _called(node) == ASKS)
    return all(_equals(call, versions) for call in calls)


def _combined(test: ast.BoolOp, versions: Versions) -> bool | None:
    parts = [verdict(value, versions) for value in test.values]
    decisive = isinstance(test.op, ast.Or)
    if decisive in parts:
        return decisive
    return (not decisive) if all(part is not None for part in parts) else None


def _called(call: ast.Call) -> str:
    function = call.func
    return (
        function.id if isinstance(function, ast.Name) else function.attr if isinstance(function, ast.Attribute) else ""
    )


def _equals(call: ast.Call, versions: Versions) -> bool | None:
    frozen = versions.get("vllm")
    asked = [arg.value for arg in call.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)]
    if not frozen or len(asked) != len(call.args) or len(asked) != 1:
        return None
    return _release(asked[0]) == _release(frozen)


def _release(text: str) -> str:
    return text.removeprefix("v").partition("+")[0]
