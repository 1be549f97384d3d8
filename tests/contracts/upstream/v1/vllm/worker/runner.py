from vllm.config import VllmConfig
from vllm.worker.mixin import LoRAMixin


class InputBatch:
    def __init__(self):
        self.num_reqs = 0


class Runner(LoRAMixin):
    supports_graph = True

    def __init__(self, vllm_config: VllmConfig, device: str = "cpu"):
        self.vllm_config = vllm_config
        self.parallel_config = vllm_config.parallel_config
        self.input_batch = InputBatch()
        self.device = device

    def execute_model(self, scheduler_output, intermediate_tensors=None):
        """Run."""
        batch = self.input_batch
        batch.num_reqs = len(scheduler_output)
        result = {}
        for number, name in enumerate(scheduler_output):
            result[name] = number
        self.log("done", result)
        return result

    def log(self, word: str, value: object) -> None:
        print(word, value)
