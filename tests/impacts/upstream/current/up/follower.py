from up.core import seam_optional
from up.homes import followed


def use(batch):
    return seam_optional(batch)
