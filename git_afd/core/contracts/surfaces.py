"""The high-risk surfaces that the workflow's Phase 1 names: how many contracts each holds, zeros shown."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from functools import cache
from typing import Final

from git_afd.core.contracts.model import Contract
from git_afd.core.outcome import Json


def _path(pattern: str) -> Callable[[Contract], bool]:
    expression = re.compile(pattern)

    @cache
    def fits(path: str) -> bool:
        return bool(expression.search(path))

    return lambda row: fits(row.plugin.path)


def _about(pattern: str) -> Callable[[Contract], bool]:
    """Say whether the upstream side, or the plugin's own file, is about something."""
    expression = re.compile(pattern, re.IGNORECASE)

    def fits(row: Contract) -> bool:
        place = f"{row.upstream.path} {row.upstream.symbol} {row.plugin.path}"
        return not row.plugin.path.startswith("tests/") and bool(expression.search(place))

    return fits


SURFACES: Final[tuple[tuple[str, Callable[[Contract], bool]], ...]] = (
    ("compat/patches", _path(r"(?:^|/)compat/patches/")),
    ("compat/patches/npu", _path(r"(?:^|/)compat/patches/npu/")),
    ("compat/npu", _path(r"(?:^|/)compat/npu/")),
    ("model_executor/models", _path(r"^(?!tests/).*model_executor/models/")),
    ("v1/worker/npu", _path(r"^(?!tests/).*v1/worker/npu/")),
    ("shared workers and runners", _path(r"^(?!tests/).*v1/worker/(?!npu/)")),
    ("forward context", _about(r"forward_context|ForwardContext")),
    ("attention metadata", _about(r"attention.*metadata|AttentionMetadata|attn_metadata")),
    ("graph capture", _about(r"graph")),
    ("DBO and uBatch", _about(r"ubatch|\bdbo|/dbo")),
    ("scheduler output", _about(r"SchedulerOutput|sched/output|scheduler_output")),
    ("input batch", _about(r"input_batch|InputBatch")),
    ("sampler", _about(r"sampl")),
    ("speculative decode", _about(r"spec_decode|speculative|_mtp|eagle")),
    ("device selection", _about(r"platform|device")),
    ("connectors and payloads", _path(r"^(?!tests/).*connectors/")),
    ("process topology and groups", _about(r"parallel_state|distributed|topology")),
    ("configuration validation", _about(r"config|validation")),
    ("initialization order", lambda row: row.plugin.path.endswith("/__init__.py") and "tests/" not in row.plugin.path),
    ("dependency pins", lambda row: row.kind == "pin"),
    ("tests", _path(r"^tests/")),
    ("recipes and documentation", _path(r"^(?:recipe|docs)/|\.md$")),
)


def surfaces(contracts: Iterable[Contract]) -> list[Json]:
    """Return one row per surface: its name, the number of contracts, and the numbers by kind."""
    rows = list(contracts)
    found: list[Json] = []
    for name, fits in SURFACES:
        kinds = Counter(row.kind for row in rows if fits(row))
        found.append({"surface": name, "contracts": sum(kinds.values()), "kinds": dict(sorted(kinds.items()))})
    return found
