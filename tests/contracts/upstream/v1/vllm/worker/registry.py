_TABLE = {"LazyRunner": "vllm.worker.runner:Runner"}


def __getattr__(name):
    if name in _TABLE:
        return _TABLE[name]
    raise AttributeError(name)
