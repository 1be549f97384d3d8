"""The accuracy results that a run left: exactly one for each mode, and made by that run."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Final

from git_afd.core.evidence.accuracy_verdict import ResultFile
from git_afd.core.evidence.fault import EvidenceFault
from git_afd.core.evidence.lmeval import Measurement
from git_afd.core.evidence.raw_run import Ended
from git_afd.core.finding import Finding

_CLOCK_S: Final = 2.0
"""How far lm-eval's own date may lie outside the command's time: file systems and clocks round."""


def bytes_of(files: Mapping[str, bytes], name: str) -> bytes:
    """Return the bytes of an artifact. Raises EvidenceFault when they are gone."""
    if name not in files:
        raise EvidenceFault(name, "", "is not there any more", "the bytes that the run left")
    return files[name]


def result_of(mode: str, ended: Collection[Ended], files: Mapping[str, bytes]) -> ResultFile | None:
    """Return the one result file of a mode; None when the commands of that mode left none.

    Raises EvidenceFault when they left several, or one that is gone.
    """
    names = [name for one in ended for name in one.results]
    if not names:
        return None
    if len(names) > 1:
        raise EvidenceFault(names[1], "", f"is one of {len(names)} results of mode {mode}", "exactly one")
    samples = [name for one in ended for name in one.samples]
    if len(samples) > 1:
        raise EvidenceFault(samples[1], "", f"is one of {len(samples)} samples files of mode {mode}", "at most one")
    kept = (samples[0], bytes_of(files, samples[0])) if samples else ()
    return ResultFile(names[0], bytes_of(files, names[0]), *kept)


def foreign_results(
    measured: Mapping[str, Measurement], commands: Collection[Ended], known: Mapping[str, str]
) -> Iterator[Finding]:
    """Name results that were not made by these commands: `known` from another run, or dated outside their time."""
    for mode, one in measured.items():
        owner = next((ended for ended in commands if one.file in ended.results), None)
        earlier = known.get(one.digest)
        if earlier:
            text = f"the result of {mode} is that of run {earlier}, not of this one"
            yield Finding("foreign-result", one.file, text, "let the command measure anew")
        elif owner is None or not _in_time(one.date, owner):
            text = f"the result of {mode} is dated {one.date or 'not at all'}, outside the run that left it"
            yield Finding("foreign-result", one.file, text, "let the command measure anew")


def _in_time(date: str, ended: Ended) -> bool:
    try:
        seconds = float(date)
    except ValueError:
        return False
    return ended.began - _CLOCK_S <= seconds <= ended.ended + _CLOCK_S
