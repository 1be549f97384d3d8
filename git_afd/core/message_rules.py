"""What a commit message of `git afd commit` must be: one list of faults, empty when it is right.

The hook path reads it, so nothing is imported at run time, and what `re` would match is spelt out. The text
is the message as git would keep it: comments and everything below a scissors line are already gone.
"""

from __future__ import annotations

TYPE_CHECKING = False  # what `typing` would say, without its price
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    Fault = tuple[str, str, str]

TYPES = ("feat", "fix", "refactor", "test", "docs", "chore")
REQUIREMENT = "Upgrade requirement:"
FAILURE = "Failure:"
UPSTREAM_CAUSE = "Upstream cause:"
WHY = "Why this change:"
VALIDATION = "Validation:"
SECTIONS = (REQUIREMENT, FAILURE, UPSTREAM_CAUSE, WHY, VALIDATION)
"""The headings, in their order; a message has one of the first two."""

UPGRADE_KEY = "AFD-Upgrade"
ROOT_CAUSE_KEY = "AFD-Root-Cause"
LEDGER_KEY = "AFD-Ledger"
ASSISTED_KEY = "Assisted-by"
SIGN_OFF_KEY = "Signed-off-by"

_HEX = frozenset("0123456789abcdef")
_RECORD_ID_LENGTH = 64
_SHORTEST_ID = 7


def check_message(  # noqa: PLR0913 - the facts that a message must agree with, each by name
    text: str,
    *,
    upgrade: str,
    root_cause: str,
    committer: str,
    revisions: Mapping[str, tuple[str, str]],
    ledger: str = "",
    known: Iterable[str] = (),
) -> list[Fault]:
    """Return what is wrong with a message, as (stable code, one sentence, one remedy) each.

    `committer` is ``Name <mail>``; `revisions` maps each upstream to its frozen current and target commit
    (full ids); `ledger` is the value that AFD-Ledger must have, empty when only its form can be judged;
    `known` are further full commit ids that the text may name, such as the parent.
    """
    lines = text.strip("\n").split("\n")
    faults = _summary(lines)
    faults += _sections(lines)
    faults += _upstream_lines(section(lines, UPSTREAM_CAUSE), revisions)
    frozen = {commit for pair in revisions.values() for commit in pair}
    faults += _ids(lines, frozen | set(known))
    faults += _trailer(lines, UPGRADE_KEY, upgrade)
    faults += _trailer(lines, ROOT_CAUSE_KEY, root_cause)
    faults += _trailer(lines, LEDGER_KEY, ledger)
    return faults + _sign_off(lines, committer)


def trailers(text: str) -> list[tuple[str, str]]:
    """Return key and value of each line of the last paragraph that is a trailer."""
    return [(key, value) for key, value in map(_key_of, _last_paragraph(text.strip("\n").split("\n"))) if key]


def section(lines: list[str], heading: str) -> list[str] | None:
    """Return the non-blank lines of a section, its heading's own rest included; None when it is not there."""
    found: list[str] | None = None
    for line in lines[: len(lines) - len(_last_paragraph(lines))]:
        started = next((name for name in SECTIONS if line.startswith(name)), "")
        if started == heading:
            found, line = found or [], line[len(heading) :]  # noqa: PLW2901 - what follows the heading on its line
        elif started and found is not None:
            return found
        if found is not None and line.strip():
            found.append(line.strip())
    return found


def _summary(lines: list[str]) -> list[Fault]:
    head, _, summary = lines[0].partition(": ")
    kind, _, scope = head.partition("(")
    scoped = "(" not in head or (scope.endswith(")") and len(scope) > 1)
    if kind not in TYPES or not scoped or not summary.strip():
        words = ", ".join(TYPES)
        return [("message-summary", "the first line is not `type(scope): summary`", f"begin with one of {words}")]
    if len(lines) > 1 and lines[1].strip():
        return [("message-summary", "the second line is not blank", "leave a blank line after the summary")]
    return []


def _sections(lines: list[str]) -> list[Fault]:
    seen = [name for line in lines for name in SECTIONS if line.startswith(name)]
    counted = ((name, seen.count(name)) for name in (UPSTREAM_CAUSE, WHY, VALIDATION))
    faults = [_section_fault(name, count) for name, count in counted if count != 1]
    openings = seen.count(REQUIREMENT) + seen.count(FAILURE)
    if openings != 1:
        faults.append(_section_fault(f"{REQUIREMENT}` or `{FAILURE}", openings))
    if not faults and seen != [name for name in SECTIONS if name in seen]:
        order = " ".join(f"`{name}`" for name in SECTIONS)
        faults.append(("message-section", "the sections are not in their order", f"order them {order}"))
    faults += [
        ("message-section", f"`{name}` says nothing", f"fill in `{name}`")
        for name in dict.fromkeys(seen)
        if section(lines, name) == []
    ]
    return faults


def _section_fault(name: str, count: int) -> Fault:
    if count:
        return ("message-section", f"`{name}` stands there {count} times", "keep one")
    return ("message-section", f"the section `{name}` is missing", f"add `{name}` and what belongs there")


def _upstream_lines(said: list[str] | None, revisions: Mapping[str, tuple[str, str]]) -> list[Fault]:
    if not said:
        return []  # its absence is a fault of its own already
    faults: list[Fault] = []
    for upstream, (current, target) in revisions.items():
        span = f"{current}..{target}"
        mine = [line for line in said if line.startswith(f"{upstream} ")]
        if not any(f"{upstream} {span}:" in line for line in mine):
            fix = f"write `{upstream} {span}: ` and the contract change, or none"
            faults.append(("message-upstream", f"`{UPSTREAM_CAUSE}` does not name {upstream}'s frozen range", fix))
    return faults


def _ids(lines: list[str], allowed: set[str]) -> list[Fault]:
    body = lines[: len(lines) - len(_last_paragraph(lines))]
    full_lengths = {len(full) for full in allowed}
    faults: list[Fault] = []
    for word in dict.fromkeys(word for line in body for word in _hex_words(line)):
        if len(word) in full_lengths and word not in allowed:
            fix = "name only commits of the freeze"
            faults.append(("message-commit-id", f"{word} is no commit that the upgrade is frozen to", fix))
        elif len(word) not in full_lengths and any(full.startswith(word) for full in allowed):
            faults.append(("message-commit-id", f"{word} is a short commit id", "write the full one"))
    return faults


def _hex_words(line: str) -> list[str]:
    """Return the words of a line that can be object ids: seven or more hex digits, nothing else beside them."""
    spaced = "".join(char if char.isalnum() or char == "_" else " " for char in line)
    return [word for word in spaced.split() if len(word) >= _SHORTEST_ID and not set(word) - _HEX]


def _trailer(lines: list[str], key: str, expected: str) -> list[Fault]:
    values = [value for name, value in map(_key_of, lines) if name.lower() == key.lower()]
    if len(values) != 1:
        said = "is missing" if not values else f"stands there {len(values)} times"
        return [("message-trailer", f"the trailer {key} {said}", f"have exactly one `{key}: {expected or '<id>'}`")]
    if not any(name.lower() == key.lower() for name, _ in map(_key_of, _last_paragraph(lines))):
        return [("message-trailer", f"{key} does not stand in the last paragraph", "move it to the other trailers")]
    wrong = values[0] != expected if expected else not _are_ids(values[0])
    if wrong:
        return [("message-trailer", f"{key} says {values[0]}", f"write `{key}: {expected or '<full record id>'}`")]
    return []


def _are_ids(value: str) -> bool:
    return all(len(word) == _RECORD_ID_LENGTH and not set(word) - _HEX for word in value.split(" "))


def _sign_off(lines: list[str], committer: str) -> list[Fault]:
    values = [value for name, value in map(_key_of, lines) if name.lower() == SIGN_OFF_KEY.lower()]
    fix = f"have exactly one `{SIGN_OFF_KEY}: {committer}`"
    if len(values) != 1:
        said = "has no sign-off" if not values else f"has {len(values)} sign-offs"
        return [("message-sign-off", f"the message {said}", fix)]
    if values[0] != committer:
        return [("message-sign-off", f"{values[0]} signed off, and {committer} commits", fix)]
    if (SIGN_OFF_KEY, committer) not in map(_key_of, _last_paragraph(lines)):
        return [("message-sign-off", "the sign-off does not stand in the last paragraph", fix)]
    return []


def _last_paragraph(lines: list[str]) -> list[str]:
    end = len(lines)
    while end and not lines[end - 1].strip():
        end -= 1
    start = end
    while start and lines[start - 1].strip():
        start -= 1
    return lines[start:] if start else []


def _key_of(line: str) -> tuple[str, str]:
    """Return key and value of a line ``Key: value``, two empty texts for any other line."""
    key, colon, value = line.partition(":")
    if not colon or not key or not all(char.isalnum() or char == "-" for char in key):
        return "", ""
    return key, value.strip()
