"""Who acts: somebody that git knows, and for what binds everybody the primary (workflow, Subagent orchestration)."""

from __future__ import annotations

from git_afd.core.state import Upgrade
from git_afd.errors import EnvironmentFault, Refused


def insist_known(actor: str) -> None:
    """Raise EnvironmentFault when nobody acts: a record that no one stands for says nothing."""
    if not actor:
        raise EnvironmentFault(
            "git does not know who you are",
            "git config user.name NAME; git config user.email MAIL (or set GIT_AFD_ACTOR)",
            code="nobody",
        )


def insist_primary(up: Upgrade, actor: str, does: str, fix: str) -> None:
    """Raise Refused when somebody but the primary of `up` does what `does` says (``commits``)."""
    insist_known(actor)
    if actor != up.freeze.primary:
        raise Refused(f"only the primary ({up.freeze.primary}) {does}, and this is {actor}", fix, code="not-primary")
