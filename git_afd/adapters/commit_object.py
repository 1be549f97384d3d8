"""A commit as git stored it: read again after it was made, since what was asked for proves nothing."""

from __future__ import annotations

from collections.abc import Iterator

from git_afd.adapters.git import Git, encode
from git_afd.core.commit_rules import MadeCommit
from git_afd.core.message_rules import ROOT_CAUSE_KEY, UPGRADE_KEY, trailers


def read_commit(git: Git, name: str) -> MadeCommit:
    """Return a commit by full id, past any replacement. Raises EnvironmentFault when there is none."""
    head, _, message = git("cat-file", "commit", name).partition("\n\n")
    fields = [line.partition(" ")[::2] for line in head.split("\n") if not line.startswith(" ")]
    return MadeCommit(
        id=name,
        tree=next(value for key, value in fields if key == "tree"),
        parents=tuple(value for key, value in fields if key == "parent"),
        message=message,
        signed=any(key.startswith("gpgsig") for key, _ in fields),
        trailers=_parsed_trailers(git, message),
    )


def moved_head(git: Git, parent: str) -> str | None:
    """Return the commit that HEAD is at (full id), None when it is still `parent` or none at all.

    Asked whatever git's exit code was: a signal can reach git when the commit is already there.
    """
    found = git.run("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
    return found.text if found.ok and found.text != parent else None


def claims(git: Git, upgrade: str, root_cause: str, base: str) -> Iterator[str]:
    """Return the commits of ``base..HEAD`` whose trailers claim to be this root cause's, newest first (full ids)."""
    wanted = {(UPGRADE_KEY, upgrade), (ROOT_CAUSE_KEY, root_cause)}
    listed = git.run("log", "-z", "--format=%H%n%B", f"{base}..HEAD")
    for field in listed.fields():
        commit, _, message = field.partition("\n")
        if wanted <= set(trailers(message)):
            yield commit


def _parsed_trailers(git: Git, message: str) -> list[str]:
    """Return the trailers that git itself finds in a message, one ``Key: value`` each."""
    words = ("interpret-trailers", "--parse", "--no-divider")
    return git(*words, input=encode(message), config=("trailer.separators=:",)).splitlines()


def must_be_signed(git: Git) -> bool:
    """Say whether the user's configuration asks for signed commits."""
    return git.run("config", "--type=bool", "--get", "commit.gpgSign").text == "true"


def signer_of(git: Git, who: str) -> str:
    """Return ``Name <mail>`` of ``COMMITTER`` or ``AUTHOR`` as git computes it, empty when git knows none."""
    found = git.run("var", f"GIT_{who}_IDENT")
    return found.text.rsplit(" ", 2)[0] if found.ok else ""
