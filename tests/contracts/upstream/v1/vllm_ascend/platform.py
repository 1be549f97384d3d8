from vllm.config import VllmConfig


class NPUPlatform:
    device_type = "npu"

    @classmethod
    def check_and_update_config(cls, vllm_config: VllmConfig) -> None:
        vllm_config.parallel_config.enable_dbo = False
