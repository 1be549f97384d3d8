from dataclasses import dataclass


@dataclass
class ParallelConfig:
    data_parallel_size: int = 1
    enable_dbo: bool = False
    all2all_backend: str = "naive"

    @property
    def use_ubatching(self) -> bool:
        return self.enable_dbo
