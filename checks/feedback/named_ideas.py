"""Which wrong idea gives exactly these numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from checks.run.call import Outcome, observe
from checks.run.compare import compare, error
from checks.run.plain_data import plain
from checks.task import Case, Task, Wrong


@dataclass(frozen=True)
class Fit:
    """A wrong idea that reproduces the answer; `everywhere` if it does on every case."""

    wrong: Wrong
    everywhere: bool
    error: float


def outcomes_of(wrong: Wrong, task: Task, cases: Sequence[Case]) -> list[Outcome]:
    """What a wrong idea answers on each case."""
    if task.is_value:
        return [Outcome("returned", plain(wrong.answer))]
    # What a wrong idea changes in place is never asked, and to look for it would cost most.
    return [observe(wrong.answer, case, task.arrays[0], task.call, watch=False) for case in cases]


def alike(idea: Outcome, got: Outcome, tolerance: float | None) -> bool:
    """Whether two outcomes are the same: equal values, or the very same exception."""
    if idea.status != got.status:
        return False
    if idea.status == "raised":
        return (idea.mistake.type, idea.mistake.message) == (got.mistake.type, got.mistake.message)
    return idea.status == "returned" and compare(idea.value, got.value, tolerance) is None


def named_ideas(
    task: Task, cases: Sequence[Case], truths: list[Outcome], got: list[Outcome]
) -> list[Fit]:
    """The wrong ideas that fit best: on every case if there are such, and the closest of them."""
    failing = [n for n, one in enumerate(got) if not alike(truths[n], one, task.tolerance)]
    if not failing:
        return []
    fits = []
    for wrong in task.wrong:
        # Most ideas part from the answer at its first mistake, and need no other case.
        first = cases[failing[0] :][:1]
        if not alike(outcomes_of(wrong, task, first)[0], got[failing[0]], task.tolerance):
            continue
        ideas = outcomes_of(wrong, task, cases)
        matching = {n for n in range(len(got)) if alike(ideas[n], got[n], task.tolerance)}
        if not matching.issuperset(failing):
            continue
        gaps = [error(ideas[n].value, got[n].value) for n in failing if got[n].value is not None]
        fits.append(Fit(wrong, len(matching) == len(got), max(gaps, default=0.0)))
    fits = [one for one in fits if one.everywhere] or fits
    fits = [one for one in fits if len(one.wrong.ids) == 1] or fits
    closest = min((one.error for one in fits), default=0.0)
    return [one for one in fits if one.error <= max(10 * closest, 1e-9)]
