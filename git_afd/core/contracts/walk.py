"""Walking a plugin module's statements in order, so that names mean at each place what they mean there."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from git_afd.core.contracts.evaluate import Evaluator
from git_afd.core.contracts.facts import Passed
from git_afd.core.contracts.guards import found_there, narrowed, quiet
from git_afd.core.contracts.kinds import written
from git_afd.core.contracts.scope import Scope
from git_afd.core.contracts.values import Instance, Items, Method, ModuleValue, Outside, Thing, Value, element
from git_afd.core.contracts.writes import assign, installed_module
from git_afd.core.source.import_names import absolute
from git_afd.core.source.nodes import children
from git_afd.core.source.versions import Versions, only_now, verdict
from git_afd.core.source.world import PLUGIN, Located

Function = ast.FunctionDef | ast.AsyncFunctionDef
_UNROLL: Final = 64
_CATCHES: Final = ("AttributeError", "Exception", "BaseException")


@dataclass(frozen=True, slots=True)
class Waiting:
    """A function whose body is read once its surroundings are known."""

    node: Function
    outer: Scope
    klass: Located | None
    place: Located


@dataclass(slots=True)
class Walk:
    """Walks modules. `functions` keeps every function by its place, so that a replacement can be read again."""

    read: Evaluator
    versions: Versions = field(default_factory=dict)
    functions: dict[Located, Waiting] = field(default_factory=dict)
    parameters: Callable[[Waiting], dict[str, Value | None]] = lambda _: {}
    _waiting: list[Waiting] | None = None
    _kind_of: dict[type, Callable[[ast.stmt, Scope], None]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Table of the statements that do more than hold expressions and blocks."""
        self._kind_of = {
            ast.FunctionDef: self._function,
            ast.AsyncFunctionDef: self._function,
            ast.ClassDef: self._class,
            ast.Import: self._import,
            ast.ImportFrom: self._import,
            ast.Assign: self._assign,
            ast.AnnAssign: self._annotated,
            ast.AugAssign: self._augmented,
            ast.If: self._if,
            ast.For: self._for,
            ast.AsyncFor: self._for,
            ast.With: self._with,
            ast.AsyncWith: self._with,
            ast.Try: self._try,
            ast.TryStar: self._try,
            ast.Assert: self._assert,
            ast.Expr: self._expression,
        }

    def module(self, tree: ast.Module, module: str, path: str) -> None:
        """Read a whole module: its level first, then the functions, which see all of it."""
        self.body(tree.body, Scope(module, path))

    def body(self, statements: Sequence[ast.stmt], scope: Scope) -> None:
        """Read a block and then the functions that it defines."""
        waiting: list[Waiting] = []
        outer, self._waiting = self._waiting, waiting
        self.block(statements, scope)
        self._waiting = outer
        for function in waiting:
            self.function(function, {})

    def block(self, statements: Sequence[ast.stmt], scope: Scope) -> None:
        """Read statements in order."""
        for statement in statements:
            self._kind_of.get(type(statement), self._others)(statement, scope)

    def _others(self, node: ast.stmt, scope: Scope) -> None:
        for child in children(node):
            if isinstance(child, ast.expr):
                self.read(child, scope)
            elif isinstance(child, ast.stmt):
                self.block([child], scope)
            elif isinstance(child, ast.match_case):
                self.block(child.body, scope)

    def _expression(self, node: ast.stmt, scope: Scope) -> None:
        if isinstance(node, ast.Expr):
            self.read(node.value, scope)
            if self.read.last is not None:
                self.read.last.discarded = True

    def _function(self, node: ast.stmt, scope: Scope) -> None:
        if not isinstance(node, Function):
            return
        for decorator in node.decorator_list:
            self.read(decorator, scope)
        for default in (*node.args.defaults, *(item for item in node.args.kw_defaults if item)):
            self.read(default, scope)
        place = self.place(node.name, scope)
        if not scope.is_class:
            scope.names[node.name] = Thing(place)
        waiting = Waiting(node, scope, scope.klass if scope.is_class else None, place)
        self.functions[place] = waiting
        if self._waiting is not None:
            self._waiting.append(waiting)

    def place(self, name: str, scope: Scope) -> Located:
        """Return the place of a definition in this block."""
        symbol = f"{scope.symbol}.{name}" if scope.symbol else name
        module = self.read.world.module(PLUGIN, scope.module)
        return Located(PLUGIN, scope.path, scope.module, symbol, module.definitions.get(symbol) if module else None)

    def function(self, waiting: Waiting, seeds: dict[str, Value | None], passed: Passed | None = None) -> None:
        """Read a function's body; `seeds` are parameters that are known from outside, `passed` a call of it."""
        node, outer = waiting.node, waiting.outer
        klass = waiting.klass or outer.klass
        site = passed.spot if passed else outer.site
        scope = Scope(outer.module, outer.path, waiting.place.symbol, outer, klass, site=site)
        known = {**self.parameters(waiting), **(dict(passed.values) if passed else {})}
        arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        for argument in arguments:
            told = self.read.kinds.annotated(argument.annotation, outer.module) if argument.annotation else None
            told = told or _local(self.read, argument.annotation, outer)
            scope.names[argument.arg] = seeds.get(argument.arg) or told or known.get(argument.arg)
        for extra in (node.args.vararg, node.args.kwarg):
            if extra:
                scope.names[extra.arg] = None
        if waiting.klass is not None and arguments and arguments[0].arg not in seeds:
            self._myself(node, arguments[0].arg, waiting.klass, scope)
        self._registered(node, arguments, scope)
        self.body(node.body, scope)

    def _myself(self, node: Function, name: str, klass: Located, scope: Scope) -> None:
        decorators = [written(item) for item in node.decorator_list]
        if "staticmethod" not in decorators:
            by_class = "classmethod" in decorators or node.name == "__new__"
            scope.names[name] = Thing(klass) if by_class else Instance(klass)

    def _registered(self, node: Function, arguments: list[ast.arg], scope: Scope) -> None:
        """Bind the first parameter of a function that a decorator registers for an upstream module (its constant)."""
        for decorator in node.decorator_list:
            if isinstance(decorator, ast.Call) and len(decorator.args) == 1 and arguments:
                text = decorator.args[0].value if isinstance(decorator.args[0], ast.Constant) else None
                untold = scope.names.get(arguments[0].arg) is None
                if (
                    untold
                    and isinstance(text, str)
                    and "." in text
                    and self.read.world.owner(text) not in (None, PLUGIN)
                ):
                    scope.names[arguments[0].arg] = ModuleValue(text)

    def _class(self, node: ast.stmt, scope: Scope) -> None:
        if not isinstance(node, ast.ClassDef):
            return
        for decorator in node.decorator_list:
            self.read(decorator, scope)
        place = self.place(node.name, scope)
        for base in node.bases:
            found = self.read(base, scope)
            if isinstance(found, Thing) and found.place.kind == "class":
                self.read.world.teach(place, written(base), found.place)
        for keyword in node.keywords:
            self.read(keyword.value, scope)
        scope.names[node.name] = Thing(place)
        self.block(node.body, Scope(scope.module, scope.path, place.symbol, scope, place))

    def _import(self, node: ast.stmt, scope: Scope) -> None:
        if isinstance(node, ast.Import):
            for alias in node.names:
                dotted = alias.name if alias.asname else alias.name.partition(".")[0]
                scope.bind(alias.asname or dotted, self._module_named(dotted))
        elif isinstance(node, ast.ImportFrom):
            package = scope.path.endswith("__init__.py")
            module = absolute(node.module or "", node.level, scope.module, is_package=package)
            for alias in node.names:
                if alias.name != "*":
                    scope.bind(alias.asname or alias.name, self.read.of_module(module, alias.name))

    def _module_named(self, dotted: str) -> Value | None:
        return ModuleValue(dotted) if self.read.world.owner(dotted) else Outside(dotted)

    def _assign(self, node: ast.stmt, scope: Scope) -> None:
        if isinstance(node, ast.Assign):
            value = self.read(node.value, scope)
            for target in node.targets:
                self._store(target, node.value, value, scope)

    def _store(self, target: ast.expr, node: ast.expr | None, value: Value | None, scope: Scope) -> None:
        call = self.read.last
        if isinstance(target, ast.Attribute):
            assign(self.read, target, node, value, scope)
        elif isinstance(target, ast.Tuple | ast.List):
            if call is not None:
                call.unpacked = len([part for part in target.elts if not isinstance(part, ast.Starred)])
                call.unpacked_star = any(isinstance(part, ast.Starred) for part in target.elts)
            self._parts(target, node, value, scope)
        elif isinstance(target, ast.Name):
            self.read.bind(target, value, scope, call)
            self._keep(target.id, value, scope)
        elif isinstance(target, ast.Subscript):
            installed_module(self.read, target, value, scope)
            self.read(target, scope)
        self.read.last = call

    def _parts(self, target: ast.Tuple | ast.List, node: ast.expr | None, value: Value | None, scope: Scope) -> None:
        told = node.elts if isinstance(node, ast.Tuple | ast.List) and len(node.elts) == len(target.elts) else None
        for number, part in enumerate(target.elts):
            if isinstance(part, ast.Attribute | ast.Subscript):
                self.read.last = None
                items = value.items if isinstance(value, Items) and number < len(value.items) else ()
                each = items[number] if items else element(value)
                self._store(part, told[number] if told else None, each, scope)
        self.read.bind(target, value, scope)

    def _keep(self, name: str, value: Value | None, scope: Scope) -> None:
        """Note under which name an original is kept before it is replaced."""
        if isinstance(value, Thing | Method) and value.place.who != PLUGIN and value.place.kind == "function":
            self.read.facts.saved.setdefault((scope.path, value.place.dotted), name)

    def _annotated(self, node: ast.stmt, scope: Scope) -> None:
        if not isinstance(node, ast.AnnAssign):
            return
        value = self.read(node.value, scope) if node.value else None
        call = self.read.last
        told = self.read.kinds.annotated(node.annotation, scope.module) or _local(self.read, node.annotation, scope)
        self.read.last = call
        self._store(node.target, node.value, told or value, scope)

    def _augmented(self, node: ast.stmt, scope: Scope) -> None:
        if isinstance(node, ast.AugAssign):
            self.read(node.value, scope)
            self.read(node.target, scope)

    def _if(self, node: ast.stmt, scope: Scope) -> None:
        if not isinstance(node, ast.If):
            return
        decided = verdict(node.test, self.versions)
        self.read(node.test, scope)
        outer, scope.condition = scope.condition, ast.unparse(node.test) if not scope.symbol else scope.condition
        soft, scope.soft = scope.soft, scope.soft or self._only_now(node, scope, taken=bool(decided))
        if decided is not False:
            kept = narrowed(self.read, node.test, scope, positive=True)
            before, scope.provided = scope.provided, scope.provided | found_there(self.read, node.test, scope)
            self.block(node.body, scope)
            scope.provided = before
            scope.names.update(kept)
        scope.condition = outer
        if decided is not True:
            self.block(node.orelse, scope)
        scope.soft = soft
        if node.body and isinstance(node.body[-1], ast.Return | ast.Raise | ast.Continue | ast.Break):
            narrowed(self.read, node.test, scope, positive=False)
            if isinstance(node.test, ast.UnaryOp) and isinstance(node.test.op, ast.Not):
                scope.provided |= found_there(self.read, node.test.operand, scope)

    def _only_now(self, node: ast.If, scope: Scope, *, taken: bool) -> bool:
        """Say whether no other version takes the branch that is read: what it uses may be gone there."""
        branch = node.body if taken else node.orelse
        if not branch or not only_now(node.test, self.versions):
            return False
        self.read.facts.bound.append((scope.path, branch[0].lineno, branch[-1].end_lineno or branch[-1].lineno))
        return True

    def _assert(self, node: ast.stmt, scope: Scope) -> None:
        if isinstance(node, ast.Assert):
            self.read(node.test, scope)
            narrowed(self.read, node.test, scope, positive=True)

    def _for(self, node: ast.stmt, scope: Scope) -> None:
        if not isinstance(node, ast.For | ast.AsyncFor):
            return
        value = self.read(node.iter, scope)
        if self.read.last is not None:
            self.read.last.iterated = True
        rounds = list(value.items[:_UNROLL]) if isinstance(value, Items) else []
        for each in rounds or [element(value)]:
            self.read.bind(node.target, each, scope)
            self.block(node.body, scope)
        self.block(node.orelse, scope)

    def _with(self, node: ast.stmt, scope: Scope) -> None:
        if not isinstance(node, ast.With | ast.AsyncWith):
            return
        soft = scope.soft
        for item in node.items:
            value = self.read(item.context_expr, scope)
            if self.read.last is not None:
                self.read.last.entered = True
            if item.optional_vars is not None:
                self.read.bind(item.optional_vars, self._entered(value), scope)
            called = item.context_expr
            if isinstance(called, ast.Call) and written(called.func).endswith("suppress"):
                scope.soft = any(written(part) in _CATCHES for part in called.args) or soft
        self.block(node.body, scope)
        scope.soft = soft

    def _entered(self, value: Value | None) -> Value | None:
        if isinstance(value, Instance):
            found = self.read.world.member(value.klass, "__enter__")
            told = self.read.kinds.returned(found, value.klass) if isinstance(found, Located) else None
            return told or value
        return element(value)

    def _try(self, node: ast.stmt, scope: Scope) -> None:
        if not isinstance(node, ast.Try | ast.TryStar):
            return
        caught = [part for item in node.handlers if item.type for part in ast.walk(item.type)]
        names = [part.id for part in caught if isinstance(part, ast.Name)]
        soft = scope.soft
        scope.soft = soft or any(name in _CATCHES for name in names) or any(not item.type for item in node.handlers)
        self.block(node.body, scope)
        scope.soft = soft
        for handler in node.handlers:
            self.block(handler.body, scope)
        self.block(node.orelse, scope)
        self.block(node.finalbody, scope)


def _local(read: Evaluator, annotation: ast.expr | None, scope: Scope) -> Value | None:
    """Return what an annotation promises that names a class imported inside a function."""
    if annotation is None or not scope.is_function:
        return None
    found = quiet(read, annotation, scope)
    return Instance(found.place) if isinstance(found, Thing) and found.place.kind == "class" else None
