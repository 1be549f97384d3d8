"""The feature matrix: cells found in tests, recipes, configuration validation and documents. Unknown stays unknown.

A cell says what the sources show, never what was measured: *implemented* has a hardware test or a recipe, *unit-only*
has unit tests, and what the code merely speaks of is *unknown*. A run on hardware alone makes a cell *validated*.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from git_afd.core.contracts.survey import Source
from git_afd.core.source.nodes import statements_in
from git_afd.core.workbook.inventory import AXES, Feature

Where = Literal["e2e", "unit", "production", "recipe", "document"]
Cells = tuple[tuple[str, str, int], ...]
"""What a text speaks of: axis, cell, line from 1."""

_CELLS: Final[tuple[tuple[str, str, str, str], ...]] = (
    # axis, cell, what must stand in a text for the pattern to fit (a word in lower case: in any case), pattern
    (
        "runner-generation",
        "runner v1",
        "model_runner_v1|NPUModelRunner|GPUModelRunner",
        r"model_runner_v1|\bNPUModelRunner\b|\bGPUModelRunner\b",
    ),
    (
        "runner-generation",
        "runner v2",
        "v2_model_runner|worker.v2.|worker/v2/",
        r"v2_model_runner|V2_MODEL_RUNNER|worker\.v2\.|worker/v2/",
    ),
    ("execution-mode", "eager", "eager", r"enforce[_-]eager|(?<![\w-])eager(?![\w-])"),
    (
        *(
            "execution-mode",
            "graph",
            "cudagraph|aclgraph|acl_graph|FULL_DECODE_ONLY|PIECEWISE|graph mode|graph_mode|graph-mode",
        ),
        r"cudagraph|aclgraph|acl_graph|FULL_DECODE_ONLY|PIECEWISE|(?<!\w)graph[ _-]mode",
    ),
    ("dbo-ubatch", "DBO", "enable_dbo|enable-dbo|DBO", r"enable[_-]dbo|(?<![A-Za-z])DBO(?![A-Za-z])"),
    ("dbo-ubatch", "uBatch", "ubatch|u-batch", r"[uU]-?[bB]atch"),
    (
        "pcp",
        "PCP",
        "prefill_context|prefill-context|PCP|pcp_size",
        r"prefill[_-]context[_-]parallel|(?<![A-Za-z])PCP(?![A-Za-z])|pcp_size",
    ),
    (
        "pcp",
        "DCP",
        "decode_context|decode-context|DCP|dcp_size",
        r"decode[_-]context[_-]parallel|(?<![A-Za-z])DCP(?![A-Za-z])",
    ),
    ("cam", "sync CAM", "camp2p|cam_p2p", r"(?i:cam_?p2p)"),
    (
        "cam",
        "async CAM",
        "camasync|cam_async|asynccam|async_cam|async cam|async-cam",
        r"(?i:cam_?async|async[_ -]?cam)",
    ),
    (
        *("gate-placement", "gate on Attention", "compute_gate_on_attention"),
        r"compute_gate_on_attention[\"']?\s*[=:]\s*[\"']?(?i:true)",
    ),
    (
        "gate-placement",
        "gate on FFN",
        "compute_gate_on_attention",
        r"compute_gate_on_attention[\"']?\s*[=:]\s*[\"']?(?i:false)",
    ),
    (
        "parallelism",
        "TP",
        "tensor_parallel|tensor-parallel|TP|--tp",
        r"tensor[_-]parallel[_-]size|(?<![A-Za-z])TP ?(?:=|size|\d)|--tp\b",
    ),
    (
        "parallelism",
        "DP",
        "data_parallel|data-parallel|DP|--dp",
        r"data[_-]parallel[_-]size|(?<![A-Za-z])DP ?(?:=|size|\d)|--dp\b",
    ),
    ("parallelism", "EP", "expert_parallel|expert-parallel|EP", r"expert[_-]parallel|(?<![A-Za-z])EP ?(?:=|size|\d)"),
    ("quantization", "W8A8", "w8a8", r"(?i:w8a8)"),
    ("quantization", "EPLB", "eplb", r"(?i:(?<![a-z])eplb)"),
    (
        "quantization",
        "force load balance",
        "force_load|force-load|force load|force_balance|force-balance|force balance",
        r"(?i:force[_ -](?:load[_ -])?balance)",
    ),
    ("speculative", "MTP", "mtp", r"(?<![A-Za-z])MTP(?![A-Za-z])|(?<![a-z])mtp(?![a-z])"),
    ("speculative", "speculative decoding", "speculative|spec_decode|spec-decode", r"(?i:speculative|spec[_-]decode)"),
)
_PATTERNS: Final = tuple((axis, cell, words.split("|"), re.compile(pattern)) for axis, cell, words, pattern in _CELLS)
_MODELS: Final = ("DeepSeek", "GLM", "Qwen", "Kimi", "Llama", "Mixtral")
_MODEL: Final = re.compile(rf"(?<![\w/.])(?:{'|'.join(_MODELS)})[-_]?[A-Z]?\d[\w.]*(?:-[A-Z][\w.]*)*")
_REFUSAL: Final = re.compile(
    r"does not support|do(?:es)? not yet|not supported|unsupported|"
    r"supports only|only supports|supports exactly|requires (?:exactly|\w+=|eager)",
    re.IGNORECASE,
)
_KEPT: Final = 12


@dataclass(slots=True)
class _Seen:
    places: dict[Where, dict[str, None]] = field(default_factory=dict)

    def note(self, where: Where, place: str) -> None:
        self.places.setdefault(where, {})[place] = None


def cells_of(texts: Mapping[str, str]) -> dict[str, Cells]:
    """Return the cells that each text speaks of, by path, as far as a path can be evidence of any."""
    return {path: tuple(_cells(text)) for path, text in texts.items() if where_of(path) is not None}


def features(
    texts: Mapping[str, str],
    refusals: Iterable[tuple[str, int, str]] = (),
    cells: Mapping[str, Cells] | None = None,
) -> tuple[Feature, ...]:
    """Return the cells that `texts` (path to content) show, an *unknown* cell for every axis without one.

    `refusals` are the messages of errors that production code raises (path, line, text): a message that refuses
    a combination makes that combination a cell of its own, *unsupported*. `cells` is what :func:`cells_of` gives,
    where it was worked out already.
    """
    seen: dict[tuple[str, str], _Seen] = {}
    known = cells or cells_of(texts)
    for path in sorted(texts):
        where = where_of(path)
        if where is not None:
            for axis, cell, line in known[path]:
                seen.setdefault((axis, cell), _Seen()).note(where, f"{path}:{line}")
    found = [_feature(axis, cell, item) for (axis, cell), item in seen.items()]
    found += list(_combinations(texts))
    found += list(_refused(refusals))
    axes = {item.axis for item in found}
    found += [Feature(f"{axis}: nothing found", axis) for axis in AXES if axis not in axes]
    return tuple(sorted({item.cell: item for item in found}.values(), key=lambda item: (_rank(item.axis), item.cell)))


def where_of(path: str) -> Where | None:
    """Say what a path can be evidence of; None for files that say nothing about features."""
    if path.startswith("tests/"):
        return ("e2e" if "e2e" in path.split("/") else "unit") if path.endswith(".py") else None
    if path.partition("/")[0] in ("recipe", "recipes", "examples"):
        return "recipe"
    if path.endswith((".md", ".rst")):
        return "document" if not path.startswith(".") else None
    return "production" if path.endswith(".py") else None


def _cells(text: str) -> Iterator[tuple[str, str, int]]:
    plain = text.lower()
    for axis, cell, words, pattern in _PATTERNS:
        told = any(word in (plain if word.islower() else text) for word in words)
        match = pattern.search(text) if told else None
        if match is not None:
            yield axis, cell, text.count("\n", 0, match.start()) + 1
    models: dict[str, int] = {}
    for match in _MODEL.finditer(text) if any(word in text for word in _MODELS) else ():
        models.setdefault(match[0].rstrip(".-"), text.count("\n", 0, match.start()) + 1)
    for name, line in models.items():
        yield "model", name, line


def _feature(axis: str, cell: str, seen: _Seen) -> Feature:
    e2e = list(seen.places.get("e2e", ()))
    tried = bool(e2e or seen.places.get("recipe"))
    status = "implemented" if tried else "unit-only" if seen.places.get("unit") else "unknown"
    order: tuple[Where, ...] = ("e2e", "recipe", "production", "unit", "document")
    evidence = [place for where in order for place in seen.places.get(where, ())]
    npu_test = e2e[0].rpartition(":")[0] if e2e else ""
    return Feature(cell, axis, tuple(evidence[:_KEPT]), npu_test=npu_test, status=status)


_TEST: Final = re.compile(r"^(?:async )?def (test_\w+)", re.MULTILINE)


def _combinations(texts: Mapping[str, str]) -> Iterator[Feature]:
    """Yield the combinations that hardware tests and recipes exercise together: two cells or more."""
    for path, text in sorted(texts.items()):
        where = where_of(path)
        if where == "e2e":
            starts = [*_TEST.finditer(text)]
            for number, match in enumerate(starts):
                end = starts[number + 1].start() if number + 1 < len(starts) else len(text)
                yield from _together(text[match.start() : end], f"{path}::{match[1]}", path, text, match.start())
        elif where == "recipe":
            yield from _together(text, path, "", text, 0)


def _together(part: str, name: str, npu_test: str, text: str, start: int) -> Iterator[Feature]:
    cells = [cell for axis, cell, _ in _cells(part) if axis != "model"]
    if len(cells) > 1:
        line = text.count("\n", 0, start) + 1
        path = name.partition("::")[0]
        yield Feature(
            f"{' + '.join(cells)} ({name})",
            evidence=(f"{path}:{line}",),
            npu_test=name if npu_test else "",
            status="implemented",
        )


def refusals(sources: Iterable[Source]) -> Iterator[tuple[str, int, str]]:
    """Yield the constant messages of the errors that modules raise: path, line, text."""
    for source in sources:
        if not _REFUSAL.search(source.text):
            continue
        for node in statements_in(source.tree.body, definitions=True):
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and node.exc.args:
                text = "".join(_constants(node.exc.args[0]))
                if text:
                    yield source.path, node.lineno, text


def _constants(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.JoinedStr):
        for part in node.values:
            yield from _constants(part) if isinstance(part, ast.Constant) else iter(("…",))
    elif isinstance(node, ast.BinOp):
        yield from _constants(node.left)
        yield from _constants(node.right)


def _refused(refusals: Iterable[tuple[str, int, str]]) -> Iterator[Feature]:
    for path, line, text in refusals:
        if _REFUSAL.search(text) and any(pattern.search(text) for *_, pattern in _PATTERNS):
            yield Feature(f"refused: {text}", evidence=(f"{path}:{line}",), status="unsupported")


def _rank(axis: str) -> int:
    return AXES.index(axis) if axis in AXES else len(AXES)
