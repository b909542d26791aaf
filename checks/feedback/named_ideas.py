"""Which misconceptions give exactly these numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from checks.run.call import Outcome
from checks.run.compare import largest_gap
from checks.run.plain_data import plain
from checks.run.trial import Compared, same_outcome, try_case
from checks.status import Status
from checks.task import Case, Task, Wrong


@dataclass(frozen=True)
class Fit:
    """A misconception that reproduces the answer; `everywhere` if it does on every case."""

    wrong: Wrong
    everywhere: bool
    gap: float


def named_ideas(task: Task, compared: Sequence[Compared]) -> list[Fit]:
    """The misconceptions that fit best: on every case if there are such, and the closest ones."""
    # Most misconceptions part from the answer at its first mistake, and need no other case.
    failing_first = sorted(compared, key=lambda case: case.same)
    fits = [fit for wrong in task.wrong if (fit := _fit(wrong, task, failing_first))]
    fits = [fit for fit in fits if fit.everywhere] or fits
    fits = [fit for fit in fits if len(fit.wrong.ids) == 1] or fits
    closest = min((fit.gap for fit in fits), default=0.0)
    return [fit for fit in fits if fit.gap <= max(10 * closest, 1e-9)]


def _fit(wrong: Wrong, task: Task, failing_first: Sequence[Compared]) -> Fit | None:
    """How a misconception fits; None where it does not give what the answer gives.

    The words of an error depend on how a line is written. Where the numbers of one failing case
    agree, it is enough that both stop with an error on another.
    """
    everywhere, gap, agrees, both_raised = True, 0.0, False, False
    for case in failing_first:
        idea = outcome_of(wrong, task, case.case)
        if idea.mistake and idea.mistake.type == "ModuleNotFoundError":
            return None  # it imitates a library that is not here, and says nothing of the answer
        if same_outcome(idea, case.outcome, task.tolerance):
            if not case.same and case.outcome.value is not None:
                agrees = True
                gap = max(gap, largest_gap(idea.value, case.outcome.value))
        elif case.same:
            everywhere = False
        elif idea.status == case.outcome.status == Status.RAISED:
            both_raised = True
        else:
            return None
    return None if both_raised and not agrees else Fit(wrong, everywhere, gap)


def outcome_of(wrong: Wrong, task: Task, case: Case) -> Outcome:
    """What a misconception answers on a case."""
    if task.is_value:
        return Outcome(Status.RETURNED, plain(wrong.answer))
    # What it changes in place is never asked, and to look for it would cost most.
    return try_case(task, wrong.answer, case, watch=False)
