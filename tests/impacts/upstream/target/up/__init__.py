from up.core import run as run_all

_LAZY = {"Lazy": "up.settings:Config"}


def __getattr__(name):
    return _LAZY[name]
