from vllm.engine.core import EngineCore


def _patched_step(self, batch, *, dry: bool = False):
    return {}, dry


EngineCore.step = _patched_step
