from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from git_afd.core.accuracy_rule import Accuracy, Bounds
from git_afd.core.evidence.accuracy_verdict import ResultFile, judge_accuracy
from git_afd.core.evidence.control import Control, difference, judge_control
from git_afd.core.evidence.fault import EvidenceFault
from git_afd.core.evidence.lmeval import Measurement, check_samples, parse_result, wilson
from git_afd.core.evidence.questions import same_questions

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
    ({"eager": result(hits=356), "graph": GRAPH}, "FAIL", "below-threshold", "26.99 % on 1319 samples"),
    ({"eager": result(hits=356)}, "FAIL", "below-threshold", "24.66 % to 29.45 %"),  # a fact, whatever else is owed
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


HASHES = ("doc_hash", "prompt_hash", "target_hash")


def hashed(count: int = 7, **odd: str) -> bytes:
    """Samples as lm-eval keeps them, with the hash of document, prompt and target; `odd` are another row 3's."""
    rows = [{"doc_id": n, "filter": "strict-match", **{name: f"{name}{n}" for name in HASHES}} for n in range(count)]
    rows[3] |= odd
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def made_of(data: bytes) -> str:
    """The task hash that lm-eval makes of its samples."""
    rows = [json.loads(line) for line in data.splitlines()]
    return hashlib.sha256("".join(row[name] for row in rows for name in HASHES).encode()).hexdigest()


def asked(data: bytes, task_hash: str = "") -> Measurement:
    one = replace(parse_result(limited(7, 7).data, "r.json", "gsm8k", STRICT), value=2 / 7, task_hash=task_hash)
    return replace(one, questions=check_samples(data, "s.jsonl", one, STRICT))


def test_samples_that_do_not_give_the_task_hash_are_a_fault() -> None:
    assert asked(hashed(), made_of(hashed())).questions
    with pytest.raises(EvidenceFault, match=r"gives the task hash \w{12}; expected \w{12} as in the result"):
        asked(hashed(prompt_hash="x"), made_of(hashed()))


SEVEN = asked(hashed())
DOCS = asked(samples().replace(b'"doc": {}', b'"doc": {"q": 1}'))

# two measurements and what proves that they asked the same
QUESTIONS = [
    (SEVEN, asked(b"".join(reversed(hashed().splitlines(keepends=True)))), "samples file"),  # whatever the order
    (SEVEN, asked(hashed(doc_hash="x")), "other"),
    (SEVEN, asked(hashed(prompt_hash="x")), "other"),  # the same question, asked in another way
    (replace(SEVEN, task_hash="f"), replace(asked(hashed(doc_hash="x")), task_hash="f"), "other"),  # a forged hash
    (DOCS, asked(samples(hits=2).replace(b'"doc": {}', b'"doc": {"q": 1}')), "samples file"),  # older: documents only
    (DOCS, asked(samples().replace(b'"doc": {}', b'"doc": {"q": 2}')), "other"),
    (SEVEN, DOCS, "unproven"),  # two forms that cannot be compared
    (replace(SEVEN, task_hash="f"), replace(DOCS, task_hash="f"), "task hash"),
    (replace(SEVEN, task_hash="f"), replace(DOCS, task_hash="e"), "other"),
    (asked(samples()), asked(samples()), "unproven"),  # rows that say a number only
]


@pytest.mark.parametrize(("one", "other", "proof"), QUESTIONS)
def test_the_same_questions_are_proven_by_hashes_or_samples_never_by_their_number(
    one: Measurement, other: Measurement, proof: str
) -> None:
    assert same_questions(one, other) == proof


def native(hits: int = 402, **more: Any) -> Control:
    """A control that was measured in both modes."""
    both = {mode: parse_result(result(hits=hits, **more).data, "n.json", "gsm8k", STRICT) for mode in RULE.modes}
    return Control("R-3", both, offered=True)


def bound(**bounds: float) -> Accuracy:
    return replace(RULE, bounds=Bounds(**bounds))


NEVER = Control()
BOTH = {"eager": result(), "graph": GRAPH}  # 400 and 401 of 1319: 30.3 %
LOW = {"eager": result(hits=370), "graph": GRAPH}  # 2.4 points, 8 % relative below a native 402

# results, rule, control, status, code, words
CONTROLS = [
    (BOTH, RULE, native(), "PASS", "", ""),
    (BOTH, RULE, NEVER, "PASS", "native-absent", "no native control was measured in mode eager and graph"),
    (BOTH, RULE, Control(offered=True, failed="R-2"), "BLOCKED", "native-absent", "run R-2 failed before"),
    (BOTH, RULE, Control(failed="R-2"), "BLOCKED", "native-absent", "names no command for it"),  # which excuses nobody
    (LOW, RULE, native(), "PASS", "", ""),  # shown, and no bound was declared
    (LOW, bound(drop_points=0.02), native(), "FAIL", "native-bound", "-2.43 points from the native control"),
    (LOW, bound(drop_points=0.03), native(), "PASS", "", ""),
    (LOW, bound(drop_relative=0.05), native(), "FAIL", "native-bound", "-7.96 % relative"),
    (LOW, bound(drop_relative=0.08), native(), "PASS", "", ""),  # relative and points are not one another
    (BOTH, bound(drop_points=0.02), native(hits=200), "PASS", "", ""),  # better is no drop
    (BOTH, bound(change_points=0.02), native(hits=200), "FAIL", "native-bound", "+15.16 points"),  # but a change
    (BOTH, bound(change_relative=0.1), native(hits=300), "FAIL", "native-bound", "+33.33 % relative"),
    (BOTH, bound(drop_points=0.02), native(hits=400 + 1), "PASS", "", ""),
    (BOTH, bound(drop_relative=0.1), native(hits=0), "BLOCKED", "native-incomparable", "the native control is 0"),
    (BOTH, bound(drop_points=0.02), NEVER, "BLOCKED", "native-absent", "no native control"),  # a bound needs one
    (BOTH, RULE, native(task_hashes={"gsm8k": "e"}), "PASS", "native-incomparable", "asked other questions"),
    (BOTH, bound(drop_points=0.9), native(task_hashes={}), "BLOCKED", "native-incomparable", "does not show"),
]


@pytest.mark.parametrize(("results", "rule", "control", "status", "code", "words"), CONTROLS)
def test_the_difference_to_the_native_control_fails_only_by_a_declared_bound(
    results: dict[str, ResultFile], rule: Accuracy, control: Control, status: str, code: str, words: str
) -> None:
    verdict = judge_accuracy(results, rule, control)
    assert verdict.status == status, verdict.findings
    assert {one.code for one in verdict.findings if words in one.message} == ({code} if code else set())


def test_a_drop_of_exactly_the_bound_is_within_it() -> None:
    both = {mode: replace(one, value=0.33, effective=100) for mode, one in native().measured.items()}
    low = {mode: replace(one, value=0.31, effective=100) for mode, one in native().measured.items()}
    control = Control("R-3", both)
    apart = {mode: found for mode, one in low.items() if (found := difference(mode, one, control))}
    assert not list(judge_control(low, apart, control, Bounds(drop_points=0.02)))
    assert len(list(judge_control(low, apart, control, Bounds(drop_points=0.0199)))) == 2


def test_points_and_relative_are_kept_apart_with_counts_and_intervals() -> None:
    said = judge_accuracy(LOW, RULE, native()).metrics()["eager"]["native"]
    assert isinstance(said, dict)
    assert round(float(said["difference_points"]), 4) == -0.0243
    assert round(float(said["difference_relative"]), 4) == -0.0796
    assert (said["run"], said["effective"], said["same_questions"]) == ("R-3", 1319, "task hash")
    assert [round(bound, 4) for bound in said["interval_95"]] == [0.2805, 0.3302]
    assert said["difference_points_95"][0] < -0.0243 < said["difference_points_95"][1]


def test_the_interval_of_a_difference_is_newcombes() -> None:
    """His example: 56 of 70 against 48 of 80."""
    one, other = (replace(SEVEN, value=hits / size, effective=size) for hits, size in ((56, 70), (48, 80)))
    found = difference("eager", one, Control("R-1", {"eager": other}))
    assert found is not None
    assert [round(value, 4) for value in (found.points, *found.interval)] == [0.2, 0.0524, 0.3339]


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
