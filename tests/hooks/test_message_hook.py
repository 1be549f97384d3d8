"""The message as git keeps it, and what commit-msg says of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from kit_hooks import announce, commit, copy_of_upgrade, message
from kit_upgrade import FrozenUpgrade

from git_afd.core.kept_message import kept_message

SCISSORS = "------------------------ >8 ------------------------"

# the file; what begins a comment; what git keeps
KEPT = [
    ("one\n", "#", "one\n"),
    # comments go, a # inside a line stays
    ("one #1\n# two\n#three\n", "#", "one #1\n"),
    # another character, and then # is text
    ("# one\n; two\n", ";", "# one\n"),
    # several characters (core.commentString)
    ("one\n// two\n/ three\n", "//", "one\n/ three\n"),
    # the diff below the scissors is no message, also where its lines look like one
    (f"one\n# {SCISSORS}\n# Do not touch\ndiff --git\n+Signed-off-by: x\n", "#", "one\n"),
    (f"one\n; {SCISSORS}\ndiff\n", ";", "one\n"),
    # scissors without the comment character are text
    (f"one\n{SCISSORS}\ntwo\n", "#", f"one\n{SCISSORS}\ntwo\n"),
    # git chose: by the scissors, by the block at the end; with no comment at all nothing is one
    (f"#one\n; two\n; {SCISSORS}\ndiff\n", "auto", "#one\n"),
    ("#one\n;two\n; Please enter\n", "auto", "#one\n"),
    ("one\n\nSigned-off-by: x\n", "auto", "one\n\nSigned-off-by: x\n"),
    # blank lines around, spaces at the ends
    ("\n\none  \n\n\n", "#", "one\n"),
    ("", "auto", "\n"),
]


@pytest.mark.parametrize(("text", "comment", "kept"), KEPT)
def test_the_message_is_judged_as_git_keeps_it(text: str, comment: str, kept: str) -> None:
    assert kept_message(text, comment) == kept


@pytest.fixture
def case(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> FrozenUpgrade:
    return copy_of_upgrade(tmp_path, tmp_path_factory)


def test_what_is_wrong_with_the_message_is_said_and_nothing_is_committed(case: FrozenUpgrade) -> None:
    intent = announce(case)
    text = message(case, intent)
    wrong = {
        text.replace("Validation:", "Checks:"): "`Validation:` is missing",
        text.replace("Signed-off-by: Ada", "Signed-off-by: Eve"): "Eve Example <ada@example.org> signed off",
        text + "Signed-off-by: Ada Example <ada@example.org>\n": "has 2 sign-offs",
        text.replace("AFD-Root-Cause: RC-7", "AFD-Root-Cause: RC-8"): "AFD-Root-Cause says RC-8",
        text.replace(
            "Why this change:\n", f"Why this change:\nas {'1' * 40}\n"
        ): "no commit that the upgrade is frozen to",
        text.replace("AFD-Ledger: ", "AFD-Ledger: 1"): "AFD-Ledger says 1",
    }
    before = case.plugin.head
    for spoilt, reason in wrong.items():
        done = commit(case.plugin, spoilt)
        assert (done.code, reason in done.err, "\nfix: " in done.err) == (1, True, True), done.err
    assert case.plugin.head == before


# settings, options: an editor that leaves the message as it is opens on the whole file
EDITED = [
    ([], []),
    ([], ["--verbose"]),
    (["core.commentChar=;"], []),
    (["core.commentChar=auto"], []),
    (["core.commentChar=auto"], ["--verbose"]),
    (["commit.cleanup=scissors"], []),
    (["commit.verbose=2", "diff.noprefix=true"], []),
]


@pytest.mark.parametrize(("settings", "options"), EDITED)
def test_what_the_editor_shows_besides_is_not_linted(
    case: FrozenUpgrade, settings: list[str], options: list[str]
) -> None:
    intent = announce(case)
    given = [word for item in settings for word in ("-c", item)]
    words = ["git", *given, "commit", "-q", "-e", "-F", "-", *options]
    done = case.plugin.run(words, stdin=message(case, intent), env={"GIT_EDITOR": "true"})
    assert (done.code, done.err) == (0, "")


def test_only_the_file_that_git_names_is_read(case: FrozenUpgrade) -> None:
    intent = announce(case)
    hook = str(case.plugin.path / ".git/hooks/commit-msg")
    case.plugin.write(".git/COMMIT_EDITMSG", "not this one\n")
    elsewhere = case.plugin.write(".git/message of mine", message(case, intent))
    case.plugin([hook, str(elsewhere)])
    assert case.plugin.run([hook, ".git/COMMIT_EDITMSG"]).code == 3
    assert case.plugin.run([hook]).code == 5


def test_the_committer_signs_and_not_the_author(case: FrozenUpgrade) -> None:
    intent = announce(case)
    eve = {"GIT_COMMITTER_NAME": "Eve Example", "GIT_COMMITTER_EMAIL": "eve@example.org"}
    words = ["git", "commit", "-q", "-F", "-"]
    assert "signed off" in case.plugin.run(words, stdin=message(case, intent), env=eve).err
    signed = message(case, intent, signer="Eve Example <eve@example.org>")
    case.plugin(words, stdin=signed, env=eve)
