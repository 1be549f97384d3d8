"""How one table of the policy is read: every key is known and typed, and a wrong one is named by its dotted name.

An unknown key is a fault, since a misspelt demand demands nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from git_afd.core import shape
from git_afd.core.outcome import Json

_T = TypeVar("_T")


class PolicyFault(ValueError):
    """A wrong key or value; `key` is its dotted name, so that the reader can be told the line."""

    def __init__(self, key: str, text: str) -> None:
        """Keep the dotted key and say what was expected."""
        super().__init__(f"{key}: {text}")
        self.key = key


def known(body: Mapping[str, Json], at: str, names: tuple[str, ...]) -> None:
    """Raise PolicyFault for the first key of the table `at` that is none of `names`."""
    for key in body:
        if key not in names:
            raise PolicyFault(f"{at}.{key}".lstrip("."), f"is not known here; known are {', '.join(names)}")


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads one table of the document and names faults by their dotted key; each method raises PolicyFault."""

    body: Mapping[str, Json]
    at: str

    def text(self, name: str, default: str | None = None) -> str:
        """Return a text; `default` where the key is absent."""
        return self._named(name, lambda: shape.text(self.body, name, default))

    def texts(self, name: str) -> tuple[str, ...]:
        """Return a list of texts, empty where the key is absent."""
        return self._named(name, lambda: shape.texts(self.body, name))

    def text_table(self, name: str) -> dict[str, str]:
        """Return a table of texts."""
        return self._named(name, lambda: shape.text_table(self.body, name))

    def flag(self, name: str) -> bool:
        """Return true or false, false where the key is absent."""
        return self._named(name, lambda: shape.flag(self.body, name))

    def number(self, name: str, default: int | None = None) -> int:
        """Return a whole number."""
        return self._named(name, lambda: shape.number(self.body, name, default))

    def numbers(self, name: str) -> tuple[int, ...]:
        """Return a list of whole numbers."""
        return self._named(name, lambda: shape.numbers(self.body, name))

    def fraction(self, name: str) -> float | None:
        """Return a fraction from 0.0 to 1.0, None where the key is absent."""
        value = self.body.get(name)
        if value is not None and (not isinstance(value, float) or not 0 <= value <= 1):
            raise PolicyFault(self._key(name), "a fraction from 0.0 to 1.0 was expected")
        return value

    def sub(self, name: str) -> Reader:
        """Return the reader of a table, empty where the key is absent."""
        return Reader(self._named(name, lambda: shape.table(self.body, name)), self._key(name))

    def each(self, name: str) -> tuple[Reader, ...]:
        """Return a reader for each of an array of tables."""
        items = self._named(name, lambda: shape.tables(self.body, name))
        return tuple(Reader(item, f"{self._key(name)}[{place}]") for place, item in enumerate(items))

    def _key(self, name: str) -> str:
        return f"{self.at}.{name}".lstrip(".")

    def _named(self, name: str, read: Callable[[], _T]) -> _T:
        try:
            return read()
        except shape.ShapeFault as fault:
            raise PolicyFault(self._key(name), str(fault).partition(": ")[2]) from None
