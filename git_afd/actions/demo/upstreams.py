"""The demo's two upstreams, two versions each: a toy engine and the backend that names it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_ENGINE_1 = '''\
"""A toy engine: it answers questions."""


class Engine:
    def __init__(self, model: str) -> None:
        self.model = model
        self.ready = False

    def start(self, devices: int = 1) -> None:
        self.devices = devices
        self.ready = True

    def answer(self, question: tuple[int, int]) -> int:
        left, right = question
        return left + right
'''

_ENGINE_2 = '''\
"""A toy engine: it answers questions."""


class Engine:
    def __init__(self, model: str) -> None:
        self.model = model
        self.ready = False

    def start(self, devices: int = 1, *, graph: bool = False) -> None:
        self.devices = devices
        self.graph = graph
        self.ready = True

    def answer(self, question: tuple[int, int]) -> int:
        left, right = question
        return left + right
'''


def _vllm(version: str, engine: str) -> dict[str, str]:
    return {
        "vllm/__init__.py": f'__version__ = "{version}"\n',
        "vllm/engine.py": engine,
        "pyproject.toml": f'[project]\nname = "vllm"\nversion = "{version}"\n',
    }


def _ascend(version: str, vllm: str, torch: str) -> dict[str, str]:
    return {
        "vllm_ascend/__init__.py": f'__version__ = "{version}"\n',
        "vllm_ascend/platform.py": f'"""Runs the engine on an NPU."""\n\nNAME = "ascend"\nVLLM = "{vllm}"\n',
        ".github/vllm-release-tag.commit": f"v{vllm}\n",
        "Dockerfile.a3": (
            "FROM quay.io/ascend/cann:8.5.1-a3-ubuntu22.04-py3.11\n"
            f"ARG VLLM_TAG=v{vllm}\nRUN python3 -m pip install triton-ascend==3.2.0\n"
        ),
        "pyproject.toml": (
            f'[build-system]\nrequires = ["torch=={torch}", "torch-npu=={torch}", "triton-ascend==3.2.0"]\n\n'
            f'[project]\nname = "vllm-ascend"\nversion = "{version}"\nrequires-python = ">=3.11,<3.12"\n'
        ),
        "requirements.txt": f"torch=={torch}\ntorch-npu=={torch}\ntriton-ascend==3.2.0\n",
    }


VLLM: Final[Mapping[str, Mapping[str, str]]] = {
    "v1.0.0": _vllm("1.0.0", _ENGINE_1),
    "v2.0.0": _vllm("2.0.0", _ENGINE_2),
}

VLLM_ASCEND: Final[Mapping[str, Mapping[str, str]]] = {
    "v1.0.0": _ascend("1.0.0", "1.0.0", "2.9.0"),
    "v2.0.0": _ascend("2.0.0", "2.0.0", "2.10.0"),
}
