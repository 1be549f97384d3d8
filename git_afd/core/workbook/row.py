"""Reading one row of a workbook table: every fault is kept with its exact place, so that all are shown at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeVar

from git_afd.core import shape
from git_afd.core.names import literal_path_fault
from git_afd.core.outcome import Json

_T = TypeVar("_T")
_ID_SIGNS: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._:/@+-")


@dataclass(frozen=True, slots=True, order=True)
class RowFault:
    """One refused value: the table, the row's number in it (from 1), the dotted field, the reason, the remedy."""

    table: str
    row: int
    field: str
    reason: str
    fix: str


@dataclass(frozen=True, slots=True)
class Row:
    """A row while it is read. `faults` is shared by all rows of a file; `at` is the dotted field of a sub-table."""

    table: str
    number: int
    body: Mapping[str, Json]
    faults: list[RowFault] = field(default_factory=list)
    at: str = ""

    def fault(self, name: str, reason: str, fix: str) -> None:
        """Refuse the row for its field `name`."""
        self.faults.append(RowFault(self.table, self.number, self.at + name, reason, fix))

    def known(self, names: Iterable[str]) -> None:
        """Refuse fields that the table does not have: a misspelt field says nothing."""
        allowed = sorted(names)
        for name in self.body:
            if name not in allowed:
                self.fault(name, "is no field of this table", f"use one of {', '.join(allowed)}")

    def text(self, name: str, *, required: bool = False) -> str:
        """Return a text field without its outer blanks, empty when it is missing or refused."""
        value = self._read(name, lambda: shape.text(self.body, name, "").strip(), "")
        if required and not value and name not in self._refused():
            self.fault(name, "is missing", "say it in a few words")
        return value

    def choice(self, name: str, allowed: tuple[str, ...], *, required: bool = False) -> str:
        """Return a text that is one of `allowed`, empty when it is missing or refused."""
        value = self.text(name, required=required)
        if value and value not in allowed:
            self.fault(name, f"{value!r} is not known", f"use one of {', '.join(allowed)}")
            return ""
        return value

    def many(self, name: str) -> tuple[str, ...]:
        """Return a list of texts; one text alone is a list of one."""
        value = self.body.get(name, [])
        if isinstance(value, str):
            return (value.strip(),) if value.strip() else ()
        return self._read(name, lambda: shape.texts(self.body, name), ())

    def flag(self, name: str) -> bool:
        """Return a true/false field, false when it is missing or refused."""
        return self._read(name, lambda: shape.flag(self.body, name), default=False)

    def number_of(self, name: str) -> int:
        """Return a whole number, 0 when it is missing or refused."""
        return self._read(name, lambda: shape.number(self.body, name, 0), 0)

    def sub(self, name: str) -> Row:
        """Return the sub-table `name` (empty when it is missing); its faults name it."""
        empty: dict[str, Json] = {}
        found = self._read(name, lambda: shape.table(self.body, name), empty)
        return Row(self.table, self.number, found, self.faults, f"{self.at}{name}.")

    def path(self, name: str, *, required: bool = False) -> str:
        """Return a repository-relative path, empty when it is missing or refused."""
        value = self.text(name, required=required)
        wrong = literal_path_fault(value) if value else None
        if wrong:
            self.fault(name, f"{value!r} {wrong}", "give the file's path below its repository's root")
            return ""
        return value

    def name(self, name: str, *, required: bool = True) -> str:
        """Return an id: letters, digits and ``._:/@+-``, so that it can stand in a command line."""
        value = self.text(name, required=required)
        if value and not _ID_SIGNS.issuperset(value):
            self.fault(name, f"{value!r} is no id", "use letters, digits and . _ : / @ + - only")
            return ""
        return value

    def _read(self, name: str, read: Callable[[], _T], default: _T) -> _T:
        try:
            return read()
        except shape.ShapeFault as wrong:
            reason = str(wrong).partition(": ")[2]
            self.fault(name, reason, f"correct the value of {self.at}{name}")
            return default

    def _refused(self) -> set[str]:
        here = (fault for fault in self.faults if (fault.table, fault.row) == (self.table, self.number))
        return {fault.field.removeprefix(self.at) for fault in here}


def rows_of(document: Mapping[str, Json], table: str, faults: list[RowFault]) -> tuple[Row, ...]:
    """Return the rows of one table of a document; a table that is no list of objects is one fault (row 0)."""
    try:
        bodies = shape.tables(document, table)
    except shape.ShapeFault:
        faults.append(RowFault(table, 0, "", "is no list of tables", f"write [[{table}]] before each row"))
        return ()
    return tuple(Row(table, number, body, faults) for number, body in enumerate(bodies, start=1))


def only_tables(document: Mapping[str, Json], names: tuple[str, ...], faults: list[RowFault]) -> None:
    """Refuse tables that the file may not have."""
    for name in document:
        if name not in names:
            fix = f"this file holds {', '.join(f'[[{item}]]' for item in names)}"
            faults.append(RowFault(name, 0, "", "is no table of this file", fix))
