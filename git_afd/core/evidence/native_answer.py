"""Judges the one answer of a native control: an OpenAI-compatible server's response, byte for byte as it came."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from git_afd.core.finding import Finding
from git_afd.core.native_cell import Request
from git_afd.core.outcome import Json

RESPONSE_LIMIT: Final = 4 << 20
"""A response that is larger than this is not read to its end: the policy asks for a few tokens."""

_OK: Final = 200
_SHOWN: Final = 200
_WHOLE: Final = ("stop", "length")
"""How a server says that it gave a whole answer; an aborted request has another word, at the same HTTP status."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What the response amounts to: its text, the model that it names, what else is worth recording, what is wrong."""

    text: str = ""
    model: str = ""
    about: Mapping[str, Json] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()


def judge_answer(request: Request, status: int, data: bytes, place: str) -> Answer:
    """Judge a response's status and body; `place` is the name of the artifact that holds the body."""
    if status != _OK:
        said = " ".join(data.decode(errors="replace").split())[:_SHOWN] or "nothing"
        text = f"the request was answered with HTTP {status}: {said}"
        return Answer(findings=(Finding("http-error", place, text, "read the server's log"),))
    try:
        model, words, about = _parts(data)
    except (ValueError, RecursionError, KeyError, TypeError) as error:
        text = f"the response is no completion: {str(error)[:_SHOWN]}"
        return Answer(findings=(Finding("malformed-response", place, text, "read the server's log"),))
    return Answer(words, model, about, tuple(_wrong(request, model, words, about, place)))


def _parts(data: bytes) -> tuple[str, str, Mapping[str, Json]]:
    """Return the model, the text and the rest of a response. Raises ValueError saying what was expected."""
    if len(data) > RESPONSE_LIMIT:
        raise ValueError(f"it has more than {RESPONSE_LIMIT} bytes")
    body = json.loads(data.decode("utf-8"))
    if not isinstance(body, dict) or "error" in body:
        raise ValueError(f"an object without an error was expected, not {json.dumps(body)[:_SHOWN]}")
    choices = body.get("choices")
    if not isinstance(choices, list) or len(choices) != 1 or not isinstance(choices[0], dict):
        raise ValueError("choices: a list of one object was expected")
    model, usage = body.get("model"), body.get("usage")
    if not isinstance(model, str) or not model:
        raise ValueError("model: a text was expected")
    tokens = usage.get("completion_tokens") if isinstance(usage, dict) else None
    if tokens is not None and (isinstance(tokens, bool) or not isinstance(tokens, int)):
        raise ValueError("usage.completion_tokens: a number was expected")
    return model, _text(choices[0]), {"finish_reason": choices[0].get("finish_reason"), "completion_tokens": tokens}


def _text(choice: Mapping[str, Json]) -> str:
    message = choice.get("message")
    text = message.get("content") if isinstance(message, dict) else choice.get("text")
    if text is not None and not isinstance(text, str):
        raise ValueError("choices[0]: a text was expected")
    return text or ""


def _wrong(request: Request, model: str, text: str, about: Mapping[str, Json], place: str) -> Iterator[Finding]:
    if model != request.model:
        said = f"the answer is by model {model!r}, and {request.model!r} was asked"
        yield Finding("silent-fallback", place, said, "ask for what shall run, or make it another cell")
    ended = about["finish_reason"]
    if not any(sign.isprintable() and not sign.isspace() for sign in text) or about["completion_tokens"] == 0:
        yield Finding("empty-answer", place, "the answer holds no text", "read the server's log")
    elif ended not in _WHOLE:
        said = f"the server ended the answer with {ended!r}, where {' or '.join(_WHOLE)} was expected"
        yield Finding("unexpected-answer", place, said, "read the server's log")
    elif request.expect and not re.search(request.expect, text):
        said = f"the answer {text[:80]!r} does not fit {request.expect!r}"
        yield Finding("unexpected-answer", place, said, "read the server's log")
