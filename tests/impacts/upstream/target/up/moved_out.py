def relocated(a):
    return a


def relocated_user(a):
    return relocated(a)
