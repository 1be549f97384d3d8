"""An Outcome as text for a person. A verb's own words stand in the module of its name; findings and next are common."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec

from git_afd.core.finding import Finding
from git_afd.core.outcome import Outcome

Words = Callable[[Outcome, bool], Iterator[str]]


def as_text(outcome: Outcome, *, color: bool = False, quiet: bool = False) -> str:
    """Return what a person reads on stdout: the answer, what is wrong, what may be done next."""
    parts: list[str] = [] if quiet else list(words_of(outcome.verb)(outcome, color))
    parts += [line for finding in outcome.findings for line in finding_lines(finding)]
    if outcome.next and not quiet:
        parts += ["", f"next: {outcome.next}"] if parts else [f"next: {outcome.next}"]
    return "\n".join(parts)


def words_of(verb: str) -> Words:
    """Return the renderer of a verb, else plain name and value lines.

    ``gate.static`` is shown by ``text`` in ``git_afd.render.gate_static``, else in ``git_afd.render.gate``.
    """
    verb = verb.replace("-", "_")
    for name in (verb.replace(".", "_"), verb.partition(".")[0]):
        if find_spec(f"git_afd.render.{name}") is not None:
            words: Words = import_module(f"git_afd.render.{name}").text
            return words
    return plain


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


def finding_lines(finding: Finding) -> Iterator[str]:
    """Show one finding: the sentence with its place, then the remedy."""
    place = f" [{finding.place}]" if finding.place else ""
    yield f"{'note' if finding.severity == 'note' else 'finding'}: {finding.message}{place}"
    if finding.remedy:
        yield f"fix: {finding.remedy}"
