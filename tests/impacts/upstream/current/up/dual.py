def dual(a):
    if vllm_version_is("1.0"):
        return old_way(a)
    else:
        return new_way(a)


def dual_same(a):
    if vllm_version_is("1.0"):
        return way(a)
    return other(a)
