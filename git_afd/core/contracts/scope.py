"""The names that a place in the plugin's source sees, while it is read."""

from __future__ import annotations

import builtins
from dataclasses import dataclass, field
from typing import Final

from git_afd.core.contracts.facts import Called, Spot
from git_afd.core.contracts.values import Nothing, Outside, Value
from git_afd.core.source.world import Located

BUILTINS: Final = {name: Outside(f"builtins.{name}") for name in dir(builtins)}


@dataclass(slots=True)
class Scope:
    """One block of names: a module, a class body or a function. `symbol` is its qualified name, empty for a module.

    `klass` is the plugin class whose body or method this is; `condition` the innermost test; `soft` says that an
    AttributeError or ImportError raised here is caught; `site` is the call for which a function is read again, with
    what that call passes: an assignment in it is made there; `provided` are attributes (object as written, name) that
    a test has found to be there; `calls` holds the call whose result a name is bound to.
    """

    module: str
    path: str
    symbol: str = ""
    outer: Scope | None = None
    klass: Located | None = None
    names: dict[str, Value | None] = field(default_factory=dict)
    calls: dict[str, Called] = field(default_factory=dict)
    condition: str = ""
    soft: bool = False
    site: Spot | None = None
    provided: frozenset[tuple[str, str]] = frozenset()

    def knows(self, name: str) -> tuple[bool, Value | None]:
        """Say whether a name is bound in this block or an outer function's, and to what."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names and (scope is self or scope.is_function or not scope.symbol):
                return True, scope.names[name]
            scope = scope.outer
        return False, None

    @property
    def is_function(self) -> bool:
        """Whether this is a function's block (class bodies are not seen from the functions in them)."""
        return bool(self.symbol) and not self.is_class

    @property
    def is_class(self) -> bool:
        """Whether this is a class body."""
        return self.klass is not None and self.klass.symbol == self.symbol

    def provides(self, base: str, name: str) -> bool:
        """Say whether a test around this place has found the attribute to be there."""
        return (base, name) in self.provided or (self.outer is not None and self.outer.provides(base, name))

    def bind(self, name: str, value: Value | None, call: Called | None = None) -> None:
        """Bind a name; the constant None never displaces something that is known."""
        if isinstance(value, Nothing) and self.names.get(name) is not None:
            return
        if value is None and not self.symbol and self.names.get(name) is not None:
            return  # a module-level name that is computed later keeps what it is known to be
        self.names[name] = value
        if call is None:
            self.calls.pop(name, None)
        else:
            self.calls[name] = call

    def called(self, name: str) -> Called | None:
        """Return the call whose result a name of this block holds."""
        return self.calls.get(name)
