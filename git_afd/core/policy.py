"""The policy: what the project demands. Read from ``afd.toml`` or the built-in profile, frozen with the upgrade.

Every key is known and typed; an unknown one is a fault that names it, since a misspelt demand demands nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Final, TypeVar

from git_afd.core import shape
from git_afd.core.accuracy_rule import LOWERS, Accuracy, Bounds
from git_afd.core.command import Command, fault_of
from git_afd.core.native_cell import Cell, CellFault, LogWords, read_cells
from git_afd.core.needs import Needs, fault_in
from git_afd.core.outcome import Json
from git_afd.core.runtime_rule import CHECKS, RuntimeRule

SCHEMA: Final = 1
_T = TypeVar("_T")

_KEYS: Final = (
    *("schema", "name", "simulated", "paths", "guard", "gates", "accuracy", "skip", "stack", "commit", "host", "cell"),
    "runtime",
)
_BOUND_KEYS: Final = ("drop-points", "drop-relative", "change-points", "change-relative")
_ACCURACY_KEYS: Final = (
    *("task", "metric", "expected-size", "modes", "threshold", "threshold-guard", "lowers", "harmless", "native"),
)
_COMMAND_KEYS: Final = (
    *("name", "run", "timeout-s", "junit", "results", "mode", "env", "category", "cell", "may-be-empty"),
)


class PolicyFault(ValueError):
    """A wrong key or value; `key` is its dotted name, so that the reader can be told the line."""

    def __init__(self, key: str, text: str) -> None:
        """Keep the dotted key and say what was expected."""
        super().__init__(f"{key}: {text}")
        self.key = key


@dataclass(frozen=True, slots=True)
class Paths:
    """Globs over repository-relative paths; a path belongs to the first kind that fits (``**`` crosses folders)."""

    lessons: str
    documentation: tuple[str, ...]
    tests: tuple[str, ...]
    production: tuple[str, ...]
    must_read: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Guard:
    """One guarded value (workflow, Phase 8: never lower a threshold): where it is defined and how to find it.

    `pattern` is a regular expression with one group, matched line by line in files that fit `path`;
    `kind` is ``threshold``, ``tolerance`` or ``skip``.
    """

    name: str
    path: str
    pattern: str
    kind: str


@dataclass(frozen=True, slots=True)
class Gate:
    """What a gate runs, checks and needs. `npu` gates are BLOCKED on a host without one.

    `categories` is the order in which the commands' categories are run and shown (workflow, Phase 7).
    `cells` are the native control's servers, `words` how their logs say what ran.
    """

    commands: tuple[Command, ...] = ()
    npu: bool = False
    devices: int = 0
    categories: tuple[str, ...] = ()
    needs: Needs = field(default_factory=Needs)
    checks: tuple[str, ...] = ()
    cells: tuple[Cell, ...] = ()
    words: LogWords = field(default_factory=LogWords)

    def of_cell(self, cell: str) -> Gate:
        """Return the gate with the commands of one cell only: ``native``, or empty for those that load the plugin."""
        return replace(self, commands=tuple(command for command in self.commands if command.cell == cell))


TEARDOWN_S: Final = 90


@dataclass(frozen=True, slots=True)
class Host:
    """What a run must leave as it found it, and how many seconds it has for that after its commands ended.

    `ports` are TCP ports; releasing NPU memory takes 45 s and more (domain: NPU host evidence).
    """

    ports: tuple[int, ...] = ()
    teardown_s: int = TEARDOWN_S


@dataclass(frozen=True, slots=True)
class Skip:
    """A documented skip: the test id (glob), and the place that documents it (path and quoted text)."""

    test: str
    path: str
    quote: str


@dataclass(frozen=True, slots=True)
class CellTests:
    """Which tests exercise a cell of the feature matrix: in both ``*`` stands for anything, brackets for themselves."""

    cell: str
    test: str


@dataclass(frozen=True, slots=True)
class Policy:
    """The whole policy."""

    name: str
    paths: Paths
    guards: tuple[Guard, ...]
    gates: Mapping[str, Gate]
    accuracy: Accuracy
    skips: tuple[Skip, ...]
    dockerfiles: tuple[str, ...]
    bots: tuple[str, ...]
    simulated: bool = False
    host: Host = Host()
    cells: tuple[CellTests, ...] = ()
    runtime: RuntimeRule = field(default_factory=RuntimeRule)

    def kind_of(self, path: str) -> str:
        """Say what a repository-relative path is: lesson, documentation, test, production or other."""
        if path.startswith(self.paths.lessons.rstrip("/") + "/") and path.endswith("lessons.md"):
            return "lesson"
        table = (
            ("documentation", self.paths.documentation),
            ("test", self.paths.tests),
            ("production", self.paths.production),
        )
        return next((kind for kind, globs in table if fits(path, globs)), "other")

    def vouched(self, path: str) -> bool:
        """Say whether gates 5 to 8 vouch for this path: everything but documentation and lessons."""
        return self.kind_of(path) not in ("documentation", "lesson")


def fits(path: str, globs: Iterable[str]) -> bool:
    """Say whether `path` fits one of the globs: ``**`` crosses folders, ``*`` and ``?`` do not."""
    return any(_expression(glob).fullmatch(path) for glob in globs)


@lru_cache(maxsize=512)
def _expression(glob: str) -> re.Pattern[str]:
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", glob)
    words = {"**/": r"(?:[^/]+/)*", "**": r".*", "*": r"[^/]*", "?": r"[^/]"}
    return re.compile("".join(words.get(part) or re.escape(part) for part in parts), re.DOTALL)


def parse_policy(document: Mapping[str, Json]) -> Policy:
    """Build the policy from a parsed TOML document. Raises PolicyFault naming the first wrong key."""
    _known(document, "", _KEYS)
    if document.get("schema") != SCHEMA:
        raise PolicyFault("schema", f"{SCHEMA} was expected")
    with_key = _Reader(document, "")
    paths, accuracy = with_key.sub("paths"), with_key.sub("accuracy")
    _known(paths.body, "paths", ("production", "tests", "documentation", "lessons", "must-read"))
    _known(accuracy.body, "accuracy", _ACCURACY_KEYS)
    stack, commit, host = with_key.sub("stack"), with_key.sub("commit"), with_key.sub("host")
    _known(stack.body, "stack", ("dockerfiles",))
    _known(commit.body, "commit", ("bots",))
    _known(host.body, "host", ("ports", "teardown-s"))
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
        gates={name: _gate(with_key.sub("gates").sub(name), name, rule) for name in shape.table(document, "gates")},
        accuracy=rule,
        skips=tuple(_skip(reader) for reader in with_key.each("skip")),
        dockerfiles=stack.texts("dockerfiles"),
        bots=commit.texts("bots"),
        host=Host(host.numbers("ports"), host.number("teardown-s", TEARDOWN_S)),
        cells=tuple(_cell(reader) for reader in with_key.each("cell")),
        runtime=_runtime(with_key.sub("runtime")),
    )


def _runtime(reader: _Reader) -> RuntimeRule:
    _known(reader.body, reader.at, ("package", "entry-point-group", "entry-point"))
    usual = RuntimeRule()
    return RuntimeRule(
        reader.text("package", usual.package),
        reader.text("entry-point-group", usual.group),
        reader.text("entry-point", usual.entry),
    )


def _accuracy(reader: _Reader) -> Accuracy:
    threshold = reader.body.get("threshold")
    if not isinstance(threshold, float) or not 0 <= threshold <= 1:
        raise PolicyFault("accuracy.threshold", "a fraction from 0.0 to 1.0 was expected")
    native = reader.sub("native")
    _known(native.body, native.at, _BOUND_KEYS)
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


def _guard(reader: _Reader) -> Guard:
    _known(reader.body, reader.at, ("name", "path", "pattern", "kind"))
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


def _skip(reader: _Reader) -> Skip:
    _known(reader.body, reader.at, ("test", "path", "quote"))
    return Skip(reader.text("test"), reader.text("path"), reader.text("quote"))


def _cell(reader: _Reader) -> CellTests:
    _known(reader.body, reader.at, ("cell", "test"))
    return CellTests(reader.text("cell"), reader.text("test"))


def _gate(reader: _Reader, name: str, rule: Accuracy) -> Gate:
    if name not in ("static", "native", "basic", "accuracy"):
        raise PolicyFault(f"gates.{name}", "is no gate that runs commands")
    own = ("cell", "log") if name == "native" else ()
    _known(reader.body, reader.at, ("npu", "devices", "categories", "checks", "needs", "command", *own))
    commands = tuple(_command(item, name) for item in reader.each("command"))
    categories = reader.texts("categories")
    for place, command in enumerate(commands):
        at = f"{reader.at}.command[{place}]"
        if command.name in (other.name for other in commands[:place]):
            raise PolicyFault(f"{at}.name", f"{command.name} stands there twice")
        if categories and command.category not in categories:
            raise PolicyFault(f"{at}.category", f"one of {', '.join(categories)} was expected")
        lowers = rule.lowering(command.env) if name == "accuracy" else ()
        if lowers:
            raise PolicyFault(f"{at}.env", f"{lowers[0]} lowers what accuracy measures or demands")
    empty = next((name for name in categories if all(one.category != name for one in commands)), "")
    if empty:
        raise PolicyFault(f"{reader.at}.categories", f"{empty} has no command")
    ordered = tuple(sorted(commands, key=lambda one: categories.index(one.category))) if categories else commands
    native = _native(reader, commands) if name == "native" else ()
    devices, needs = reader.number("devices", 0), _needs(reader.sub("needs"))
    return Gate(ordered, reader.flag("npu"), devices, categories, needs, _checks(reader), *native)


def _checks(reader: _Reader) -> tuple[str, ...]:
    checks = reader.texts("checks")
    strange = next((word for word in checks if word not in CHECKS), None)
    if strange is not None:
        raise PolicyFault(f"{reader.at}.checks", f"{strange} is no check; known are {', '.join(CHECKS)}")
    return checks


def _native(reader: _Reader, commands: tuple[Command, ...]) -> tuple[tuple[Cell, ...], LogWords]:
    try:
        cells, words = read_cells(reader.body)
    except CellFault as fault:
        raise PolicyFault(f"{reader.at}.{fault.key}", str(fault)) from None
    for place, cell in enumerate(cells):
        if cell.name in (command.name for command in commands):
            raise PolicyFault(f"{reader.at}.cell[{place}].name", f"{cell.name} stands there twice")
    return cells, words


def _needs(reader: _Reader) -> Needs:
    _known(reader.body, reader.at, ("tools", "modules", "paths"))
    needs = Needs(reader.texts("tools"), reader.texts("modules"), reader.texts("paths"))
    for key, words in (("tools", needs.tools), ("modules", needs.modules), ("paths", needs.paths)):
        wrong = next(filter(None, map(fault_in, words)), "")
        if wrong:
            raise PolicyFault(f"{reader.at}.{key}", wrong)
    return needs


def _command(reader: _Reader, gate: str) -> Command:
    _known(reader.body, reader.at, _COMMAND_KEYS)
    run = reader.texts("run")
    if not run:
        raise PolicyFault(f"{reader.at}.run", "a list of arguments was expected")
    command = Command(
        reader.text("name"),
        run,
        reader.number("timeout-s", 3600),
        reader.text("junit", ""),
        reader.text("results", ""),
        reader.text("mode", ""),
        reader.text_table("env"),
        reader.text("category", ""),
        reader.text("cell", ""),
        reader.flag("may-be-empty"),
    )
    wrong = fault_of(command, gate)
    if wrong:
        raise PolicyFault(f"{reader.at}.{wrong[0]}", wrong[1])
    return command


def _known(body: Mapping[str, Json], at: str, names: tuple[str, ...]) -> None:
    for key in body:
        if key not in names:
            raise PolicyFault(f"{at}.{key}".lstrip("."), f"is not known here; known are {', '.join(names)}")


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads one table of the document and names faults by their dotted key."""

    body: Mapping[str, Json]
    at: str

    def text(self, name: str, default: str | None = None) -> str:
        return self._named(name, lambda: shape.text(self.body, name, default))

    def texts(self, name: str) -> tuple[str, ...]:
        return self._named(name, lambda: shape.texts(self.body, name))

    def text_table(self, name: str) -> dict[str, str]:
        return self._named(name, lambda: shape.text_table(self.body, name))

    def flag(self, name: str) -> bool:
        return self._named(name, lambda: shape.flag(self.body, name))

    def number(self, name: str, default: int | None = None) -> int:
        return self._named(name, lambda: shape.number(self.body, name, default))

    def numbers(self, name: str) -> tuple[int, ...]:
        return self._named(name, lambda: shape.numbers(self.body, name))

    def fraction(self, name: str) -> float | None:
        value = self.body.get(name)
        if value is not None and (not isinstance(value, float) or not 0 <= value <= 1):
            raise PolicyFault(self._key(name), "a fraction from 0.0 to 1.0 was expected")
        return value

    def sub(self, name: str) -> _Reader:
        return _Reader(self._named(name, lambda: shape.table(self.body, name)), self._key(name))

    def each(self, name: str) -> tuple[_Reader, ...]:
        items = self._named(name, lambda: shape.tables(self.body, name))
        return tuple(_Reader(item, f"{self._key(name)}[{place}]") for place, item in enumerate(items))

    def _key(self, name: str) -> str:
        return f"{self.at}.{name}".lstrip(".")

    def _named(self, name: str, read: Callable[[], _T]) -> _T:
        try:
            return read()
        except shape.ShapeFault as fault:
            raise PolicyFault(self._key(name), str(fault).partition(": ")[2]) from None
