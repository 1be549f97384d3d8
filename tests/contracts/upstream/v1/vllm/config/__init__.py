from vllm.config.parallel import ParallelConfig
from vllm.config.vllm import VllmConfig, get_current_vllm_config
