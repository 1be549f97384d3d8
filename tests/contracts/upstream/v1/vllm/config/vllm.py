from dataclasses import dataclass, field

from vllm.config.parallel import ParallelConfig


@dataclass
class VllmConfig:
    parallel_config: ParallelConfig = field(default_factory=ParallelConfig)
    workers: "dict[str, ParallelConfig]" = field(default_factory=dict)
    additional_config: dict | None = None

    def __post_init__(self):
        """Check."""
        assert self.parallel_config


def get_current_vllm_config() -> VllmConfig:
    return VllmConfig()
