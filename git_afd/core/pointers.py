"""The pointer from a branch to its upgrade, ``branch.<name>.afd``: how git is asked for all of them, and its answer.

Imports nothing: the hooks read it too. Only the repository's own configuration counts (no include, no other scope),
since only there does git move a pointer with its branch and drop it with its branch.
"""

ASK = ("config", "--local", "--null", "--get-regexp", r"^branch\..*\.afd$")

FETCH = "git fetch REMOTE refs/notes/afd/ledger:refs/notes/afd/ledger, from where the upgrade was frozen"
"""How to get a ledger that this repository lacks. Not forced: git refuses it where one is there already."""


def parse_pointers(text: str) -> dict[str, str]:
    """Return the upgrade of each branch from what git answered to `ASK`; the last of two values holds."""
    entries = (entry.partition("\n") for entry in text.split("\0") if entry)
    return {key.removeprefix("branch.").removesuffix(".afd"): value for key, _, value in entries}
