def vllm_version_is(version):
    return version
