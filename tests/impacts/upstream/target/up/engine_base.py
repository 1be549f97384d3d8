class EngineBase:
    def lifted(self, a):
        total = a * 2
        self.keep(total)
        return total
