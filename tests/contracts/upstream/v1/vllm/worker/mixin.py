class LoRAMixin:
    def add_lora(self, request: int) -> bool:
        return bool(request)

    def remove_lora(self, request: int) -> bool:
        return not request
