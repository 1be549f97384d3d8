"""Reading configuration: the policy (``afd.toml`` or a built-in profile) and the branch's pointer to its upgrade."""

from __future__ import annotations

import hashlib
import re
import tomllib
from dataclasses import dataclass
from importlib.resources import files
from typing import Final

from git_afd.adapters.git import Git, decode
from git_afd.core.pointers import ASK, parse_pointers
from git_afd.core.policy import Policy
from git_afd.core.policy_keys import PolicyFault
from git_afd.core.policy_reading import parse_policy
from git_afd.errors import EnvironmentFault

POLICY_FILE: Final = "afd.toml"
BUILT_IN: Final = "npu"


@dataclass(frozen=True, slots=True)
class PolicySource:
    """A policy and where it came from: `origin` as shown, `text` as frozen, `digest` its SHA-256 (64 hex)."""

    policy: Policy
    origin: str
    text: str

    @property
    def digest(self) -> str:
        """The SHA-256 of the text."""
        return hashlib.sha256(self.text.encode()).hexdigest()


def policy_at(git: Git, commit: str) -> PolicySource:
    """Return the policy that holds at a commit (full id): its ``afd.toml``, else the built-in profile.

    It is read from the commit, not from the work tree: an uncommitted demand demands nothing.
    Raises EnvironmentFault naming file and line of the first wrong key.
    """
    result = git.run("cat-file", "blob", f"{commit}:{POLICY_FILE}")
    if result.ok:
        return read_policy(decode(result.stdout), POLICY_FILE)
    text = (files("git_afd") / "profiles" / f"{BUILT_IN}.toml").read_text(encoding="utf-8")
    return read_policy(text, f"built-in profile {BUILT_IN}")


def read_policy(text: str, origin: str) -> PolicySource:
    """Parse a policy's text. Raises EnvironmentFault naming `origin` and line."""
    try:
        return PolicySource(parse_policy(tomllib.loads(text)), origin, text)
    except tomllib.TOMLDecodeError as error:
        raise EnvironmentFault(f"{origin} is no TOML: {error}", f"correct {origin} and commit it") from None
    except PolicyFault as fault:
        line = _line_of(text, fault.key)
        raise EnvironmentFault(f"{origin}:{line}: {fault}", f"correct {origin} and commit it") from None


def _line_of(text: str, key: str) -> int:
    """Find the line of a dotted key, at the best: inside its table, else where its last word first stands."""
    *tables, name = re.sub(r"\[\d+\]", "", key).split(".")
    wanted = int(found.group(1)) if (found := re.search(r"\[(\d+)\]", key)) else 0
    at_table, seen = not tables, -1
    for place, line in enumerate(text.splitlines(), start=1):
        head = re.match(r"\s*\[+\s*([^\]]+?)\s*\]+", line)
        if head:
            same = head.group(1).replace('"', "") == ".".join(tables)
            seen += same
            at_table = same and seen >= wanted
            if head.group(1).split(".")[-1] == name and head.group(1) == ".".join([*tables, name]):
                return place
        elif at_table and re.match(rf"\s*\"?{re.escape(name)}\"?\s*[=.]", line):
            return place
    return 1


def pointer(git: Git, branch: str) -> str:
    """Return the upgrade that a branch works on (``branch.<name>.afd``), empty when none."""
    result = git.run("config", "--local", "--get", f"branch.{branch}.afd")
    return result.text if result.ok else ""


def pointers(git: Git) -> dict[str, str]:
    """Return the upgrade of every branch that has one, by branch."""
    return parse_pointers(decode(git.run(*ASK).stdout))


def point(git: Git, branch: str, upgrade: str) -> None:
    """Make a branch point to an upgrade. Git moves the pointer with the branch and drops it with the branch."""
    git("config", "--local", f"branch.{branch}.afd", upgrade, locks=True)
