def local_only(a):
    return a


def calls_local(a):
    kept = []
    for item in a:
        kept.append(local_only(item))
    return kept
