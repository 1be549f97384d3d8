from vllm.engine.core import launch


def start(config):
    return launch(config)
