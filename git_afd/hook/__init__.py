"""The hooks' entry point. Writes nothing, imports by stage, and stops the commit when it breaks.

The shims start it as ``python -I -S`` with an explicit path; the pre-commit framework and git's configured hooks
call `console`. Every import on the way to a verdict is budgeted (tests/hooks/test_import_budget.py).
"""

from __future__ import annotations

import posix  # `os` without its price
import sys

from git_afd import __version__
from git_afd.errors import AfdError, Exit

TYPE_CHECKING = False  # what `typing` would say, without its price
if TYPE_CHECKING:
    from collections.abc import Callable

STAGES = ("pre-commit", "commit-msg", "pre-push")

PROBE = "probe"

_BYPASS = {
    "pre-commit": "git commit --no-verify",
    "commit-msg": "git commit --no-verify",
    "pre-push": "git push --no-verify",
}


def main(stage: str, argv: list[str]) -> int:
    """Judge one stage; `argv` is what git gave the hook. Return the exit code, 0 when git may go on."""
    try:
        _check_of(stage)(argv)
    except AfdError as fault:
        _say(fault.message, fault.fix)
        return fault.exit
    except Exception as fault:  # noqa: BLE001 - a broken checker must stop the commit in one line, whatever broke
        _say(
            f"the {stage} check broke ({type(fault).__name__}: {' '.join(str(fault).split())})",
            f"git afd doctor; git's own way past it is {_BYPASS[stage]}",
        )
        return Exit.BUG
    return Exit.DONE


def _check_of(stage: str) -> Callable[[list[str]], None]:
    if stage == "pre-push":
        from git_afd.hook.push import check

        return check
    from git_afd.hook.commit import check_content, check_message

    return check_content if stage == "pre-commit" else check_message


def run(stage: str, argv: list[str]) -> None:
    """Judge one stage (or answer a probe) and end the process at once.

    Taking the interpreter down in order costs a quarter of a bare start.
    """
    code = _probe(argv) if stage == PROBE else main(stage, argv)
    sys.stderr.flush()
    posix._exit(code)  # noqa: SLF001 - its public name


def console() -> int:
    """Run ``git-afd-hook STAGE ARGS``; return the exit code."""
    if len(sys.argv) < 2 or sys.argv[1] not in STAGES:  # noqa: PLR2004 - the program and a stage
        _say("git-afd-hook needs a stage", f"git-afd-hook {'|'.join(STAGES)} ARGS")
        return Exit.USAGE
    return main(sys.argv[1], sys.argv[2:])


def _probe(argv: list[str]) -> int:
    from git_afd.core.hook_probe import EXIT, answer

    sys.stderr.write(f"{answer(__version__, argv[0])}\n")
    return EXIT


def _say(message: str, fix: str) -> None:
    text = f"git-afd: {message}\n" + (f"fix: {fix}\n" if fix else "")
    sys.stderr.write(text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace"))
