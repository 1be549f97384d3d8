import vllm_ascend.patch.worker.patch_runner
