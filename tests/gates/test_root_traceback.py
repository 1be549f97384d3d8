"""The root of a failure: the innermost cause, not what broke after it, whoever printed it and however."""

from __future__ import annotations

import pytest

from git_afd.core.evidence.root_traceback import CHARACTERS, Root, root_of


def root_in_log(text: str) -> str:
    """Return what the log alone tells: its traceback, else its end."""
    found = root_of(b"", text)
    return found.traceback or found.excerpt


def report(*cases: str) -> bytes:
    return f"<testsuites><testsuite>{''.join(cases)}</testsuite></testsuites>".encode()


CHAIN = "E   KeyError: 'dbo'\n\nThe above exception was the direct cause of the following exception:\n\nE   Died"
TEARDOWN = '<testcase name="a"><error message="failed on teardown with &quot;x&quot;">E  busy</error></testcase>'

REPORTS = [
    (report(f'<testcase name="a"><failure message="Died">{CHAIN}</failure></testcase>'), "E   KeyError: 'dbo'"),
    # the noise of a teardown stands first in the file
    (report(TEARDOWN, '<testcase name="b"><failure message="m">E  root</failure></testcase>'), "E  root"),
    (report(TEARDOWN), "E  busy"),  # better than nothing
    (report('<testcase name="a"/>'), ""),
    (b"<testsuites><tes", ""),
    (b'<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', ""),
]


@pytest.mark.parametrize(("data", "root"), REPORTS)
def test_the_root_in_a_report_is_the_innermost_cause(data: bytes, root: str) -> None:
    assert root_of(data, "").traceback == root


LOGS = [
    ("start\nTraceback (most recent call last):\n  File x\nKeyError: dbo\nstop\n", "KeyError: dbo"),
    # each line with its process, another process in between
    ("(W 1) Traceback (most recent call last):\n(W 2) hello\n(W 1)   File x\n(W 1) KeyError: dbo\n", "KeyError: dbo"),
    # two of them: the first caused the second
    (
        "Traceback (most recent call last):\n  a\nFirst: 1\nTraceback (most recent call last):\n  b\nSecond: 2",
        "First: 1",
    ),
    ("no traceback\nlast line", "last line"),
    ("", ""),
]


@pytest.mark.parametrize(("text", "last"), LOGS)
def test_the_root_in_a_log_is_its_first_traceback(text: str, last: str) -> None:
    found = root_in_log(text)
    assert found.splitlines()[-1:] == ([last] if last else [])
    assert "hello" not in found
    assert len(root_in_log(text * 5000)) <= CHARACTERS


TB = "Traceback (most recent call last):"


def log(*lines: str) -> str:
    return "\n".join(lines)


def marked(prefix: str, *lines: str) -> str:
    return "\n".join(f"{prefix}{line}" for line in lines)


ENGINE = "(EngineCore pid=12) ERROR 08-01 10:11:12 [core.py:9] "
WORKER = "(Worker_TP0 pid=34) "
STAMPED = ("2026-08-01T10:11:12.1Z ", "2026-08-01T10:11:12.2Z ", "2026-08-01T10:11:12.3Z ")

# a log, the last line of its root, what must not stand in it
MORE_LOGS = [
    # a server of several processes: the worker dies first, the engine and the API say so after it
    (
        log(
            marked(WORKER, TB, '  File "w.py"', "RuntimeError: HCCL init failed"),
            marked(ENGINE, TB, '  File "e.py"', "RuntimeError: see root cause above"),
        ),
        "RuntimeError: HCCL init failed",
        "see root cause",
    ),
    # a message of several lines stays whole when its process is known
    (marked(WORKER, TB, "  a", "RuntimeError: no", "[ERROR] EI0006: Getting socket times out", ""), "out", "zzz"),
    # lines of another process in between, also in one without a mark
    (log(TB, "  File x", "(W pid=2) hello", "KeyError: dbo"), "KeyError: dbo", "hello"),
    # chained: the first is the cause
    (log(TB, "  a", "KeyError: dbo", "", "The above exception was the direct cause of the following exception:", "")
     + "\n" + log("", TB, "  b", "RuntimeError: died"), "KeyError: dbo", "died"),
    # a group: the member, not the group
    (
        log("  + Exception Group Traceback (most recent call last):", "  |   File g", "  | ExceptionGroup: two",
            "  +-+---------------- 1 ----------------", f"    | {TB}", "    |   File m", "    | KeyError: dbo"),
        "KeyError: dbo",
        "two",
    ),
    # a destructor at the end of an interpreter
    (log("Exception ignored in: <function A.__del__>", TB, "  d", "TypeError: gone", TB, "  r", "ValueError: real"),
     "ValueError: real", "gone"),
    # warned about and survived
    (log("(E pid=1) WARNING 08-01 [x.py:1] " + TB, "(E pid=1) WARNING 08-01 [x.py:1] ImportError: triton", TB, "  r",
         "ValueError: real"), "ValueError: real", "triton"),
    # while tearing down
    (log("--- Captured stderr teardown ---", TB, "  t", "OSError: busy", "____ test_b ____", TB, "  r",
         "ValueError: real"), "ValueError: real", "busy"),
    # better than nothing
    (log("--- Captured stderr teardown ---", TB, "  t", "OSError: busy"), "OSError: busy", "zzz"),
    # every line with its own time, and colours
    ("\n".join(a + b for a, b in zip(STAMPED, (TB, "  \x1b[31mx", "\x1b[0mKeyError: dbo"), strict=True)),
     "KeyError: dbo", "2026"),
    # a line of source that speaks of tracebacks
    (log(f'    assert "{TB}" in said', "E   AssertionError: silent"), "E   AssertionError: silent", "zzz"),
    # no traceback at all
    (log("a", "Fatal Python error: Segmentation fault", "", "b"), "Fatal Python error: Segmentation fault", "zzz"),
    (log("a", "EZ9999: Inner Error!", "        TraceBack: op", "", "b"), "        TraceBack: op", "zzz"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "last", "never"), MORE_LOGS)
def test_the_root_in_a_log_is_what_came_first_and_caused_something(text: str, last: str, never: str) -> None:
    found = root_in_log(text)
    assert found.splitlines()[-1].endswith(last)
    assert never not in found


SAID = "E   AssertionError: not ready"
SYMPTOM = report(
    f'<testcase classname="t.x.TestServe" name="test_serve[a.b]"><failure message="m">{SAID}</failure></testcase>'
)
SECTION = log(
    "=== FAILURES ===",
    "____ test_other ____",
    "---- Captured stdout call ----",
    marked(WORKER, TB, "  o", "ValueError: another test"),
    "____ TestServe.test_serve[a.b] ____",
    "E   AssertionError: not ready",
    "---- Captured stdout call ----",
    "loading weights",
    marked(WORKER, TB, "  w", "RuntimeError: HCCL init failed"),
    "done",
    "---- Captured stdout teardown ----",
    marked(WORKER, TB, "  t", "OSError: busy"),
    "=== short test summary info ===",
)

ROOTS = [
    # the server of the failed test printed the cause; another test's server is not asked
    (SYMPTOM, SECTION, "RuntimeError: HCCL init failed", SAID, "loading weights"),
    # live output, not captured: a child's traceback is the cause
    (SYMPTOM, marked(WORKER, TB, "  w", "RuntimeError: live"), "RuntimeError: live", SAID, "live"),
    # live output of the test's own process is some other test's
    (SYMPTOM, log(TB, "  x", "ValueError: handled"), SAID, "", "handled"),
    # what was captured holds no traceback
    (SYMPTOM, SECTION.replace(TB, "no trace"), SAID, "", "not ready"),
    # the child's log stands in the message of the assertion
    (report(f'<testcase name="t"><failure message="m">E   AssertionError: it said\nE     {TB}\nE       File "s.py"\n'
            "E     KeyError: dbo</failure></testcase>"), "", "KeyError: dbo", "", ""),
    # no report: the log alone
    (b"", log("start", TB, "  x", "KeyError: dbo", "stop"), "KeyError: dbo", "", "start"),
    (b"", "", "", "", ""),
]  # fmt: skip


@pytest.mark.parametrize(("data", "text", "last", "raised", "around"), ROOTS)
def test_a_failed_test_is_traced_to_what_its_children_printed(
    data: bytes, text: str, last: str, raised: str, around: str
) -> None:
    found = root_of(data, text)
    assert found.traceback.splitlines()[-1:] == ([last] if last else [])
    assert found.raised == raised
    assert around in found.excerpt
    assert "OSError: busy" not in found.traceback
    long = root_of(data, text + "\nx" * 5000)
    assert max(map(len, (long.traceback, long.raised, long.excerpt))) <= CHARACTERS
    assert isinstance(found, Root)
