def moves(batch, size):
    kept = batch[:size]
    for item in kept:
        store(item)
    return kept


def moves_changed(batch, size):
    kept = batch[:size]
    for item in kept:
        store(item)
    return kept


def decoy(batch, size):
    kept = batch[:size]
    for item in kept:
        store(item)
    return len(kept)


def copied_long_ago(batch):
    kept = list(batch)
    for item in kept:
        store(item)
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
    kept = set(batch)
    for item in kept:
        store(item)
    return kept


def tiny():
    return 1


def under_new_name(batch, size):
    kept = batch[size:]
    for item in reversed(kept):
        store(item)
    return kept


class Box:
    def put(self, item): ...

    def take(self): ...

    def count(self): ...


LIMIT = 3
