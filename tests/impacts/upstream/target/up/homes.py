from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from up.boxes import Box


def fresh_name(batch, size):
    kept = batch[size:]
    for item in reversed(kept):
        store(item)
    return kept
