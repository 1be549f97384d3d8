from abc import ABC, abstractmethod


class Base:
    def load(self, path):
        return path

    def forward(self, batch):
        return batch

    def called_with_more(self, batch):
        return batch

    def narrow(self, batch, extra):
        return batch

    def hook(self):
        return None

    def dead_hook(self):
        return None

    def shape(self):
        return 1, 2

    def warm(self) -> float:
        return 1.5

    def value(self):
        return 1


class Made(Base):
    def __init__(self, size):
        self.size = size

    def told(self, a):
        return a

    def outer_step(self, a):
        return self.inner_step(a)

    def inner_step(self, a):
        return a

    def planned(self):
        return 1


def plan(made):
    made.planned()


class MadeQuietly(Base):
    def __init__(self, size):
        self.size = size


class Mixin:
    pass


class Mixed(Base, Mixin):
    def use(self): ...


class Shaped(ABC):
    def size(self): ...


class Left(Base):
    def use(self): ...


class Loop:
    def go(self, base):
        base.hook()
        base.dead_hook()
        base.forward(1)


class Stateful(Base):
    def __init__(self):
        self.pending = False
        self.sized = 1
        self.kept = 1
        self.only_read = 1


class Prepared(Base):
    def __init__(self, size):
        self.size = size
        self.ready = False

    def run(self):
        return self.size


class Layer:
    def __init__(self, size):
        self.size = size
