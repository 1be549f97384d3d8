def helper(a):
    return a


def unused_alias(a):
    return a
