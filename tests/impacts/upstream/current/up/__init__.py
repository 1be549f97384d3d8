from up.core import Engine, run as run_all

_LAZY = {"Lazy": "up.config:Config", "LazyGone": "up.config:Flags"}


def __getattr__(name):
    return _LAZY[name]
