"""From an answer to a verdict: run all cases, compare once, explain, put into words."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from checks.differences.describe import array_pairs
from checks.feedback.explain import broken_law, broken_law_sentence, explain, failing_first
from checks.feedback.fitting import outcome_of
from checks.feedback.sentences import (
    NOT_IN_NUMPY,
    ended_early,
    error_words,
    kept_result,
    low_precision,
    make_verdict,
    missing,
    not_in_torch,
    passed,
    syntax_error,
    todo,
    too_coarse,
    unsteady,
)
from checks.feedback.verdict import Verdict
from checks.locate.first_departure import located
from checks.repair.one_change import one_change, quiet
from checks.repair.search import prepared_search
from checks.run.call import Outcome, observe
from checks.run.compare import TOLERANCE
from checks.run.errors import remember_source
from checks.run.installed import is_installed
from checks.run.plain_data import plain
from checks.run.trial import (
    Compared,
    Trial,
    other_trial,
    right_outcomes,
    same_outcome,
    tried_with,
    try_answer,
    try_case,
)
from checks.run.world import kept_generators
from checks.status import Status
from checks.task import Case, Task
from checks.two_mistakes import change_beside_misconception

LATER = "What is right is not in this folder: your answer is judged when your work is graded."

FRESH = 2  # cases of a second draw
MARGIN = 1.25  # to a mistake before it is cut to few digits
NEEDS_TORCH = "This task works on a model of torch, which is not here: do it in its notebook."


@kept_generators()
def judge(task: Task, answer: Any, seed: int = 0, source: str = "") -> Verdict:
    """Check one answer; the verdict depends on the task, the answer and the seed alone.

    The source of its cell is read where the answer is a value, which does not know its own.
    """
    refusal = _not_an_answer(task, answer)
    if refusal:
        return refusal
    cases = task.draw(seed)
    trial = try_answer(task, answer, cases)
    mistake = (
        _wrong(task, trial, answer, source)
        or broken_law(task, cases, answer, trial.library)
        or _not_again(task, answer, trial, seed)
        or _too_coarse(task, trial)
    )
    if mistake:
        return replace(mistake, right=trial.share if task.unique else 0.0)
    return passed(task, len(cases), *_notes(task, answer, trial))


def _wrong(task: Task, trial: Trial, answer: Any, source: str) -> Verdict | None:
    """The verdict on results that are not those of the reference."""
    mistake = _explained(task, trial, answer, source)
    return mistake and _with_library(task, trial, answer, mistake)


def _explained(task: Task, trial: Trial, answer: Any, source: str = "") -> Verdict | None:
    """What is wrong with the results, where the slip is, and the numbers behind a measure."""
    mistake = explain(task, trial)
    if not mistake:
        return None
    mistake = _with_place(task, trial, answer, mistake, source)
    numbers = list(_numbers(seen for seen in trial.compared if not seen.same))
    return replace(mistake, sentences=(*mistake.sentences, *numbers[:1]))


def _numbers(compared: Iterable[Compared]) -> Iterator[str]:
    """The numbers behind what was measured, each once."""
    yield from dict.fromkeys(seen.outcome.note for seen in compared if seen.outcome.note)


@quiet()
def _with_place(
    task: Task, trial: Trial, answer: Any, mistake: Verdict, source: str = ""
) -> Verdict:
    """The verdict with the place of the slip in the answer, briefly if the mistake has a name."""
    failing = failing_first(trial)
    if not failing or mistake.status not in (Status.WRONG, Status.RAISED):
        return mistake
    right = [compared for compared in trial.compared if compared.same]
    search = prepared_search(task, trial.library, [*failing, *right], answer, source)
    if mistake.misconceptions:
        named = one_change(search, brief=True)
        return replace(mistake, sentences=(*mistake.sentences, *named.sentences))
    law = ""
    if mistake.status == Status.WRONG and _has_right_form(failing[0]):
        cases = [compared.case for compared in trial.compared]
        law = broken_law_sentence(task, failing[0].case, cases, answer, trial.library)
    changes = one_change(search)
    if mistake.status == Status.WRONG and not changes.sentences:
        changes = change_beside_misconception(search)
    place = located(task, trial.library, failing, answer, changes.lines)
    pair = [changes.sentences, mistake.sentences]
    both = sum(reversed(pair) if mistake.status == Status.RAISED else pair, ())
    sentences = (*place, *both, law)
    return replace(mistake, sentences=tuple(filter(None, sentences)))


def _has_right_form(wrong: Compared) -> bool:
    """Whether a result has the shape of the right one; of another, a law says nothing."""
    right, came = (seen.value and seen.value.as_numbers() for seen in (wrong.truth, wrong.outcome))
    return right is None or (came is not None and came.shape == right.shape)


def _with_library(task: Task, trial: Trial, answer: Any, mistake: Verdict) -> Verdict:
    """The verdict on what is wrong on NumPy's arrays, and would be right on torch's."""
    if mistake.status != Status.WRONG:
        return mistake
    other = other_trial(task, answer, trial)
    if not (other and other.right):
        return mistake
    return replace(mistake, sentences=(NOT_IN_NUMPY, *mistake.sentences))


def _not_an_answer(task: Task, answer: Any) -> Verdict | None:
    """The verdict on what cannot be run at all."""
    if task.later:
        status = Status.NOT_ATTEMPTED if answer is Ellipsis else Status.LATER
        return make_verdict(task, status, LATER)
    if task.is_value:
        return None
    if "numpy" not in task.arrays and not is_installed("torch"):
        return make_verdict(task, Status.NOT_HERE, NEEDS_TORCH)
    if answer is Ellipsis:
        return make_verdict(task, Status.NOT_ATTEMPTED, todo(task))
    if not callable(answer):
        kind = plain(answer).words
        what = f"`{task.name}` is {kind}; it must be something that can be called."
        return make_verdict(task, Status.NOT_UNDERSTOOD, what)
    return None


def _not_again(task: Task, answer: Any, trial: Trial, seed: int) -> Verdict | None:
    """The verdict on an answer that is right, and not a second time or on other numbers."""
    if task.is_value or not task.unique:
        return None
    if not task.slow:  # a training runs once more on fresh cases alone
        first = trial.compared[0]
        second = try_case(task, answer, first.case, trial.library)
        if second.status == Status.TOO_SLOW:
            return ended_early(task, second)
        if not same_outcome(first.truth, second, task.tolerance):
            return unsteady(task, first.case)
    fresh = _fresh_cases(task, [compared.case for compared in trial.compared], seed)
    if not fresh:
        return None
    again = tried_with(task, answer, fresh, trial.library, right_outcomes(task, fresh))
    for compared in again.compared:
        if compared.same or not _is_telling(compared.outcome):
            continue
        if any(same_outcome(known.truth, compared.outcome, 0.0) for known in trial.compared):
            return kept_result(task, compared.case)
    return _explained(task, again, answer)


def _is_telling(outcome: Outcome) -> bool:
    """Whether two such results are equal by no accident."""
    numbers = outcome.value.as_numbers() if outcome.value else None
    return numbers is not None and numbers.kind == "float" and math.prod(numbers.shape) >= 3


def _fresh_cases(task: Task, cases: Sequence[Case], seed: int) -> list[Case]:
    """The first cases of a second draw that are not among those of the first."""
    drawn = task.draw(seed, again=True)
    known = [plain((case.args, case.kwargs)) for case in cases]
    nodes = [plain((case.args, case.kwargs)) for case in drawn]
    pairs = zip(drawn, nodes, strict=True)
    return [case for case, node in pairs if not any(map(node.equals, known))][:FRESH]


def _too_coarse(task: Task, trial: Trial) -> Verdict | None:
    """The verdict on numbers so coarse that a known mistake is as near to the truth as they are."""
    for dtype in _coarse_dtypes(trial):
        allowed = MARGIN * TOLERANCE[dtype]
        for wrong in task.wrong:
            outcomes = [(seen.truth, outcome_of(wrong, task, seen.case)) for seen in trial.compared]
            if all(same_outcome(right, wrong, allowed) for right, wrong in outcomes):
                return too_coarse(task, dtype, wrong.ids)
    return None


def _coarse_dtypes(trial: Trial) -> list[str]:
    """The dtypes among those of an answer in which a small mistake is near to nothing."""
    pairs = [(seen.truth.value, seen.outcome.value) for seen in trial.compared]
    leaves = (leaf for right, came in pairs if came for leaf in array_pairs(right, came))
    dtypes = {came.dtype for _, wanted, came in leaves if wanted.kind == "float"}
    return sorted(dtypes & {"float16", "bfloat16"})


def _notes(task: Task, answer: Any, trial: Trial) -> Iterator[str]:
    """What a right answer is told besides."""
    yield from _numbers(trial.compared)
    other = other_trial(task, answer, trial)
    wrong = (compared for compared in (other.compared if other else ()) if not compared.same)
    if first := next(wrong, None):
        yield not_in_torch(first.truth.value, first.outcome.value, task.tolerance)
    yield from map(low_precision, _coarse_dtypes(trial))


@kept_generators()
def grade_source(
    task: Task, source: str, setup: dict[str, Any] | None = None, seed: int = 0
) -> Verdict:
    """Check the text of a cell, run in a namespace of its own."""
    namespace: dict[str, Any] = {"__name__": "answer", **(setup or {})}
    try:
        program = compile(ast.parse(source), "<answer>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        return syntax_error(task, error, source)
    remember_source("<answer>", source)
    stopped = observe(lambda: exec(program, namespace), Case(()), file="<answer>")
    if stopped.status == Status.TOO_SLOW:
        return ended_early(task, stopped)
    if task.name not in namespace:
        if stopped.mistake:
            return make_verdict(task, Status.RAISED, error_words(stopped.mistake))
        return missing(task, namespace)
    return judge(task, namespace[task.name], seed, source)
