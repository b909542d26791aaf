"""From a task and an answer to a verdict."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from checks.feedback.explain import broken_law, decide
from checks.feedback.named_ideas import alike
from checks.feedback.verdict import Verdict
from checks.feedback.words import (
    early,
    error_words,
    kind_words,
    missing,
    passed,
    syntax_error,
    todo,
    unsteady,
    verdict,
)
from checks.run.call import Mistake, Outcome, has_torch, observe, remember_source
from checks.run.plain_data import Strange, plain
from checks.task import Case, Task

# Seconds for a reference: what it imports for the first time, on a slow machine, is nobody's fault.
PATIENCE = 300.0
LATER = "What is right is not in this folder: your answer is judged when your work is graded."


def judge(task: Task, answer: Any, seed: int = 0) -> Verdict:
    """Check one answer; the verdict depends on the task, the answer and the seed alone."""
    if task.later:
        return verdict(task, "not attempted" if answer is Ellipsis else "later", LATER)
    if task.is_value:
        cases, truths = task.draw(seed), [Outcome("returned", plain(task.reference))]
        wrong = decide(task, cases, truths, [_look_at(answer)])
        return wrong or broken_law(task, cases, answer, "numpy") or passed(task, 0)
    if answer is Ellipsis:
        return verdict(task, "not attempted", todo(task))
    if not callable(answer):
        what = f"`{task.name}` is {kind_words(answer)}; it must be something that can be called."
        return verdict(task, "not understood", what)
    cases = task.draw(seed)
    truths = truth(task, cases)
    library, outcomes = _best_trial(task, answer, cases, truths)
    wrong = decide(task, cases, truths, outcomes) or broken_law(task, cases, answer, library)
    if wrong:
        return replace(wrong, right=_share(task, truths, outcomes))
    # Once more, because an answer may keep something from one call to the next.
    again = observe(answer, cases[0], library, task.call)
    if task.unique and not alike(truths[0], again, task.tolerance):
        return unsteady(task, cases[0])
    return passed(task, len(cases))


def truth(task: Task, cases: Sequence[Case]) -> list[Outcome]:
    """The right outcomes; an error of the reference is an error of the course, and is raised."""
    given = (task.arrays[0], task.call, PATIENCE)
    outcomes = [observe(task.reference, case, *given) for case in cases]
    for case, outcome in zip(cases, outcomes, strict=True):
        if outcome.status != "returned" or outcome.changed:
            raise RuntimeError(f"the reference of task {task.id} fails on {case.about}: {outcome}")
    return outcomes


def trial(task: Task, answer: Any, cases: Sequence[Case], library: str) -> list[Outcome]:
    """Call the answer on every case, and stop at one that is too slow."""
    outcomes: list[Outcome] = []
    for case in cases:
        if outcomes and outcomes[-1].status == "too slow":
            outcomes.append(outcomes[-1])
        else:
            outcomes.append(observe(answer, case, library, task.call))
    return outcomes


def _best_trial(
    task: Task, answer: Any, cases: Sequence[Case], truths: list[Outcome]
) -> tuple[str, list[Outcome]]:
    """The first array library with which the answer is right, else the most telling attempt."""
    tried: list[tuple[str, list[Outcome]]] = []
    for library in (*task.arrays, "torch32"):
        if tried and not _worth_trying(library, tried, has_torch(answer)):
            continue
        tried.append((library, trial(task, answer, cases, library)))
        if all(map(_right, truths, tried[-1][1], [task.tolerance] * len(cases))):
            return tried[-1]
        if tried[-1][1][0].status in ("not attempted", "not understood", "too slow"):
            return tried[-1]
    first = tried[0]
    if not any(one.status == "raised" for one in first[1]):
        return first
    calm = [one for one in tried if not any(out.status == "raised" for out in one[1])]
    if calm:
        return calm[0]
    # An error of another type than the first came from an answer written for the other library.
    other = [one for one in tried if _first_error(one[1]).type != _first_error(first[1]).type]
    foreign = _first_error(first[1]).type in ("AttributeError", "TypeError")
    return other[0] if other and foreign else first


def _worth_trying(library: str, tried: list, knows_torch: bool) -> bool:
    errors = [one.mistake for one in tried[-1][1] if one.status == "raised"]
    if library == "torch32":
        return tried[-1][0] == "torch" and any("dtype" in one.message for one in errors)
    if library == "torch" and not knows_torch:
        return any(one.type in ("AttributeError", "TypeError") for one in errors)
    return True


def _right(expected: Outcome, got: Outcome, tolerance: float | None) -> bool:
    return alike(expected, got, tolerance) and not got.changed


def _share(task: Task, truths: list[Outcome], outcomes: list[Outcome]) -> float:
    """The share of the cases with the right outcome; none where many outcomes are right."""
    if not task.unique:
        return 0.0
    found = [_right(*pair, task.tolerance) for pair in zip(truths, outcomes, strict=True)]
    return sum(found) / len(found)


def _first_error(outcomes: list[Outcome]) -> Mistake:
    return next(one.mistake for one in outcomes if one.status == "raised")


def _look_at(value: Any) -> Outcome:
    node = plain(value)
    untouched = isinstance(node, Strange) and node.untouched
    return Outcome("not attempted" if untouched else "returned", node)


def grade_source(
    task: Task, source: str, setup: dict[str, Any] | None = None, seed: int = 0
) -> Verdict:
    """Check the text of a cell, run in a namespace of its own."""
    namespace: dict[str, Any] = {"__name__": "answer", **(setup or {})}
    try:
        program = compile(ast.parse(source), "<answer>", "exec")
    except (SyntaxError, ValueError) as error:
        return syntax_error(task, error, source)
    remember_source("<answer>", source)
    stopped = observe(lambda: exec(program, namespace), Case(()), file="<answer>")
    if stopped.status == "too slow":
        return early(task, stopped)
    if task.name not in namespace:
        if stopped.mistake:
            return verdict(task, "raised", error_words(stopped.mistake))
        return missing(task, namespace)
    return judge(task, namespace[task.name], seed)
