"""Functions that are called: each pair of sides is one form of change."""

from contextlib import contextmanager


def same(a, b=1):
    """Old words."""
    # an old comment
    return a + b


def body(a):
    return a + 1


def words(a):
    log.info("old words")
    if a < 0:
        raise ValueError("old words")
    return a


def renamed_first(tokens, size):
    return tokens[:size] + [0]


def renamed_only(x, size):
    total = x * size
    return total


def inserted(a, b):
    return a - b


def keyword_gone(a, *, scale=1):
    return a * scale


def takes_any(a, *, scale=1):
    return a * scale


def now_required(a):
    return a


def now_optional(a):
    return a


def default(a, limit=8):
    return a[:limit]


def annotated(a: int) -> int:
    return a


def pair(a):
    return a, a


def pair_to_object(a):
    return a, a


def pair_or_none(a):
    if not a:
        return None
    return a, a


def plain(a):
    return a


def listed(a):
    return [a]


def awaited(a):
    return a


async def was_async(a):
    return a


@contextmanager
def managed(a):
    yield a


def managed_later(a):
    return a


def none_now(a):
    return a * 2


def wrong_in_both(a):
    return a


def writes(self):
    self.count = 1


def order(self):
    first(self)
    second(self)


class Result:
    tokens: int
    cost: int


class OtherResult:
    tokens: int


def gives_result() -> Result:
    return make()


def guarded():
    return 1


def gone(a):
    return a


def relies_on_decorator(a):
    return a


def renamed_meaning(block_size, make):
    return make(block_size)


def caller(scheduler_block_size, make):
    renamed_meaning(scheduler_block_size, make)
    renamed_only(scheduler_block_size, 2)


def gives_on(a):
    return inner(a)


def gives_on_changed(a) -> int:
    return inner(a)


def gives_on_same(a):
    return inner_same(a)


def inner(a):
    return a


def inner_same(a):
    return a, a


class Giver:
    def give(self):
        return self.inner()

    def inner(self):
        return 1, 2


def registers(a):
    schema = torch.library.infer_schema(a)
    return schema
