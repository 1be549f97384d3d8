"""Reading a module's text into a :class:`Module`: one pass over its statements, function bodies only for imports."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from git_afd.core.source.definitions import (
    Definition,
    Import,
    ImportPlace,
    Module,
    Parameter,
    ParameterKind,
    SelfAttribute,
    Signature,
    Unreadable,
)
from git_afd.core.source.versions import Versions, verdict

_FOLD = re.compile(r"\s+")
_AFTER_OPENING: Final = re.compile(r"([(\[{]) ")
_BEFORE_CLOSING: Final = re.compile(r",? ([)\]}])")
_LAST_COMMA: Final = re.compile(r",([)\]}])")
_FOLDABLE: Final = re.compile(r"[^\S ]|  |[(\[{] | [)\]}]|,[)\]}]")
"""What folding changes: white space that is not one blank, and what only formatting puts beside brackets."""
_DEFINITIONS: Final = frozenset((ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
_TELLING: Final = _DEFINITIONS | {ast.Import, ast.ImportFrom}
_SILENT: Final = frozenset(
    (ast.Expr, ast.Return, ast.Raise, ast.Assert, ast.Pass, ast.Delete, ast.Global, ast.Nonlocal)
)
_SIMPLE: Final = _SILENT | {ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Import, ast.ImportFrom}

_TYPE_CHECKING: Final = ("TYPE_CHECKING", "typing.TYPE_CHECKING")
_LAZY = re.compile(r"(?P<module>\.*[\w.]*):(?P<symbol>\w+)\Z")


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
    reader = _Reader(name, is_package, _Lines(text), versions or {}, bodies)
    try:
        reader.block(parsed.body, "", "module", "")
    except RecursionError:
        return Unreadable(name, "is nested too deeply")
    return reader.module()


def parse(text: str, name: str) -> ast.Module | Unreadable:
    """Return a module's syntax tree, or why there is none. Warnings about its style are nobody's business here."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return Unreadable(name, _reason(error))


def signature_of(node: ast.FunctionDef | ast.AsyncFunctionDef, text: _Text) -> Signature:
    """Return a function node's signature; `text` turns an expression into its source."""
    arguments = node.args
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults: list[ast.expr | None] = [None] * (len(positional) - len(arguments.defaults)) + list(arguments.defaults)
    found: list[Parameter] = []
    for place, (argument, default) in enumerate(zip(positional, defaults, strict=True)):
        kind: ParameterKind = "positional-only" if place < len(arguments.posonlyargs) else "positional"
        found.append(_parameter(argument, kind, default, text))
    if arguments.vararg:
        found.append(_parameter(arguments.vararg, "var-positional", None, text))
    found += [
        _parameter(argument, "keyword", default, text)
        for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    ]
    if arguments.kwarg:
        found.append(_parameter(arguments.kwarg, "var-keyword", None, text))
    return Signature(
        tuple(found),
        text(node.returns) if node.returns else None,
        tuple(text(item) for item in node.decorator_list),
        isinstance(node, ast.AsyncFunctionDef),
    )


def _parameter(argument: ast.arg, kind: ParameterKind, default: ast.expr | None, text: _Text) -> Parameter:
    annotation = text(argument.annotation) if argument.annotation else None
    return Parameter(argument.arg, kind, text(default) if default else None, annotation)


def _reason(error: BaseException) -> str:
    if isinstance(error, SyntaxError):
        return f"line {error.lineno}: {error.msg}"
    return f"{type(error).__name__}: {error}"


class _Lines:
    """The source of any node, white space folded: slices by line, since ast.unparse costs as much as parsing."""

    def __init__(self, text: str) -> None:
        self._lines = text.encode("utf-8", "surrogatepass").split(b"\n")

    def __call__(self, node: ast.expr) -> str:
        first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
        if first == last:
            data = self._lines[first][node.col_offset : node.end_col_offset]
        else:
            middle = self._lines[first + 1 : last]
            data = b"\n".join(
                [self._lines[first][node.col_offset :], *middle, self._lines[last][: node.end_col_offset]]
            )
        return fold_space(data.decode("utf-8", "surrogatepass"))


_Text = _Lines


def fold_space(text: str) -> str:
    """Fold white space and drop what only formatting adds, so that a re-wrapped expression reads the same."""
    if not _FOLDABLE.search(text):
        return text.strip()
    folded = _FOLD.sub(" ", text).strip()
    if " " in folded or folded.endswith((",)", ",]", ",}")):
        folded = _AFTER_OPENING.sub(r"\1", folded)
        folded = _BEFORE_CLOSING.sub(r"\1", folded)
        folded = _LAST_COMMA.sub(r"\1", folded)
    return folded


@dataclass(slots=True)
class _Reader:
    """Collects while walking one module's statements. Never leaves this module."""

    name: str
    is_package: bool
    text: _Lines
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
        if kind in _SILENT:
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
                    for part, value in _parts(target, statement.value):
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
            for name in _names(target):
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
            entries = dict(_lazy_entries(value, self.name, self.is_package))
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


def absolute(module: str, level: int, name: str, *, is_package: bool) -> str:
    """Return the absolute form of a (relative) import in module `name`."""
    if not level:
        return module
    parts = name.split(".")
    keep = len(parts) - level + (1 if is_package else 0)
    return ".".join([*parts[: max(keep, 0)], *([module] if module else [])])


def statements_in(body: Sequence[ast.stmt], *, definitions: bool = False) -> list[ast.stmt]:
    """Return statements in order, those of inner blocks included; those of inner definitions only when asked for."""
    found: list[ast.stmt] = []
    waiting = list(reversed(body))
    while waiting:
        node = waiting.pop()
        found.append(node)
        kind = type(node)
        if kind in _SIMPLE or (kind in _DEFINITIONS and not definitions):
            continue
        parts: list[ast.stmt] = []
        for name in ("body", "orelse", "finalbody"):
            parts += getattr(node, name, ())
        for name in ("handlers", "cases"):
            for holder in getattr(node, name, ()):
                parts += holder.body
        waiting += reversed(parts)
    return found


def _names(target: ast.expr) -> Iterator[str]:
    if isinstance(target, ast.Name):
        yield target.id
    elif isinstance(target, ast.Tuple | ast.List):
        for item in target.elts:
            yield from _names(item.value if isinstance(item, ast.Starred) else item)


def _parts(target: ast.expr, value: ast.expr | None) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    """Pair the parts of an assignment's target with the values that go there, None where it cannot be told."""
    if isinstance(target, ast.Tuple | ast.List):
        told = isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts)
        values = value.elts if told and isinstance(value, ast.Tuple | ast.List) else [None] * len(target.elts)
        for part, item in zip(target.elts, values, strict=True):
            yield from _parts(part, item)
    else:
        yield target, value


def _is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _guards_import(node: ast.Try | ast.TryStar) -> bool:
    kinds = {"ImportError", "ModuleNotFoundError", "Exception"}
    caught = [part for handler in node.handlers if handler.type for part in ast.walk(handler.type)]
    return any(isinstance(part, ast.Name) and part.id in kinds for part in caught) or any(
        handler.type is None for handler in node.handlers
    )


def _lazy_entries(table: ast.Dict, name: str, is_package: bool) -> Iterator[tuple[str, str]]:  # noqa: FBT001 - private
    """Read ``{"Name": ".module:Symbol"}`` and ``{"Name": ".module"}`` (then the symbol has the name itself)."""
    for key, value in zip(table.keys, table.values, strict=True):
        if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
            return
        if not isinstance(value, ast.Constant) or not isinstance(value.value, str):
            return
        match = _LAZY.match(value.value) or re.fullmatch(r"(?P<module>\.+\w[\w.]*)(?P<symbol>)", value.value)
        if match is None:
            return
        path = match["module"]
        level = len(path) - len(path.lstrip("."))
        module = absolute(path.lstrip("."), level, name, is_package=is_package)
        yield key.value, f"{module}:{match['symbol'] or key.value}"
