from vllm.config import VllmConfig
from vllm.worker.runner import Runner


class EngineCore:
    def __init__(self, vllm_config: VllmConfig, executor_class: type, log_stats: bool = False):
        self.vllm_config = vllm_config
        self.runner = Runner(vllm_config)
        self.log_stats = log_stats

    def step(self, batch, *, dry: bool = False) -> tuple[dict, bool]:
        """Run one step."""
        outputs = {}
        for item in batch:
            if item in outputs:
                continue
            outputs[item] = self.runner.execute_model(item)
        if dry:
            outputs.clear()
        self.log_stats = bool(outputs)
        return outputs, not dry

    def shutdown(self) -> None:
        self.runner = None


class EngineCoreProc(EngineCore):
    def run_busy_loop(self):
        while True:
            self.step([])

    @staticmethod
    def run_engine_core(*args, dp_rank: int = 0, **kwargs):
        return EngineCoreProc(*args, **kwargs)


class DPEngineCoreProc(EngineCoreProc):
    def run_busy_loop(self):
        while self.log_stats:
            self.step([])


def launch(config: VllmConfig, count: int = 1) -> list[EngineCore]:
    return [EngineCore(config, dict) for _ in range(count)]
