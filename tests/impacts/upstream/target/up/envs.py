environment_variables = {
    "UP_SAME": lambda: int(os.getenv("UP_SAME", "1")),
    "UP_DEFAULT": lambda: int(os.getenv("UP_DEFAULT", "4")),
}


def __getattr__(name):
    return environment_variables[name]()
