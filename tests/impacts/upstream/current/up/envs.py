environment_variables = {
    "UP_SAME": lambda: int(os.getenv("UP_SAME", "1")),
    "UP_DEFAULT": lambda: int(os.getenv("UP_DEFAULT", "1")),
    "UP_GONE": lambda: int(os.getenv("UP_GONE", "1")),
}


def __getattr__(name):
    return environment_variables[name]()
