from up.helpers import helper, unused_alias
from up.moved_out import relocated


def run(a):
    return helper(a)


def local_only(a):
    return a


def calls_local(a):
    kept = []
    for item in a:
        kept.append(local_only(item))
    return kept


def seam(batch, size):
    return batch[:size]


def seam_optional(batch):
    return batch


def seam_optional_unpassed(batch):
    return batch


def seam_required(batch):
    return batch


def seam_pair(batch):
    return batch, 1


def seam_float(batch) -> float:
    return 0.0


class Engine:
    def start(self, config):
        self.config = config
        self.ready = True

    def stop(self):
        self.ready = False

    def step(self, batch):
        return batch

    @classmethod
    def build(cls, config):
        return cls()

    def lost(self):
        return 1

    def lifted(self, a):
        total = a * 2
        self.keep(total)
        return total

    def renamed_here(self, a):
        total = a * 2
        self.keep(total)
        self.drop(total)
        return total


class Derived(Engine):
    pass
