"""Contracts from texts: dotted names, stand-ins of tests, environment variables, entry points, version evidence."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from git_afd.core.contracts.book import Book, target_of
from git_afd.core.contracts.facts import Facts, Said
from git_afd.core.contracts.imports import locate
from git_afd.core.contracts.model import Place, Target
from git_afd.core.contracts.uses import Fake, Mention, Pin, Variable
from git_afd.core.identity.candidates import Candidate
from git_afd.core.names import PACKAGES
from git_afd.core.source.definitions import Module
from git_afd.core.source.world import PLUGIN, Located, World

_DOTTED: Final = re.compile(r"(?:vllm|vllm_ascend)(?:\.[A-Za-z_]\w*)+(?::[A-Za-z_]\w*)?\Z")
_VARIABLE: Final = re.compile(r"(?:VLLM|ASCEND)_[A-Z0-9_]+\Z")
_GROUP: Final = re.compile(r'^\s*\[project\.entry-points\.["\']?(?P<group>vllm[\w.]*)["\']?\]', re.MULTILINE)


def add_texts(book: Book, facts: Facts, world: World) -> None:
    """Add a contract for each dotted text that names something upstream, and for each variable that is named."""
    variables = _variables(world)
    faked = {(item.spot.path, item.spot.symbol, item.target) for item in facts.faked}
    for said in facts.said:
        if said.role or (said.spot.path, said.spot.symbol, said.text) in faked:
            continue
        if _DOTTED.match(said.text):
            _dotted(book, world, said)
        elif _VARIABLE.match(said.text) and said.text in variables:
            target = variables[said.text]
            book.add(
                "environment", target, _place(said), Variable(said.spot.line, said.text, "read"), "named in a text"
            )


def _dotted(book: Book, world: World, said: Said) -> None:
    found = world.resolve(said.text.replace(":", "."))
    if isinstance(found, Located) and found.who != PLUGIN:
        last = said.text.replace(":", ".").rpartition(".")[2]
        role = "module" if found.kind == "module" else "class path" if last[:1].isupper() else "name"
        how = f"text that names a {role.removesuffix(' path')}"
        book.add(
            "string-reference", target_of(found, said.text), _place(said), Mention(said.spot.line, said.text, role), how
        )


def _place(said: Said) -> Place:
    return Place(said.spot.path, said.spot.symbol, said.spot.line, said.spot.line)


def add_fakes(book: Book, facts: Facts, world: World) -> None:
    """Add a contract for each upstream name that a test lets something else stand for."""
    for faked in facts.faked:
        target, unknown = locate(world, faked.target)
        attributes = tuple(faked.stand_in.attributes) if faked.stand_in else ()
        use = Fake(faked.spot.line, faked.form, attributes)
        place = Place(faked.spot.path, faked.spot.symbol, faked.spot.line, faked.spot.line)
        book.add("test-fake", target, place, use, f"stand-in ({faked.form})", unknown)


def add_environment(book: Book, facts: Facts, world: World) -> None:
    """Add a contract for each environment variable of an upstream that is read or set."""
    variables = _variables(world)
    for item in facts.environment:
        if item.variable in variables or _VARIABLE.match(item.variable):
            owner = "vllm-ascend" if "ASCEND" in item.variable else "vllm"
            target = variables.get(item.variable) or Target(owner, "", item.variable, "", item.variable)
            use = Variable(item.spot.line, item.variable, item.access, item.default)
            place = Place(item.spot.path, item.spot.symbol, item.spot.line, item.spot.line)
            book.add("environment", target, place, use, f"variable {item.access}")


def _variables(world: World) -> Mapping[str, Target]:
    """Return the environment variables that the upstreams define in their ``envs`` modules."""
    found: dict[str, Target] = {}
    for who, package in PACKAGES.items():
        module = world.module(who, f"{package}.envs")
        for name, definition in module.definitions.items() if isinstance(module, Module) else ():
            if name.isupper() and definition.kind == "value" and module is not None:
                found.setdefault(name, Target(who, world.trees[who].paths[module.name], name, module.name))
    return found


def add_entry_points(book: Book, path: str, text: str, world: World) -> None:
    """Add a contract for each group of entry points by which an upstream finds the plugin."""
    for match in _GROUP.finditer(text):
        line = text.count("\n", 0, match.start()) + 1 + match[0].count("\n")
        target = _group(world, match["group"])
        use = Mention(line, match["group"], "entry point")
        book.add("string-reference", target, Place(path, "", line, line), use, "entry point group")


def _group(world: World, group: str) -> Target:
    """Return the upstream constant that holds a group's name; nothing more is known where there is none."""
    for who, package in PACKAGES.items():
        module = world.module(who, f"{package}.plugins")
        for name, definition in module.definitions.items() if module else ():
            if module and definition.value in (f'"{group}"', f"'{group}'"):
                return Target(who, world.trees[who].paths[module.name], name, module.name, group)
    return Target("vllm", "", group, "", group)


def add_pins(book: Book, candidates: Iterable[Candidate]) -> None:
    """Add a contract for each place that says for which version of an upstream the plugin is made."""
    for item in candidates:
        target = Target(item.upstream, "", "", "", f"{item.upstream}/{item.text}" if item.text else item.upstream)
        use = Pin(item.line, item.text, item.kind)
        place = Place(item.path, "", item.line, item.line)
        book.add("pin", target, place, use, f"version evidence ({item.kind})", item.note if not item.text else "")
