def dual(a):
    if vllm_version_is("2.0"):
        return newest_way(a)
    else:
        return new_way(a)


def dual_same(a):
    if vllm_version_is("2.0"):
        return way(a)
    return elsewhere(a)
