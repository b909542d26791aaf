"""Compare what happened with what should have, and say what is wrong.

Apart from the laws, which ask the answer itself, this half sees outcomes and never the answer.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

from checks.feedback.describe import describe_numbers
from checks.feedback.named_ideas import alike, named_ideas
from checks.feedback.numpy_or_torch import about_library
from checks.feedback.verdict import Verdict, shown
from checks.feedback.words import (
    capital,
    changed_words,
    early,
    edited,
    error_words,
    given,
    lawless,
    named,
    verdict,
)
from checks.run.call import Outcome, convert, observe
from checks.run.compare import Difference, compare
from checks.run.plain_data import Nothing, as_numbers, plain
from checks.task import Case, Law, Task


def decide(
    task: Task, cases: Sequence[Case], truths: Sequence[Outcome], outcomes: Sequence[Outcome]
) -> Verdict | None:
    """The verdict on an answer that is wrong; None where every outcome is right."""
    for one in outcomes:
        if one.status in ("not attempted", "not understood", "too slow"):
            return early(task, one)
    order = by_size(cases)
    unequal = [n for n in order if not alike(truths[n], outcomes[n], task.tolerance)]
    if task.unique and unequal:
        return _unequal(task, cases, truths, outcomes, unequal)
    for n in order:
        if outcomes[n].status == "raised":
            return _raised(task, outcomes[n], _case(task, cases[n]))
        if outcomes[n].changed:
            return edited(task, cases[n], outcomes[n])
    return None


def _unequal(
    task: Task,
    cases: Sequence[Case],
    truths: Sequence[Outcome],
    outcomes: Sequence[Outcome],
    unequal: list[int],
) -> Verdict:
    n = unequal[0]
    expected, got, blocks = truths[n], outcomes[n], _case(task, cases[n])
    if got.status == "returned":
        # The value of a value task is not shown: it is what the learner should find.
        right = () if task.is_value else (shown("expected", expected.value),)
        blocks["sides"] = (*right, shown("your answer", got.value))
    fits = named_ideas(task, cases, truths, outcomes)
    if fits:
        return named(task, fits, got, blocks)
    if got.status == "raised":
        return _raised(task, got, blocks)
    if isinstance(got.value, Nothing):
        what = "is None" if task.is_value else "returns None: did you forget `return`?"
        return verdict(task, "not understood", f"`{task.name}` {what}", about=blocks["about"])
    difference = compare(expected.value, got.value, task.tolerance)
    sentences = [_difference_words(task, difference)]
    failing = [(cases[m], truths[m], outcomes[m]) for m in unequal]
    calm = [one for one in failing if one[2].status == "returned"]
    sentences.append(describe_numbers(task, calm))
    if got.changed:
        sentences.append(changed_words(got.changed))
    status = "not understood" if difference.kind == "structure" else "wrong"
    return verdict(task, status, *filter(None, sentences), **blocks)


def _raised(task: Task, got: Outcome, blocks: dict[str, Any]) -> Verdict:
    said = (error_words(got.mistake), about_library(task, got.mistake))
    return verdict(task, "raised", *filter(None, said), **blocks)


def _difference_words(task: Task, difference: Difference) -> str:
    if task.is_value and difference.kind == "values":
        return "That is not the right value."
    return capital(difference.sentence) + "."


def _case(task: Task, case: Case) -> dict[str, Any]:
    return {"about": case.about, "given": given(task, case)}


def broken_law(task: Task, cases: Sequence[Case], answer: Any, library: str) -> Verdict | None:
    """The verdict on the first law that the answer breaks, if there is one."""
    for law in task.laws:
        for n in by_size(cases):
            said = hold(law, answer, cases[n], library)
            if said is None:
                # An answer that takes long has not shown that it breaks the law.
                return early(task, Outcome("too slow"))
            if said is not True:
                return lawless(task, law, cases[n], said)
    return None


def hold(law: Law, answer: Any, case: Case, library: str) -> bool | str | None:
    """Ask a law about an answer: True, False, or a sentence; an error counts as broken.

    None where the time was over before it was seen.
    """

    args, kwargs = convert(case.args, library), convert(case.kwargs, library)
    file = getattr(getattr(answer, "__code__", None), "co_filename", None)
    ask = functools.partial(law.holds, answer)
    outcome = observe(ask, Case((Case(args, kwargs, case.about),)), file=file)
    if outcome.status == "too slow":
        return None
    if outcome.status != "returned":
        return error_words(outcome.mistake).rstrip(".") if outcome.mistake else "it gives nothing"
    numbers = as_numbers(outcome.value)
    if numbers is not None and numbers.shape == ():
        return bool(numbers.values)
    return getattr(outcome.value, "text", False)


def by_size(cases: Sequence[Case]) -> list[int]:
    """The order of the cases: the fewest numbers first, those with an axis of length 1 last."""
    return sorted(range(len(cases)), key=lambda n: _size(cases[n]))


def _size(case: Case) -> tuple[bool, int]:
    values = [plain(one) for one in (*case.args, *case.kwargs.values()) if not callable(one)]
    shapes = [node.shape for node in map(as_numbers, values) if node is not None]
    return any(1 in shape for shape in shapes), sum(math.prod(shape) for shape in shapes)
