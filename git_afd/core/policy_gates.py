"""Reads what the policy says of one gate: its commands, checks, needs and, of the native control, its cells."""

from __future__ import annotations

from typing import Final

from git_afd.core.accuracy_rule import Accuracy
from git_afd.core.command import Command, fault_of
from git_afd.core.native_cell import Cell, CellFault, LogWords, read_cells
from git_afd.core.needs import Needs, fault_in
from git_afd.core.policy import Gate
from git_afd.core.policy_keys import PolicyFault, Reader, known
from git_afd.core.runtime_rule import CHECKS

RUNNING_GATES: Final = ("static", "native", "basic", "accuracy")
"""The gates that run the policy's commands."""

_COMMAND_KEYS: Final = (
    *("name", "run", "timeout-s", "junit", "results", "mode", "env", "category", "cell", "may-be-empty"),
)


def read_gate(reader: Reader, name: str, rule: Accuracy) -> Gate:
    """Read one gate's table. Raises PolicyFault naming the first wrong key; `rule` says what lowers accuracy."""
    if name not in RUNNING_GATES:
        raise PolicyFault(f"gates.{name}", "is no gate that runs commands")
    own = ("cell", "log") if name == "native" else ()
    known(reader.body, reader.at, ("npu", "devices", "categories", "checks", "needs", "command", *own))
    commands = tuple(_command(item, name) for item in reader.each("command"))
    categories = reader.texts("categories")
    for place, command in enumerate(commands):
        at = f"{reader.at}.command[{place}]"
        if command.name in (other.name for other in commands[:place]):
            raise PolicyFault(f"{at}.name", f"{command.name} stands there twice")
        if categories and command.category not in categories:
            raise PolicyFault(f"{at}.category", f"one of {', '.join(categories)} was expected")
        lowers = rule.lowering(command.env) if name == "accuracy" else ()
        if lowers:
            raise PolicyFault(f"{at}.env", f"{lowers[0]} lowers what accuracy measures or demands")
    empty = next((name for name in categories if all(one.category != name for one in commands)), "")
    if empty:
        raise PolicyFault(f"{reader.at}.categories", f"{empty} has no command")
    ordered = tuple(sorted(commands, key=lambda one: categories.index(one.category))) if categories else commands
    native = _native(reader, commands) if name == "native" else ()
    devices, needs = reader.number("devices", 0), _needs(reader.sub("needs"))
    return Gate(ordered, reader.flag("npu"), devices, categories, needs, _checks(reader), *native)


def _checks(reader: Reader) -> tuple[str, ...]:
    checks = reader.texts("checks")
    strange = next((word for word in checks if word not in CHECKS), None)
    if strange is not None:
        raise PolicyFault(f"{reader.at}.checks", f"{strange} is no check; known are {', '.join(CHECKS)}")
    return checks


def _native(reader: Reader, commands: tuple[Command, ...]) -> tuple[tuple[Cell, ...], LogWords]:
    try:
        cells, words = read_cells(reader.body)
    except CellFault as fault:
        raise PolicyFault(f"{reader.at}.{fault.key}", str(fault)) from None
    for place, cell in enumerate(cells):
        if cell.name in (command.name for command in commands):
            raise PolicyFault(f"{reader.at}.cell[{place}].name", f"{cell.name} stands there twice")
    return cells, words


def _needs(reader: Reader) -> Needs:
    known(reader.body, reader.at, ("tools", "modules", "paths"))
    needs = Needs(reader.texts("tools"), reader.texts("modules"), reader.texts("paths"))
    for key, words in (("tools", needs.tools), ("modules", needs.modules), ("paths", needs.paths)):
        wrong = next(filter(None, map(fault_in, words)), "")
        if wrong:
            raise PolicyFault(f"{reader.at}.{key}", wrong)
    return needs


def _command(reader: Reader, gate: str) -> Command:
    known(reader.body, reader.at, _COMMAND_KEYS)
    run = reader.texts("run")
    if not run:
        raise PolicyFault(f"{reader.at}.run", "a list of arguments was expected")
    command = Command(
        reader.text("name"),
        run,
        reader.number("timeout-s", 3600),
        reader.text("junit", ""),
        reader.text("results", ""),
        reader.text("mode", ""),
        reader.text_table("env"),
        reader.text("category", ""),
        reader.text("cell", ""),
        reader.flag("may-be-empty"),
    )
    wrong = fault_of(command, gate)
    if wrong:
        raise PolicyFault(f"{reader.at}.{wrong[0]}", wrong[1])
    return command
