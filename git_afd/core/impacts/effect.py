"""What the target does to one contract: the facts of the comparison, before anybody gives them a class."""

from __future__ import annotations

from dataclasses import dataclass

from git_afd.core.contracts.model import Contract
from git_afd.core.impacts.differences import Difference
from git_afd.core.impacts.places import Now
from git_afd.core.impacts.sides import Side
from git_afd.core.source.world import Located
from git_afd.core.workbook.impacts import State


@dataclass(frozen=True, slots=True)
class Case:
    """One contract with both its ends found: what the checks of its uses look at."""

    contract: Contract
    old: Located
    now: Now
    difference: Difference
    sides: tuple[Side, Side]


@dataclass(frozen=True, slots=True)
class Fault:
    """A use that fails or binds wrongly at the target: line in the plugin, and why, without subject.

    `silent`: nothing fails, what is passed merely arrives somewhere else.
    """

    line: int
    why: str
    silent: bool = False


@dataclass(frozen=True, slots=True)
class Effect:
    """The comparison's result. `breaking` is true when a use fails or binds wrongly (`faults` say which and why).

    `gone` says that the thing itself (not only its old name) is not there any more, `owner_gone` that the class it
    belongs to is gone too; `soft_read` that what is gone is provided for by every use; `reachable` that the plugin's
    own way to it works; `stack` what else it depends on that is another one at the target.
    """

    contract: Contract
    state: State
    reason: str
    faults: tuple[Fault, ...] = ()
    target: Located | None = None
    difference: Difference | None = None
    gone: bool = False
    owner_gone: bool = False
    soft_read: bool = False
    reachable: bool = True
    stack: str = ""

    @property
    def breaking(self) -> bool:
        """Whether the plugin's use fails or binds wrongly at the target."""
        return bool(self.faults)
