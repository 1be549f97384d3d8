import os
from dataclasses import dataclass, field


@dataclass
class Config:
    size: int
    limit: int = 8
    mode: str = "fast"
    dropped: int = 0
    untouched: int = 1
    inner: "Flags" = field(default_factory=lambda: Flags())

    def describe(self):
        return self.mode

    @property
    def total(self):
        return self.size

    def turned(self):
        return self.size


@dataclass
class Flags:
    on: bool = False


@dataclass
class Point:
    x: int
    y: int


class Plain:
    def __init__(self, a, b):
        self.a = a
        self.b = b


LIMIT = 3
KEPT = 4
