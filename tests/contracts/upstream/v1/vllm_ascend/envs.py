import os

env_variables = {
    "VLLM_ASCEND_FUSED": lambda: bool(os.getenv("VLLM_ASCEND_FUSED")),
}


def __getattr__(name: str):
    if name in env_variables:
        return env_variables[name]()
    raise AttributeError(name)
