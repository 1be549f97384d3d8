"""Reading untrusted JSON into typed values: the field is as expected, or ShapeFault names it."""

from __future__ import annotations

from collections.abc import Mapping

from git_afd.core.names import is_full_id
from git_afd.core.outcome import Json


class ShapeFault(ValueError):
    """A field is missing or of the wrong kind; the text names the field and what was expected."""


def text(body: Mapping[str, Json], name: str, default: str | None = None) -> str:
    """Return a text field."""
    value = body.get(name, default)
    if not isinstance(value, str):
        raise ShapeFault(f"{name}: a text was expected")
    return value


def said(body: Mapping[str, Json], name: str) -> str:
    """Return a text field that says something."""
    value = text(body, name)
    if not value.strip():
        raise ShapeFault(f"{name}: it must not be empty")
    return value


def full_id(body: Mapping[str, Json], name: str) -> str:
    """Return a full object id."""
    value = text(body, name)
    if not is_full_id(value):
        raise ShapeFault(f"{name}: a full commit id was expected")
    return value


def flag(body: Mapping[str, Json], name: str, *, default: bool = False) -> bool:
    """Return a true/false field."""
    value = body.get(name, default)
    if not isinstance(value, bool):
        raise ShapeFault(f"{name}: true or false was expected")
    return value


def number(body: Mapping[str, Json], name: str, default: int | None = None) -> int:
    """Return a whole number, 0 or more."""
    value = body.get(name, default)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ShapeFault(f"{name}: a whole number was expected")
    return value


def seconds(body: Mapping[str, Json], name: str, default: float | None = None) -> float:
    """Return a moment in seconds since the epoch."""
    value = body.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1 << 40:
        raise ShapeFault(f"{name}: seconds since the epoch were expected")
    return float(value)


def texts(body: Mapping[str, Json], name: str) -> tuple[str, ...]:
    """Return a list of texts; a missing field is an empty one."""
    value = body.get(name, [])
    if not isinstance(value, list | tuple) or any(not isinstance(item, str) for item in value):
        raise ShapeFault(f"{name}: a list of texts was expected")
    return tuple(value)


def numbers(body: Mapping[str, Json], name: str) -> tuple[int, ...]:
    """Return a list of whole numbers, 0 or more; a missing field is an empty one."""
    value = body.get(name, [])
    if not isinstance(value, list | tuple) or any(type(item) is not int or item < 0 for item in value):
        raise ShapeFault(f"{name}: a list of whole numbers was expected")
    return tuple(value)


def table(body: Mapping[str, Json], name: str) -> dict[str, Json]:
    """Return an object; a missing field is an empty one."""
    value = body.get(name, {})
    if not isinstance(value, dict):
        raise ShapeFault(f"{name}: an object was expected")
    return value


def text_table(body: Mapping[str, Json], name: str) -> dict[str, str]:
    """Return an object whose values are texts; a missing field is an empty one."""
    value = table(body, name)
    if any(not isinstance(item, str) for item in value.values()):
        raise ShapeFault(f"{name}: an object of texts was expected")
    return {key: str(item) for key, item in value.items()}


def tables(body: Mapping[str, Json], name: str) -> tuple[dict[str, Json], ...]:
    """Return a list of objects; a missing field is an empty one."""
    value = body.get(name, [])
    if not isinstance(value, list | tuple) or any(not isinstance(item, dict) for item in value):
        raise ShapeFault(f"{name}: a list of objects was expected")
    return tuple(value)


def choice(body: Mapping[str, Json], name: str, allowed: tuple[str, ...]) -> str:
    """Return a text that is one of `allowed`."""
    value = text(body, name)
    if value not in allowed:
        raise ShapeFault(f"{name}: one of {', '.join(allowed)} was expected, not {value!r}")
    return value
