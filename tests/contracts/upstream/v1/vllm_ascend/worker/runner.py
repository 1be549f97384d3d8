from vllm.worker.runner import Runner

from vllm_ascend.utils import vllm_version_is


class NPURunner(Runner):
    def __init__(self, vllm_config, device="npu"):
        super().__init__(vllm_config, device)
        self.pcp_size = 1

    def execute_model(self, scheduler_output, intermediate_tensors=None):
        return super().execute_model(scheduler_output)

    if vllm_version_is("1.0.0"):

        def old_only(self):
            return 1

    else:

        def new_only(self):
            return 2
