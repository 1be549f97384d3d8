"""What a commit of a root cause must be, before and after git made it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from git_afd.core.blueprint import Blueprint
from git_afd.core.failing import refuse_claim
from git_afd.core.finding import Finding
from git_afd.core.message import revisions_of
from git_afd.core.message_rules import LEDGER_KEY, ROOT_CAUSE_KEY, SIGN_OFF_KEY, UPGRADE_KEY, check_message
from git_afd.core.plan import check_entry, check_open
from git_afd.core.state import RootCause, Upgrade
from git_afd.errors import EnvironmentFault, Refused


@dataclass(frozen=True, slots=True)
class MadeCommit:
    """A commit as it was read again: full ids, message, signature, the trailers that git itself finds."""

    id: str
    tree: str
    parents: tuple[str, ...]
    message: str
    signed: bool
    trailers: Sequence[str]


def insist_on_person(committer: str, author: str, bots: Iterable[str]) -> None:
    """Refuse identities that cannot give a sign-off: none at all, or one that the policy calls a bot."""
    for role, who in (("committer", committer), ("author", author)):
        if not who:
            raise EnvironmentFault(
                f"git knows no {role} identity", "git config user.name NAME; git config user.email MAIL"
            )
        pattern = next((glob for glob in bots if fnmatchcase(who.lower(), glob.lower())), None)
        if pattern is not None:
            raise Refused(
                f"{role} {who} fits {pattern}, and a bot cannot sign off", "commit as the person who answers for it"
            )


def committable(up: Upgrade, name: str, shown: Mapping[str, str]) -> RootCause:
    """Return the open root cause that may be committed now. Raises the fault that forbids it."""
    check_open(up)
    cause = up.root_causes.get(name)
    if cause is None:
        raise Refused(f"there is no root cause {name} in {up.id}", "git afd root-cause list")
    if cause.status == "committed":
        raise Refused(f"{name} has its commit {cause.commit} already", "git afd root-cause add", code="second-commit")
    if cause.status != "open":
        said = "is settled: it plans nothing to commit" if cause.status == "settled" else f"was withdrawn: {cause.why}"
        raise Refused(f"{name} {said}", "git afd root-cause list")
    check_entry(cause.kind, shown)
    refuse_claim(up, cause)
    if not cause.files:
        raise Refused(f"{name} plans no file", f"git afd root-cause amend {name} --file PATH")
    return cause


def message_faults(
    up: Upgrade, cause: RootCause, text: str, signer: str, *, parent: str, ledger: str = ""
) -> tuple[Finding, ...]:
    """Return what is wrong with a message of this root cause's commit. Raises Refused by what it must not claim."""
    refuse_claim(up, cause, text)
    faults = check_message(
        text,
        upgrade=up.id,
        root_cause=cause.name,
        committer=signer,
        revisions=revisions_of(up.freeze),
        ledger=ledger,
        known=(parent,),
    )
    return tuple(Finding(code, "message", sentence, fix) for code, sentence, fix in faults)


def commit_faults(made: MadeCommit, blueprint: Blueprint, signer: str, *, signed: bool) -> tuple[Finding, ...]:
    """Return how a commit differs from its plan; `signed` says that the configuration asks for a signature."""
    return tuple(_commit_faults(made, blueprint, signer, signed=signed))


def _commit_faults(made: MadeCommit, blueprint: Blueprint, signer: str, *, signed: bool) -> Iterator[Finding]:
    place = made.id
    if made.parents != (blueprint.parent,):
        yield Finding("commit-parent", place, "its parent is not the planned one", "run the same command again")
    if made.tree != blueprint.tree:
        fix = "look at the difference; take it into the plan yourself, or correct the hook"
        yield Finding("commit-tree", place, "it holds something other than the planned content", fix)
    if signed and not made.signed:
        yield Finding("commit-signature", place, "commit.gpgSign is set and it is not signed", "git commit -S says why")
    for key in (UPGRADE_KEY, ROOT_CAUSE_KEY, LEDGER_KEY):
        if sum(line.startswith(f"{key}: ") for line in made.trailers) != 1:
            yield Finding(
                "commit-trailers", place, f"git does not find exactly one {key}", "look for a hook that edits it"
            )
    if made.trailers.count(f"{SIGN_OFF_KEY}: {signer}") != 1:
        yield Finding(
            "commit-trailers", place, "git does not find exactly one sign-off", "look for a hook that adds one"
        )
