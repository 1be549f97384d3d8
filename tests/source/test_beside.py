"""Work in a second process: the same results with it and without, and nothing of it is left."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from git_afd.adapters.beside import beside, each_beside

_ROOT = Path(__file__).resolve().parents[2]


def _children() -> set[str]:
    return set(Path(f"/proc/self/task/{os.getpid()}/children").read_text().split())


@pytest.fixture(autouse=True)
def nothing_left() -> Iterator[None]:
    """Whatever a test begins here is gone after it; what others left behind is not ours to count."""
    before = _children()
    yield
    assert _children() <= before


def test_a_result_comes_once_from_another_process_where_there_is_one() -> None:
    with beside(os.getpid) as result:
        assert result() == result()


def test_work_that_fails_elsewhere_fails_here() -> None:
    def work() -> None:
        raise ValueError(os.getpid())

    with beside(work) as result, pytest.raises(ValueError, match=str(os.getpid())):
        result()


def test_what_cannot_be_passed_on_is_worked_out_here() -> None:
    with beside(lambda: [lambda: 3]) as result:
        assert result()[0]() == 3


def test_a_process_that_is_killed_is_made_good(tmp_path: Path) -> None:
    here = os.getpid()

    def work() -> str:
        if os.getpid() != here:
            (tmp_path / "begun").touch()
            os._exit(0)  # as if it had been killed: nothing was written
        return "made here"

    with beside(work) as result:
        assert result() == "made here"


def test_results_come_in_order_and_those_that_are_not_taken_are_dropped() -> None:
    def work() -> Iterator[bytes]:
        for number in range(50):
            yield bytes([number]) * 100_000  # more than any pipe holds

    with each_beside(work) as results:
        assert [data[0] for data, _ in zip(results, range(3), strict=False)] in ([0, 1, 2], [])


def test_a_third_process_takes_nothing_from_the_second() -> None:
    with each_beside(lambda: iter("abc")) as results, beside(lambda: list(results)) as stolen:
        assert stolen() == []


def test_with_other_threads_nothing_is_forked() -> None:
    stop = threading.Event()
    thread = threading.Thread(target=stop.wait)
    thread.start()
    try:
        with beside(os.getpid) as result:
            assert result() == os.getpid()
    finally:
        stop.set()
        thread.join()


def test_it_works_with_closed_standard_streams_and_says_nothing_twice() -> None:
    program = (
        "import os, sys\nfrom git_afd.adapters.beside import beside\n"
        "sys.stdout.write('once ')\nos.close(0)\nos.close(2)\n"
        "with beside(lambda: 6 * 7) as result:\n    sys.stdout.write(str(result()))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=_ROOT, stdout=subprocess.PIPE, check=True)
    assert done.stdout == b"once 42"
