from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace

import pytest
from kit import ROOT

from git_afd.core.message import Wording, compose, revisions_of, scope_of, summary
from git_afd.core.message_rules import check_message, trailers
from git_afd.core.names import REVISION_KEYS
from git_afd.core.state import Freeze, Revision, RootCause, Upgrade

IDS = dict(zip(REVISION_KEYS, ("a" * 40, "b" * 40, "c" * 40, "d" * 40), strict=True))
REVISIONS = {key: Revision("v", commit, commit, "e" * 40) for key, commit in IDS.items()}
FREEZE = Freeze("r", "upgrade/v2", "1" * 40, "2" * 40, "Ada", REVISIONS, "", "", {}, {}, {})
CAUSE = RootCause(
    name="RC-3",
    title="follow the renamed loader",
    kind="adaptation",
    upstream=("vllm-ascend: vllm_ascend/worker.py::Worker.load: renamed to load_model",),
    class_="BEHAVIORAL",
    invariant="weights load once",
    files=("afd_plugin/npu/worker.py",),
    tests=("tests/test_worker.py::test_load",),
    removal="until the plugin calls load_model itself",
    layer=4,
    disposes={"I-2": "rebased"},
)
UPGRADE = Upgrade("U-1", FREEZE, root_causes={"RC-3": CAUSE})
LEDGER = "f" * 64
ADA = "Ada Example <ada@example.org>"
VALIDATED = Wording(validation=("pytest tests/test_worker.py: 3 passed",), assisted_by=("a tool",))


def composed(cause: RootCause = CAUSE, wording: Wording = VALIDATED) -> str:
    return compose(UPGRADE, cause, cause.files, wording, ledger=LEDGER, signer=ADA)


def faults(text: str, *, ledger: str = LEDGER) -> list[str]:
    found = check_message(
        text,
        upgrade="U-1",
        root_cause="RC-3",
        committer=ADA,
        revisions=revisions_of(FREEZE),
        ledger=ledger,
        known=("1" * 40,),
    )
    assert all(sentence and fix for _, sentence, fix in found)
    return [code for code, _, _ in found]


# a plan that must give a message without fault
PLANS = [
    CAUSE,
    replace(CAUSE, kind="failure-fix", failure="F-1", upstream=()),
    replace(CAUSE, kind="docs", upstream=(), tests=(), disposes={}, removal="", invariant="", layer=0),
    replace(CAUSE, tests=(), untested="only a comment changes"),
    replace(CAUSE, title="feat(npu): a title that says it all"),
    replace(CAUSE, invariant="one line\n\nand another after a blank one"),
]


@pytest.mark.parametrize("cause", PLANS)
@pytest.mark.parametrize("wording", [Wording(), VALIDATED, Wording(why="---\nno divider\n" + "long " * 40)])
def test_what_is_composed_passes_its_own_check(cause: RootCause, wording: Wording) -> None:
    assert faults(composed(cause, wording)) == []


def test_prose_is_wrapped_and_what_must_stay_whole_is_not() -> None:
    text = composed(replace(CAUSE, invariant="short words " * 20, removal="x" * 90))
    longest = [line for line in text.splitlines() if len(line) > 72]
    assert all(line.startswith(("vllm", "AFD-Ledger")) or line == "x" * 90 for line in longest)


def test_few_impacts_are_named_and_many_are_counted_by_fate() -> None:
    many = {f"I-{number}": "kept" if number else "removed" for number in range(13)}
    text = composed(replace(CAUSE, disposes=many))
    assert "Disposes of: 1 impacts removed, 12 impacts kept.\n" in text
    assert faults(text) == []
    assert "I-11 kept" in composed(replace(CAUSE, disposes=dict(list(many.items())[:12])))


def test_the_composed_message_says_what_the_template_asks_for() -> None:
    text = composed()
    assert text.startswith("refactor(npu): follow the renamed loader\n\nUpgrade requirement:\n")
    assert f"vllm {'a' * 40}..{'c' * 40}: none" in text
    assert f"vllm-ascend {'b' * 40}..{'d' * 40}:\n- vllm_ascend/worker.py::Worker.load: renamed to load_model" in text
    assert "- pytest tests/test_worker.py: 3 passed (as stated by the committer)" in text
    assert "planned test tests/test_worker.py::test_load: git-afd has recorded no\n  run of it" in text
    assert trailers(text) == [
        ("AFD-Upgrade", "U-1"),
        ("AFD-Root-Cause", "RC-3"),
        ("AFD-Ledger", LEDGER),
        ("Assisted-by", "a tool"),
        ("Signed-off-by", ADA),
    ]


# title, wording, the summary
SUMMARIES = [
    ("plain words", Wording(), "refactor(npu): plain words"),
    ("plain words", Wording(type="feat", scope="cam"), "feat(cam): plain words"),
    ("fix: short form", Wording(), "fix: short form"),
    ("fix(moe): full form", Wording(type="feat"), "feat(moe): full form"),
    ("note: no type of ours", Wording(), "refactor(npu): note: no type of ours"),
]


@pytest.mark.parametrize(("title", "wording", "expected"), SUMMARIES)
def test_the_summary_follows_title_and_wording(title: str, wording: Wording, expected: str) -> None:
    assert summary(replace(CAUSE, title=title), CAUSE.files, wording) == expected


# paths, the scope they share
SCOPES = [
    (("afd_plugin/npu/a.py", "afd_plugin/npu/b/c.py"), "npu"),
    (("afd_plugin/npu/a.py", "tests/test_a.py"), "npu"),
    (("afd_plugin/a.py", "csrc/b.cc"), "upgrade"),
    (("afd_plugin/a.py",), "upgrade"),
    (("docs/a b/x.md",), "upgrade"),
    ((), "upgrade"),
]


@pytest.mark.parametrize(("paths", "scope"), SCOPES)
def test_the_scope_is_the_folder_that_the_paths_share(paths: tuple[str, ...], scope: str) -> None:
    assert scope_of(paths) == scope


def swap(old: str, new: str) -> Callable[[str], str]:
    def edit(text: str) -> str:
        assert old in text
        return text.replace(old, new, 1)

    return edit


SIGNED = f"Signed-off-by: {ADA}\n"

# what somebody did to the message, the code it must get
BROKEN = [
    (swap("refactor(npu): ", ""), "message-summary"),
    (swap("refactor(npu): ", "update(npu): "), "message-summary"),
    (swap("refactor(npu): ", "refactor(): "), "message-summary"),
    (swap("loader\n\n", "loader\n"), "message-summary"),
    (swap("Upgrade requirement:", "Reason:"), "message-section"),
    (swap("Upgrade requirement:", "Failure:\nx\n\nUpgrade requirement:"), "message-section"),
    (swap("Validation:", "Validated:"), "message-section"),
    (swap("Why this change:", "Validation:\nx\n\nWhy this change:"), "message-section"),
    (lambda text: text.replace("Upstream cause:", "X:").replace("Why this change:", "Upstream cause:")
     .replace("X:", "Why this change:"), "message-section"),
    (lambda text: text[: text.index("Validation:\n") + 12] + "\n" + text[text.index("AFD-Upgrade") :],
     "message-section"),
    (swap("a" * 40 + "..", "c" * 40 + ".."), "message-upstream"),
    (swap("a" * 40, "aaaaaaa"), "message-upstream"),
    (swap("vllm-ascend b", "ascend b"), "message-upstream"),
    (swap("weights load once", f"as in {'9' * 40}"), "message-commit-id"),
    (swap("weights load once", "as in ccccccccc"), "message-commit-id"),
    (swap("AFD-Upgrade: U-1\n", ""), "message-trailer"),
    (swap("AFD-Upgrade: U-1", "AFD-Upgrade: U-2"), "message-trailer"),
    (swap("AFD-Root-Cause: RC-3", "AFD-Root-Cause: RC-3\nafd-root-cause: RC-4"), "message-trailer"),
    (swap(f"AFD-Ledger: {LEDGER}", "AFD-Ledger: none"), "message-trailer"),
    (lambda text: swap("AFD-Upgrade: U-1\n", "")(text).replace("Validation:", "AFD-Upgrade: U-1\n\nValidation:"),
     "message-trailer"),
    (swap(SIGNED, ""), "message-sign-off"),
    (swap(SIGNED, SIGNED + SIGNED), "message-sign-off"),
    (swap(SIGNED, "Signed-off-by: Bob <bob@example.org>\n"), "message-sign-off"),
    (swap("Validation:", SIGNED + "\nValidation:"), "message-sign-off"),
    (swap("AFD-Upgrade", SIGNED + "\nAFD-Upgrade"), "message-sign-off"),
    (lambda text: swap(SIGNED, "")(text).replace("Validation:", SIGNED + "\nValidation:"), "message-sign-off"),
    (lambda _: "", "message-summary"),
]  # fmt: skip


@pytest.mark.parametrize(("edit", "code"), BROKEN)
def test_a_message_that_was_bent_is_told_what_is_wrong(edit: Callable[[str], str], code: str) -> None:
    assert code in faults(edit(composed()))


@pytest.mark.parametrize("value", ["", "none", "f" * 40, LEDGER + ",", LEDGER.upper()])
def test_without_knowing_the_head_of_the_chain_its_form_is_judged(value: str) -> None:
    assert faults(composed(), ledger="") == []
    assert faults(composed().replace(LEDGER, value), ledger="") == ["message-trailer"]


def test_the_parent_may_be_named_and_a_sha256_digest_is_no_commit_id() -> None:
    text = swap("weights load once", f"unlike {'1' * 40}, artifact {'9' * 64}")(composed())
    assert faults(text) == []


def test_the_rules_import_nothing_that_a_hook_would_pay_for() -> None:
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r}); before = set(sys.modules)\n"
    code += "import git_afd.core.message_rules; print(*sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["__future__", "git_afd", "git_afd.core", "git_afd.core.message_rules"]
