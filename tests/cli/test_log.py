"""``git afd log``: every record in order, what does not count, and what cannot be read."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path

import pytest
from kit import Kit
from kit_terminal import at_terminal
from kit_upgrade import UPGRADE, FrozenUpgrade, frozen

from git_afd.core.headline import headline
from git_afd.core.names import LEDGER_REF
from git_afd.core.outcome import Json
from git_afd.core.records import Draft, seal

HOSTILE = "<script>alert(1)</script> | *x* `y` \x1b[31m\u202e & \\"


@pytest.fixture
def case(kit: Kit) -> FrozenUpgrade:
    """An upgrade up to the static gate, one record that does not count, one of an unknown kind."""
    made = frozen(kit, up_to="STATIC_AND_UNIT_GATE")
    made.record(("root-cause", {"root_cause": "RC-1", "op": "add", "title": "again", "kind": "adaptation"}))
    made.record(("approval", {"what": "skip", "subject": "t", "name": HOSTILE, "reason": HOSTILE}))
    made.record(("celebration", {"cake": True}))
    return made


def add_line(case: FrozenUpgrade, text: str) -> None:
    repo = case.plugin
    old = repo(["git", "notes", "--ref", LEDGER_REF, "show", "HEAD"])
    repo(["git", "notes", "--ref", LEDGER_REF, "add", "-f", "-F", "-", "HEAD"], stdin=f"{old}\n{text}\n")


def test_it_shows_every_record_in_order_and_says_what_does_not_count(case: FrozenUpgrade) -> None:
    shown = case.plugin.afd("log --json").ok().json
    records = shown["data"]["records"]
    assert [record["seq"] for record in records] == list(range(1, len(records) + 1))
    assert records[0]["kind"] == "freeze"
    assert [record["kind"] for record in records[-2:]] == ["approval", "celebration"]
    assert [bool(record["does_not_count"]) for record in records[-3:]] == [True, False, False]
    assert shown["schema"] == "git-afd/log/1"
    text = case.plugin.afd("log").ok().out
    assert "(does not count)" in text
    assert text.rstrip().splitlines()[-1].startswith("next: git afd ")


@pytest.mark.parametrize(
    ("options", "kinds"),
    [
        ("--kind freeze", {"freeze"}),
        ("--kind freeze --kind run", {"freeze", "run"}),
        ("--kind nonsense", set()),
        (f"--upgrade {UPGRADE} --kind freeze", {"freeze"}),
        ("--upgrade U-other", set()),
        ("--run run-1", {"run"}),
        ("--run run-99", set()),
        ("--damage", set()),
    ],
)
def test_filters_show_what_they_name(case: FrozenUpgrade, options: str, kinds: set[str]) -> None:
    records = case.plugin.afd(f"log --json {options}").ok().json["data"]["records"]
    assert {record["kind"] for record in records} == kinds


def test_damage_is_shown_with_place_reason_and_the_ways_out(case: FrozenUpgrade) -> None:
    assert "Everything in the ledger can be read." in case.plugin.afd("log --damage").ok().out
    add_line(case, "not a record \x1b[2J")
    done = case.plugin.afd("log --damage").ok()
    found = case.plugin.afd("log --json --damage").ok().json
    (item,) = found["data"]["damage"]
    assert (item["place"], item["set_aside"]) == (case.plugin.head, "")
    assert item["reason"].startswith("is not JSON")
    assert "to go on without it: git afd approve damage" in done.out
    assert "line: not a record \\x1b[2J" in done.out
    assert found["findings"][0]["severity"] == "error"


def test_damage_that_was_set_aside_stays_visible_with_name_and_reason(case: FrozenUpgrade) -> None:
    add_line(case, "LGTM")
    (item,) = case.plugin.afd("log --json --damage").ok().json["data"]["damage"]
    case.record(("approval", {"what": "damage", "subject": item["id"], "name": "Ada", "reason": "a stray remark"}))
    assert "set aside by Ada: a stray remark" in case.plugin.afd("log --damage").ok().out
    assert case.plugin.afd("status --json").ok().json["findings"][0]["severity"] == "note"


def test_a_person_sets_damage_aside_on_a_terminal_and_nobody_else_can(case: FrozenUpgrade) -> None:
    assert case.plugin.afd("approve damage").code == 3
    add_line(case, "LGTM")
    refused = case.plugin.afd("approve damage")
    assert (refused.code, "only a person on a terminal" in refused.err) == (3, True)
    (item,) = case.plugin.afd("log --json --damage").ok().json["data"]["damage"]
    phrase = f"approve damage {item['id'][:12]}"
    code, shown = at_terminal(case.plugin, "damage", phrase, "a stray remark")
    assert (code, f"To approve, type: {phrase}\r\n" in shown) == (0, True)
    assert "set aside by Ada Example <ada@example.org>: a stray remark" in case.plugin.afd("log --damage").ok().out
    assert case.session.reading(strict=True).readable


class Page(HTMLParser):
    """Collects tags, and fails on anything that would load or run."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert not {name for name, _ in attrs} & {"src", "href", "onclick", "onload", "style"}
        self.tags.append(tag)
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.parametrize("verb", ["log", "status"])
def test_the_page_is_self_contained_and_nothing_in_it_is_markup(case: FrozenUpgrade, verb: str) -> None:
    page = Page()
    text = case.plugin.afd(f"{verb} --format html").ok().out
    page.feed(text)
    page.close()
    assert page.open == []
    assert "script" not in page.tags
    assert not {"\x1b", "\u202e"} & set(text)
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert page.tags.count("table") == 1


@pytest.mark.parametrize("verb", ["log", "status"])
def test_the_markdown_keeps_its_columns_whatever_is_in_a_cell(case: FrozenUpgrade, verb: str) -> None:
    text = case.plugin.afd(f"{verb} --format markdown").ok().out
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert len({line.replace("\\|", "").count("|") for line in rows}) == 1
    assert "<script>" not in text
    assert "\n\n\n" not in text


@pytest.mark.parametrize("form", ["text", "json", "markdown", "html"])
def test_the_answer_goes_to_a_file_whole_or_not_at_all(case: FrozenUpgrade, form: str, tmp_path: Path) -> None:
    file = tmp_path / "out"
    done = case.plugin.afd(["log", "--format", form, "--output", str(file)]).ok()
    assert done.out == ""
    assert file.read_text() == case.plugin.afd(["log", "--format", form]).ok().out
    assert [path.name for path in tmp_path.iterdir() if path.name.endswith("out") or "out." in path.name] == ["out"]
    refused = case.plugin.afd(["log", "--format", form, "--output", str(tmp_path / "no" / "out")])
    assert refused.code == 2
    assert "cannot be written" in refused.out + refused.err


def test_json_is_short_for_the_json_form_and_another_form_contradicts_it(case: FrozenUpgrade) -> None:
    assert case.plugin.afd("status --json").out == case.plugin.afd("status --format json").out
    done = case.plugin.afd("status --json --format html")
    assert (done.code, json.loads(done.out)["schema"]) == (2, "git-afd/usage/1")


def test_an_empty_ledger_is_an_answer(kit: Kit) -> None:
    repo = kit.repo("empty")
    assert "The ledger is empty." in repo.afd("log").ok().out
    assert repo.afd("log --json").ok().json["data"]["records"] == []


@pytest.mark.parametrize(
    ("kind", "body", "line"),
    [
        ("freeze", {"branch": "b", "base": "c" * 40}, "on b at cccccccccccc"),
        ("phase", {"phase": "P", "status": "FAIL", "blocker": "two\nlines"}, "P FAIL two lines"),
        ("inventory", {"items": {"a": "b"}, "how": "by hand"}, "1 item(s), by hand"),
        ("classification", {"items": {"a": "NONE", "b": "NONE"}, "why": "read"}, "2 item(s): read"),
        ("decision", {"decide": "stop", "why": "w"}, "stop: w"),
        ("root-cause", {"root_cause": "RC-1", "op": "add", "title": "t"}, "RC-1 add: t"),
        ("root-cause", {"root_cause": "RC-1", "op": "withdraw", "why": "w"}, "RC-1 withdraw: w"),
        ("commit", {"root_cause": "RC-1", "commit": "d" * 40}, "RC-1 as dddddddddddd"),
        (
            "run",
            {"run": "r", "gate": "g", "op": "finished", "status": "PASS", "simulated": True},
            "g r finished PASS simulated",
        ),
        ("approval", {"what": "pair", "name": "n", "reason": "r"}, "pair by n: r"),
        ("close", {"why": "enough"}, "enough"),
        ("celebration", {"cake": True}, ""),  # nobody here knows it
        ("phase", {"phase": 7, "status": []}, ""),  # a body of the wrong shape
        ("inventory", {"items": "many"}, "0 item(s),"),
    ],
)
def test_a_record_is_told_in_one_line(kind: str, body: dict[str, Json], line: str) -> None:
    record = seal(Draft(kind, "U", body, "c" * 40), seq=1, prev=(), at="t", by="b", tool="t")
    assert headline(record) == line
