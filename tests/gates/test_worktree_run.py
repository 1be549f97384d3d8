"""``--worktree``: the gate runs on what HEAD holds, whatever the user is in the middle of."""

from __future__ import annotations

import json

import pytest
from bench import command, gate, policy, python, shown, upgrade
from kit import Kit
from kit_upgrade import PRODUCTION, FrozenUpgrade

PHASE = "STATIC_AND_UNIT_GATE"
LOOK = """import json, os, pathlib, subprocess as s, sys
top = s.run(['git', 'rev-parse', '--show-toplevel'], capture_output=True, text=True).stdout.strip()
seen = [os.getcwd(), top, sys.argv[2], pathlib.Path('afd_plugin/patch.py').read_text(), os.path.exists('new.py')]
json.dump(seen, open(sys.argv[1], 'w'))
import compileall; compileall.compile_dir('afd_plugin', quiet=1)
"""


@pytest.fixture
def up(kit: Kit) -> FrozenUpgrade:
    """An upgrade whose user is in the middle of something."""
    up = upgrade(
        kit,
        policy(command("static", "look", *python(LOOK), "{out}/seen.json", "{plugin}")),
        files={".gitignore": "__pycache__/\n"},
    )
    up.plugin.write(PRODUCTION, "half a thought\n")
    up.plugin.write("new.py", "")
    return up


def test_the_commands_see_the_commit_and_the_users_work_is_left_alone(up: FrozenUpgrade) -> None:
    before = {
        path: path.read_bytes() for path in up.plugin.path.rglob("*") if ".git" not in path.parts and path.is_file()
    }
    assert gate(up, "static").code == 6  # as it stands it would vouch for something else
    gate(up, "static", "--worktree").ok()
    folder, top, plugin, text, new = json.loads(next((up.plugin.path / ".git/afd/runs").rglob("seen.json")).read_text())
    assert folder == top == plugin != str(up.plugin.path)
    assert (text, new) == ("def step(self, batch):\n    return batch\n", False)
    assert shown(up, PHASE)["status"] == "PASS"
    after = {
        path: path.read_bytes() for path in up.plugin.path.rglob("*") if ".git" not in path.parts and path.is_file()
    }
    assert before == after
    assert len(up.plugin("git worktree list").splitlines()) == 1
    assert not list((up.plugin.path / ".git/afd/trees").iterdir())


def test_a_worktree_that_holds_more_than_its_commit_stays_and_is_named(kit: Kit) -> None:
    up = upgrade(kit, policy(command("static", "write", *python("open('left.md', 'w').write('mine')"))))
    done = gate(up, "static", "--worktree")
    (tree,) = (up.plugin.path / ".git/afd/trees").iterdir()
    assert (tree / "left.md").read_text() == "mine"
    assert f"{tree} holds left.md" in done.err
