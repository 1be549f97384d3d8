"""A cell of the native control is judged from kept facts and files alone, and each thing that is wrong has a name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from kit_native import ASKED, Control, engine, identity, log_of, response, seen

from git_afd.core.command import Command
from git_afd.core.evidence.native_verdict import CellVerdict, Pair, judge_cell
from git_afd.core.evidence.served import Listener, facts_name, parse_served
from git_afd.core.native_cell import Cell, LogWords, Request

CELL = Cell(Command("eager", ("{python}", "serve")), Request("native"), ASKED)
WANTED = {"vllm": "a" * 40, "vllm-ascend": "b" * 40}
OURS = Listener("7 python", ours=True)


def judged(control: Control, cell: Cell = CELL) -> CellVerdict:
    return judge_cell(cell, LogWords(), Pair(WANTED), control.end(cell), control.files(cell, WANTED))


def codes(verdict: CellVerdict) -> list[str]:
    return [finding.code for finding in verdict.findings]


def test_a_request_that_was_served_natively_passes_and_everything_the_workflow_names_is_recorded() -> None:
    verdict = judged(Control())
    assert (verdict.status, verdict.findings) == ("PASS", ())
    shown = {
        name: value for name, value in verdict.facts.items() if name not in ("asked", "argv", "environment", "runtime")
    }
    runtime = verdict.facts["runtime"]
    assert isinstance(runtime, dict)
    assert (runtime["status"], runtime["version"]) == ("PASS", "3.12.1")
    assert shown == {
        "required": True,
        "ran": {name: [value] for name, value in ASKED.items()},
        "version": ["0.26.0"],
        "plugins": ["ascend"],
        "ready_s": 61.5,
        "reply_s": 0.4,
        "prompt": "San Francisco is a",
        "model": "native",
        "text": " city in California",
        "finish_reason": "length",
        "completion_tokens": 16,
    }


AFD_JSON = '{"afd":{"role":"attention"}}'
ENDED = {"exit_code": 1}
NEVER = {"ready_s": None, "status": None, "listeners": (), "waiting": "GET /health: Connection refused"}

# what is changed, the verdict, the code, a word of the message
WRONG: list[tuple[dict[str, Any], str, str, str]] = [
    # the plugin is there: in the log, by an unset or another VLLM_PLUGINS, by a wrapper's own environment
    ({"log": log_of("DEBUG Loading plugin afd")}, "FAIL", "plugin-loaded", "plugin afd was loaded"),
    ({"log": log_of("DEBUG All plugins in this group will be loaded.")}, "FAIL", "plugin-loaded", "every plugin"),
    ({"log": log_of("DEBUG Loading plugin my_afd")}, "FAIL", "plugin-loaded", "my_afd"),  # under another name
    ({"facts": {"processes": (seen(), seen(8, VLLM_PLUGINS="ascend,afd"))}}, "FAIL", "plugin-loaded", "process 8"),
    ({"facts": {"processes": (seen(VLLM_PLUGINS="ascend, afd"),)}}, "FAIL", "plugin-loaded", "ascend, afd"),
    ({"facts": {"processes": (seen(VLLM_PLUGINS=None),)}}, "FAIL", "plugin-loaded", "no VLLM_PLUGINS"),
    # its configuration is: among the arguments of any process, in its own variables, in a file that the log shows
    (
        {"facts": {"processes": (seen(7, "vllm", "--additional-config", AFD_JSON), seen())}},
        "FAIL",
        "afd-configured",
        "7",
    ),
    ({"facts": {"processes": (seen(), seen(9, "env", "VLLM_PLUGINS=ascend,afd"))}}, "FAIL", "afd-configured", "9"),
    ({"facts": {"processes": (seen(AFD_CONNECTOR="x"),)}}, "FAIL", "afd-configured", "AFD_CONNECTOR"),
    ({"log": log_of(arguments="{'additional_config': {'afd': {}}}")}, "FAIL", "afd-configured", "arguments"),
    ({"log": log_of(arguments="{'kv': 'AFDDecodeBenchConnector'}")}, "FAIL", "afd-configured", "arguments"),
    # and what nobody can know blocks
    ({"log": log_of(listed=False)}, "BLOCKED", "plugins-unknown", "general plugins"),  # a quieter log level
    ({"log": log_of(arguments="")}, "BLOCKED", "arguments-unknown", "arguments"),
    ({"facts": {"processes": (seen(environment=None),)}}, "BLOCKED", "environment-unknown", "never seen"),
    ({"facts": {"processes": ()}}, "BLOCKED", "environment-unknown", "never seen"),
    ({"facts": {"more": 3}}, "BLOCKED", "environment-unknown", "3 more"),
    # another interpreter than the one whose identity is proven; the same one with another path
    ({"facts": {"processes": (seen(folder="/other/bin"),)}}, "BLOCKED", "runtime-foreign", "/other/bin"),
    ({"facts": {"processes": (seen(PYTHONPATH="/x"),)}}, "BLOCKED", "runtime-foreign", "PYTHONPATH=/x"),
    # another commit, or one that nobody can tell
    ({"runtime": identity({**WANTED, "vllm": "c" * 40})}, "FAIL", "runtime-other", "at commit cccccccccccc"),
    ({"runtime": identity(WANTED, dirty=["vllm/x.py (changed)"])}, "FAIL", "runtime-other", "not its commit"),
    ({"runtime": identity(WANTED, commit="")}, "BLOCKED", "runtime-unknown", "cannot be told"),
    ({"runtime": identity({})}, "BLOCKED", "runtime-unknown", "says nothing of vllm"),
    # readiness
    ({"facts": NEVER}, "FAIL", "never-ready", "Connection refused"),
    ({"facts": {**NEVER, "stopped": False}, "ended": ENDED}, "FAIL", "died-before-ready", "exit code 1"),
    (
        {"facts": {**NEVER, "stopped": False}, "ended": {"exit_code": None, "signal": 9}},
        "FAIL",
        "died-before-ready",
        "9",
    ),
    # whoever answered
    ({"facts": {"occupied": ("12 python",)}}, "BLOCKED", "port-in-use", "12 python"),
    ({"facts": {"listeners": (OURS, Listener("99 nginx", ours=False))}}, "FAIL", "answered-by-another", "99 nginx"),
    ({"facts": {"listeners": ()}}, "FAIL", "answered-by-another", "nobody"),
    # the answer
    ({"facts": {"status": None, "fault": "Connection reset by peer"}}, "FAIL", "no-answer", "reset"),
    ({"facts": {"status": 500}, "answer": b"engine  dead"}, "FAIL", "http-error", "HTTP 500: engine dead"),
    ({"facts": {"status": 307}, "answer": b""}, "FAIL", "http-error", "HTTP 307"),  # a redirect is not followed
    ({"answer": b""}, "FAIL", "malformed-response", ""),
    ({"answer": b"<html>"}, "FAIL", "malformed-response", ""),
    ({"answer": b"\xff\xfe"}, "FAIL", "malformed-response", ""),
    ({"answer": b"[" * 100_000}, "FAIL", "malformed-response", ""),
    ({"answer": b"[]"}, "FAIL", "malformed-response", "object"),
    ({"answer": b" " * (5 << 20)}, "FAIL", "malformed-response", "more than"),
    ({"answer": response(error={"message": "no"})}, "FAIL", "malformed-response", "error"),
    ({"answer": response(choices=None)}, "FAIL", "malformed-response", "choices"),
    ({"answer": response(choices=[])}, "FAIL", "malformed-response", "choices"),
    ({"answer": response(choices=[{"text": 7}])}, "FAIL", "malformed-response", "text"),
    ({"answer": response(model=None)}, "FAIL", "malformed-response", "model"),
    ({"answer": response(usage={"completion_tokens": "9"})}, "FAIL", "malformed-response", "completion_tokens"),
    ({"answer": response(choices=[{"text": " \n"}])}, "FAIL", "empty-answer", "no text"),
    ({"answer": response(choices=[{"text": "\0\u200b"}])}, "FAIL", "empty-answer", "no text"),  # nothing to be seen
    ({"answer": response(choices=[{"text": "5", "finish_reason": "abort"}])}, "FAIL", "unexpected-answer", "'abort'"),
    ({"answer": response(choices=[{"text": "5"}])}, "FAIL", "unexpected-answer", "None"),  # nobody says it is whole
    ({"answer": response(choices=[{"message": {"content": None}}])}, "FAIL", "empty-answer", "no text"),
    ({"answer": response(usage={"completion_tokens": 0})}, "FAIL", "empty-answer", "no text"),
    # what ran is not what was asked
    ({"answer": response(model="other")}, "FAIL", "silent-fallback", "by model 'other'"),
    ({"log": log_of(shown=engine(model="/models/small"))}, "FAIL", "silent-fallback", "model: '/models/m' was asked"),
    ({"log": log_of(shown=engine(quantization="ascend"))}, "FAIL", "silent-fallback", "quantization"),
    ({"log": log_of(engine())}, "PASS", "", ""),  # two engines, and both say the same
    ({"log": log_of(shown=engine().replace("size=2", "size=1"))}, "FAIL", "silent-fallback", "topology"),
    ({"log": log_of(shown=engine(eager="False", graph="PIECEWISE"))}, "FAIL", "silent-fallback", "mode"),
    ({"log": log_of(shown=engine(graph="FULL"))}, "FAIL", "silent-fallback", "cudagraph=FULL"),
    ({"log": log_of(shown=engine(device="cpu"))}, "FAIL", "silent-fallback", "device"),
    ({"log": log_of(engine(quantization="fp8"))}, "FAIL", "silent-fallback", "fp8"),  # one engine of several
    ({"log": log_of("WARNING Overriding cudagraph_mode to PIECEWISE.")}, "FAIL", "silent-fallback", "PIECEWISE"),
    ({"log": log_of(shown="INFO ready")}, "BLOCKED", "fallback-unknown", "does not say what ran"),
    # the end
    ({"facts": {"stopped": False}, "ended": ENDED}, "FAIL", "server-died", "exit code 1"),
    ({"facts": {"killed": ("8 python",)}}, "FAIL", "process-left", "8 python"),
    ({"facts": {"left": ("8 python",)}}, "FAIL", "port-left-listening", "8 python"),
]


@pytest.mark.parametrize(("change", "status", "code", "text"), WRONG)
def test_each_wrong_thing_fails_or_blocks_by_its_own_name(
    change: Mapping[str, Any], status: str, code: str, text: str
) -> None:
    verdict = judged(Control(**change))
    assert verdict.status == status
    assert set(codes(verdict)) == ({code} if code else set())
    assert all(text in finding.message for finding in verdict.findings[:1])


# how a server may end when it is told to: by itself, or by the signal
@pytest.mark.parametrize("ended", [{"exit_code": 0}, {"exit_code": 143}, {"exit_code": None, "signal": 15}])
def test_a_server_that_ends_when_told_to_may_end_as_it_likes(ended: dict[str, Any]) -> None:
    assert judged(Control(ended=ended)).status == "PASS"


def test_a_definite_failure_is_not_hidden_by_what_is_unknown() -> None:
    verdict = judged(Control(log=log_of("Loading plugin afd", listed=False)))
    assert (verdict.status, codes(verdict)) == ("FAIL", ["plugin-loaded", "plugins-unknown"])


def test_a_process_that_set_its_title_later_is_known_by_what_was_seen_before() -> None:
    titled = seen(7, "VLLM::APIServer", folder="/usr/bin", environment=None)
    assert judged(Control(facts={"processes": (seen(), titled)})).status == "PASS"
    wrapped = (seen(7, "sh", "serve.sh", folder="/bin"), seen(), titled)  # a wrapper that becomes the server
    assert judged(Control(facts={"processes": wrapped})).status == "PASS"
    become = (seen(), seen(7, "/other/bin/python", folder="/other/bin"), titled)
    assert codes(judged(Control(facts={"processes": become}))) == ["runtime-foreign"]


@pytest.mark.parametrize(
    "name", ["native/eager.json", "native/eager.response", "native/eager.identity.json", "log/eager.log"]
)
def test_evidence_that_is_gone_decides_nothing(name: str) -> None:
    control = Control()
    files = {key: data for key, data in control.files(CELL, WANTED).items() if key != name}
    verdict = judge_cell(CELL, LogWords(), Pair(WANTED), control.end(CELL), files)
    assert (verdict.status, codes(verdict)) == ("BLOCKED", ["evidence-unreadable"])
    assert name in verdict.findings[0].message


# what a file of facts can be instead
BROKEN = [b"", b"[]", b"{}", b'{"schema":"git-afd/served/1"}', b"\xff", b"[" * 100_000]


@pytest.mark.parametrize("data", BROKEN)
def test_facts_that_are_no_facts_decide_nothing(data: bytes) -> None:
    control = Control()
    files = {**control.files(CELL, WANTED), facts_name("eager"): data}
    verdict = judge_cell(CELL, LogWords(), Pair(WANTED), control.end(CELL), files)
    assert (verdict.status, codes(verdict)) == ("BLOCKED", ["evidence-unreadable"])


def test_facts_are_read_as_they_were_written() -> None:
    full = Control(facts={"killed": ("8 x",), "left": ("9 y",), "occupied": ("1 z",), "processes": (seen(), seen(8))})
    served = replace(full.served(), path="/p", waiting="w", fault="f", environment={"A": "b"}, more=2)
    assert parse_served(served.as_bytes(), "x") == served


def test_the_text_of_the_answer_can_be_demanded() -> None:
    cell = replace(CELL, request=replace(CELL.request, expect="California$"))
    assert judged(Control(), cell).status == "PASS"
    other = Control(answer=response(choices=[{"text": " !!!!!!!!", "finish_reason": "stop"}]))
    assert codes(judged(other, cell)) == ["unexpected-answer"]
    assert judged(other).status == "PASS"


def test_a_chat_answer_is_read_too() -> None:
    cell = replace(CELL, request=replace(CELL.request, endpoint="/v1/chat/completions"))
    assert cell.request.body()["messages"] == [{"role": "user", "content": "San Francisco is a"}]
    said = {"message": {"role": "assistant", "content": "Yes."}, "finish_reason": "stop"}
    verdict = judged(Control(answer=response(choices=[said])), cell)
    assert (verdict.status, verdict.facts["text"]) == ("PASS", "Yes.")
