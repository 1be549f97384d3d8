"""An Outcome as text for a person. A verb's own words stand in the module of its name; findings and next are common."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final

from git_afd.core.finding import Finding
from git_afd.core.outcome import Outcome
from git_afd.render.document import Piece, text_lines
from git_afd.render.table import visible

_NAMED: Final = 3
"""How many places are named of findings that say the same."""

Words = Callable[[Outcome, bool], Iterator[str]]


def as_text(outcome: Outcome, *, color: bool = False, quiet: bool = False) -> str:
    """Return what a person reads on stdout: the answer, what is wrong, what may be done next."""
    parts: list[str] = [] if quiet else list(words_of(outcome.verb)(outcome, color))
    parts += [visible(line) for line in _findings(outcome)]
    if outcome.next and not quiet:
        parts += ["", f"next: {visible(outcome.next)}"] if parts else [f"next: {visible(outcome.next)}"]
    return "\n".join(parts)


def as_document(outcome: Outcome, form: str) -> str:
    """Return the same as a Markdown or HTML document; for verbs whose module has `pieces`."""
    from git_afd.render.markup import markdown, page

    module = _module_of(outcome.verb)
    pieces: list[Piece] = [*module.pieces(outcome), "", *_findings(outcome), "", f"next: {outcome.next}"]
    make = {"markdown": markdown, "html": page}[form]
    return make(f"git afd {outcome.verb.replace('.', ' ')}", pieces)


def words_of(verb: str) -> Words:
    """Return the renderer of a verb, else plain name and value lines.

    ``gate.static`` is shown by ``text`` in ``git_afd.render.gate_static``, else in ``git_afd.render.gate``; a
    module with ``pieces`` needs no ``text``.
    """
    module = _module_of(verb)
    if module is None:
        return plain
    if hasattr(module, "pieces"):
        return lambda outcome, color: text_lines(module.pieces(outcome), color=color)
    words: Words = module.text
    return words


def _module_of(verb: str) -> Any:  # noqa: ANN401 - a module; what it must have stands in words_of
    verb = verb.replace("-", "_")
    for name in (verb.replace(".", "_"), verb.partition(".")[0]):
        if find_spec(f"git_afd.render.{name}") is not None:
            return import_module(f"git_afd.render.{name}")
    return None


def _findings(outcome: Outcome) -> Iterator[str]:
    return (line for finding in grouped(outcome.findings) for line in finding_lines(finding))


def plain(outcome: Outcome, color: bool) -> Iterator[str]:  # noqa: ARG001, FBT001 - the signature of every renderer
    """Show each fact as ``name: value``."""
    for name, value in outcome.data.items():
        if isinstance(value, list | tuple):
            yield f"{name}: {len(value)}" if not value else f"{name}:"
            yield from (f"  {item}" for item in value)
        elif isinstance(value, dict):
            yield f"{name}:"
            yield from (f"  {key}: {item}" for key, item in value.items())
        else:
            yield f"{name}: {value}"


def grouped(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Say once what many findings say of different places: the first three and how many there are.

    Only for people: `--json` keeps every one.
    """
    groups: dict[tuple[str, ...], list[Finding]] = {}
    for finding in findings:
        said = finding.message.replace(finding.place, "\0") if finding.place else finding.message
        groups.setdefault((finding.code, finding.severity, finding.remedy, said), []).append(finding)
    for group in groups.values():
        first = group[0]
        if len(group) <= _NAMED or first.place not in first.message:
            yield from group
            continue
        named = ", ".join(one.place for one in group[:_NAMED])
        said = f"{named} and {len(group) - _NAMED} more ({len(group)} in all)"
        yield replace(first, place="", message=first.message.replace(first.place, said, 1))


def finding_lines(finding: Finding) -> Iterator[str]:
    """Show one finding: the sentence with its place, then the remedy."""
    place = f" [{finding.place}]" if finding.place else ""
    yield f"{'note' if finding.severity == 'note' else 'finding'}: {finding.message}{place}"
    if finding.remedy:
        yield f"fix: {finding.remedy}"
