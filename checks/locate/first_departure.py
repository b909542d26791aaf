"""Say up to which step an answer is right, and which is the first that is not."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from checks.locate.answer_steps import Step, is_scaled_on, overflows, steps_of
from checks.locate.readings import equal
from checks.locate.reference_steps import Intermediate, intermediates, telling
from checks.locate.relations import OURS, is_plural, line_words, relation_of, these
from checks.locate.walk import Walk, gives
from checks.run.call import Elsewhere
from checks.run.trial import Compared
from checks.status import Status
from checks.task import Case, Task

MOST_CASES = 4
RESULT = "the result"
FUSED = {"scaled_dot_product_attention", "MultiheadAttention", "multi_head_attention_forward"}
VALUES = "the values"  # the scores do without them, so they may be made afterwards


def located(
    task: Task,
    library: str,
    failing: Sequence[Compared],
    answer: Any,
    changed: Collection[int] = (),
) -> tuple[str, ...]:
    """Sentences on the last right step of an answer and the first that is not; or none.

    Where a small change is told, which stands in the `changed` lines, none of these lines is called
    right, and what the check does not find is not told; nor is it where the answer calls a
    definition of the course, which may compute it.
    What is right on one case by accident, as equal sizes allow, is not right on another: the case
    on which the answer leaves the truth first is the one that is told.
    """
    if task.is_value or isinstance(answer, Elsewhere):
        return ()
    walks = [_walk(task, library, wrong, answer) for wrong in failing[:MOST_CASES]]
    every = walks = [walk for walk in walks if walk.truths and walk.steps and not walk.goes_on]
    # What overflows on one case is not what makes another wrong.
    walks = [walk for walk in walks if overflows(walk.steps) <= overflows(walks[0].steps)]
    if not walks:
        return ()
    clearest = min(walks, key=lambda walk: walk.last_right[0] - len(walk.truths))
    here = " here, and not on every case" if _is_wrong_elsewhere(clearest, every) else ""
    others = [walk for walk in walks if walk is not clearest]
    alone = not (changed or _calls_given(answer))
    words = list(_words(task, clearest, others, changed, alone, here))
    if words and clearest.wrong is not failing[0] and clearest.wrong.case.about:
        seen = "" if len(words) == 1 and " is right" in words[0] else " it can be seen where"
        words.insert(0, f"On another case ({clearest.wrong.case.about}){seen}:")
    return tuple(words)


def _is_wrong_elsewhere(walk: Walk, walks: Sequence[Walk]) -> bool:
    """Whether the last right step gives no such value on another case: it may overflow there."""
    n, step = walk.last_right
    for other in walks if step else ():
        same = [each for each in other.steps if each.place == step.place]
        truths = [truth for truth in other.truths if truth.name == walk.truths[n].name]
        if same and truths and not any(gives(each, truth) for each in same for truth in truths):
            return True
    return False


def _walk(task: Task, library: str, wrong: Compared, answer: Any) -> Walk:
    """The truths and the steps of one case; of a case with functions, whose steps are not the
    learner's, none."""
    given = (*wrong.case.args, *wrong.case.kwargs.values())
    if wrong.truth.value is None or any(map(callable, given)):
        return Walk(wrong, (), ())
    result = wrong.truth.value.as_numbers()
    if result is not None and (result.values is None or result.kind != "float"):
        return Walk(wrong, (), ())
    values = None if result is None else result.values
    truths = intermediates(task, wrong.case, values)
    steps = steps_of(answer, wrong.case, library, task.call) if truths else []
    end = [Intermediate(RESULT, values)] if values is not None and telling(values) else []
    return Walk(wrong, [*truths, *end], steps).needed


def _calls_given(answer: Any) -> bool:
    """Whether an answer calls attention of torch or a definition of the course: no step is seen."""
    known = getattr(answer, "__globals__", {})
    names = {*_names_of(getattr(answer, "__code__", None))}
    homes = (getattr(known.get(name), "__module__", None) or "" for name in names)
    return bool(FUSED & names) or any(home.split(".")[0] == "lib" for home in homes)


def _names_of(code: Any) -> Iterator[str]:
    """The names that a function reads, and those that the functions within it read."""
    yield from getattr(code, "co_names", ())
    for constant in getattr(code, "co_consts", ()):
        yield from _names_of(constant)


def _words(
    task: Task, walk: Walk, others: Sequence[Walk], changed: Collection[int], alone: bool, here: str
) -> Iterator[str]:
    n, step = walk.last_right
    if step and (step.line in changed or _is_returned(step, walk)):
        return
    raised = walk.wrong.outcome.status == Status.RAISED
    if step and walk.truths[n].name == RESULT:
        if not raised:
            yield f"Your {line_words(step)} is the right result, but something else is returned."
        return
    lost = walk.lost_turn
    if lost and not raised:
        yield (
            f"Your {line_words(lost[0])} is right in its first turn: {these(lost[1].name)}. "
            "A later turn gives the same once more."
        )
        return
    if step:
        turn = " in its first turn" if _is_first_turn(step, walk.truths[n]) else ""
        dress = _dress_of(step, walk.truths[n])
        yield f"Your {line_words(step)} is right{turn}{here}: {these(walk.truths[n].name)}{dress}."
    if not raised:
        yield from _departure(task, walk, others, changed, alone)


def _is_first_turn(step: Step, truth: Intermediate) -> bool:
    """Whether a step in a loop gives these numbers in its first turn, and others at the end."""
    first, last = (
        any(equal(step.values[turn], wanted) for wanted in (truth.value, *truth.dressed))
        for turn in (0, -1)
    )
    return first and not last


def _dress_of(step: Step, truth: Intermediate) -> str:
    """With what a step gives the normalised input, if it gives it not by itself."""
    if gives(step, replace(truth, dressed=())):
        return ""
    gain_alone = gives(step, replace(truth, dressed=truth.dressed[1::2]))
    return ", with a gain" if gain_alone else ", with a gain and a bias"


def _is_returned(step: Step, walk: Walk) -> bool:
    """Whether what a step gave in the end is the wrong result: it was right in its first turns."""
    returned = walk.wrong.outcome.value and walk.wrong.outcome.value.as_numbers()
    if not returned or returned.values is None or len(step.values) == 1:
        return False
    return equal(step.values[-1], returned.values)


def _departure(
    task: Task, walk: Walk, others: Sequence[Walk], changed: Collection[int], alone: bool
) -> Iterator[str]:
    """What comes next, and which step of the answer is nearest to it."""
    n, step = walk.last_right
    if n + 1 == len(walk.truths):
        return
    truth = walk.truths[n + 1]
    if step and truth.name == RESULT:
        returned = walk.wrong.outcome.value.as_numbers()
        same = returned is not None and equal(returned.values, walk.truths[n].value)
        after = "them" if is_plural(walk.truths[n].name) else "it"
        if same or alone:
            yield f"You return {after}; the result comes after." if same else "The result is not."
        return
    verb = "come" if is_plural(truth.name) else "comes"
    near, relation = _nearest(task, walk, truth, walk.steps_after(n), others)
    if not near and n > 0 and walk.truths[n].name.startswith(VALUES) and walk.given[n - 1]:
        near, relation = _nearest(task, walk, truth, walk.steps_after(n - 1), others)
    elsewhere = bool(near and changed and near.line not in changed)
    if elsewhere and relation.startswith("not normalised"):
        return  # it may be divided later: the change that is told says where it is not
    if near:
        turn = _of_turn(task, walk.wrong.case, truth, near)
        if step and np.isneginf(truth.value).any() and gives(near, walk.truths[n]):
            relation = "equal to the scores: it hides no key that the mask forbids"
        lead = "Next" if step else "First"
        yield f"{lead} {verb} {truth.name}: your {line_words(near)} is{turn} {relation}."
        return
    # Of the next head, for example, or of a new turn: what lies between has no name.
    again = truth.name in (walk.truths[n].name, walk.truths[0].name)
    if walk.leaves_out or truth.name == RESULT:
        return
    if step and alone and walk.whole and not again:
        absent = next((earlier for earlier, given in walk.before if not given), truth)
        verb, them = ("come", "them") if is_plural(absent.name) else ("comes", "it")
        when = "next" if absent is truth else "before"
        yield f"In our solution {absent.name} {verb} {when}; none of your steps gives {them}."


def _nearest(
    task: Task, walk: Walk, truth: Intermediate, following: Sequence[Step], others: Sequence[Walk]
) -> tuple[Step | None, str]:
    """The last step with a relation to the truth; of two that differ by a factor, the inner one."""
    near, words = None, ""
    for step in reversed(following):
        if near and not (step.line == near.line and step.text in near.text):
            continue
        relation = relation_of(task, walk.wrong.case, truth, step, _elsewhere(truth, step, others))
        if is_scaled_on(step, following):
            continue
        if relation and (not near or (_is_bare(relation) and _is_bare(words))):
            near, words = step, relation
    return near, words


def _is_bare(relation: str) -> bool:
    """Whether a relation is a factor without a name."""
    return relation.endswith(f" times {OURS}")


def _of_turn(task: Task, case: Case, truth: Intermediate, near: Step) -> str:
    """That only the first turn of a loop stands in a relation to the value that is needed."""
    last, first = (replace(near, values=[near.values[turn]]) for turn in (-1, 0))
    if len(near.values) == 1 or relation_of(task, case, truth, last, []):
        return ""
    return " in its first turn" if relation_of(task, case, truth, first, []) else ""


def _elsewhere(truth: Intermediate, near: Step, others: Sequence[Walk]) -> list:
    """The same step and the same truth on the other failing cases."""
    return [
        (walk.wrong.case, other, step)
        for walk in others
        for other in walk.truths
        for step in walk.steps
        if other.name == truth.name and step.place == near.place
    ]
