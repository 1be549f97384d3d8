from up.before_rename import Carried


class Carrier(Carried):
    def own(self):
        return self.load, self.dropped
