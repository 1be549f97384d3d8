"""A native control that went well, as raw facts and files: what the tables bend, and what other tests pass by."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from git_afd.core.command import PLACEHOLDERS
from git_afd.core.evidence.raw_run import Ended
from git_afd.core.evidence.runtime_facts import SCHEMA
from git_afd.core.evidence.served import Listener, Seen, Served, names_of
from git_afd.core.native_cell import Cell

PYTHON = "/env/bin/python"
ASKED = {
    "model": "/models/m",
    "quantization": "None",
    "topology": "tp=2 pp=1 dp=1",
    "mode": "enforce_eager=True cudagraph=NONE",
    "device": "npu",
}
ENGINE = (
    "INFO 12-01 [core.py:117] Initializing a V1 LLM engine (v{version}) with config: model='{model}', dtype=bf16, "
    "{topology}, quantization={quantization}, enforce_eager={eager}, device_config={device}, "
    "compilation_config={{'mode': <CompilationMode.NONE: 0>, 'cudagraph_mode': <CUDAGraphMode.{graph}: (0, 0)>}}"
)
"""The line in which vLLM 0.19.1 and 0.26.0 say what an engine is made of, shortened."""

USUAL = {
    "version": "0.26.0",
    "model": "/models/m",
    "topology": "tensor_parallel_size=2, pipeline_parallel_size=1, data_parallel_size=1",
    "quantization": "None",
    "eager": "True",
    "device": "npu",
    "graph": "NONE",
}


def engine(**changed: str) -> str:
    """Return the engine's line with some of it changed."""
    return ENGINE.format(**{**USUAL, **changed})


def log_of(*more: str, listed: bool = True, arguments: str = "{'port': 8000}", shown: str = "") -> bytes:
    """Return the log of a server: its usual lines (or without some), then `more`."""
    general = ["DEBUG 12-01 [__init__.py:45] Available plugins for group vllm.general_plugins:"] if listed else []
    lines = [
        "INFO 12-01 [__init__.py:45] Available plugins for group vllm.platform_plugins:",
        "INFO 12-01 [__init__.py:47] - ascend -> vllm_ascend:register",
        "INFO 12-01 [__init__.py:57] Loading plugin ascend",
        *general,
        "DEBUG 12-01 [__init__.py:47] - afd -> afd_plugin:register",
        *([f"INFO 12-01 [utils.py:233] non-default args: {arguments}"] if arguments else []),
        shown or engine(),
        *more,
    ]
    return "".join(f"\x1b[0;36m(EngineCore pid=7)\x1b[0;0m {line}\n" for line in lines).encode()


def response(**changed: Any) -> bytes:
    """Return a completion as an OpenAI-compatible server sends it; None leaves a key out."""
    body = {
        "id": "cmpl-1",
        "object": "text_completion",
        "model": "native",
        "choices": [{"index": 0, "text": " city in California", "finish_reason": "length"}],
        "usage": {"prompt_tokens": 4, "completion_tokens": 16, "total_tokens": 20},
        **changed,
    }
    return json.dumps({key: value for key, value in body.items() if value is not None}).encode()


def identity(wanted: Mapping[str, str], **changed: Any) -> bytes:
    """Return what is kept of a runtime that would import the `wanted` commits; `changed` are keys of each checkout."""
    packages = {}
    for name, commit in wanted.items():
        module = name.replace("-", "_")
        at = {"root": f"/src/{name}", "commit": commit, "dirty": [], "ignored": [], "fault": "", **changed}
        origin = f"/src/{name}/{module}/__init__.py"
        installed = {"version": "0.26.0", "place": "/site", "commit": "", "url": "", "editable": True}
        packages[name] = {"fault": "", "origin": origin, "checkout": at, "distributions": [installed]}
    said = {"python": PYTHON, "reason": "", "executable": PYTHON, "version": "3.12.1", "override": None}
    return json.dumps({"schema": SCHEMA, **said, "packages": packages}).encode()


def seen(pid: int = 7, *argv: str, folder: str = "/env/bin", **environment: str | None) -> Seen:
    """Return a process of the server; an environment of None is one that could not be read."""
    words = argv or (PYTHON, "-m", "vllm.entrypoints.cli.main", "serve", "/models/m")
    if "environment" in environment:
        return Seen(pid, words, folder, None)
    named = {"VLLM_PLUGINS": "ascend", **environment}
    return Seen(pid, words, folder, {key: value for key, value in named.items() if value is not None})


@dataclass
class Control:
    """One cell's run: how the server ended, what was seen, the log, the answer; a table row changes some of it."""

    facts: dict[str, Any] = field(default_factory=dict)
    ended: dict[str, Any] = field(default_factory=dict)
    log: bytes = field(default_factory=log_of)
    answer: bytes = field(default_factory=response)
    runtime: bytes = b""

    def served(self) -> Served:
        """Return the facts."""
        usual: dict[str, Any] = {
            "port": 8000,
            "folder": "/env/bin",
            "ready_s": 61.5,
            "listeners": (Listener("7 python", ours=True),),
            "processes": (seen(),),
            "status": 200,
            "reply_s": 0.4,
            "stopped": True,
        }
        return Served(**{**usual, **self.facts})

    def end(self, cell: Cell) -> Ended:
        """Return how the server ended."""
        argv = cell.command.filled(dict.fromkeys((*PLACEHOLDERS, "port"), PYTHON))[0]
        usual: dict[str, Any] = {"name": cell.name, "argv": argv, "exit_code": 0, "log": f"log/{cell.name}.log"}
        return Ended(**{**usual, **self.ended})

    def files(self, cell: Cell, wanted: Mapping[str, str]) -> Mapping[str, bytes]:
        """Return the cell's raw files by name; its runtime imports the `wanted` commits unless it says otherwise."""
        request = json.dumps(cell.request.body()).encode()
        parts = (self.served().as_bytes(), request, self.answer, self.runtime or identity(wanted))
        return {**dict(zip(names_of(cell.name), parts, strict=True)), f"log/{cell.name}.log": self.log}
