def prepare(config):
    config.extra = 1


def later(config):
    config.other_extra = 3
