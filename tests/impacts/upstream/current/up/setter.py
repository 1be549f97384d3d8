def prepare(config):
    config.extra = 1
    config.lost_extra = 2
    config.other_extra = 3
    config.told_extra = 4
