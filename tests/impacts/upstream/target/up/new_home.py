def moves(batch, size):
    kept = batch[:size]
    for item in kept:
        store(item)
    return kept


def moves_changed(batch, size, extra):
    kept = batch[:size]
    for item in kept:
        store(item)
    note(extra)
    return kept


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


def other_body_same_name(batch):
    return nothing(like, it, at, all)


def tiny():
    return 1
