class Pump:
    def __init__(self, size, ready=False):
        self.size = size


class Valve:
    def __init__(self, size, *, kind):
        self.size = size


def pump():
    return Pump(1, ready=True)
