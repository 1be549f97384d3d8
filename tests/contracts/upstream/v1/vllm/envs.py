import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    VLLM_PLUGINS: str | None = None

environment_variables = {
    "VLLM_PLUGINS": lambda: os.environ.get("VLLM_PLUGINS"),
    "VLLM_USE_V2": lambda: os.environ.get("VLLM_USE_V2", "0"),
}


def __getattr__(name):
    return environment_variables[name]()
