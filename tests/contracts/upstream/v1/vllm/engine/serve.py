from vllm.engine.core import (
    EngineCore,
    launch,
)


def serve(config):
    return launch(config), EngineCore
