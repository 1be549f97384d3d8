from up.worker.base import Made, Prepared, Stateful


def seam_pair(batch):
    return batch, 2


def seam_float(batch) -> float:
    return 0.0


class Mine:
    def shape(self):
        return 3, 4

    def warm(self) -> float:
        return 0.0

    def promised(self) -> Times:
        return Times()


class Steps(Made):
    def outer_step(self, a):
        return self.inner_step(a)

    def inner_step(self, a):
        return a


class MyPump:
    def __init__(self, size):
        self.size = size


class AnyPump:
    def __init__(self, size, **more):
        self.size = size


class Holder(Stateful):
    def prepare(self):
        self.sized = 2
        self.kept = 3

    def run(self):
        if self.pending:
            self.pending = False
        return self.sized, self.kept, self.only_read


class HalfPrepared(Prepared):
    def __init__(self, size):
        self.size = size
        self.ready = True


class OwnRun(Prepared):
    def __init__(self, size):
        self.size = size
        self.ready = True

    def run(self):
        return self.size
