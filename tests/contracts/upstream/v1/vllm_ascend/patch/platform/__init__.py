import vllm_ascend.patch.platform.patch_core
