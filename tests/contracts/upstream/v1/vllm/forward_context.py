import time
from contextlib import contextmanager
from dataclasses import dataclass

from vllm.config import VllmConfig

last_time: float = 0.0


@dataclass
class ForwardContext:
    attn_metadata: dict
    vllm_config: VllmConfig


_context: ForwardContext | None = None


def get_forward_context() -> ForwardContext:
    assert _context is not None
    return _context


def create_forward_context(attn_metadata, vllm_config: VllmConfig) -> ForwardContext:
    return ForwardContext(attn_metadata, vllm_config)


@contextmanager
def set_forward_context(attn_metadata, vllm_config: VllmConfig, num_tokens: int | None = None):
    """Keep the context."""
    global last_time
    context = create_forward_context(attn_metadata, vllm_config)
    started = time.perf_counter()
    previous = _context
    if num_tokens is not None:
        assert num_tokens > 0
    try:
        yield context
    finally:
        last_time = time.perf_counter() - started
        del previous
