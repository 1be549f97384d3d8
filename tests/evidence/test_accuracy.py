from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from git_afd.core.accuracy_rule import Accuracy
from git_afd.core.evidence.accuracy_verdict import ResultFile, judge_accuracy
from git_afd.core.evidence.fault import EvidenceFault
from git_afd.core.evidence.lmeval import check_samples, parse_result, wilson

STRICT = "exact_match,strict-match"
RULE = Accuracy("gsm8k", STRICT, 1319, ("eager", "graph"), 0.27)


def document(hits: int = 400, effective: int = 1319, original: int = 1319, **more: Any) -> dict[str, Any]:
    """What lm-eval writes, shortened."""
    return {
        "results": {
            "gsm8k": {
                "alias": "gsm8k",
                STRICT: hits / max(effective, 1),
                "exact_match_stderr,strict-match": 0.0127,
                "exact_match,flexible-extract": 0.31,
            }
        },
        "configs": {"gsm8k": {"task": "gsm8k", "metadata": {"version": 3.0}}},
        "versions": {"gsm8k": 3.0},
        "n-shot": {"gsm8k": 5},
        "n-samples": {"gsm8k": {"original": original, "effective": effective}},
        "config": {"model": "local-completions", "limit": None, "bootstrap_iters": 100000},
        "git_hash": "abc",
        "date": 1785000000.25,
        "task_hashes": {"gsm8k": "f" * 64},
        "model_name": "DeepSeek-V2-Lite",
        **more,
    }


def result(name: str = "eager/results.json", **more: Any) -> ResultFile:
    return ResultFile(name, json.dumps(document(**more)).encode())


def limited(limit: object, effective: int, **more: Any) -> ResultFile:
    return result(hits=effective, effective=effective, config={"limit": limit}, **more)


GRAPH = result("graph/results.json", hits=401, date=1785009999.5)


def test_everything_a_report_shows_is_read() -> None:
    one = parse_result(result().data, "results.json", "gsm8k", STRICT)
    assert (one.value, one.stderr, one.original, one.effective, one.limit) == (400 / 1319, 0.0127, 1319, 1319, None)
    assert (one.date, one.model, one.task_version) == ("1785000000.25", "DeepSeek-V2-Lite", "3.0")
    assert one.task_hash == "f" * 64
    assert one.is_full(1319)


# results by mode, status, code, words that must be shown
VERDICTS: list[tuple[dict[str, ResultFile], str, str, str]] = [
    ({"eager": result(), "graph": GRAPH}, "PASS", "", ""),
    ({"eager": result()}, "BLOCKED", "mode-missing", "mode graph"),
    ({}, "BLOCKED", "mode-missing", "mode eager"),
    # the limit was unset and meant seven (U1); seven right answers of seven are above every threshold
    ({"eager": limited(7, 7), "graph": GRAPH}, "BLOCKED", "not-full", "7 of 1319 samples of gsm8k (lm-eval"),
    ({"eager": limited(0.5, 660), "graph": GRAPH}, "BLOCKED", "not-full", "660 of 1319"),  # a fraction of the set
    ({"eager": limited(1319, 1319), "graph": GRAPH}, "BLOCKED", "not-full", "limit was 1319"),  # any limit at all
    ({"eager": limited(None, 7), "graph": GRAPH}, "BLOCKED", "not-full", "only 7 were asked"),
    # an offline file with 100 rows says 100 of 100 without any limit
    ({"eager": result(hits=90, effective=100, original=100), "graph": GRAPH}, "BLOCKED", "not-full", "holds 100"),
    ({"eager": result(effective=1400, original=1400), "graph": GRAPH}, "BLOCKED", "not-full", "holds 1400"),
    ({"eager": result(hits=0, effective=0), "graph": GRAPH}, "BLOCKED", "not-full", "0 of 1319"),
    ({"eager": result(), "graph": result("graph/x.json")}, "BLOCKED", "same-run", "the same file"),  # copied
    ({"eager": result(), "graph": result("g", hits=402)}, "BLOCKED", "same-run", "of the same run"),  # same start
    ({"eager": result(hits=356), "graph": GRAPH}, "FAIL", "below-threshold", "0.2699 on 1319 samples"),
    ({"eager": result(hits=356)}, "FAIL", "below-threshold", "0.2466 to 0.2945"),  # a fact, whatever else is owed
    ({"eager": limited(7, 7), "graph": result("g", hits=3)}, "FAIL", "below-threshold", "graph: "),
    ({"eager": ResultFile("e.json", b"{"), "graph": GRAPH}, "BLOCKED", "evidence-unreadable", "e.json"),
    # a third mode that nobody asked for decides nothing when it is good, and hides nothing
    ({"eager": result(), "graph": GRAPH, "dbo": result("d", hits=1, date=3)}, "PASS", "", ""),
]  # fmt: skip


@pytest.mark.parametrize(("results", "status", "code", "words"), VERDICTS)
def test_only_full_runs_of_every_mode_above_the_threshold_pass(
    results: dict[str, ResultFile], status: str, code: str, words: str
) -> None:
    verdict = judge_accuracy(results, RULE)
    assert verdict.status == status, verdict.findings
    if code:
        assert [finding.message for finding in verdict.findings if finding.code == code and words in finding.message]


def test_a_limited_run_is_shown_as_a_diagnostic_with_its_interval() -> None:
    verdict = judge_accuracy({"eager": limited(7, 7), "graph": GRAPH}, RULE)
    assert verdict.diagnostic == ("eager",)
    assert verdict.metrics()["eager"]["full"] is False
    assert verdict.metrics()["graph"]["full"] is True


def test_the_threshold_itself_is_enough_and_a_hair_less_is_not() -> None:
    exactly = replace(RULE, threshold=400 / 1319)
    assert judge_accuracy({"eager": result(), "graph": GRAPH}, exactly).status == "PASS"
    hair = replace(RULE, threshold=400 / 1319 + 1e-12)
    assert judge_accuracy({"eager": result(), "graph": GRAPH}, hair).status == "FAIL"


def test_a_value_that_no_count_gives_is_pointed_out() -> None:
    odd = document()
    odd["results"]["gsm8k"][STRICT] = 0.3333
    verdict = judge_accuracy({"eager": ResultFile("e", json.dumps(odd).encode()), "graph": GRAPH}, RULE)
    assert [finding.code for finding in verdict.findings] == ["odd-value"]


# share, trials, low and high in percent (published values)
INTERVALS = [(2 / 7, 7, 8.22, 64.11), (0.5, 10, 23.66, 76.34), (0.0, 10, 0.0, 27.75), (1.0, 10, 72.25, 100.0)]


@pytest.mark.parametrize(("share", "size", "low", "high"), INTERVALS)
def test_the_interval_is_wilsons(share: float, size: int, low: float, high: float) -> None:
    assert tuple(round(bound * 100, 2) for bound in wilson(share, size)) == (low, high)
    assert wilson(share, 0) == (0.0, 1.0)


def without(*path: str) -> Callable[[dict[str, Any]], None]:
    def change(body: dict[str, Any]) -> None:
        for key in path[:-1]:
            body = body[key]
        del body[path[-1]]

    return change


def having(value: object, *path: str) -> Callable[[dict[str, Any]], None]:
    def change(body: dict[str, Any]) -> None:
        for key in path[:-1]:
            body = body[key]
        body[path[-1]] = value

    return change


SCORE = ("results", "gsm8k", STRICT)

# change, place and finding that are named
WRONG = [
    (having(float("nan"), *SCORE), f"results.gsm8k.{STRICT}: is nan; expected a fraction"),
    (having(float("inf"), *SCORE), "is inf"),
    (having("0.31", *SCORE), "is '0.31'"),  # text is no number
    (having(" ", *SCORE), "is ' '"),
    (having(True, *SCORE), "is True"),  # JSON's true is Python's 1
    (having(31.2, *SCORE), "is 31.2"),  # a percent where a fraction belongs
    (having(-0.01, *SCORE), "is -0.01"),
    (having(None, *SCORE), "is None"),
    (without(*SCORE), "is missing"),
    (having([], "results"), "results: is a list; expected an object"),
    (having({}, "results"), "results.gsm8k: is missing"),  # another task's file
    (having(float("nan"), "results", "gsm8k", "exact_match_stderr,strict-match"), "stderr,strict-match: is nan"),
    (without("n-samples"), "n-samples: is missing"),
    (having(1319.0, "n-samples", "gsm8k", "original"), "original: is 1319.0; expected a whole number"),
    (having("1319", "n-samples", "gsm8k", "effective"), "effective: is '1319'"),
    (having(-1, "n-samples", "gsm8k", "effective"), "effective: is -1"),
    (having(True, "n-samples", "gsm8k", "effective"), "effective: is True"),
    (without("config", "limit"), "config.limit: is missing; expected null, a number"),  # unknown is not "none"
    (having("all", "config", "limit"), "limit: is 'all'"),
    (having(float("nan"), "config", "limit"), "limit: is nan"),
    (having(False, "config", "limit"), "limit: is False"),
    (having(10**400, "config", "limit"), "limit: is a huge number"),
    (without("config"), "config: is missing"),
]


@pytest.mark.parametrize(("change", "says"), WRONG)
def test_a_value_that_cannot_be_trusted_is_named_with_its_place(
    change: Callable[[dict[str, Any]], None], says: str
) -> None:
    body = document()
    change(body)
    with pytest.raises(EvidenceFault) as fault:
        parse_result(json.dumps(body).encode(), "r.json", "gsm8k", STRICT)
    assert fault.value.message.startswith("r.json")
    assert says in fault.value.message


@pytest.mark.parametrize("word", ["N/A", None])
def test_a_missing_standard_error_is_no_fault(word: str | None) -> None:
    body = document()
    body["results"]["gsm8k"]["exact_match_stderr,strict-match"] = word
    assert parse_result(json.dumps(body).encode(), "r", "gsm8k", STRICT).stderr is None


# bytes, what is said
GARBAGE = [
    (b"", "Expecting value"),
    (b"[1]", "holds a list"),
    (b"\xff\xfe{", "codec can't decode"),  # another encoding
    (b'{"results": {"gsm8k": {"a": 1, "a": 2}}}', "a key stands there twice"),  # which one would be judged?
    (b"[" * 100_000, "nested too deeply"),
    (b'{"a": ' + b"9" * 5000 + b"}", "Exceeds the limit"),
    (result().data + result().data, "Extra data"),  # two files in one
]


@pytest.mark.parametrize(("data", "says"), GARBAGE)
def test_bytes_that_are_no_result_are_a_fault(data: bytes, says: str) -> None:
    with pytest.raises(EvidenceFault, match=says):
        parse_result(data, "r.json", "gsm8k", STRICT)


def samples(count: int = 7, hits: int = 2, filters: tuple[str, ...] = ("strict-match", "flexible-extract")) -> bytes:
    rows = [
        {"doc_id": n, "filter": f, "exact_match": float(n < hits), "doc": {}} for f in filters for n in range(count)
    ]
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


# samples file, what is said (None: agrees)
SAMPLES = [
    (samples(), None),  # one row for each question and filter: 14 rows are 7 questions
    (samples(filters=("strict-match",)), None),
    (b'{"doc_id": 0}\n' + b"".join(b'{"doc_id": %d}\n' % n for n in range(1, 7)), None),  # older: no filter, no metric
    (samples(count=6), "holds 6 questions; expected 7"),
    (samples(hits=3), "mean of exact_match,strict-match is 0.428571; expected 0.285714"),
    (samples() + samples(1), "line 15: question 0 stands there twice"),
    (samples()[:-9], "line 14: "),  # cut off
    (samples() + b"\n", "line 15: Expecting value"),
    (samples().replace(b'"doc_id": 3', b'"doc_id": "3"', 1), "doc_id: is '3'; expected a whole number"),
    (samples().replace(b"1.0", b"NaN", 1), "exact_match: is nan"),
    (b"", "holds 0 questions"),
]


@pytest.mark.parametrize(("data", "says"), SAMPLES)
def test_samples_must_agree_with_the_result(data: bytes, says: str | None) -> None:
    one = parse_result(limited(7, 7).data, "r.json", "gsm8k", STRICT)
    one = replace(one, value=2 / 7)
    if says is None:
        check_samples(data, "s.jsonl", one, STRICT)
    else:
        with pytest.raises(EvidenceFault, match=says.replace("(", r"\(")):
            check_samples(data, "s.jsonl", one, STRICT)


def test_samples_that_disagree_block_the_mode_they_belong_to() -> None:
    eager = replace(result(), samples_name="s.jsonl", samples=samples())
    verdict = judge_accuracy({"eager": eager, "graph": GRAPH}, RULE)
    assert verdict.status == "BLOCKED"
    assert "s.jsonl: holds 7 questions; expected 1319" in verdict.findings[0].message


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=120, deadline=None)
@given(
    where=st.sampled_from([SCORE, ("results",), ("n-samples", "gsm8k", "original"), ("config", "limit"), ("date",)]),
    value=json_values,
)
def test_no_value_in_any_place_raises_anything_but_the_fault(where: tuple[str, ...], value: object) -> None:
    body = document()
    having(value, *where)(body)
    verdict = judge_accuracy({"eager": ResultFile("e", json.dumps(body).encode()), "graph": GRAPH}, RULE)
    assert verdict.status != "PASS" or parse_result(json.dumps(body).encode(), "e", "gsm8k", STRICT).is_full(1319)


@settings(max_examples=120, deadline=None)
@given(data=st.binary(max_size=80), cut=st.integers(0, 9999))
def test_no_bytes_raise_anything_but_the_fault_and_no_piece_is_the_whole(data: bytes, cut: int) -> None:
    one = parse_result(result().data, "r", "gsm8k", STRICT)
    with contextlib.suppress(EvidenceFault):
        check_samples(data, "s", one, STRICT)
    for piece in (data, result().data[: cut % len(result().data)]):
        with pytest.raises(EvidenceFault):
            parse_result(piece, "r", "gsm8k", STRICT)
