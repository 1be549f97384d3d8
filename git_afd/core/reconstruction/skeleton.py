"""The target's function as it must be written in the plugin's module: names read where the plugin can reach them.

Nothing else of its text changes: comments, formatting, signature and decorators stay as they are.
"""

from __future__ import annotations

import ast
import builtins
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from git_afd.core.reconstruction.alias import followed
from git_afd.core.reconstruction.model import Names, Question
from git_afd.core.source.definitions import Module, Signature
from git_afd.core.source.index import index_module

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_BUILTIN = frozenset(dir(builtins))
_NAMED = (ast.ExceptHandler, ast.MatchAs, ast.MatchStar, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_INSTALLED = ("staticmethod", "classmethod")


@dataclass(slots=True)
class Skeleton:
    """The rewritten lines; statements that the plugin's module lacks or replaces; what could not be rewritten.

    `rebound` are names that the plugin's module imports from where they are no longer; `imports` has the new place.
    """

    lines: list[str]
    imports: list[str] = field(default_factory=list)
    typing_only: list[str] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    replaced: list[tuple[str, str]] = field(default_factory=list)
    rebound: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Edit:
    row: int
    start: int
    end: int
    text: str


def function_in(lines: Sequence[str]) -> _Function:
    """Return the function that begins at the margin. Raises SyntaxError."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        node = ast.parse("\n".join(lines)).body[0]
    if not isinstance(node, _Function):
        raise SyntaxError("it is no function statement")  # noqa: TRY004 - the text is wrong, not its type
    return node


def signature_in(lines: Sequence[str]) -> Signature | None:
    """Return the signature of the function that begins at the margin, None when it cannot be read."""
    found = index_module("\n".join(lines), "m", bodies=False)
    named = found.definitions.values() if isinstance(found, Module) else ()
    return next((item.signature for item in named if item.kind == "function"), None)


def rewritten(lines: Sequence[str], copy: _Function, names: Names, klass: str, *, method: bool) -> Skeleton:
    """Return the target's function for the plugin's module; `copy` is the plugin's function, `klass` upstream's class.

    Raises SyntaxError when the target's text cannot be read.
    """
    node = function_in(lines)
    found = Skeleton(list(lines))
    edits: list[_Edit] = []
    spelled = _Spelling(copy, names, found)
    _head(node, copy, found, edits, method=method)
    dropped = _globals(node, names, found)
    local = bound_names(node) - set(dropped)
    typed = {id(part) for part in _annotations(node)}
    for part in _names(node):
        if part.id in local or id(part) in _decorators(node):
            continue
        if id(part) in typed:
            spelled.typed(part.id)
            continue
        text = spelled.of(part.id, rebound=part.id in dropped)
        if text != part.id:
            _replace(found.lines, part, text, edits)
    if not method and klass:
        edits += _supers(node, found.lines, spelled.of(klass, needed=False))
    spelled.follow()
    _apply(found.lines, edits)
    _drop_rows(found.lines, node, dropped)
    return found


def bound_names(node: ast.AST) -> set[str]:
    """Return every name that is bound somewhere inside a function, its parameters included."""
    found: set[str] = set()
    for part in ast.walk(node):
        if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load):
            found.add(part.id)
        elif isinstance(part, ast.arg):
            found.add(part.arg)
        elif isinstance(part, _NAMED) and part.name and part is not node:
            found.add(part.name)
        elif isinstance(part, ast.alias):
            found.add(part.asname or part.name.partition(".")[0])
    return found


class _Spelling:
    """How a name of the upstream module is written in the plugin's."""

    def __init__(self, copy: _Function, names: Names, found: Skeleton) -> None:
        self._names = names
        self._found = found
        loaded = {part.id for part in ast.walk(copy) if isinstance(part, ast.Name)}
        self._bare = loaded - bound_names(copy)
        used = [name for name in names.aliases if name in loaded]
        candidates = [*(name for name in (*used, *names.aliases) if name not in names.stale), *used, *names.aliases]
        self._alias = (candidates or [""])[0]
        self._left: dict[str, None] = {}

    def of(self, name: str, *, needed: bool = True, rebound: bool = False) -> str:
        names = self._names
        theirs = names.upstream.get(name)
        if theirs is None:
            return name
        ours = names.plugin.get(name)
        if name in names.broken and ours != theirs and name in names.imports:
            self._rebind(name)
            return name
        if ours is not None and (ours == theirs or (name in self._bare and not ours.startswith("plugin:"))):
            return name
        renamed = next((local for local, dotted in names.plugin.items() if dotted == theirs), "")
        if renamed and renamed not in names.aliases:
            return renamed
        return self._through_alias(name, rebound=rebound) if self._alias else self._bare_name(name, ours, needed=needed)

    def _through_alias(self, name: str, *, rebound: bool) -> str:
        old = self._names.stale.get(self._alias)
        if old is not None and (rebound or name not in old.reach):
            self._left[name] = None
        return f"{self._alias}.{name}"

    def _bare_name(self, name: str, ours: str | None, *, needed: bool) -> str:
        if needed and (name not in _BUILTIN or name in self._names.imports):
            self._need(name, ours)
        return name

    def follow(self) -> None:
        """Let the alias mean the target's module where a name has to be read there, or ask."""
        old = self._names.stale.get(self._alias)
        if old is not None and self._left:
            answer = followed(old, self._alias, self._names.home, list(self._left))
            (self._found.questions if isinstance(answer, Question) else self._found.replaced).append(answer)  # type: ignore[arg-type]  # told apart

    def typed(self, name: str) -> None:
        """Note a name that only annotations read: it is never looked up at run time."""
        statement = self._names.imports.get(name, "")
        known = name in {*self._names.plugin, *self._names.typing}
        if name in self._names.upstream and statement and not known and statement not in self._found.typing_only:
            self._found.typing_only.append(statement)

    def _rebind(self, name: str) -> None:
        """Import a name from where the target's module has it: the plugin's own import no longer finds it."""
        if name not in self._found.rebound:
            self._found.rebound.append(name)
            self._found.imports.append(self._names.imports[name])

    def _need(self, name: str, ours: str | None) -> None:
        statement = self._names.imports.get(name, "")
        if ours is not None:
            text = f"the target reads {name} of its own module, and the plugin's module has another {name} ({ours})"
            question = Question("name-clash", f"{text}: under which name shall the plugin import it?")
            if question not in self._found.questions:
                self._found.questions.append(question)
        elif statement and statement not in self._found.imports:
            self._found.imports.append(statement)


def _head(node: _Function, copy: _Function, found: Skeleton, edits: list[_Edit], *, method: bool) -> None:
    """Give the function the plugin's name; leave out what installing adds; spell decorators as the plugin does."""
    ours = {_last(item): ast.unparse(item) for item in copy.decorator_list}
    for item in node.decorator_list:
        name = _last(item)
        row = item.lineno - 1
        if name in _INSTALLED and name not in ours and not method:
            found.lines[row] = "\0"
        elif (
            name in ours and _arguments(ours[name]) == _arguments(ast.unparse(item)) and item.lineno == item.end_lineno
        ):
            found.lines[row] = f"@{ours[name]}"
    if node.name != copy.name:
        line = found.lines[node.lineno - 1]
        start = re.search(rf"\bdef\s+({re.escape(node.name)})\b", line)
        if start:
            edits.append(_Edit(node.lineno - 1, start.start(1), start.end(1), copy.name))


def _arguments(decorator: str) -> str:
    return decorator.partition("(")[2]


def _last(node: ast.expr) -> str:
    return ast.unparse(node).partition("(")[0].rpartition(".")[2]


def _decorators(node: _Function) -> set[int]:
    plain = [item for item in node.decorator_list if not isinstance(item, ast.Call)]
    return {id(part) for item in plain if _last(item) in _INSTALLED for part in ast.walk(item)}


def _globals(node: _Function, names: Names, found: Skeleton) -> dict[str, None]:
    """Return the names that the function rebinds in its module; without an alias that cannot be said in the plugin."""
    declared = {name: None for part in ast.walk(node) if isinstance(part, ast.Global) for name in part.names}
    if declared and not names.aliases:
        text = f"the target rebinds {', '.join(declared)} of its own module (global)"
        found.questions.append(
            Question("global", f"{text}, and the plugin's module imports no alias of that module: import it as which?")
        )
    return declared


def _annotations(node: _Function) -> Iterator[ast.AST]:
    for part in ast.walk(node):
        for name in ("annotation", "returns"):
            held = getattr(part, name, None)
            if isinstance(held, ast.AST):
                yield from ast.walk(held)


def _names(node: _Function) -> Iterator[ast.Name]:
    return (part for part in ast.walk(node) if isinstance(part, ast.Name))


def _replace(lines: Sequence[str], part: ast.Name, text: str, edits: list[_Edit]) -> None:
    row = part.lineno - 1
    start = len(lines[row].encode()[: part.col_offset].decode(errors="ignore"))
    end = start + len(part.id)
    if lines[row][start:end] == part.id:
        edits.append(_Edit(row, start, end, text))
        return
    for number in range(row, min(row + 30, len(lines))):  # Python 3.11 gives no columns inside f-strings
        for match in re.finditer(rf"(?<=\{{){re.escape(part.id)}\b", lines[number]):
            edit = _Edit(number, match.start(), match.end(), text)
            if edit not in edits:
                edits.append(edit)
                return


def _supers(node: _Function, lines: Sequence[str], klass: str) -> Iterator[_Edit]:
    """``super()`` finds no class in a function outside one: name it (data model, super)."""
    first = next((item.arg for item in (*node.args.posonlyargs, *node.args.args)), "self")
    for part in ast.walk(node):
        bare = isinstance(part, ast.Call) and isinstance(part.func, ast.Name) and part.func.id == "super"
        if bare and isinstance(part, ast.Call) and not part.args and part.end_lineno == part.lineno:
            row = part.lineno - 1
            start = len(lines[row].encode()[: part.col_offset].decode(errors="ignore"))
            yield _Edit(row, start, start + len("super()"), f"super({klass}, {first})")


def _apply(lines: list[str], edits: list[_Edit]) -> None:
    for edit in sorted(edits, key=lambda item: (item.row, item.start), reverse=True):
        line = lines[edit.row]
        lines[edit.row] = line[: edit.start] + edit.text + line[edit.end :]


def _drop_rows(lines: list[str], node: _Function, dropped: Mapping[str, None]) -> None:
    if dropped:
        for part in ast.walk(node):
            if isinstance(part, ast.Global):
                lines[part.lineno - 1] = "\0"
    lines[:] = [line for line in lines if line != "\0"]
