"""A group of commands that imports a command's module only when it is called or its help is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click

from git_afd.errors import Blocked


class NotBuilt(Blocked):
    """A command that the workflow has and this version has not: what it decides stays owed, and is never passed."""

    def __init__(self, name: str) -> None:
        """Say so of ``git afd NAME``, and name the honest way to end."""
        super().__init__(
            f"git afd {name} is not built in this version, so what it decides stays owed",
            "git afd close --why TEXT ends the upgrade as closed, not complete",
            code="not-built",
        )


class LazyGroup(click.Group):
    """A click group over a table.

    `verbs` maps a command's name to the module below git_afd.cli that holds it; the attribute there has the
    command's name with underscores. Commands added by :meth:`add_command` work too and are not listed. `owed` are
    names that the workflow has and this version has not: asked for, they raise NotBuilt.
    """

    def __init__(
        self,
        *args: Any,  # noqa: ANN401 - click's own
        verbs: Mapping[str, str],
        owed: tuple[str, ...] = (),
        **attrs: Any,  # noqa: ANN401 - click's own
    ) -> None:
        """Keep the table."""
        super().__init__(*args, **attrs)
        self.verbs = verbs
        self.owed = owed

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Return the names in the order of the table."""
        return list(self.verbs)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, None when there is none of that name."""
        module = self.verbs.get(cmd_name)
        if module is None:
            if cmd_name in self.owed:
                raise NotBuilt(" ".join(word for word in ((self.name or "").removeprefix("afd"), cmd_name) if word))
            return super().get_command(ctx, cmd_name)
        found = getattr(import_module(f"git_afd.cli.{module}"), cmd_name.replace("-", "_"))
        return found if isinstance(found, click.Command) else None
