"""Run an answer on every case, and compare each outcome with the right one, once."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from checks.run.call import (
    PATIENCE,
    Elsewhere,
    Outcome,
    has_torch,
    observe,
    seconds_for,
    written_in,
)  # fmt: skip
from checks.run.compare import compare
from checks.run.errors import Mistake
from checks.run.installed import is_installed
from checks.run.nodes import Strange
from checks.run.plain_data import plain
from checks.status import Status
from checks.task import Case, Measured, Task
from checks.wire.values import put_together

ENDS_EARLY = {Status.NOT_ATTEMPTED, Status.NOT_UNDERSTOOD, Status.TOO_SLOW}
FOREIGN = ("AttributeError", "TypeError")  # what an answer for the other library raises
OTHER_MEANING = {  # the error of a method of NumPy's that was called as torch's
    "axes don't match array": "",  # so does NumPy's own; the words are those on shapes
    "converted to Python scalars": "",  # a function of `math` on an array, in either library
    "view() takes from 0 to 2 positional": "Torch's `.view` takes a shape; NumPy's is `.reshape`.",
}


@dataclass(frozen=True)
class Compared:
    """One case: the right outcome, that of the answer, and whether the two are the same."""

    case: Case
    truth: Outcome
    outcome: Outcome
    same: bool

    @property
    def right(self) -> bool:
        """Whether the outcome is right, and no argument was changed."""
        return self.same and not self.outcome.changed


@dataclass(frozen=True)
class Trial:
    """An answer on all cases, called with the arrays of one library."""

    library: str
    compared: tuple[Compared, ...]

    @property
    def right(self) -> bool:
        """Whether every outcome is right."""
        return all(case.right for case in self.compared)

    @property
    def share(self) -> float:
        """The share of the cases on which the outcome is right."""
        return sum(case.right for case in self.compared) / len(self.compared)

    @property
    def ended_early(self) -> Outcome | None:
        """The first outcome that is no result at all, if there is one."""
        outcomes = (case.outcome for case in self.compared)
        return next((outcome for outcome in outcomes if outcome.status in ENDS_EARLY), None)

    @property
    def errors(self) -> list[Mistake]:
        """The errors that the answer raised, in the order of the cases."""
        outcomes = [case.outcome for case in self.compared]
        return [outcome.mistake for outcome in outcomes if outcome.status == Status.RAISED]


def try_answer(task: Task, answer: Any, cases: Sequence[Case]) -> Trial:
    """Look at a value, or call a function on every case with the library that it is written in.

    An answer that runs on NumPy's arrays is judged there, unless it names torch and not NumPy.
    """
    truths = right_outcomes(task, cases)
    if task.is_value:
        return compared_trial(task, "numpy", cases, truths, [_look_at(answer)])
    here = not isinstance(answer, Elsewhere) and is_installed("torch")
    if here and "torch" in written_in(answer):
        importlib.import_module("torch")  # within a limit on time, a busy machine would cut it off
    trials: list[Trial] = []
    for library in (*task.arrays, "torch32") if is_installed("torch") else ("numpy",):
        if trials and not _worth_trying(library, trials[-1], answer):
            continue
        trials.append(tried_with(task, answer, cases, library, truths))
        if trials[-1].right or trials[-1].compared[0].outcome.status in ENDS_EARLY:
            return trials[-1]
    return _most_telling(trials, written_in(answer))


def tried_with(
    task: Task, answer: Any, cases: Sequence[Case], library: str, truths: Sequence[Outcome]
) -> Trial:
    """The answer on every case, with the arrays of one library."""
    outcomes = _call_on_each(task, answer, cases, library)
    return compared_trial(task, library, cases, truths, outcomes)


def try_case(
    task: Task,
    answer: Any,
    case: Case,
    library: str = "",
    seconds: float | None = None,
    closely: bool = True,
) -> Outcome:
    """Call an answer on one case; where the task has a measure, apply it to what came back."""
    how = (library or task.arrays[0], task.call, seconds or seconds_for(task))
    outcome = observe(answer, case, *how, closely=closely)
    done = task.measure is None or getattr(type(answer), "is_measured", False)
    if done or outcome.status != Status.RETURNED:
        return outcome
    try:
        measured = task.measure(put_together(outcome.value), *case.args)
        words, note = measured if isinstance(measured, Measured) else (measured, "")
        value = plain(words)
    except Exception as error:
        mistake = Mistake(type(error).__name__, str(error)[:600])
        return Outcome(Status.RAISED, mistake=mistake)
    return replace(outcome, value=value, note=note)


def other_trial(task: Task, answer: Any, trial: Trial) -> Trial | None:
    """The same cases in torch, for an answer that runs there as it runs in NumPy."""
    two = trial.library == "numpy" and "torch" in task.arrays and task.unique
    if not two or trial.errors or task.is_value or not has_torch(answer):
        return None
    cases = [compared.case for compared in trial.compared]
    truths = [compared.truth for compared in trial.compared]
    other = tried_with(task, answer, cases, "torch", truths)
    returned = (compared.outcome.status == Status.RETURNED for compared in other.compared)
    return other if all(returned) else None


def right_outcomes(task: Task, cases: Sequence[Case]) -> list[Outcome]:
    """What the reference gives; an error of the reference is an error of the course, and raised."""
    if task.is_value:
        return [Outcome(Status.RETURNED, plain(task.reference))]
    outcomes = [try_case(task, task.reference, case, seconds=PATIENCE) for case in cases]
    for case, outcome in zip(cases, outcomes, strict=True):
        if outcome.status != Status.RETURNED or outcome.changed:
            raise RuntimeError(f"the reference of task {task.id} fails on {case.about}: {outcome}")
    return outcomes


def compared_trial(
    task: Task,
    library: str,
    cases: Sequence[Case],
    truths: Sequence[Outcome],
    outcomes: Sequence[Outcome],
) -> Trial:
    """Put each outcome beside the right one; nothing after this compares them again.

    Where some cases are attempted, a NotImplementedError on another is an error as any other.
    """
    if any(outcome.status == Status.RETURNED for outcome in outcomes):
        outcomes = [
            replace(outcome, status=Status.RAISED)
            if outcome.status == Status.NOT_ATTEMPTED and outcome.mistake else outcome
            for outcome in outcomes
        ]  # fmt: skip
    triples = zip(cases, truths, outcomes, strict=True)
    return Trial(
        library,
        tuple(
            Compared(case, truth, outcome, same_outcome(truth, outcome, task.tolerance))
            for case, truth, outcome in triples
        ),
    )


def same_outcome(expected: Outcome, got: Outcome, tolerance: float | None) -> bool:
    """Whether two outcomes are the same: equal values, or the very same exception."""
    if expected.status != got.status:
        return False
    if expected.status == Status.RAISED:
        wanted, came = expected.mistake, got.mistake
        return (wanted.type, wanted.message) == (came.type, came.message)
    if expected.status != Status.RETURNED:
        return False
    return compare(expected.value, got.value, tolerance) is None


def _call_on_each(task: Task, answer: Any, cases: Sequence[Case], library: str) -> list[Outcome]:
    """The outcome on every case; those after one that is too slow are not waited for."""
    outcomes: list[Outcome] = []
    for case in cases:
        if outcomes and outcomes[-1].status == Status.TOO_SLOW:
            outcomes.append(outcomes[-1])
        else:
            outcomes.append(try_case(task, answer, case, library))
    return outcomes


def _look_at(value: Any) -> Outcome:
    node = plain(value)
    untouched = isinstance(node, Strange) and node.untouched
    return Outcome(Status.NOT_ATTEMPTED if untouched else Status.RETURNED, node)


def _worth_trying(library: str, last: Trial, answer: Any) -> bool:
    """Whether the next library can tell more than the last one did."""
    if library == "torch32":
        return last.library == "torch" and any("dtype" in error.message for error in last.errors)
    if library == "torch" and last.library == "numpy":
        if not last.errors:
            return written_in(answer) == {"torch"}
        return has_torch(answer) or any(map(_is_foreign, last.errors))
    return True


def _is_foreign(mistake: Mistake) -> bool:
    """Whether an error is one that an answer for the other library raises."""
    return mistake.type in FOREIGN or any(words in mistake.message for words in OTHER_MEANING)


def _most_telling(trials: list[Trial], libraries: frozenset[str]) -> Trial:
    """The first trial without an error; else the one in the library that the answer is for."""
    ordered = trials[::-1] if libraries == {"torch"} else trials
    calm = next((trial for trial in ordered if not trial.errors), None)
    if calm:
        return calm
    if libraries == {"numpy"} or not _is_foreign(ordered[0].errors[0]):
        return ordered[0]
    # A different error shows that the answer was written for the other library.
    others = (trial for trial in ordered if not _is_foreign(trial.errors[0]))
    return next(others, ordered[0])
