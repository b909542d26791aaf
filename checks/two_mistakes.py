"""Find the small change that leaves a mistake with a name: the answer has this one and another."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from checks.feedback.fitting import outcome_of
from checks.feedback.misconceptions import misconceptions
from checks.repair.edits import Edit
from checks.repair.one_change import Changes, place_words
from checks.repair.search import Search
from checks.run.call import Outcome
from checks.run.trial import Compared, same_outcome
from checks.status import Status
from checks.task import Task, Wrong

MOST = 500  # changes
NEAR = 1e-3  # of the first number, to compare the rest
# Changes of these kinds put right what is wrong; others take away too much, or guess.
KINDS = {
    "queries_first", "ends", "sorting", "operators", "brackets", "numbers", "signs", "comparisons",
    "functions", "shapes", "reductions", "arguments", "slices", "orders", "indices",
    "einsum_letters", "axes_of_shapes", "kept_axes", "other_names", "missing_factors", "loop_ends",
}  # fmt: skip


def change_beside_misconception(search: Search | None) -> Changes:
    """Sentences on a mistake that is left after one small change, and on this change; or none.

    Of answers of one number, or of True and False, too many agree by accident.
    """
    if search is None or search.task.is_value or not _tells_apart(search.compared):
        return Changes()
    search = replace(search, most=MOST)
    candidates = _candidates(search.task, search.compared)
    edit, wrong = next(_left(search, candidates), (None, None))
    if edit is None:
        return Changes()
    second = misconceptions()[wrong.ids[0]]
    places = " and in ".join(place_words(search.definition, line) for line in edit.lines)
    sentences = (
        f"Perhaps two mistakes: one small change, in {places}, leaves exactly the second. "
        f"Look there: {edit.question}",
        f"The second: {second.name}. {second.sentence}",
    )
    return Changes(sentences, frozenset(edit.lines))


def _tells_apart(compared: Sequence[Compared]) -> bool:
    """Whether the answer returns several numbers on every case, some of which are no integers."""
    values = [
        seen.outcome.value and seen.outcome.value.as_numbers()
        for seen in compared
        if seen.outcome.status == Status.RETURNED
    ]
    return len(values) == len(compared) and all(
        numbers and numbers.values is not None and numbers.values.size > 1
        and numbers.kind == "float" for numbers in values
    )  # fmt: skip


def _candidates(task: Task, compared: Sequence[Compared]) -> list[tuple[Wrong, list[Outcome]]]:
    """The misconceptions that are wrong on the first case, with what they give on each."""
    first = compared[0]
    candidates = []
    for wrong in task.wrong:
        if len(wrong.ids) == 1:
            outcome = outcome_of(wrong, task, first.case)
            if outcome.value and not same_outcome(first.truth, outcome, task.tolerance):
                outcomes = [outcome, *(outcome_of(wrong, task, seen.case) for seen in compared[1:])]
                if all(map(_is_nearer, compared, outcomes)):
                    candidates.append((wrong, outcomes))
    return candidates


def _is_nearer(seen: Compared, outcome: Outcome) -> bool:
    """Whether a misconception is nearer to what is right than the answer, which has one more.

    Of an answer that is half of a misconception, a change for the worse would leave it whole.
    """
    if seen.same or not outcome.value:
        return seen.same
    return _distance(seen.truth, outcome) < _distance(seen.truth, seen.outcome)


def _distance(truth: Outcome, outcome: Outcome) -> float:
    """How far the numbers of a result are from the right ones, on average."""
    wanted, came = (each.value.as_numbers() for each in (truth, outcome))
    if not came or came.values is None or came.shape != wanted.shape:
        return np.inf
    gaps = np.abs(wanted.values - came.values)
    return float(gaps.mean()) if np.isfinite(gaps).all() else np.inf


def _left(
    search: Search, candidates: Sequence[tuple[Wrong, list[Outcome]]]
) -> Iterator[tuple[Edit, Wrong]]:
    """The changes of an answer after which it gives what a misconception gives, on every case."""
    firsts = [(_first_number(outcomes[0]), wrong, outcomes) for wrong, outcomes in candidates]
    for edit in search.changes():
        if edit.kind not in KINDS or _may_leave_out(edit):
            continue
        with edit.made():
            outcome = search.outcome(search.compared[0])
            came = _first_number(outcome)
            for number, wrong, outcomes in firsts:
                near = abs(number - came) <= NEAR * max(1.0, abs(number))
                if near and _gives(search, outcome, outcomes):
                    yield edit, wrong


def _may_leave_out(edit: Edit) -> bool:
    """Whether a change may make an answer do less, and so give what many mistakes give.

    A sign may end a loop before its first turn, and what is stored in a copy is lost. Names that
    are bound to other values stand for the wrong things afterwards.
    """
    owners = [owner for owner, _, _ in edit.puts]
    stored = any(isinstance(getattr(owner, "ctx", None), ast.Store) for owner in owners)
    rebound = edit.kind == "orders" and any(map(_binds_several, owners))
    return stored or rebound or len(owners) > 1 or "the sign of" in edit.question


def _binds_several(owner: ast.AST) -> bool:
    """Whether names are bound to values that stand there, and not to the results of a call."""
    assigned = isinstance(owner, ast.Assign) and not isinstance(owner.value, ast.Call)
    return assigned or isinstance(owner, ast.comprehension)


def _first_number(outcome: Outcome | None) -> float:
    """The first number of a result, by which most are told apart; nan where there is none."""
    numbers = outcome and outcome.value and outcome.value.as_numbers()
    if not numbers or numbers.values is None or not numbers.values.size:
        return np.nan
    return float(np.real(numbers.values.flat[0]))


def _gives(search: Search, first: Outcome, outcomes: Sequence[Outcome]) -> bool:
    """Whether the definition, as it is now, gives these outcomes."""
    tolerance = search.task.tolerance
    if not same_outcome(outcomes[0], first, tolerance):
        return False
    rest = zip(search.compared[1:], outcomes[1:], strict=True)
    return all(
        (came := search.outcome(seen)) is not None and same_outcome(wanted, came, tolerance)
        for seen, wanted in rest
    )
