class Pump:
    def __init__(self, size):
        self.size = size


class Valve:
    def __init__(self, size):
        self.size = size


def pump():
    return Pump(1)
