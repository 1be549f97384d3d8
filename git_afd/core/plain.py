"""Frozen values as JSON: ``dataclasses.asdict`` copies deeply, which takes ten times as long."""

from __future__ import annotations

from collections.abc import Mapping

from git_afd.core.outcome import Json


def plain(value: Json) -> Json:
    """Return a value as JSON: tuples as lists, dataclasses as tables of their fields."""
    if isinstance(value, tuple):
        return [plain(item) for item in value]
    return fields(value) if hasattr(value, "__dataclass_fields__") else value


def fields(value: Json) -> dict[str, Json]:
    """Return a dataclass's fields as a JSON table."""
    names: Mapping[str, Json] = getattr(value, "__dataclass_fields__", {})
    return {name: plain(getattr(value, name)) for name in names}
