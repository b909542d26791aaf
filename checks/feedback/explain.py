"""Say what is wrong with an answer whose outcomes are compared with the right ones.

Apart from the laws, which ask the answer itself, this half sees outcomes and never the answer.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Sequence
from typing import Any

from checks.differences.axes import right_results
from checks.differences.describe import capital, describe_numbers
from checks.differences.entries import (
    about_entries,
    about_joined,
    about_others,
    about_parts,
    about_size,
)
from checks.differences.results import part_or_order
from checks.feedback.blocks import both_blocks
from checks.feedback.fitting import fitting_misconceptions, overflows
from checks.feedback.library_errors import about_integers, about_library
from checks.feedback.python_errors import about_python
from checks.feedback.sentences import (
    argument_blocks,
    argument_changed,
    broken_law_words,
    changed_words,
    ended_early,
    error_words,
    law_not_seen,
    law_words,
    make_verdict,
    named_misconceptions,
)
from checks.feedback.shape_errors import about_shapes
from checks.feedback.verdict import Verdict
from checks.run.call import Outcome, convert, in_plain_numbers, observe
from checks.run.compare import Difference, compare, largest_gap
from checks.run.errors import Mistake
from checks.run.nodes import Node, Nothing
from checks.run.plain_data import plain
from checks.run.trial import Compared, Trial
from checks.status import Status
from checks.task import Case, Law, Task

WHY_NONE = "did you forget `return`, or was a variable never set?"
VISIBLE = 1e-4  # the least difference that can be seen
NOT_BY_ENTRY = ("structure", "keys", "length")  # entries have no counterparts
MOST_RIGHT = 3  # cases on which an answer is right that are told


def explain(task: Task, trial: Trial) -> Verdict | None:
    """The verdict on an answer that is wrong; None where every outcome is right."""
    if trial.ended_early:
        return ended_early(task, trial.ended_early)
    failing = failing_first(trial)
    if task.unique and failing:
        return _wrong_result(task, trial, failing)
    for compared in _smallest_first(trial):
        if compared.outcome.status == Status.RAISED:
            blocks = _case_blocks(task, compared.case)
            # Where many answers are right, numbers are compared with those of mistakes alone.
            fits = [] if task.unique else fitting_misconceptions(task, trial.compared)
            if fits:
                return named_misconceptions(task, fits, compared.outcome, blocks)
            return _raised(task, compared.outcome, blocks)
        if compared.outcome.changed:
            return argument_changed(task, compared.case, compared.outcome)
    return None


def _smallest_first(trial: Trial) -> list[Compared]:
    return sorted(
        trial.compared,
        key=lambda compared: (_looks_right(compared), overflows(compared), _size(compared.case)),
    )


def _looks_right(compared: Compared) -> bool:
    """Whether a result differs from the right one by so little that both are shown alike."""
    right, came = compared.truth.value, compared.outcome.value
    return right is not None and came is not None and 0 < largest_gap(right, came) < VISIBLE


def failing_first(trial: Trial) -> list[Compared]:
    """The cases whose outcome is wrong, the smallest, on which the verdict is told, first."""
    return [compared for compared in _smallest_first(trial) if not compared.same]


def _wrong_result(task: Task, trial: Trial, failing: list[Compared]) -> Verdict:
    """The verdict on results that differ, told on the smallest case that shows it."""
    expected, got = failing[0].truth, failing[0].outcome
    blocks = _case_blocks(task, failing[0].case)
    if got.status == Status.RETURNED:
        # The value of a value task is not shown: it is what the learner should find.
        blocks["sides"] = both_blocks(expected.value, got.value)[task.is_value :]
    if got.changed and any(map(callable, failing[0].case.args)):
        # Between two calls of a function that it is given, the answer changed what it compares.
        return argument_changed(task, failing[0].case, got)
    fits = fitting_misconceptions(task, trial.compared)
    if fits:
        partly = fits[0].partly
        entries = (
            _entries(task, expected.value, got.value) if partly else about_parts(task, failing)
        )
        return named_misconceptions(task, fits, got, blocks, entries)
    if got.status == Status.RAISED:
        return _raised(task, got, blocks)
    if isinstance(got.value, Nothing):
        what = "is None" if task.is_value else f"returns None: {WHY_NONE}"
        text = f"`{task.name}` {what}"
        return make_verdict(task, Status.NOT_UNDERSTOOD, text, about=blocks["about"])
    values = expected.value, got.value
    difference = compare(*values, task.tolerance)
    finite = _finite(failing)
    raised = right_results(each for each in failing if each.outcome.status == Status.RAISED)
    of_form = difference.kind in NOT_BY_ENTRY
    exchanged = part_or_order(*values, task.tolerance).startswith("The results are right")
    sentences = (
        _difference_words(task, difference),
        "" if exchanged else about_others(task, *values),
        about_joined(*values) if of_form else _entries(task, *values),
        describe_numbers(task, finite, len(finite) == len(trial.compared), raised),
        _overflow_words(failing),
        _elsewhere_right(trial),
        changed_words(got.changed),
    )
    # The keys of a value are asked for in its text; those that a function gives are its answer.
    form = ("structure", "keys") if task.is_value else ("structure",)
    status = Status.NOT_UNDERSTOOD if difference.kind in form else Status.WRONG
    return make_verdict(task, status, *filter(None, sentences), **blocks)


def _entries(task: Task, expected: Node, got: Node) -> str:
    """Which entries are right; of a value, which is not shown, whether it is too large."""
    entries = about_entries(expected, got, task.tolerance)
    return entries or (about_size(expected, got) if task.is_value else "")


def _finite(failing: Sequence[Compared]) -> list[Compared]:
    """The cases on which an answer returns numbers, without those where they overflow, if any."""
    returned = [seen for seen in failing if seen.outcome.status == Status.RETURNED]
    return [seen for seen in returned if not overflows(seen)] or returned


def _overflow_words(failing: Sequence[Compared]) -> str:
    """The cases, other than the one that is shown, on which the answer overflows."""
    over = [seen.case.about for seen in failing[1:] if overflows(seen) and seen.case.about]
    if overflows(failing[0]) or not over:
        return ""
    return f"On another case yours overflows too, or gives nan: {'; '.join(over[:MOST_RIGHT])}."


def _elsewhere_right(trial: Trial) -> str:
    """The cases on which the answer is right."""
    right = [seen.case.about for seen in trial.compared if seen.same and seen.case.about]
    if not right or len(right) == len(trial.compared):
        return ""
    count = sum(seen.same for seen in trial.compared)
    words = "; ".join(right[:MOST_RIGHT]) + ("; and more" if len(right) > MOST_RIGHT else "")
    return f"Your answer is right on {count} of {len(trial.compared)} cases: {words}."


def _raised(task: Task, got: Outcome, blocks: dict[str, Any]) -> Verdict:
    mistake = got.mistake
    sentences = (
        about_shapes(mistake), error_words(mistake), about_library(task, mistake),
        about_integers(mistake), *about_python(task, mistake),
    )  # fmt: skip
    sentences = filter(None, sentences)
    return make_verdict(task, Status.RAISED, *sentences, mistake=mistake, **blocks)


def _difference_words(task: Task, difference: Difference) -> str:
    if task.is_value and difference.kind == "values":
        return "That is not the right value."
    return capital(difference.sentence) + "."


def _case_blocks(task: Task, case: Case) -> dict[str, Any]:
    return {"about": case.about, "given": argument_blocks(task, case)}


def broken_law(task: Task, cases: Sequence[Case], answer: Any, library: str) -> Verdict | None:
    """The verdict on the first law that the answer breaks, if there is one."""
    for law, case, reply in _laws_not_kept(task, cases, answer, library):
        if reply is None:
            # An answer that takes long has not shown that it breaks the law.
            return ended_early(task, Outcome(Status.TOO_SLOW))
        if isinstance(reply, Mistake):
            return law_not_seen(task, law, case, reply, *filter(None, about_python(task, reply)))
        return broken_law_words(task, law, case, reply)
    return None


def broken_law_sentence(
    task: Task, shown: Case, cases: Sequence[Case], answer: Any, library: str
) -> str:
    """A sentence on the first law that a wrong answer breaks, on the case that is shown or not."""
    for law, smallest, reply in _laws_not_kept(task, cases, answer, library):
        here = ask_law(law, answer, shown, library)
        if here is False or isinstance(here, str):
            return law_words(law, here)
        if reply is False or isinstance(reply, str):
            return law_words(law, reply, smallest.about)
    return ""


def _laws_not_kept(
    task: Task, cases: Sequence[Case], answer: Any, library: str
) -> Iterator[tuple[Law, Case, bool | str | Mistake | None]]:
    """Each law that does not hold on some case, with the smallest such case and the reply."""
    smallest_first = sorted(cases, key=_size) if task.laws else ()
    for law in task.laws:
        for case in smallest_first:
            reply = ask_law(law, answer, case, library)
            if reply is not True:
                yield law, case, reply
                break


def ask_law(law: Law, answer: Any, case: Case, library: str) -> bool | str | Mistake | None:
    """Ask a law about an answer: True, False, a sentence, or the error that came instead.

    None where the time was over before it was seen.
    """
    args, kwargs = convert(case.args, library), convert(case.kwargs, library)
    file = getattr(getattr(answer, "__code__", None), "co_filename", None)
    ask = functools.partial(law.holds, in_plain_numbers(answer))
    outcome = observe(ask, Case((Case(args, kwargs, case.about),)), file=file)
    if outcome.status == Status.TOO_SLOW:
        return None
    if outcome.status != Status.RETURNED:
        return outcome.mistake or "it gives nothing"
    numbers = outcome.value.as_numbers()
    if numbers is not None and numbers.shape == ():
        return bool(numbers.values)
    return getattr(outcome.value, "text", False)


def _size(case: Case) -> tuple[bool, int]:
    """What orders the cases: the fewest numbers first, those with an axis of length 1 last."""
    values = (value for value in (*case.args, *case.kwargs.values()) if not callable(value))
    arrays = (plain(value).as_numbers() for value in values)
    shapes = [array.shape for array in arrays if array is not None]
    return any(1 in shape for shape in shapes), sum(math.prod(shape) for shape in shapes)
