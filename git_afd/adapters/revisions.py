"""Names to commits. Git resolves them, many in one call; what is ambiguous is refused, never guessed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from git_afd.adapters.git import Git, encode
from git_afd.core.names import is_full_id


@dataclass(frozen=True, slots=True)
class Resolved:
    """What a name stands for: the object that it names, and the commit and tree that this peels to (full ids)."""

    object: str
    commit: str
    tree: str


@dataclass(frozen=True, slots=True)
class Unresolved:
    """Why a name stands for no commit, as the rest of a sentence; `fix` is one line."""

    why: str
    fix: str


def commits_of(git: Git, names: Iterable[str]) -> dict[str, str | None]:
    """Return the commit (full id) that each revision peels to, None where it names none or several. One git call."""
    wanted = [name for name in dict.fromkeys(names) if name and not name.startswith("-") and name.isprintable()]
    answers = _types(git, [f"{name}^{{commit}}" for name in wanted])
    return {name: words[0] if words[1] == "commit" else None for name, words in zip(wanted, answers, strict=True)}


def resolve(git: Git, ref: str) -> Resolved | Unresolved:
    """Resolve a ref as a person gave it: a branch, a tag (annotated ones are peeled), an id, full or abbreviated.

    A name that is both a branch and a tag, and an abbreviation that several commits share, stand for nothing.
    """
    if not ref or ref.startswith("-") or not ref.isprintable() or ref != ref.strip():
        return Unresolved("cannot be the name of a revision", "name a tag, a branch or a commit id")
    several = [] if is_full_id(ref) or ref.startswith("refs/") else _refs_named(git, ref)
    if len(several) > 1:
        return Unresolved(f"is ambiguous: {' and '.join(several)}", f"write one of them in full, such as {several[0]}")
    named, commit, tree = _types(git, [ref, f"{ref}^{{commit}}", f"{ref}^{{tree}}"])
    if commit[1] == "commit" and tree[1] == "tree":
        # an abbreviation that a commit shares with a blob is ambiguous for the object, not for the commit
        return Resolved(named[0] if named[1] in ("tag", "commit") else commit[0], commit[0], tree[0])
    if "ambiguous" in (named[1], commit[1]):
        return Unresolved("is the beginning of several object ids", "write the id in full")
    if named[1] in ("blob", "tree", "tag"):
        kind = "a tag of no commit" if named[1] == "tag" else f"a {named[1]}"
        return Unresolved(f"names {kind}, not a commit", "name a tag, a branch or a commit id")
    return Unresolved("names nothing there", "fetch it into that repository, or correct the name")


def _refs_named(git: Git, ref: str) -> list[str]:
    """List the refs that git would find under a short name, by git's own rules (gitrevisions: refname)."""
    full = [f"refs/tags/{ref}", f"refs/heads/{ref}", f"refs/remotes/{ref}", f"refs/remotes/{ref}/HEAD", f"refs/{ref}"]
    if git.run("check-ref-format", full[0]).ok:
        there = git("for-each-ref", "--format=%(refname)", *full).splitlines()
        return [name for name in full if name in there]
    return []


def _types(git: Git, revisions: list[str]) -> list[tuple[str, str]]:
    """Ask for (object id, type) of each revision; the type is ``missing`` or ``ambiguous`` when there is none."""
    asked = b"".join(encode(name) + b"\n" for name in revisions)
    answer = git("cat-file", "--batch-check=%(objectname) %(objecttype)", input=asked) if revisions else ""
    lines = answer.split("\n") if revisions else []
    return [(words[0], words[-1]) for words in (line.rsplit(" ", 1) for line in lines)]


def tags_at(git: Git, commit: str) -> tuple[str, ...]:
    """List the tags that point at a commit (full id), by their full ref names."""
    return tuple(git("for-each-ref", f"--points-at={commit}", "--format=%(refname)", "refs/tags/").splitlines())
