"""Which commits and which software stack an upgrade stands on: evidence from texts, judged without a repository.

Everything here takes texts (path -> content) and values and returns values. The order of use:

1. `plugin.wanted_paths` and `plugin.plugin_candidates`: what the plugin says about both upstreams (ranks 1 and 2);
2. `spelling.spelling` for every candidate's text: the revisions for which the caller asks git;
3. `decide.infer`: the current vLLM-Ascend first, then, with `ascend.ascend_candidates` of that revision
   (ranks 3 and 4) added, the current vLLM;
4. `pair.judge`: is (vLLM commit, vLLM-Ascend revision) a pair that the revision itself names;
5. `stack.read_stack`: Python, PyTorch, torch_npu, CANN, Triton Ascend and operator packages of the target.
"""
