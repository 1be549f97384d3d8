"""A group of commands that imports a command's module only when it is called or its help is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click


class LazyGroup(click.Group):
    """A click group over a table.

    `verbs` maps a command's name to the module below git_afd.cli that holds it; the attribute there has the
    command's name with underscores. Commands added by :meth:`add_command` work too and are not listed.
    """

    def __init__(self, *args: Any, verbs: Mapping[str, str], **attrs: Any) -> None:  # noqa: ANN401 - click's own
        """Keep the table."""
        super().__init__(*args, **attrs)
        self.verbs = verbs

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Return the names in the order of the table."""
        return list(self.verbs)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, None when there is none of that name."""
        module = self.verbs.get(cmd_name)
        if module is None:
            return super().get_command(ctx, cmd_name)
        found = getattr(import_module(f"git_afd.cli.{module}"), cmd_name.replace("-", "_"))
        return found if isinstance(found, click.Command) else None
