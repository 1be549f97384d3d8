"""A cell of the native control as the policy says it: a server without the plugin, one request, what must have run.

One cell is one asked configuration (workflow, Phase 6). A fallback mode is another cell with a verdict of its own; it
never stands in for the one that was asked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Final, TypeVar

from git_afd.core import shape
from git_afd.core.command import Command, fault_of
from git_afd.core.outcome import Json

_T = TypeVar("_T")

FACETS: Final = ("model", "quantization", "topology", "mode", "device")
"""What the workflow wants to know of a cell, and of what really ran."""

ENDPOINTS: Final = ("/v1/completions", "/v1/chat/completions")

PROMPT: Final = "San Francisco is a"

TEARDOWN_S: Final = 120
"""How many seconds a server may clean up before it is killed; releasing NPU memory takes 45 and more (domain)."""

NO_CELL: Final = "the policy names no server for gate native"
NO_CELL_FIX: Final = "add a [[gates.native.cell]] to afd.toml before the next freeze; git afd gate native shows one"

_RELEASE_S: Final = 90

EXAMPLE: Final = """\
[[gates.native.cell]]
name = "eager"
run = ["{python}", "-m", "vllm.entrypoints.cli.main", "serve", "/models/DeepSeek-V2-Lite",
       "--served-model-name", "native", "--host", "127.0.0.1", "--port", "{port}",
       "--tensor-parallel-size", "2", "--enable-expert-parallel", "--enforce-eager"]
env = { VLLM_LOGGING_LEVEL = "DEBUG", ASCEND_RT_VISIBLE_DEVICES = "0,1" }
request = { model = "native", prompt = "San Francisco is a", max-tokens = 16 }
[gates.native.cell.asked]
model = "/models/DeepSeek-V2-Lite"
quantization = "None"
topology = "tp=2 pp=1 dp=1"
mode = "enforce_eager=True cudagraph=NONE"
device = "npu"
"""
"""A cell for one host with two devices, as far as it can be said without knowing the host."""

AFD_CONFIGURATION: Final = re.compile(
    r"VLLM_PLUGINS=\S*\bafd\b|\bafd_plugin\b|(?:^|[\s\"'])--afd|afd[-_]config|[\"']afd[\"']\s*:|AFD\w*Connector"
)
"""What an argument or the server's own list of arguments looks like when it configures the plugin."""

_CELL: Final = ("name", "required", "run", "env", "host", "port", "ready", "request", "stop-timeout-s", "asked")
_READY: Final = ("path", "timeout-s")
_REQUEST: Final = ("endpoint", "model", "prompt", "max-tokens", "timeout-s", "expect")
_LOG: Final = ("loaded", "listed", "every", "arguments", "engine", "fallbacks", "shows")


class CellFault(ValueError):
    """A wrong key or value; `key` is its dotted name below ``gates.native``."""

    def __init__(self, key: str, text: str) -> None:
        """Keep the key and say what was expected."""
        super().__init__(text)
        self.key = key


@dataclass(frozen=True, slots=True)
class LogWords:
    """How the server's log says what ran: regular expressions, searched line by line. The defaults are vLLM's words.

    `loaded` has one group, the name of a plugin that was loaded; `listed` must be found, since without it (at a quieter
    log level) nothing is said of the general plugins; `every` says that no list of plugins was honoured. `arguments`
    has one group, what the server was told. Lines that fit `engine`, whose group is vLLM's version, hold the facets:
    `shows` has a pattern for each, whose value is its groups, a named one as ``name=value``. `fallbacks` say that
    something else ran.
    """

    loaded: str = r"Loading plugin (\S+)"
    listed: str = r"plugins for group vllm\.general_plugins"
    every: str = r"All plugins in this group will be loaded"
    arguments: str = r"non-default args: (.*)"
    engine: str = r"Initializing a V\d+ LLM engine \(v([^)]+)\)"
    fallbacks: tuple[str, ...] = (r"Overriding cudagraph_mode",)
    shows: Mapping[str, str] = field(
        default_factory=lambda: {
            "model": r"config: model='([^']*)'",
            "quantization": r"\bquantization=([^,]+),",
            "topology": r"tensor_parallel_size=(?P<tp>\d+), pipeline_parallel_size=(?P<pp>\d+), "
            r"data_parallel_size=(?P<dp>\d+)",
            "mode": r"enforce_eager=(?P<enforce_eager>\w+)(?:.*'cudagraph_mode': <CUDAGraphMode\.(?P<cudagraph>\w+))?",
            "device": r"device_config=(\w+)",
        }
    )


@dataclass(frozen=True, slots=True)
class Ready:
    """When the server is ready: GET `path` answers 200 within `timeout_s` seconds of its start."""

    path: str = "/health"
    timeout_s: int = 1800


@dataclass(frozen=True, slots=True)
class Request:
    """The one request: where it goes, what it asks, and what the text of the answer must fit (any text when empty)."""

    model: str
    prompt: str = PROMPT
    endpoint: str = ENDPOINTS[0]
    max_tokens: int = 16
    timeout_s: int = 300
    expect: str = ""

    def body(self) -> dict[str, Json]:
        """Return the JSON object to send."""
        asked: dict[str, Json] = {"prompt": self.prompt}
        if self.endpoint == ENDPOINTS[1]:
            asked = {"messages": [{"role": "user", "content": self.prompt}]}
        return {"model": self.model, **asked, "max_tokens": self.max_tokens, "temperature": 0, "stream": False}


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell; the gate passes only with every `required` one. `asked` says each facet as the log must show it.

    `command` starts the server, which must listen at `host`:`port`, where 0 is any free port, told as ``{port}``;
    `stop_timeout_s` is the time to clean up after SIGTERM.
    """

    command: Command
    request: Request
    asked: Mapping[str, str]
    port: int = 0
    host: str = "127.0.0.1"
    ready: Ready = field(default_factory=Ready)
    stop_timeout_s: int = TEARDOWN_S
    required: bool = True

    @property
    def name(self) -> str:
        """The cell's name, also that of its log."""
        return self.command.name


def read_cells(gate: Mapping[str, Json]) -> tuple[tuple[Cell, ...], LogWords]:
    """Read ``[[gates.native.cell]]`` and ``[gates.native.log]``. Raises CellFault naming the first wrong key."""
    bodies = _named("", lambda: shape.tables(gate, "cell"))
    cells = tuple(_cell(body, f"cell[{place}]") for place, body in enumerate(bodies))
    for place, cell in enumerate(cells):
        if cell.name in (other.name for other in cells[:place]):
            raise CellFault(f"cell[{place}].name", f"{cell.name} stands there twice")
        if gate.get("npu") is True and cell.stop_timeout_s <= _RELEASE_S:
            text = f"releasing NPU memory takes 45 s and more: over {_RELEASE_S} was expected"
            raise CellFault(f"cell[{place}].stop-timeout-s", text)
    if cells and not any(cell.required for cell in cells):
        raise CellFault("cell[0].required", "at least one cell must be required, else nothing is asked")
    return cells, _words(_table(gate, "log", "log", _LOG))


def _cell(body: Mapping[str, Json], at: str) -> Cell:
    _known(body, at, _CELL)
    cell = _named(at, lambda: _built(body, at))
    missing = next((name for name in FACETS if not cell.asked.get(name, "").strip()), "")
    if missing:
        raise CellFault(f"{at}.asked.{missing}", f"it must be said what is asked: {', '.join(FACETS)}")
    _known(cell.asked, f"{at}.asked", FACETS)
    wrong = fault_of(cell.command, "native", "port") or _own_fault(cell) or _configures(cell)
    if wrong:
        raise CellFault(f"{at}.{wrong[0]}", wrong[1])
    _pattern(cell.request.expect, f"{at}.request.expect", None)
    return cell


def _built(body: Mapping[str, Json], at: str) -> Cell:
    request = _table(body, "request", f"{at}.request", _REQUEST)
    ready = _table(body, "ready", f"{at}.ready", _READY)
    return Cell(
        command=Command(shape.text(body, "name"), shape.texts(body, "run"), env=shape.text_table(body, "env")),
        request=_named(f"{at}.request", lambda: _request(request)),
        asked=shape.text_table(body, "asked"),
        port=shape.number(body, "port", 0),
        host=shape.text(body, "host", "127.0.0.1"),
        ready=_named(f"{at}.ready", lambda: _ready(ready)),
        stop_timeout_s=shape.number(body, "stop-timeout-s", TEARDOWN_S),
        required=shape.flag(body, "required", default=True),
    )


def _request(body: Mapping[str, Json]) -> Request:
    return Request(
        model=shape.said(body, "model"),
        prompt=shape.text(body, "prompt", PROMPT),
        endpoint=shape.choice({"endpoint": ENDPOINTS[0], **body}, "endpoint", ENDPOINTS),
        max_tokens=shape.number(body, "max-tokens", 16),
        timeout_s=shape.number(body, "timeout-s", 300),
        expect=shape.text(body, "expect", ""),
    )


def _ready(body: Mapping[str, Json]) -> Ready:
    return Ready(shape.text(body, "path", "/health"), shape.number(body, "timeout-s", 1800))


def _own_fault(cell: Cell) -> tuple[str, str] | None:
    """Return the key of a cell that is wrong and what was expected; None when nothing is."""
    wrong = (
        ("run", "a list of arguments was expected", not cell.command.run),
        ("port", "a port up to 65535 was expected, 0 for any free one", cell.port > 65535),  # noqa: PLR2004 - TCP's range
        ("host", "a host name or address was expected", not re.fullmatch(r"[A-Za-z0-9.:_-]+", cell.host)),
        ("ready.path", "a path that starts with / was expected", not re.fullmatch(r"/[!-~]*", cell.ready.path)),
    )
    return next(((key, text) for key, text, is_wrong in wrong if is_wrong), None)


def _configures(cell: Cell) -> tuple[str, str] | None:
    """Say where a cell configures the plugin (workflow, Phase 6: without AFD)."""
    word = next((word for word in cell.command.run if AFD_CONFIGURATION.search(word)), None)
    if word:
        return "run", f"{word!r} configures AFD, and the native control runs without it"
    name = next((name for name in cell.command.env if name.startswith("AFD_")), None)
    return ("env", f"{name} configures AFD, and the native control runs without it") if name else None


def _words(body: Mapping[str, Json]) -> LogWords:
    default = LogWords()
    names = ("loaded", "listed", "every", "arguments", "engine")
    texts = {name: _named("log", partial(shape.text, body, name, getattr(default, name))) for name in names}
    fallbacks = _named("log", lambda: shape.texts({"fallbacks": default.fallbacks, **body}, "fallbacks"))
    shows = {**default.shows, **_named("log", lambda: shape.text_table(body, "shows"))}
    _known(shows, "log.shows", FACETS)
    for name, text in texts.items():
        _pattern(text, f"log.{name}", 1 if name in ("loaded", "arguments", "engine") else None)
    for place, text in enumerate(fallbacks):
        _pattern(text, f"log.fallbacks[{place}]", None)
    for name, text in shows.items():
        _pattern(text, f"log.shows.{name}", 1)
    return LogWords(**texts, fallbacks=fallbacks, shows=shows)


def _pattern(text: str, key: str, groups: int | None) -> None:
    try:
        found = re.compile(text).groups
    except re.error as error:
        raise CellFault(key, f"is no regular expression: {error}") from None
    if groups and found < groups:
        raise CellFault(key, "a group was expected: it holds what is said")


def _table(body: Mapping[str, Json], name: str, at: str, names: tuple[str, ...]) -> dict[str, Json]:
    table = _named(at.removesuffix(f".{name}"), lambda: shape.table(body, name))
    _known(table, at, names)
    return table


def _known(body: Mapping[str, Json], at: str, names: tuple[str, ...]) -> None:
    for key in body:
        if key not in names:
            raise CellFault(f"{at}.{key}", f"is not known here; known are {', '.join(names)}")


def _named(at: str, read: Callable[[], _T]) -> _T:
    try:
        return read()
    except shape.ShapeFault as fault:
        key, _, text = str(fault).partition(": ")
        raise CellFault(f"{at}.{key}".lstrip("."), text) from None
