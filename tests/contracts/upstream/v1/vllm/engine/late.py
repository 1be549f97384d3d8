def late(config):
    from vllm.engine.core import launch

    return launch(config)
