"""Were the same questions asked? Proven by lm-eval's task hashes or by the samples files, never by their number."""

from __future__ import annotations

from typing import Literal

from git_afd.core.evidence.lmeval import Measurement

Proof = Literal["task hash", "samples file", "other", "unproven"]


def same_questions(one: Measurement, other: Measurement) -> Proof:
    """Return what proves that two measurements asked the same, ``other`` when they did not, ``unproven`` when unknown.

    The samples file decides where both runs kept one of the same form, since its rows name the questions.
    """
    if one.questions and other.questions and _form(one) == _form(other):
        return "samples file" if one.questions == other.questions else "other"
    if one.task_hash and other.task_hash:
        return "task hash" if one.task_hash == other.task_hash else "other"
    return "unproven"


def _form(one: Measurement) -> str:
    return one.questions.partition(":")[0]
