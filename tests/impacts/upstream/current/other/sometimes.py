from up.core import Engine


def start(self, config): ...


Engine.start = start
