"""How git-afd asks git whether a hook is really run, and what the hook answers.

The shim answers when ``GIT_AFD_PROBE`` is set. Its exit code is not 0, so that the variable, set by hand, opens
nothing. Imports nothing: the hooks read it too.
"""

VARIABLE = "GIT_AFD_PROBE"
EXIT = 97


def answer(version: str, stage: str) -> str:
    """Return the line that a hook of this version writes to standard error."""
    return f"git-afd-probe {version} {stage}"
