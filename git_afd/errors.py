"""What can stop a command, and the exit code it stops with.

Imports nothing: the hook path uses it too. Every error carries one sentence that names the thing
and one line that says how to mend it; ``cli.entry`` prints both and maps the class to the exit code.
"""


class Exit:
    """Exit codes of every command (docs/reference/exit-codes.md)."""

    DONE = 0
    FAIL = 1
    USAGE = 2
    REFUSED = 3
    CONFLICT = 4
    ENVIRONMENT = 5
    BLOCKED = 6
    STOPPED = 7
    BUG = 70
    INTERRUPTED = 130


class AfdError(Exception):
    """Stops a command. `message` is one sentence naming the thing, `fix` one line naming the remedy."""

    exit = Exit.BUG

    def __init__(self, message: str, fix: str = "", *, code: str = "") -> None:
        """Keep the sentence, the remedy and a stable code for programs (default: the class's name)."""
        super().__init__(message)
        self.message = message
        self.fix = fix
        self.code = code or type(self).__name__.lower()


class Failed(AfdError):
    """The thing was looked at and is not right (a gate's FAIL, a check's findings)."""

    exit = Exit.FAIL


class UsageFault(AfdError):
    """The call itself is wrong: an option is missing, unknown or malformed."""

    exit = Exit.USAGE


class Refused(AfdError):
    """A rule of the workflow forbids it."""

    exit = Exit.REFUSED


class Conflict(AfdError):
    """Something moved meanwhile; running the same command again may succeed."""

    exit = Exit.CONFLICT


class EnvironmentFault(AfdError):
    """git, the repository, the configuration or a tool is not as needed."""

    exit = Exit.ENVIRONMENT


class Blocked(AfdError):
    """It cannot be decided here: evidence is missing, unreadable or contradictory."""

    exit = Exit.BLOCKED


class StoppedUpgrade(AfdError):
    """The upgrade was stopped at the architecture gate."""

    exit = Exit.STOPPED
