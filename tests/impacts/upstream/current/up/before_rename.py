def in_renamed_file(batch):
    kept = list(batch)
    for item in kept:
        store(item)
    return kept


def changed_beyond_recognition(batch):
    one(batch)
    two(batch)
    three(batch)


class Carried:
    def __init__(self):
        self.load = 1
        self.dropped = 1

    def carry(self):
        return self.load
