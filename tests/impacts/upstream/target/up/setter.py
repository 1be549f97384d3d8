def prepare(config):
    config.extra = 1


def later(config):
    config.other_extra = 3


def of_another(batch):
    batch.told_extra = 4
