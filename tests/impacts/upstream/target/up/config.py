from up.settings import Config


class Plain:
    def __init__(self, a):
        self.a = a


from dataclasses import dataclass


@dataclass
class Point:
    x: int
    y: int
    z: int


LIMIT = 5
KEPT = 4
