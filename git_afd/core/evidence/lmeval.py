"""Reads lm-eval's result and samples files: what was measured, on how many questions, with which limit.

Full is proven by counts, never by the environment (domain: accuracy evidence). Fractions stay fractions.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Final

from git_afd.core.evidence.fault import EvidenceFault
from git_afd.core.outcome import Json

RESULT_LIMIT: Final = 32 << 20
SAMPLES_LIMIT: Final = 128 << 20
"""Largest files that are read, in bytes: a full gsm8k run has about 0.1 MB of results and 10 MB of samples."""

_HASHES: Final = ("doc_hash", "prompt_hash", "target_hash")
"""What lm-eval keeps in each row of samples of the document, the prompt made of it, and the answer wanted."""

_AGREES: Final = 1e-6
_Z95: Final = 1.959963984540054


@dataclass(frozen=True, slots=True)
class Measurement:
    """What one result file says about one task and metric.

    `value` and `stderr` are fractions 0 to 1 (`stderr` None when lm-eval had none); `original` is the size of
    the staged data set, `effective` how many questions were asked; `limit` is lm-eval's own (None, a number of
    questions, or a fraction below 1). `digest` is the SHA-256 of the file. `date`, `model`, `task_version` and
    `task_hash` are as the file has them, empty when it has none. `questions` is a digest of the questions in the
    samples file, empty when there is none.
    """

    file: str
    digest: str
    value: float
    stderr: float | None
    original: int
    effective: int
    limit: float | None
    date: str = ""
    model: str = ""
    task_version: str = ""
    task_hash: str = ""
    questions: str = ""

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % Wilson interval of `value`, as fractions."""
        return wilson(self.value, self.effective)

    def is_full(self, expected_size: int) -> bool:
        """Say whether all `expected_size` questions, and only they, were there and were asked without a limit."""
        return self.limit is None and self.original == self.effective == expected_size


def wilson(value: float, size: int, z: float = _Z95) -> tuple[float, float]:
    """Return the Wilson score interval of a share `value` (0 to 1) seen in `size` trials; all when there are none."""
    if size <= 0:
        return 0.0, 1.0
    centre = (value + z * z / (2 * size)) / (1 + z * z / size)
    half = z / (1 + z * z / size) * math.sqrt(value * (1 - value) / size + z * z / (4 * size * size))
    return max(0.0, centre - half), min(1.0, centre + half)


def parse_result(data: bytes, file: str, task: str, metric: str) -> Measurement:
    """Read a ``results*.json``; `file` is its name for messages, `metric` a key like ``exact_match,strict-match``.

    Raises EvidenceFault: no JSON, cut off, a key missing, a value that is no fraction (NaN, infinite, text),
    counts that are no whole numbers, a limit that is none of lm-eval's forms.
    """
    if len(data) > RESULT_LIMIT:
        raise EvidenceFault(file, "", f"has {len(data)} bytes", f"at most {RESULT_LIMIT}")
    reader = _Keys(file, _json(data, file, "", "lm-eval's result file, one JSON object"))
    scores = reader.sub("results").sub(task)
    counts = reader.sub("n-samples").sub(task)
    config = reader.sub("config")
    name, _, which = metric.partition(",")
    return Measurement(
        file=file,
        digest=hashlib.sha256(data).hexdigest(),
        value=scores.fraction(metric),
        stderr=scores.optional_fraction(f"{name}_stderr,{which}" if which else f"{name}_stderr"),
        original=counts.count("original"),
        effective=counts.count("effective"),
        limit=config.limit(),
        date=reader.shown("date"),
        model=reader.shown("model_name") or config.shown("model"),
        task_version=reader.shown("versions", task),
        task_hash=reader.shown("task_hashes", task),
    )


def check_samples(data: bytes, file: str, measured: Measurement, metric: str) -> str:
    """Compare a ``samples_<task>_*.jsonl`` with the result: one row for each question and filter.

    Returns what tells the questions apart from others: a digest of what was asked, empty when the rows do not say it.
    Raises EvidenceFault: a row that is no JSON (cut off), a row twice, another number of questions than the
    result's `effective`, another mean than its `value` where the rows carry the metric, or rows that do not give its
    task hash.
    """
    if len(data) > SAMPLES_LIMIT:
        raise EvidenceFault(file, "", f"has {len(data)} bytes", f"at most {SAMPLES_LIMIT}")
    rows = _rows(data, file)
    name, _, which = metric.partition(",")
    questions = len({row.count("doc_id") for row in rows})
    if questions != measured.effective:
        raise EvidenceFault(file, "", f"holds {questions} questions", f"{measured.effective} as {measured.file} says")
    scores = [row.fraction(name) for row in rows if row.shown("filter") == which and name in row.body]
    if scores and abs(sum(scores) / len(scores) - measured.value) > _AGREES:
        mean = sum(scores) / len(scores)
        raise EvidenceFault(file, "", f"the mean of {metric} is {mean:.6f}", f"{measured.value:.6f} as in the result")
    given = _task_hash(rows)
    if given and measured.task_hash and given != measured.task_hash:
        wanted = f"{measured.task_hash[:12]} as in the result"
        raise EvidenceFault(file, "", f"gives the task hash {given[:12]}", wanted)
    return _asked(rows)


def _rows(data: bytes, file: str) -> list[_Keys]:
    seen: set[tuple[str, int]] = set()
    rows: list[_Keys] = []
    for number, line in enumerate(BytesIO(data), start=1):
        where = f"line {number}"
        row = _Keys(file, _json(line, file, where, "one sample, a JSON object"), where)
        key = (row.shown("filter"), row.count("doc_id"))
        if key in seen:
            raise EvidenceFault(file, where, f"question {key[1]} stands there twice", "each once for each filter")
        seen.add(key)
        rows.append(row)
    return rows


def _task_hash(rows: Sequence[_Keys]) -> str:
    """Return the hash that lm-eval makes of its rows, in their order; empty when a row lacks one of the three parts."""
    parts = [row.shown(name) for row in rows for name in _HASHES]
    return hashlib.sha256("".join(parts).encode()).hexdigest() if parts and all(parts) else ""


def _asked(rows: Sequence[_Keys]) -> str:
    """Return a digest of the questions, whatever their order and filters: of their hashes, else of the documents."""
    for kind in (_HASHES, ("doc",)):
        asked = {(row.count("doc_id"), *(_text(row.body.get(name)) for name in kind)) for row in rows}
        if asked and all(all(texts) for _, *texts in asked):
            return f"{kind[0]}:{hashlib.sha256(json.dumps(sorted(asked)).encode()).hexdigest()}"
    return ""


def _text(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True) if value else ""


def _json(data: bytes, file: str, where: str, expected: str) -> Mapping[str, Json]:
    try:
        document = json.loads(data.decode("utf-8"), object_pairs_hook=_once)
    except json.JSONDecodeError as error:
        place = where or f"line {error.lineno} column {error.colno}"
        raise EvidenceFault(file, place, error.msg, expected) from None
    except RecursionError:
        raise EvidenceFault(file, where, "is nested too deeply", expected) from None
    except ValueError as error:  # no UTF-8, a key twice, a number with thousands of digits
        raise EvidenceFault(file, where, str(error).partition(":")[0][:200], expected) from None
    if not isinstance(document, dict):
        raise EvidenceFault(file, where, f"holds {_short(document)}", expected)
    return document


def _once(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    body = dict(pairs)
    if len(body) != len(pairs):
        raise ValueError("a key stands there twice")
    return body


class _Keys:
    """An object of the file and the path to it: each reading names what it found and what it wanted."""

    def __init__(self, file: str, body: Mapping[str, Json], at: str = "") -> None:
        self.body = body
        self._file = file
        self._at = at

    def sub(self, key: str) -> _Keys:
        value = self.body.get(key)
        if not isinstance(value, dict):
            raise self._fault(key, "an object")
        return _Keys(self._file, value, self._path(key))

    def fraction(self, key: str) -> float:
        value = self.body.get(key)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            raise self._fault(key, "a fraction from 0 to 1")
        return float(value)

    def optional_fraction(self, key: str) -> float | None:
        """Like `fraction`, but lm-eval's own ways to say that there is none are None."""
        return None if self.body.get(key, "N/A") in (None, "N/A") else self.fraction(key)

    def count(self, key: str) -> int:
        value = self.body.get(key)
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise self._fault(key, "a whole number")
        return value

    def limit(self) -> float | None:
        value = self.body.get("limit", "missing")
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < RESULT_LIMIT:
            raise self._fault("limit", "null, a number of questions or a fraction")
        return float(value)

    def shown(self, *keys: str) -> str:
        """Return a text or number for showing; empty when it is not there."""
        value: Json = self.body
        for key in keys:
            value = value.get(key) if isinstance(value, dict) else None
        return str(value)[:200] if isinstance(value, str | int | float) else ""

    def _path(self, key: str) -> str:
        return f"{self._at}.{key}" if self._at else key

    def _fault(self, key: str, expected: str) -> EvidenceFault:
        found = f"is {_short(self.body[key])}" if key in self.body else "is missing"
        return EvidenceFault(self._file, self._path(key), found, expected)


def _short(value: Json) -> str:
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    return repr(value)[:60] if not isinstance(value, int) or abs(value) < RESULT_LIMIT else "a huge number"
