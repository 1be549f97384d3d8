"""Reads the whole policy from ``afd.toml`` or the built-in profile."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from git_afd.core import shape
from git_afd.core.accuracy_rule import LOWERS, Accuracy, Bounds
from git_afd.core.outcome import Json
from git_afd.core.policy import TEARDOWN_S, CellTests, Guard, Host, Paths, Policy, Skip
from git_afd.core.policy_gates import read_gate
from git_afd.core.policy_keys import PolicyFault, Reader, known
from git_afd.core.runtime_rule import RuntimeRule

SCHEMA: Final = 1

_KEYS: Final = (
    *("schema", "name", "simulated", "paths", "guard", "gates", "accuracy", "skip", "stack", "commit", "host", "cell"),
    "runtime",
)
_BOUND_KEYS: Final = ("drop-points", "drop-relative", "change-points", "change-relative")
_ACCURACY_KEYS: Final = (
    *("task", "metric", "expected-size", "modes", "threshold", "threshold-guard", "lowers", "harmless", "native"),
)


def parse_policy(document: Mapping[str, Json]) -> Policy:
    """Build the policy from a parsed TOML document. Raises PolicyFault naming the first wrong key."""
    known(document, "", _KEYS)
    if document.get("schema") != SCHEMA:
        raise PolicyFault("schema", f"{SCHEMA} was expected")
    with_key = Reader(document, "")
    paths, accuracy = with_key.sub("paths"), with_key.sub("accuracy")
    known(paths.body, "paths", ("production", "tests", "documentation", "lessons", "must-read"))
    known(accuracy.body, "accuracy", _ACCURACY_KEYS)
    stack, commit, host = with_key.sub("stack"), with_key.sub("commit"), with_key.sub("host")
    known(stack.body, "stack", ("dockerfiles",))
    known(commit.body, "commit", ("bots",))
    known(host.body, "host", ("ports", "teardown-s"))
    rule = _accuracy(accuracy)
    return Policy(
        name=with_key.text("name"),
        simulated=with_key.flag("simulated"),
        paths=Paths(
            paths.text("lessons"),
            paths.texts("documentation"),
            paths.texts("tests"),
            paths.texts("production"),
            paths.texts("must-read"),
        ),
        guards=tuple(_guard(reader) for reader in with_key.each("guard")),
        gates={name: read_gate(with_key.sub("gates").sub(name), name, rule) for name in shape.table(document, "gates")},
        accuracy=rule,
        skips=tuple(_skip(reader) for reader in with_key.each("skip")),
        dockerfiles=stack.texts("dockerfiles"),
        bots=commit.texts("bots"),
        host=Host(host.numbers("ports"), host.number("teardown-s", TEARDOWN_S)),
        cells=tuple(_cell(reader) for reader in with_key.each("cell")),
        runtime=_runtime(with_key.sub("runtime")),
    )


def _runtime(reader: Reader) -> RuntimeRule:
    known(reader.body, reader.at, ("package", "entry-point-group", "entry-point"))
    usual = RuntimeRule()
    return RuntimeRule(
        reader.text("package", usual.package),
        reader.text("entry-point-group", usual.group),
        reader.text("entry-point", usual.entry),
    )


def _accuracy(reader: Reader) -> Accuracy:
    threshold = reader.body.get("threshold")
    if not isinstance(threshold, float) or not 0 <= threshold <= 1:
        raise PolicyFault("accuracy.threshold", "a fraction from 0.0 to 1.0 was expected")
    native = reader.sub("native")
    known(native.body, native.at, _BOUND_KEYS)
    return Accuracy(
        reader.text("task"),
        reader.text("metric"),
        reader.number("expected-size"),
        reader.texts("modes"),
        threshold,
        reader.text("threshold-guard", ""),
        reader.texts("lowers") or LOWERS,
        reader.text_table("harmless"),
        Bounds(*(native.fraction(key) for key in _BOUND_KEYS)),
    )


def _guard(reader: Reader) -> Guard:
    known(reader.body, reader.at, ("name", "path", "pattern", "kind"))
    guard = Guard(reader.text("name"), reader.text("path"), reader.text("pattern"), reader.text("kind"))
    try:
        groups = re.compile(guard.pattern).groups
    except re.error as error:
        raise PolicyFault(f"{reader.at}.pattern", f"is no regular expression: {error}") from None
    if groups != 1:
        raise PolicyFault(f"{reader.at}.pattern", "exactly one group was expected")
    if guard.kind not in ("threshold", "tolerance", "skip"):
        raise PolicyFault(f"{reader.at}.kind", "threshold, tolerance or skip was expected")
    return guard


def _skip(reader: Reader) -> Skip:
    known(reader.body, reader.at, ("test", "path", "quote"))
    return Skip(reader.text("test"), reader.text("path"), reader.text("quote"))


def _cell(reader: Reader) -> CellTests:
    known(reader.body, reader.at, ("cell", "test"))
    return CellTests(reader.text("cell"), reader.text("test"))
