from vllm.forward_context import get_forward_context


def set_ascend_context(flash: bool):
    forward_context = get_forward_context()
    forward_context.flash_enabled = flash
