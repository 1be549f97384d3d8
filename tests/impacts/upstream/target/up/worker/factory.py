def make(size, config):
    Made = config.get_made_class()
    return Made(size, ready=True)
