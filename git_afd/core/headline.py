"""What a record says, in one line. Total: a body of any shape, and a kind that nobody here knows, give some line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from git_afd.core.outcome import Json
from git_afd.core.records import Record

Body = Mapping[str, Json]


def headline(record: Record) -> str:
    """Return one line about a record; empty when its kind has nothing to say beyond its name."""
    compose = _COMPOSE.get(record.kind)
    return " ".join(compose(record.body).split()) if compose else ""


def _text(body: Body, name: str) -> str:
    value = body.get(name)
    return value if isinstance(value, str) else ""


def _count(body: Body, name: str) -> int:
    value = body.get(name)
    return len(value) if isinstance(value, dict | list | tuple) else 0


def _words(*names: str) -> Callable[[Body], str]:
    return lambda body: " ".join(_text(body, name) for name in names)


def _root_cause(body: Body) -> str:
    said = _text(body, "why") if body.get("op") == "withdraw" else _text(body, "title")
    return f"{_text(body, 'root_cause')} {_text(body, 'op')}: {said}"


def _run(body: Body) -> str:
    kinds = " ".join(name for name in ("simulated", "diagnostic") if body.get(name) is True)
    return f"{_text(body, 'gate')} {_text(body, 'run')} {_text(body, 'op')} {_text(body, 'status')} {kinds}"


def _failure(body: Body) -> str:
    said = {
        "open": f"of gate {_text(body, 'gate')} in run {_text(body, 'run')}",
        "classify": f"{_text(body, 'class')}: {_text(body, 'why')}",
        "close": f"by run {_text(body, 'run')}",
    }
    finding = " an architecture finding," if body.get("architecture") is True else ""
    return f"{_text(body, 'failure')} {_text(body, 'op')}{finding} {said.get(_text(body, 'op'), '')}"


def _approval(body: Body) -> str:
    return f"{_text(body, 'what')} {_text(body, 'subject')} by {_text(body, 'name')}: {_text(body, 'reason')}"


_COMPOSE: Final[Mapping[str, Callable[[Body], str]]] = {
    "freeze": lambda body: f"on {_text(body, 'branch')} at {_text(body, 'base')[:12]}",
    "phase": lambda body: f"{_text(body, 'phase')} {_text(body, 'status')} {_text(body, 'blocker')}",
    "inventory": lambda body: f"{_count(body, 'items')} item(s), {_text(body, 'how')}",
    "diff": lambda body: f"{_count(body, 'items')} item(s), {_text(body, 'how')}",
    "classification": lambda body: f"{_count(body, 'items')} item(s): {_text(body, 'why')}",
    "decision": lambda body: f"{_text(body, 'decide')}: {_text(body, 'why')}",
    "root-cause": _root_cause,
    "commit": lambda body: f"{_text(body, 'root_cause')} as {_text(body, 'commit')[:12]}",
    "run": _run,
    "failure": _failure,
    "approval": _approval,
    "close": _words("why"),
}
