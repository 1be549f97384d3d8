from abc import ABC, abstractmethod


class Base:
    def load(self, path, strict):
        return path

    def forward(self, batch):
        prepare(batch)
        return batch

    def called_with_more(self, batch, stream=None, quiet=False):
        return batch

    def narrow(self, batch):
        return batch

    def shape(self):
        return 1, 2, 3

    def warm(self) -> Times:
        return Times()

    @property
    def value(self):
        return 1

    def shutdown(self):
        self.released = True


class Made(Base):
    def __init__(self, size, ready=False, quiet=False):
        self.size = size

    def told(self, a, loud=False):
        return a

    def outer_step(self, a):
        return self.inner_step(a, 1)

    def inner_step(self, a, times):
        return a

    def planned(self, throttle=False):
        return 1


def plan(made):
    made.planned(True)


class MadeMore(Made):
    def __init__(self, size):
        super().__init__(size, quiet=True)

    def told(self, a):
        return super().told(a, loud=True)


def make_upstreams_own(size):
    return MadeQuietly(size, quiet=True)


class MadeQuietly(Base):
    def __init__(self, size, ready=False, quiet=False):
        self.size = size


class Mixed(Base):
    def use(self): ...


class Shaped(ABC):
    def size(self): ...

    @abstractmethod
    def dtype(self): ...


class Loop:
    def go(self, base):
        base.hook()
        base.forward(1)
        base.called_with_more(1, stream=2)


class Stateful(Base):
    def __init__(self):
        self.kept = 2
        self.only_read = 2


class Prepared(Base):
    given = 0

    def __init__(self, size):
        self.size = size
        self.ready = False
        self.checked = size > 1
        self.given = 1
        self.later = 2
        self.unread = 3
        self.soft = 4

    def prepare(self):
        self.later = 5

    def run(self):
        return self.checked, self.given, self.later, getattr(self, "soft", 0)


def Layer(size):
    return size
