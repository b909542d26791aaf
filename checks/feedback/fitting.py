"""Which misconceptions give exactly these numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from checks.run.call import Outcome
from checks.run.compare import largest_gap
from checks.run.nodes import Numbers
from checks.run.parts import Part, compared_parts, wrong_parts
from checks.run.plain_data import plain
from checks.run.trial import Compared, same_outcome, try_case
from checks.status import Status
from checks.task import Case, Task, Wrong

MOST_GUESSES = 2  # mistakes that fit where the answer is wrong, and not elsewhere
MOST_TOGETHER = 4  # mistakes, each in another part of a result


@dataclass(frozen=True)
class Fit:
    """A misconception that reproduces the answer; `everywhere` if it does on every case.

    One that reproduces only a part of it, and not the other wrong ones, is `partly` it.
    """

    wrong: Wrong
    everywhere: bool
    gap: float
    partly: bool = False
    overflows: bool = False  # two mistakes, of which the second shows where numbers overflow


def overflows(seen: Compared) -> bool:
    """Whether a result holds nan, or an error says that a number was too large, without reason."""
    if seen.outcome.mistake:
        return seen.outcome.mistake.type == "OverflowError"
    if seen.same or seen.truth.value is None or seen.outcome.value is None:
        return False
    right, came = seen.truth.value.as_numbers(), seen.outcome.value.as_numbers()
    return bool(right and came) and has_nan(came) and not has_nan(right)


def has_nan(numbers: Numbers) -> bool:
    """Whether some number is nan."""
    values = numbers.values
    return values is not None and values.dtype.kind in "fc" and bool(np.isnan(values).any())


def fitting_misconceptions(task: Task, compared: Sequence[Compared]) -> list[Fit]:
    """The misconceptions that fit best: on every case if there are such, and the closest ones."""
    # Most misconceptions part from the answer at its first mistake, and need no other case.
    failing_first = sorted(compared, key=lambda case: case.same)
    fits = [fit for wrong in task.wrong if (fit := _fit(wrong, task, failing_first))]
    fits = [fit for fit in fits if fit.everywhere] or ([] if _yes_or_no(compared) else fits)
    if len({fit.wrong.ids for fit in fits if not fit.everywhere}) > MOST_GUESSES:
        fits = []  # where all weights are alike, for example, many mistakes give the same
    fits = [fit for fit in fits if len(fit.wrong.ids) == 1] or fits
    fits = fits or _in_parts(task, compared) or _overflowing_too(task, compared)
    closest = min((fit.gap for fit in fits), default=0.0)
    return [fit for fit in fits if fit.gap <= max(10 * closest, 1e-9)]


def _yes_or_no(compared: Sequence[Compared]) -> bool:
    """Whether an answer is True or False: where it is wrong, all wrong ones agree."""
    values = [seen.truth.value and seen.truth.value.as_numbers() for seen in compared]
    return all(value and value.kind == "bool" and value.shape == () for value in values)


def _fit(wrong: Wrong, task: Task, failing_first: Sequence[Compared]) -> Fit | None:
    """How a misconception fits; None where it does not give what the answer gives.

    The words of an error depend on how a line is written. Where the numbers of one failing case
    agree, it is enough that both stop with an error on another; so it is where each error comes
    from a `raise` of one's own.
    """
    everywhere, gap, agrees, both_raised = True, 0.0, False, False
    for case in failing_first:
        outcome = outcome_of(wrong, task, case.case)
        if outcome.mistake and outcome.mistake.type == "ModuleNotFoundError":
            return None  # it imitates a library that is not here, and says nothing of the answer
        if same_outcome(outcome, case.outcome, task.tolerance):
            if not case.same and case.outcome.value is not None:
                agrees = True
                gap = max(gap, largest_gap(outcome.value, case.outcome.value))
        elif case.same:
            everywhere = False
        elif outcome.status == case.outcome.status == Status.RAISED:
            both_raised = True
            agrees |= outcome.mistake.by_hand and case.outcome.mistake.by_hand
        else:
            return None
    return None if both_raised and not agrees else Fit(wrong, everywhere, gap)


def _overflowing_too(task: Task, compared: Sequence[Compared]) -> list[Fit]:
    """The mistake that shows where the numbers are finite, with the one that overflows elsewhere.

    The numbers of the second must be right where those of the first are seen.
    """
    over = [seen for seen in compared if overflows(seen)]
    finite = [seen for seen in compared if not overflows(seen)]
    if not over or all(seen.same for seen in finite):
        return []
    firsts = [
        fit for fit in fitting_misconceptions(task, finite) if fit.everywhere and not fit.partly
    ]
    seconds = [
        wrong for wrong in task.wrong
        if len(wrong.ids) == 1 and _overflows_there(wrong, task, over, finite)
    ]  # fmt: skip
    if len({fit.wrong.ids for fit in firsts}) != 1 or len({wrong.ids for wrong in seconds}) != 1:
        return []
    ids = "+".join(dict.fromkeys([*firsts[0].wrong.ids, *seconds[0].ids]))
    return [Fit(Wrong(ids, None), True, 0.0, overflows=True)]


def _overflows_there(
    wrong: Wrong, task: Task, over: Sequence[Compared], finite: Sequence[Compared]
) -> bool:
    """Whether a misconception overflows on some cases, as the answer does, and only there."""
    there = (overflows(replace(seen, outcome=outcome_of(wrong, task, seen.case))) for seen in over)
    right = (
        same_outcome(seen.truth, outcome_of(wrong, task, seen.case), task.tolerance)
        for seen in finite
    )
    return all(there) and all(right)


def _in_parts(task: Task, compared: Sequence[Compared]) -> list[Fit]:
    """The misconceptions of which each gives other parts of the answer, and all that it changes."""
    came = [_parts(seen, seen.outcome) for seen in compared]
    if not all(came):
        return []
    names = [wrong_parts(parts, task.tolerance) for parts in came]
    open_parts, ids = set.union(*names), []
    for changed, wrong in sorted(_of_parts(task, compared, came), key=_most_first):
        if changed <= open_parts and len(ids) < MOST_TOGETHER:
            open_parts -= changed
            ids += [number for number in wrong.ids if number not in ids]
    # Of a function whose results hang together, a part alone says too little.
    if not ids or (open_parts and not task.is_value):
        return []
    return [Fit(Wrong("+".join(ids), None), True, 0.0, bool(open_parts))]


def _most_first(pair: tuple[set[str], Wrong]) -> int:
    return -len(pair[0])


def _of_parts(
    task: Task, compared: Sequence[Compared], came: Sequence[list[Part]]
) -> Iterator[tuple[set[str], Wrong]]:
    """The misconceptions that change some parts, each as the answer has it, and which these are."""
    for wrong in task.wrong:
        if len(wrong.ids) > 1:
            continue
        changed: set[str] = set()
        for seen, parts in zip(compared, came, strict=True):
            theirs = _parts(seen, outcome_of(wrong, task, seen.case))
            here = wrong_parts(theirs, task.tolerance)
            own = {name: value for name, _, value in parts}
            alike = [(name, own[name], value) for name, _, value in theirs if name in own]
            if not theirs or not here <= own.keys() or here & wrong_parts(alike, task.tolerance):
                break
            changed |= here
        else:
            if changed:
                yield changed, wrong


def _parts(seen: Compared, outcome: Outcome) -> list[Part]:
    return compared_parts(seen.truth.value, outcome.value, counts=True)


def outcome_of(wrong: Wrong, task: Task, case: Case) -> Outcome:
    """What a misconception answers on a case."""
    if task.is_value:
        return Outcome(Status.RETURNED, plain(wrong.answer))
    # What it changes in place is never asked, and to look for it would cost most.
    return try_case(task, wrong.answer, case, closely=False)


def lead_words(task: Task, fits: Sequence[Fit], count: int) -> str:
    """What introduces the mistakes, where there is more to tell than the name of one."""
    what = "what was measured" if task.measure else "these numbers"
    what = "this answer" if task.is_value else what
    if len({fit.wrong.ids for fit in fits}) > 1:
        if not fits[0].everywhere:
            return "Where your answer is wrong, each of these mistakes would give the same:"
        return f"More than one mistake gives exactly {what}:"
    several = {1: "This mistake gives", 2: "Two mistakes give"}.get(count, "Several mistakes give")
    if fits[0].overflows:
        return "Two mistakes; the second shows only where numbers overflow or become nan:"
    if fits[0].partly:
        return f"{several} a part of your answer, and something else in it is wrong too:"
    if count > 1:
        return f"{several.removesuffix(' give')} together give exactly {what}:"
    if not fits[0].everywhere:
        return "Where your answer is wrong, it is what this mistake gives:"
    return ""
