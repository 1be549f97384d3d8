SAME = "up.same"
OTHER = "up.another"


def find(entry_points):
    return entry_points(group="up.elsewhere")
