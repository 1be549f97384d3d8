from dataclasses import dataclass


@dataclass
class Config:
    size: int
    limit: int = 16
    mode: str = Field(default="fast", min_length=1)
    untouched: int = 1
    added_much_later: int = 0

    def describe(self):
        return self.mode

    def total(self):
        return self.size

    @property
    def turned(self):
        return self.size
