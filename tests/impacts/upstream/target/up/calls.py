"""Functions that are called: each pair of sides is one form of change."""

from contextlib import contextmanager


def same(
    a,
    b=1,
):
    """New words."""
    return a + b


def body(a):
    return a + 2


def words(a):
    log.info("new words %s", a)
    if a < 0:
        raise ValueError("new words")
    return a


def renamed_first(batch, size):
    return batch.tokens[:size] + [0]


def renamed_only(hidden, size):
    total = hidden * size
    return total


def inserted(a, first, b=0):
    return a - b


def keyword_gone(a, *, factor=1):
    return a * factor


def takes_any(a, **more):
    return a * more.get("scale", 1)


def now_required(a, stream):
    return a


def now_optional(a, stream=None):
    return a


def default(a, limit=16):
    return a[:limit]


def annotated(a: int | None) -> int:
    return a


def pair(a):
    return a, a, 1


def pair_to_object(a):
    return Result(a)


def pair_or_none(a):
    if not a:
        return None
    return a, a, 1


def plain(a):
    return a, None


def listed(a):
    yield a


async def awaited(a):
    return a


def was_async(a):
    return a


def managed(a):
    return a


@contextmanager
def managed_later(a):
    yield a


def none_now(a):
    work(a * 2)


def wrong_in_both(a):
    return a


def writes(self):
    self.total = 1


def order(self):
    second(self)
    first(self)


class Result:
    tokens: int
    cost: int


class OtherResult:
    tokens: int


def gives_result() -> OtherResult:
    return make()


if HAS_FAST_PATH:

    def guarded():
        return 1


@traced
def relies_on_decorator(a):
    return a


def renamed_meaning(hash_block_size, make):
    return make(hash_block_size)


def caller(scheduler_block_size, hash_block_size, make):
    renamed_meaning(hash_block_size, make)
    renamed_only(scheduler_block_size, 2)


def gives_on(a):
    return inner(a)


def gives_on_changed(a) -> int:
    prepare(a)
    return inner(a)


def gives_on_same(a):
    return inner_same(a)


def inner(a):
    return a, None


def inner_same(a):
    return a, a + 1


class Giver:
    def give(self):
        return self.inner()

    def inner(self):
        return 1, 2, 3


def registers(a):
    schema = torch.library.infer_schema(a)
    return schema
