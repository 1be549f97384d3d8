from up.engine_base import EngineBase
from up.helpers import helper
from up.moved_out import relocated
from up.local_home import local_only


def run(a):
    return helper(a)


def seam(batch, size):
    return batch[:size]


def seam_optional(batch, padded=False):
    return batch


def seam_optional_unpassed(batch, quiet=False):
    return batch


def seam_required(batch, stream):
    return batch


def seam_pair(batch):
    return batch, 1, None


def seam_float(batch) -> Times:
    return Times()


def calls_seams(batch):
    seam_optional(batch, padded=True)
    seam_optional_unpassed(batch)


class Engine(EngineBase):
    def start(self, config):
        self.config = config
        self.ready = False

    def stop(self, force):
        self.ready = False

    def step(self, batch):
        return batch

    @classmethod
    def build(cls, config):
        return cls()

    def renamed_away(self, a):
        total = a * 2
        self.keep(total)
        self.drop(total)
        return total


class Derived(Engine):
    pass
