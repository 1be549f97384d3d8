"""A log is written while it comes, compressed, and read again as exactly the text that was printed."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from git_afd.adapters.kept_log import TAIL, LogSink, LogText, log_ends, log_text
from git_afd.core.evidence.fault import EvidenceFault
from git_afd.core.evidence.packed import unpacked

TEXT = b"".join(b"line %d \xff\x00\n" % number for number in range(5000))
NAMES = ["unit.log", "unit.log.gz"]  # as older versions kept them, and as they are kept now


def written(path: Path, text: bytes = TEXT) -> LogSink:
    with LogSink(path, None) as sink:
        for start in range(0, len(text), 1000):
            sink.take(text[start : start + 1000])
    return sink


@pytest.mark.parametrize("name", NAMES)
def test_the_text_is_what_was_printed_whatever_form_it_is_kept_in(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    sink = written(path)
    assert b"".join(log_text(name, path)) == b"".join(log_text(name, path.read_bytes())) == TEXT
    assert unpacked(name, path.read_bytes()) == TEXT
    assert (sink.size, sink.tail) == (len(TEXT), TEXT[-TAIL:])


def test_a_compressed_log_is_plain_gzip_for_everybody_else(tmp_path: Path) -> None:
    written(tmp_path / "unit.log.gz")
    assert gzip.decompress((tmp_path / "unit.log.gz").read_bytes()) == TEXT


# head, tail, what is left out
ENDS = [
    (10, 20, len(TEXT) - 30),
    (0, 20, len(TEXT) - 20),
    (10, 0, len(TEXT) - 10),
    (len(TEXT), 20, 0),  # all of it is the head
    (len(TEXT) - 5, 20, 0),  # they would overlap
    (0, 0, len(TEXT)),
]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("head", "tail", "left"), ENDS)
def test_an_excerpt_is_exact(tmp_path: Path, name: str, head: int, tail: int, left: int) -> None:
    written(tmp_path / name)
    first, out, last = log_ends(name, tmp_path / name, head=head, tail=tail)
    assert (first, out) == (TEXT[:head], left)
    assert first + TEXT[head : head + out] + last == TEXT


@pytest.mark.parametrize("name", NAMES)
def test_a_log_that_is_still_written_is_read_as_far_as_it_was_pushed(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("git_afd.adapters.kept_log._PUSH_S", 0.0)
    path = tmp_path / name
    sink = LogSink(path, None).__enter__()
    with path.open("rb") as file:
        reader = LogText(name, file)
        for part in (b"one\n", b"", b"two\n"):
            sink.take(part)
            sink.push()
            assert b"".join(reader.more()) == part
        sink.take(b"three")
        sink.__exit__()
        assert b"".join(reader.more()) == b"three"


def test_a_log_of_a_run_that_was_killed_ends_where_it_ends(tmp_path: Path) -> None:
    written(tmp_path / "a.log.gz")
    data = (tmp_path / "a.log.gz").read_bytes()[:-100]
    text = b"".join(log_text("a.log.gz", data))
    assert TEXT.startswith(text)
    assert len(text) > 1000
    with pytest.raises(EvidenceFault, match="is cut off"):  # which is not enough to judge by
        unpacked("a.log.gz", data)


# what the file holds, what is said of it
HOSTILE = [
    (b"no gzip at all", "cannot be unpacked"),
    (gzip.compress(TEXT)[:20] + b"damaged" + gzip.compress(TEXT)[27:], "cannot be unpacked"),
    (gzip.compress(TEXT)[:-6] + b"\0\0\0\0\0\0", "cannot be unpacked"),  # the checksum is another's
    (gzip.compress(bytes(20_000_000)), "unpacks to more than"),  # 20 MB in 20 KB
    (b"", "is cut off"),
]


@pytest.mark.parametrize(("data", "said"), HOSTILE)
def test_a_packed_file_that_is_none_decides_nothing(data: bytes, said: str) -> None:
    with pytest.raises(EvidenceFault, match=said):
        unpacked("collect/unit.txt.gz", data)
