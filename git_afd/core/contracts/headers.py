"""What the comments above a function, inside its beginning, and in the module's docstring say about its origin."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

_KEYS: Final = {
    "patch reason": "reason",
    "reason": "reason",
    "why": "reason",
    "patch functionality": "invariant",
    "functionality": "invariant",
    "invariant": "invariant",
    "how": "invariant",
    "signature": "signature",
    "expansion exception": "exception",
    "upstream source": "source",
    "upstream": "source",
    "source": "source",
    "commit": "source",
    "copied from": "source",
    "adapted from": "source",
    "future plan": "removal",
    "removal plan": "removal",
    "removal": "removal",
    "remove when": "removal",
}
_KEY: Final = re.compile(r"(?P<key>[A-Za-z][A-Za-z ]{2,24}?)\s*:(?!\S*:)\s*(?P<rest>.*)\Z")
_COPIED: Final = re.compile(r"\b(?:copied|adapted|taken|vendored|ported)\s+(?:\w+\s+)?from\b", re.IGNORECASE)
_PATH: Final = re.compile(r"(?<![\w/.])((?:vllm|vllm_ascend)/[\w/]+\.py)")
_SYMBOL: Final = re.compile(r"(?:``?|\s|^|\()((?:[A-Za-z_]\w*\.)+[A-Za-z_]\w*)(?:``?|\s|\.?$|\)|,|\.)")
_ID: Final = re.compile(r"[0-9a-f]{7,40}")
_REF: Final = re.compile(r"\bv?\d+\.\d+\.\d+(?:rc\d+|\.post\d+|\.dev\d+)?\b|\b(?=[0-9a-f]*\d)[0-9a-f]{7,40}\b")


@dataclass(frozen=True, slots=True)
class Header:
    """Statements by kind (reason, invariant, signature, exception, source, removal), white space folded."""

    said: Mapping[str, str]

    def __getitem__(self, kind: str) -> str:
        """Return what is said of a kind, empty for nothing."""
        return self.said.get(kind, "")


def header(lines: Sequence[str], first: int, body_first: int, docstring: str) -> Header:
    """Read the header of a function whose first line (decorators included) is `first`, its body's `body_first`.

    Comments above come first, then comments at the beginning of the body, then the docstring's sections.
    """
    above = _comments_above(lines, first)
    inside = [text for text in _comments_above(lines, body_first) if not text.upper().startswith("PATCH ")]
    said: dict[str, str] = {}
    for statements in (_statements(above), _statements(inside), _statements(docstring.splitlines())):
        for kind, text in statements.items():
            said.setdefault(kind, text)
    return Header(said)


def _comments_above(lines: Sequence[str], first: int) -> list[str]:
    found: list[str] = []
    for line in reversed(lines[: first - 1]):
        text = line.strip()
        if not text.startswith("#"):
            break
        found.append(text.lstrip("#").strip())
    return found[::-1]


def _statements(lines: Sequence[str]) -> dict[str, str]:
    """Collect ``Key: text`` statements with the lines that continue them; a sentence of copying is a source."""
    said: dict[str, list[str]] = {}
    current: list[str] | None = None
    for line in lines:
        text = line.strip()
        match = _KEY.match(text)
        kind = _KEYS.get(match["key"].strip().lower()) if match else None
        if match is not None and kind is not None:
            current = said.setdefault(kind, [])
            current.append(match["rest"])
        elif _COPIED.search(text):
            current = said.setdefault("source", [])
            current.append(text)
        elif not text:
            current = None if current is not None and any(current) else current
        elif current is not None:
            current.append(text)
    return {kind: " ".join(part for part in parts if part) for kind, parts in said.items()}


@dataclass(frozen=True, slots=True)
class Declared:
    """A stated source taken apart: path, symbol and refs; each empty where the text names none."""

    path: str
    symbols: tuple[str, ...]
    refs: tuple[str, ...]


def declared(text: str) -> Declared:
    """Take a stated source apart."""
    path = _PATH.search(text)
    rest = _PATH.sub(" ", text)
    symbols = tuple(name for name in _SYMBOL.findall(rest) if not _REF.fullmatch(name) and not name.endswith(".py"))
    return Declared(path[1] if path else "", symbols, tuple(_REF.findall(rest)))


def is_true(said: Declared, path: str, symbol: str, refs: Sequence[str]) -> bool | None:
    """Say whether a stated source is `symbol` in `path` at the current commit, which `refs` name (tag, version, id).

    None when nothing was stated that can be compared.
    """
    checks: list[bool] = []
    if said.path:
        checks.append(said.path == path)
    if said.symbols:
        last = symbol.rpartition(".")[2]
        checks.append(any(name.rpartition(".")[2] == last for name in said.symbols))
    checks += _ref_checks(said.refs, refs)
    return all(checks) if checks else None


def _ref_checks(stated: Sequence[str], known: Sequence[str]) -> Iterator[bool]:
    """Compare stated versions with the known ones; commit ids count only where no version is stated."""
    versions = [ref for ref in stated if not _ID.fullmatch(ref)]
    releases = [ref for ref in known if not _ID.fullmatch(ref)]
    if versions:
        yield from (any(_same_ref(ref, other) for other in releases) for ref in versions if releases)
    elif known:
        yield from (any(_same_ref(ref, other) for other in known) for ref in stated)


def _same_ref(stated: str, known: str) -> bool:
    if _ID.fullmatch(stated):
        return known.startswith(stated) or (len(known) >= 7 and stated.startswith(known))  # noqa: PLR2004 - short id
    return stated.lstrip("v") == known.lstrip("v")
