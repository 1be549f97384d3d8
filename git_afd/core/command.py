"""One command of a gate as the policy says it: its arguments, its placeholders, the raw evidence it must leave."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

PLACEHOLDERS: Final = ("python", "out", "plugin", "base", "vllm", "vllm-ascend")
"""What a command may name in braces: the interpreter, the run's folder, the plugin's tree, its base commit, the
two target trees."""

NATIVE: Final = "native"
"""The cell that measures the target runtime without the plugin."""

_PLACEHOLDER: Final = re.compile(r"\{([A-Za-z][A-Za-z0-9_-]*)\}")
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*\Z")
_LOADS_PLUGIN: Final = re.compile(r"VLLM_PLUGINS=.*\bafd\b|afd[-_]config")


@dataclass(frozen=True, slots=True)
class Command:
    """One command of a gate. `run` is an argument list; in it and in `env` the PLACEHOLDERS are filled in.

    `name` is also the name of its log. `junit` and `results` are globs below ``{out}`` of raw evidence that
    must exist afterwards; `mode` is the accuracy mode it measures, `category` the part of the suite it runs. `cell` is
    ``native`` when it measures without the plugin. `may_be_empty` says that its selection may fit no test.
    """

    name: str
    run: tuple[str, ...]
    timeout_s: int = 3600
    junit: str = ""
    results: str = ""
    mode: str = ""
    env: Mapping[str, str] = field(default_factory=dict)
    category: str = ""
    cell: str = ""
    may_be_empty: bool = False

    def filled(self, values: Mapping[str, str]) -> tuple[tuple[str, ...], dict[str, str]]:
        """Return arguments and environment with every placeholder replaced; `values` has all PLACEHOLDERS."""
        argv = tuple(_fill(word, values) for word in self.run)
        return argv, {name: _fill(text, values) for name, text in self.env.items()}

    def made(self, argv: tuple[str, ...]) -> bool:
        """Say whether `argv` is this command with its placeholders filled in, whatever with."""
        return len(argv) == len(self.run) and all(
            re.fullmatch(".+".join(map(re.escape, _PLACEHOLDER.split(word)[::2])), done, re.DOTALL)
            for word, done in zip(self.run, argv, strict=True)
        )


def fault_of(command: Command, gate: str, *more: str) -> tuple[str, str] | None:
    """Return the key below the command's table that is wrong and what was expected; None when nothing is.

    `more` are placeholders that it may name besides the usual ones.
    """
    known = (*PLACEHOLDERS, *more)
    if not _NAME.match(command.name):
        return "name", "letters, digits, dot, dash and underscore were expected"
    for key, word in _words(command):
        unknown = next((name for name in _PLACEHOLDER.findall(word) if name not in known), None)
        if unknown:
            return key, f"{{{unknown}}} is no placeholder; known are {', '.join(known)}"
    if command.cell not in (("", NATIVE) if gate == "accuracy" else ("",)):
        return "cell", f"{NATIVE} was expected, in gate accuracy only"
    return _loads_plugin(command) if NATIVE in (gate, command.cell) else None


def _loads_plugin(command: Command) -> tuple[str, str] | None:
    """Say where a native control loads the plugin or its configuration (workflow, Phase 6: without AFD)."""
    if "afd" in command.env.get("VLLM_PLUGINS", "").split(","):
        return "env", "VLLM_PLUGINS loads afd, and the native control runs without it"
    word = next((word for word in command.run if _LOADS_PLUGIN.search(word)), None)
    return ("run", f"{word!r} loads afd, and the native control runs without it") if word else None


def _words(command: Command) -> Iterator[tuple[str, str]]:
    yield from (("run", word) for word in command.run)
    yield from (("env", text) for text in command.env.values())


def _fill(text: str, values: Mapping[str, str]) -> str:
    return _PLACEHOLDER.sub(lambda found: values[found.group(1)], text)
