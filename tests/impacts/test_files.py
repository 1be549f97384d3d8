from __future__ import annotations

import pytest
from pair import contract, tree

from git_afd.core.contracts.uses import Call
from git_afd.core.impacts.files import plugin_files
from git_afd.core.impacts.rows import Consumers
from git_afd.core.workbook.impacts import Impact

PLUGIN = {
    "plug/__init__.py": "from plug.core import Engine, helper",
    "plug/core.py": "class Engine:\n    def run(self): ...\ndef helper(): ...",
    "plug/direct.py": "from plug.core import Engine",
    "plug/through.py": "def f():\n    from plug import Engine",
    "plug/other.py": "from plug.core import helper",
    "plug/whole.py": "import plug.core",
    "tests/test_engine.py": "from plug.core import Engine",
}
CONSUMERS = Consumers(tree(PLUGIN, {}))
USERS = {"plug/__init__.py", "plug/direct.py", "plug/through.py"}


def flagged(symbol: str, class_: str, *, breaking: bool = False) -> set[str]:
    item = contract("call", "up/calls.py::same", Call(1, "function", 1), plugin=f"plug/core.py::{symbol}")
    row = Impact(
        id=item.id,
        contract=item.id,
        state="body-changed",
        breaking=breaking,
        class_=class_,
        reason="its body differs",
        consumers=CONSUMERS.of(item),
    )
    kind = lambda path: "test" if path.startswith("tests/") else "production"  # noqa: E731 - a table of one row
    return {file.path for file in plugin_files([item], [row], kind) if file.flagged}


# where the contract stands, its class, what is flagged besides that file
USED = [
    ("Engine.run", "BEHAVIORAL", USERS | {"plug/whole.py"}),  # also through the package, and inside a function
    ("Engine.run", "ARCHITECTURAL", USERS | {"plug/whole.py"}),
    ("Engine.run", "MECHANICAL", set()),  # that stays inside
    ("helper", "BEHAVIORAL", {"plug/__init__.py", "plug/other.py", "plug/whole.py"}),
    ("", "BEHAVIORAL", set()),  # an import belongs to the file and to nothing that others name
]


@pytest.mark.parametrize(("symbol", "class_", "users"), USED)
def test_a_file_is_flagged_that_uses_what_behaves_otherwise(symbol: str, class_: str, users: set[str]) -> None:
    assert flagged(symbol, class_) == {"plug/core.py"} | users


def test_a_file_whose_contracts_are_as_they_were_is_not_flagged() -> None:
    assert flagged("Engine.run", "NONE") == set()
