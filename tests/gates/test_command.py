"""What a policy may demand of a gate's command, and what is a fault before anything runs."""

from __future__ import annotations

import pytest

from git_afd.adapters.configuration import read_policy
from git_afd.core.command import Command
from git_afd.errors import EnvironmentFault

VALUES = {name: f"<{name}>" for name in ("python", "out", "plugin", "base", "vllm", "vllm-ascend")}
POLICY = """schema = 1
name = "small"
[paths]
lessons = "lessons"
documentation = []
tests = ["tests/**"]
production = ["src/**"]
must-read = []
[gates.%s]
[[gates.%s.command]]
%s
[accuracy]
task = "gsm8k"
metric = "exact_match,strict-match"
expected-size = 1319
modes = ["eager"]
threshold = 0.2
"""

FAULTS = [
    ("static", 'name = "a"\nrun = ["{pyhton}", "-V"]', 12, "{pyhton} is no placeholder"),  # a misspelt one
    ("static", 'name = "a"\nrun = ["x"]\nenv = {A = "{home}"}', 13, "{home} is no placeholder"),  # in the environment
    ("static", 'name = "../a"\nrun = ["x"]', 11, "letters, digits"),  # it names a file
    ("static", 'name = "a"\nrun = ["x"]\n[[gates.static.command]]\nname = "a"\nrun = ["y"]', 14, "stands there twice"),
    ("native", 'name = "a"\nrun = ["x"]\nenv = {VLLM_PLUGINS = "ascend,afd"}', 13, "loads afd"),  # no control
    ("native", 'name = "a"\nrun = ["env", "VLLM_PLUGINS=ascend,afd", "x"]', 12, "loads afd"),
    ("native", 'name = "a"\nrun = ["x", "--afd-config={}"]', 12, "loads afd"),  # nor any of its configuration
    ("accuracy", 'name = "a"\nrun = ["x"]\nenv = {VLLM_PLUGINS = "ascend,afd"}\ncell = "native"', 13, "loads afd"),
    ("basic", 'name = "a"\nrun = ["x"]\ncell = "native"', 13, "in gate accuracy only"),
    ("accuracy", 'name = "a"\nrun = ["x"]\nenv = {AFD_GSM8K_LIMIT = "7"}', 13, "AFD_GSM8K_LIMIT lowers"),
    ("basic", 'name = "a"\nrun = ["x"]\n[gates.basic.needs]\npaths = ["${A"]', 14, "is no variable"),
    ("basic", 'name = "a"\nrun = ["x"]\n[gates.basic.needs]\ntools = [""]', 14, "a name was expected"),
    ("basic", 'name = "a"\nrun = ["x"]\n[gates.basic.needs]\ndevices = 4', 14, "is not known here"),
    ("accuracy", 'name = "a"\nrun = ["x"]\n[accuracy.native]\ndrop-points = 2.0', 14, "a fraction from 0.0 to 1.0"),
]


@pytest.mark.parametrize(("gate", "table", "line", "text"), FAULTS)
def test_a_wrong_command_is_a_fault_of_the_policy_with_its_line(gate: str, table: str, line: int, text: str) -> None:
    with pytest.raises(EnvironmentFault) as fault:
        read_policy(POLICY % (gate, gate, table), "afd.toml")
    assert text in fault.value.message
    assert fault.value.message.startswith(f"afd.toml:{line}: ")


CATEGORIES = [
    ("['models']", "features", "command[0].category: one of models was expected"),  # a category nobody knows
    ("['features', 'models']", "features", "categories: models has no command"),  # and one that nobody runs
]


@pytest.mark.parametrize(("categories", "category", "text"), CATEGORIES)
def test_every_category_has_commands_and_every_command_one(categories: str, category: str, text: str) -> None:
    head = POLICY.replace("[gates.%s]\n", f"[gates.%s]\ncategories = {categories}\n")
    with pytest.raises(EnvironmentFault) as fault:
        read_policy(head % ("basic", "basic", f'name = "a"\nrun = ["x"]\ncategory = "{category}"'), "afd.toml")
    assert text in fault.value.message


def test_placeholders_are_filled_in_and_other_braces_are_left_alone() -> None:
    command = Command("a", ("{python}", '--json={"a": {}}', "{out}/x"), env={"P": "{vllm}:{vllm-ascend}"})
    assert command.filled(VALUES) == (("<python>", '--json={"a": {}}', "<out>/x"), {"P": "<vllm>:<vllm-ascend>"})


MADE = [
    (("/usr/bin/python", "-m", "pytest", "--junitxml=/tmp/x.xml"), True),
    (("/usr/bin/python", "-m", "pytest", "--junitxml=/tmp/x.xml", "-k", "easy"), False),  # one argument more
    (("/usr/bin/python", "-m", "pytest", "--junitxml=/tmp/y.txt"), False),  # another name
    (("", "-m", "pytest", "--junitxml=/tmp/x.xml"), False),  # nothing filled in
]


@pytest.mark.parametrize(("argv", "made"), MADE)
def test_arguments_that_the_command_cannot_have_made_are_known(argv: tuple[str, ...], made: bool) -> None:
    assert Command("a", ("{python}", "-m", "pytest", "--junitxml={out}/x.xml")).made(argv) is made
