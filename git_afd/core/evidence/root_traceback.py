"""The first useful traceback of a failed command: the innermost cause, not what broke after it."""

from __future__ import annotations

import re
from io import BytesIO
from typing import Final

LINES: Final = 40
CHARACTERS: Final = 4000
"""How much of a traceback is kept: its end, where the error stands."""

_CHAINED: Final = re.compile(
    r"^.*(?:The above exception was the direct cause of the following exception|"
    r"During handling of the above exception, another exception occurred):.*$",
    re.MULTILINE,
)
_BEGINS: Final = "Traceback (most recent call last):"
_TEARDOWN: Final = "failed on teardown"


def root_in_report(data: bytes) -> str:
    """Return the innermost traceback of the first test that failed otherwise than on teardown; empty when none."""
    from xml.etree.ElementTree import ParseError

    from defusedxml.ElementTree import iterparse

    later = ""
    try:
        for _, element in iterparse(BytesIO(data), ("end",), forbid_dtd=True):
            if element.tag in ("failure", "error") and (element.text or "").strip():
                if not element.get("message", "").startswith(_TEARDOWN):
                    return _excerpt(element.text)
                later = later or _excerpt(element.text)
            elif element.tag == "testcase":
                element.clear()
    except (ParseError, ValueError, LookupError):  # the verdict says what is wrong with the report
        return later
    return later


def root_in_log(text: str) -> str:
    """Return the first traceback of a log, without the prefix that its lines share; else the log's last lines.

    What comes first caused what comes later; lines of other processes in between are left out.
    """
    lines = text.splitlines()
    start = next((place for place, line in enumerate(lines) if _BEGINS in line), None)
    if start is None:
        return _bounded(lines[-LINES // 2 :])
    prefix = lines[start].partition(_BEGINS)[0]
    found = [_BEGINS]
    for line in lines[start + 1 :]:
        if line.startswith(prefix):
            rest = line.removeprefix(prefix)
            found.append(rest)
            if rest and not rest[0].isspace():
                break
    return _bounded(found)


def _excerpt(text: str) -> str:
    return _bounded(_CHAINED.split(text)[0].strip("\n").splitlines())


def _bounded(lines: list[str]) -> str:
    return "\n".join(line.rstrip() for line in lines[-LINES:]).strip("\n")[-CHARACTERS:]
