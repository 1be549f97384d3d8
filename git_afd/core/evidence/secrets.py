"""Keeps secrets out of what is recorded: a record travels with the ledger, wherever that is pushed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

_COMMAND_LENGTH: Final = 160
_SECRET: Final = re.compile(r"token|secret|passw|key|credential", re.IGNORECASE)
_USER: Final = re.compile(r"://[^/@\s]+@")
_SAID: Final = re.compile(
    r"((?:\w*(?:token|secret|password|credential)|api[_-]?key)[\"']?\s*[=:]\s*[\"']?|Bearer )[^\s\"',;)\]}]+",
    re.IGNORECASE,
)


def shown_command(words: Sequence[str]) -> str:
    """Return a command line as it may be recorded: one line, shortened, with no value that looks like a secret."""
    text = " ".join(" ".join(shown_words(words)).split())
    return text if len(text) <= _COMMAND_LENGTH else f"{text[: _COMMAND_LENGTH - 1]}…"


def without_secrets(text: str) -> str:
    """Return a piece of a log with what looks like the value of a secret masked."""
    return _SAID.sub(r"\1***", _USER.sub("://***@", text))


def shown_words(words: Iterable[str]) -> Iterator[str]:
    """Yield the words of a command line, what looks like a secret masked."""
    hidden = False
    for word in words:
        name, sign, _ = word.partition("=")
        if hidden and not word.startswith("-"):
            yield "***"
        elif sign and _SECRET.search(name):
            yield f"{name}=***"
        else:
            yield _USER.sub("://***@", word)
        hidden = word.startswith("-") and not sign and bool(_SECRET.search(name))
