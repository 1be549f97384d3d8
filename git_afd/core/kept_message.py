"""The commit message as git will keep it, from the file that a commit-msg hook is given (git-commit, --cleanup).

Imports nothing that costs. Whether git strips comments depends on options that a hook is not told; what is
judged here is stripped, and `git afd commit` reads the finished commit again.
"""

_SCISSORS = "------------------------ >8 ------------------------"
_AUTO = "#;@!$%^&|:"  # the characters among which git chooses for core.commentChar=auto


def kept_message(text: str, comment: str) -> str:
    """Return `text` without comment lines and without everything below a scissors line.

    `comment` is what begins a comment (``core.commentString``, ``core.commentChar``), ``auto`` when git chose.
    """
    lines = text.split("\n")
    mark = _chosen(lines) if comment == "auto" else comment
    cut = next((place for place, line in enumerate(lines) if mark and line == f"{mark} {_SCISSORS}"), len(lines))
    kept = [line.rstrip() for line in lines[:cut] if not mark or not line.startswith(mark)]
    return "\n".join(kept).strip("\n") + "\n"


def _chosen(lines: list[str]) -> str:
    """Return the character that git chose: that of the scissors line, else that of the block at the end."""
    for line in lines:
        if line[1:] == f" {_SCISSORS}" and line[0] in _AUTO:
            return line[0]
    last = next((line for line in reversed(lines) if line.strip()), "")
    return last[0] if last and last[0] in _AUTO else ""
