from up.worker.base import Made


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
