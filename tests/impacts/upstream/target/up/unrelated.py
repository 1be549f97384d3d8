def other_name_same_body(batch, size):
    kept = batch[:size]
    for item in kept:
        store(item)
    return len(kept)


def two_homes(batch):
    kept = tuple(batch)
    for item in kept:
        store(item)
    return kept


def followed(batch):
    kept = set(batch)
    for item in kept:
        store(item)
    return kept
