"""The software stack of a vLLM-Ascend revision, and what the architecture gate must ask about it (Phases 0 and 3)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from packaging.specifiers import SpecifierSet

from git_afd.core.finding import Finding
from git_afd.core.identity import pins
from git_afd.core.identity.ascend import is_dockerfile, of_family
from git_afd.core.identity.dockerfile import read_dockerfile
from git_afd.core.identity.operators import Operator, abi_questions, operator_packages
from git_afd.core.identity.spelling import same_version
from git_afd.core.identity.stack_hearsay import hearsay

REQUIRED: Final = ("python", "torch", "torch_npu", "cann", "triton_ascend")
"""Members every target needs; a required one that nobody states is a question for the architecture gate."""

_PACKAGES: Final = {
    "torch": "torch",
    "torch-npu": "torch_npu",
    "triton-ascend": "triton_ascend",
    "mooncake-transfer-engine": "mooncake",
    "mooncake-transfer-engine-npu": "mooncake",
}
_METADATA: Final = ("pyproject.toml", "requirements.txt")


@dataclass(frozen=True, slots=True)
class Statement:
    """One place that states one member: `member` (``torch_npu``), `value` as written, `path`, `line` (from 1)."""

    member: str
    value: str
    path: str
    line: int

    @property
    def place(self) -> str:
        """Return ``path:line``."""
        return f"{self.path}:{self.line}"


@dataclass(frozen=True, slots=True)
class Stack:
    """The stack: the decisive statements per member, what contradicts them, and what nobody can answer from files.

    `members` maps a member to the statements of the first authoritative kind that speaks, all of one value.
    A member that is undecided is absent and stands in `questions`.
    """

    members: Mapping[str, tuple[Statement, ...]]
    operators: tuple[Operator, ...]
    findings: tuple[Finding, ...]
    questions: tuple[Finding, ...]

    def value(self, member: str) -> str:
        """Return the value of a member, empty when undecided."""
        stated = self.members.get(member, ())
        return stated[0].value if stated else ""


def read_stack(
    texts: Mapping[str, str],
    *,
    family: Iterable[str],
    names: Iterable[str] = (),
    plugin_paths: Iterable[str] = (),
    vllm_texts: Mapping[str, str] | None = None,
) -> Stack:
    """Read the stack of a vLLM-Ascend revision.

    `texts` are its files (path -> content, see ``ascend.wanted_ascend_paths``), `family` the Dockerfiles of the
    policy's device family (names or globs), `names` the tags that point at it, `plugin_paths` the plugin's paths (its
    operator wheels are judged against the target's Python), `vllm_texts` the target vLLM's own metadata.

    `pyproject.toml` and `requirements.txt` speak first, then the family's Dockerfiles; everything else makes findings.
    """
    family = tuple(family)
    questions: list[Finding] = []
    metadata = tuple(_metadata(texts, questions))
    images = tuple(_images(texts, family))
    members: dict[str, tuple[Statement, ...]] = {}
    for member in (*REQUIRED, "mooncake"):
        for statements in (metadata, images):
            mine = tuple(one for one in statements if one.member == member)
            if mine:
                _settle(member, mine, members, questions)
                break
        else:
            if member in REQUIRED:
                questions.append(_nobody(member, family))
    operators = operator_packages(plugin_paths)
    stack = Stack(members, operators, (), ())
    weaker = (*images, *hearsay_statements(texts, names, vllm_texts or {}))
    findings = (*_contradictions(stack, weaker), *_removals(texts, family))
    questions += [*abi_questions(operators, stack.value("python")), *_python_range(texts, stack)]
    return Stack(members, operators, findings, tuple(questions))


def hearsay_statements(
    texts: Mapping[str, str], names: Iterable[str], vllm_texts: Mapping[str, str]
) -> tuple[Statement, ...]:
    """Return what the matrix, documentation, build files and vLLM's own pins say: never decisive."""
    return tuple(Statement(*said) for said in hearsay(texts, names, vllm_texts))


def _metadata(texts: Mapping[str, str], questions: list[Finding]) -> Iterator[Statement]:
    readers: Mapping[str, Callable[[str], tuple[pins.Pin, ...]]] = {
        "pyproject.toml": pins.pyproject_pins,
        "requirements.txt": pins.requirements_pins,
    }
    for path in _METADATA:
        try:
            found = readers[path](texts.get(path, ""))
        except pins.UnreadableToml as error:
            questions.append(Finding("stack-unreadable", f"{path}:1", f"{path} cannot be read as TOML: {error}"))
            continue
        for pin in found:
            if pin.name in _PACKAGES:
                yield Statement(_PACKAGES[pin.name], pin.text, path, pin.line)


def _images(texts: Mapping[str, str], family: tuple[str, ...]) -> Iterator[Statement]:
    for path in sorted(texts):
        if not is_dockerfile(path) or not of_family(path, family):
            continue
        image = read_dockerfile(texts[path])
        for stated in image.cann_and_python() or ():
            yield Statement(stated.name, stated.value, path, stated.line)
        cann = image.arg("CANN_VERSION")
        if cann and not image.cann_and_python():
            yield Statement("cann", cann.value, path, cann.line)
        packages = [one for one in image.packages if one.name in _PACKAGES]
        for package in packages:
            yield Statement(_PACKAGES[package.name], package.value, path, package.line)
        mooncake = image.arg("MOONCAKE_TAG")
        if mooncake and not any(_PACKAGES[one.name] == "mooncake" for one in packages):
            yield Statement("mooncake", mooncake.value, path, mooncake.line)


def _settle(
    member: str, mine: tuple[Statement, ...], members: dict[str, tuple[Statement, ...]], questions: list[Finding]
) -> None:
    """Take the value on which all statements of one kind agree; several values are a question."""
    if all(same_version(one.value, mine[0].value) for one in mine):
        members[member] = mine
        return
    said = ", ".join(f"{one.value} ({one.place})" for one in mine)
    questions.append(Finding("stack-conflict", mine[0].place, f"{member} is stated with several values: {said}"))


def _nobody(member: str, family: tuple[str, ...]) -> Finding:
    asked = ", ".join((*_METADATA, *family))
    return Finding(
        "stack-unstated",
        member,
        f"nobody states {member} exactly (asked: {asked})",
        "answer it at the architecture gate",
    )


def _contradictions(stack: Stack, weaker: Iterable[Statement]) -> Iterator[Finding]:
    """Yield one finding per file and member, at the first place that differs from the decisive value."""
    groups: dict[tuple[str, str], list[Statement]] = {}
    for one in weaker:
        value = stack.value(one.member)
        if value and one not in stack.members[one.member] and not agrees(value, one.value):
            groups.setdefault((one.path, one.member), []).append(one)
    for (_, member), others in groups.items():
        said = ", ".join(dict.fromkeys(one.value for one in others))
        decisive = stack.members[member][0]
        message = f"{member} is {said} here and {decisive.value} at {decisive.place}, which decides"
        yield Finding("stack-contradiction", others[0].place, message, severity="note")


def agrees(value: str, stated: str) -> bool:
    """Say whether `stated` allows `value`: a version, or a range such as ``>= 3.10, < 3.13`` or ``3.9 - 3.12``.

    Both ends of a range with a dash belong to it. Text that is neither version nor range must be the same text.
    """
    first, dash, last = stated.partition(" - ")
    if dash:
        stated = f">={first.strip()},<={last.strip()}"
    if any(sign in stated for sign in "<>~!="):
        try:
            return SpecifierSet(stated).contains(value, prereleases=True)
        except ValueError:  # InvalidSpecifier, or more digits than int() takes
            return False
    return same_version(value, stated)


def _removals(texts: Mapping[str, str], family: tuple[str, ...]) -> Iterator[Finding]:
    """Yield packages of the stack that an image of the family uninstalls for good."""
    for path in sorted(texts):
        if is_dockerfile(path) and of_family(path, family):
            for removed in read_dockerfile(texts[path]).removed:
                if removed.name in _PACKAGES:
                    message = f"the image uninstalls {removed.name} and does not install it again"
                    yield Finding("stack-removed", f"{path}:{removed.line}", message, severity="note")


def _python_range(texts: Mapping[str, str], stack: Stack) -> Iterator[Finding]:
    try:
        stated, line = pins.requires_python(texts.get("pyproject.toml", ""))
    except pins.UnreadableToml:
        return  # asked already, as stack-unreadable
    python = stack.value("python")
    if stated and python and not agrees(python, stated):
        yield Finding(
            "stack-python", f"pyproject.toml:{line}", f"requires-python {stated} excludes the image's {python}"
        )
