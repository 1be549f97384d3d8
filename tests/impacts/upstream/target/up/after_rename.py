def in_renamed_file(batch, more):
    kept = list(batch)
    for item in kept:
        store(item, more)
    return kept


def changed_beyond_recognition():
    return nothing(like, it)


class Carried:
    def __init__(self):
        self.load = 1

    def carry(self):
        return self.load
