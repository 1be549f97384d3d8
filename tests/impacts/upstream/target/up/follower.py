from up.core import seam_optional
from up.new_home import followed


def use(batch):
    return seam_optional(batch)
