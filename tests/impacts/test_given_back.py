from __future__ import annotations

import pytest

from git_afd.core.impacts.returns import other_elements
from git_afd.core.impacts.signatures import spelt

# what a function was annotated to give back, what it is now, what is said
ELEMENTS = [
    ("list[dict[int, X]]", "list[dict[tuple[int, int], X]]", "holds tuple[int,int] now, was int"),
    ("Optional[list[int]]", "list[str] | None", "holds str now, was int"),
    ("dict[str, int]", "dict[str, int]", ""),
    ("dict[str, int]", "dict[str, int | None]", ""),  # wider
    ("list[int]", "Sequence[int]", ""),  # another collection
    ("list[X]", "list[Y]", ""),  # a class may be the other's base, or only have another name
    ("list[int]", "list[Any]", ""),
    ("tuple[int, int]", "tuple[int]", ""),  # another length is the shape's affair
    ("int", "str", ""),
    (None, "list[int]", ""),
    ("list[int] | dict[str, int]", "list[str] | dict[str, int]", ""),  # which of them is not known
]


@pytest.mark.parametrize(("old", "new", "told"), ELEMENTS)
def test_a_collection_of_other_things_is_seen(old: str | None, new: str, told: str) -> None:
    assert other_elements(old, new) == told


# two annotations that mean the same to whoever reads the value
SPELLINGS = [
    ("SkipValidation[int]", "int"),
    ("pydantic.SkipValidation[dict[str, int]]", "dict[str, int]"),
    ("Optional[X]", "X | None"),
    ("'X'", "X"),
]


@pytest.mark.parametrize(("one", "other"), SPELLINGS)
def test_spellings_of_an_annotation_are_the_same(one: str, other: str) -> None:
    assert spelt(one) == spelt(other)
