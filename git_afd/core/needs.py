"""What a gate needs of a host before anything starts: programs, modules of the target runtime, paths."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

_VARIABLE: Final = re.compile(r"\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)(?::-(.*))?\})\Z", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Needs:
    """Prerequisites. `tools` are programs, `modules` importable names, `paths` files or folders.

    A tool or path may be ``$NAME``, ``${NAME}`` or ``${NAME:-default}``: what that environment variable says.
    """

    tools: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Wanted:
    """A need with its variable looked up: `value` is empty when `variable` is not set and has no default."""

    value: str
    variable: str = ""

    @property
    def shown(self) -> str:
        """The value, and the variable it came from."""
        return f"{self.value} ({self.variable})" if self.variable else self.value


def wanted(word: str, environment: Mapping[str, str]) -> Wanted:
    """Return what `word` of a policy stands for in `environment`."""
    match = _VARIABLE.match(word)
    if match is None:
        return Wanted(word)
    name = match[1] or match[2]
    return Wanted(environment.get(name) or match[3] or "", name)


def fault_in(word: str) -> str:
    """Say what is wrong with a word of a policy's needs; empty when nothing is."""
    if not word:
        return "a name was expected"
    return f"{word!r} is no variable; $NAME, ${{NAME}} or ${{NAME:-default}} was expected" if _broken(word) else ""


def _broken(word: str) -> bool:
    return word.startswith("$") and _VARIABLE.match(word) is None
