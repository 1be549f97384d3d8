"""Reading a module's text into a :class:`Module`: one pass over its statements, function bodies only for imports."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from git_afd.core.source.definitions import (
    Definition,
    Import,
    ImportPlace,
    Module,
    SelfAttribute,
    Signature,
    Unreadable,
)
from git_afd.core.source.import_names import absolute, lazy_entries
from git_afd.core.source.nodes import DEFINITIONS, SILENT, names_in, parts_of, statements_in
from git_afd.core.source.parsing import parse
from git_afd.core.source.versions import Versions, verdict
from git_afd.core.source.written import Written, signature_of

_TELLING: Final = DEFINITIONS | {ast.Import, ast.ImportFrom}
_TYPE_CHECKING: Final = ("TYPE_CHECKING", "typing.TYPE_CHECKING")


def index_module(
    text: str,
    name: str,
    *,
    is_package: bool = False,
    versions: Versions | None = None,
    bodies: bool = True,
    tree: ast.Module | None = None,
) -> Module | Unreadable:
    """Boil a module's source down to its facts.

    `name` is its dotted name; `versions` decides ``vllm_version_is("…")`` tests, whose dead branch is left out;
    `bodies` also reads imports, nested functions and assignments to ``self`` inside function bodies; `tree` is the
    text's syntax tree when it was parsed already. Total: a text that does not parse gives Unreadable with its reason.
    """
    parsed = tree or parse(text, name)
    if isinstance(parsed, Unreadable):
        return parsed
    reader = _Reader(name, is_package, Written(text), versions or {}, bodies)
    try:
        reader.block(parsed.body, "", "module", "")
    except RecursionError:
        return Unreadable(name, "is nested too deeply")
    return reader.module()


@dataclass(slots=True)
class _Reader:
    """Collects while walking one module's statements. Never leaves this module."""

    name: str
    is_package: bool
    text: Written
    versions: Versions
    bodies: bool
    definitions: dict[str, Definition] = field(default_factory=dict)
    imports: list[Import] = field(default_factory=list)
    stars: list[str] = field(default_factory=list)
    tables: dict[str, Mapping[str, str]] = field(default_factory=dict)
    keyed: dict[str, ast.Dict] = field(default_factory=dict)
    attributes: dict[str, SelfAttribute] = field(default_factory=dict)
    served: list[ast.stmt] = field(default_factory=list)
    exports: tuple[str, ...] | None = None

    def module(self) -> Module:
        lazy: dict[str, str] = {}
        names = {node.id for stmt in self.served for node in ast.walk(stmt) if isinstance(node, ast.Name)}
        for table, entries in self.tables.items():
            if table in names:
                lazy.update(entries)
        served = [name for name in names & set(self.keyed) if name not in self.tables]
        for table in served:
            self.keys_of(self.keyed[table])
        return Module(
            self.name,
            self.definitions,
            tuple(self.imports),
            tuple(self.stars),
            lazy,
            bool(self.served) and not lazy and not served,
            self.exports,
            self.attributes,
        )

    def keys_of(self, table: ast.Dict) -> None:
        """Define the keys of a table that a module ``__getattr__`` serves (environment variables, mostly)."""
        for key, value in zip(table.keys, table.values, strict=True):
            if isinstance(key, ast.Constant) and isinstance(key.value, str) and key.value.isidentifier():
                end = value.end_lineno or key.lineno
                self.definitions[key.value] = Definition(key.value, "value", key.lineno, end, value=self.text(value))

    def block(self, statements: Sequence[ast.stmt], prefix: str, place: ImportPlace, condition: str) -> None:
        for statement in statements:
            self.statement(statement, prefix, place, condition)

    def statement(self, node: ast.stmt, prefix: str, place: ImportPlace, condition: str) -> None:
        kind = type(node)
        if kind in SILENT:
            return
        if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
            self.assignment(node, prefix, condition)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            self.function(node, prefix, condition)
        elif isinstance(node, ast.ClassDef):
            self.klass(node, prefix, place, condition)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            self.imports_of(node, place)
        elif isinstance(node, ast.If):
            self.branch(node, prefix, place, condition)
        elif isinstance(node, ast.Try | ast.TryStar):
            guarded: ImportPlace = "guarded" if place == "module" and _guards_import(node) else place
            for part in (node.body, *(handler.body for handler in node.handlers), node.orelse, node.finalbody):
                self.block(part, prefix, guarded, condition)
        elif isinstance(node, ast.With | ast.AsyncWith | ast.For | ast.AsyncFor | ast.While):
            self.block(node.body, prefix, place, condition)

    def branch(self, node: ast.If, prefix: str, place: ImportPlace, condition: str) -> None:
        test = self.text(node.test)
        if test in _TYPE_CHECKING:
            self.block(node.body, prefix, "type-checking", condition)
            self.block(node.orelse, prefix, place, condition)
            return
        decided = verdict(node.test, self.versions)
        if decided is not False:
            self.block(node.body, prefix, place, condition if decided else test)
        if decided is not True:
            self.block(node.orelse, prefix, place, condition if decided is False else f"not ({test})")

    def function(self, node: ast.FunctionDef | ast.AsyncFunctionDef, prefix: str, condition: str) -> None:
        name = prefix + node.name
        first = min([node.lineno, *(item.lineno for item in node.decorator_list)])
        end = node.end_lineno or node.lineno
        self.add(Definition(name, "function", first, end, signature_of(node, self.text), condition=condition))
        if not prefix and node.name == "__getattr__":
            self.served.append(node)
        if self.bodies:
            statements = statements_in(node.body)
            self.inner(statements, name + ".", "inline")
            self.assigned(node, statements, prefix)

    def assigned(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef, statements: Sequence[ast.stmt], prefix: str
    ) -> None:
        """Note what a method assigns on its first parameter."""
        outer = self.definitions.get(prefix.removesuffix("."))
        if outer is None or outer.kind != "class" or not node.args.args:
            return
        myself = node.args.args[0].arg
        for statement in statements:
            if isinstance(statement, (ast.Assign, ast.AnnAssign)):
                for target in statement.targets if isinstance(statement, ast.Assign) else [statement.target]:
                    for part, value in parts_of(target, statement.value):
                        if isinstance(part, ast.Attribute) and _is_name(part.value, myself):
                            self.attribute(prefix, node.name, part, statement, value)

    def attribute(
        self, prefix: str, method: str, part: ast.Attribute, statement: ast.stmt, value: ast.expr | None
    ) -> None:
        annotation = self.text(statement.annotation) if isinstance(statement, ast.AnnAssign) else None
        text = self.text(value) if value is not None else None
        known = self.attributes.get(prefix + part.attr)
        says = annotation is not None or text not in (None, "None")
        if known is None or (known.annotation is None and known.value in (None, "None") and says):
            self.attributes[prefix + part.attr] = SelfAttribute(
                prefix + part.attr, prefix + method, part.lineno, text, annotation
            )

    def inner(self, statements: Sequence[ast.stmt], prefix: str, place: ImportPlace) -> None:
        """Read what a function body imports and defines; its assignments are its own business."""
        for node in statements:
            if type(node) in _TELLING:
                if isinstance(node, (ast.Import, ast.ImportFrom)):
                    self.imports_of(node, place)
                elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    self.function(node, prefix, "")
                elif isinstance(node, ast.ClassDef):
                    self.klass(node, prefix, place, "")

    def klass(self, node: ast.ClassDef, prefix: str, place: ImportPlace, condition: str) -> None:
        name = prefix + node.name
        first = min([node.lineno, *(item.lineno for item in node.decorator_list)])
        bases = tuple(self.text(base) for base in node.bases)
        signature = Signature((), decorators=tuple(self.text(item) for item in node.decorator_list))
        end = node.end_lineno or node.lineno
        self.add(Definition(name, "class", first, end, signature, bases, condition=condition))
        self.block(node.body, name + ".", place, condition)

    def assignment(self, node: ast.Assign | ast.AnnAssign | ast.AugAssign, prefix: str, condition: str) -> None:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        value = self.text(node.value) if node.value is not None else None
        annotation = self.text(node.annotation) if isinstance(node, ast.AnnAssign) else None
        end = node.end_lineno or node.lineno
        for target in targets:
            for name in names_in(target):
                if isinstance(node, ast.AugAssign) and prefix + name in self.definitions:
                    continue
                found = Definition(
                    prefix + name, "value", node.lineno, end, value=value, annotation=annotation, condition=condition
                )
                self.add(found)
                self.table(prefix + name, node.value)

    def table(self, name: str, value: ast.expr | None) -> None:
        if name == "__all__" and isinstance(value, ast.List | ast.Tuple):
            items = [
                item.value for item in value.elts if isinstance(item, ast.Constant) and isinstance(item.value, str)
            ]
            self.exports = tuple(items) if len(items) == len(value.elts) else None
        if isinstance(value, ast.Dict):
            self.keyed[name] = value
            entries = dict(lazy_entries(value, self.name, is_package=self.is_package))
            if entries:
                self.tables[name] = entries

    def imports_of(self, node: ast.Import | ast.ImportFrom, place: ImportPlace) -> None:
        if isinstance(node, ast.Import):
            for alias in node.names:
                local = alias.asname or alias.name.split(".")[0]
                module = alias.name if alias.asname else alias.name.split(".")[0]
                self.imports.append(Import(local, module, "", node.lineno, place))
                if not alias.asname and "." in alias.name:
                    self.imports.append(Import(alias.name, alias.name, "", node.lineno, place))
            return
        module = absolute(node.module or "", node.level, self.name, is_package=self.is_package)
        for alias in node.names:
            if alias.name == "*":
                self.stars.append(module)
            else:
                self.imports.append(Import(alias.asname or alias.name, module, alias.name, node.lineno, place))

    def add(self, found: Definition) -> None:
        """Keep a definition; the first unconditional one of a name wins over conditional ones, the last of equals."""
        old = self.definitions.get(found.name)
        if old is not None and found.condition and not old.condition:
            return
        self.definitions[found.name] = found


def _is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _guards_import(node: ast.Try | ast.TryStar) -> bool:
    kinds = {"ImportError", "ModuleNotFoundError", "Exception"}
    caught = [part for handler in node.handlers if handler.type for part in ast.walk(handler.type)]
    return any(isinstance(part, ast.Name) and part.id in kinds for part in caught) or any(
        handler.type is None for handler in node.handlers
    )
