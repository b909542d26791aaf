"""How a wrong value is related to the right one, in words."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from checks.differences.factors import candidates, factor_of, gap_of
from checks.locate.answer_steps import Step
from checks.locate.readings import as_hidden, equal, readings
from checks.locate.reference_steps import Intermediate
from checks.run.nodes import Numbers, number
from checks.task import Case, Task

LONGEST = 60  # letters of a quoted line
OURS = "what our solution has there"  # a factor may come later in a right answer
Seen = Sequence[tuple[Case, Intermediate, Step]]


def relation_of(task: Task, case: Case, truth: Intermediate, step: Step, others: Seen) -> str:
    """The relation of a step to the value that is needed, or nothing.

    `others` are the same step and the same truth on other cases: a factor has a name only if the
    name fits there too.
    """
    for values in readings(step, truth.value):
        if values.dtype.kind == "c":
            continue  # of an answer with complex numbers, which have no order
        words = (
            _hidden_rows(truth.value, values)
            or _transposed(truth.value, values)
            or _unmasked(truth.value, values)
            or _unnormalised(truth.value, values)
            or _scaled(task, case, truth.value, values, others)
        )
        if words:
            return words
    return ""


def _hidden_rows(truth: np.ndarray, values: np.ndarray) -> str:
    """For scores, of which some row is hidden whole, and is not in the truth."""
    if values.shape != truth.shape or values.ndim < 1 or not np.isneginf(values).any():
        return ""
    hidden = np.isneginf(values).all(-1) & ~np.isneginf(truth).all(-1)
    return (
        "-inf in every entry of a row, so this query may attend to no key" if hidden.any() else ""
    )


def _transposed(truth: np.ndarray, values: np.ndarray) -> str:
    swapped = values.ndim > 1 and equal(np.swapaxes(values, -1, -2), truth)
    return "transposed: its last two axes are swapped" if swapped else ""


def _unmasked(truth: np.ndarray, values: np.ndarray) -> str:
    masked = np.isneginf(truth)
    if values.shape != truth.shape or not masked.any() or masked.all():
        return ""
    if equal(values[~masked], truth[~masked]):
        seen = masked & (as_hidden(values, truth) > -np.inf)
        if not seen.any():
            return ""
        if seen.sum() < masked.sum():  # the others are hidden, by -1e9 for example
            return "not masked everywhere: a query still sees some key that the mask forbids"
        return (
            "not hidden where the mask forbids: the score of a masked key must be -inf, "
            "or so low that its weight is 0"
        )
    inverted = np.isneginf(values).any() and (np.isneginf(values) == ~masked).all()
    return "masked the wrong way round: it is -inf where a query may attend" if inverted else ""


def _unnormalised(truth: np.ndarray, values: np.ndarray) -> str:
    """For weights, whose rows sum to 1: along which axis a step normalises, if along any."""
    if values.shape != truth.shape or truth.ndim < 1 or not _sums_to_1(truth, -1):
        return ""
    if not np.isfinite(values).all() or (values < 0).any() or _sums_to_1(values, -1):
        return ""
    if truth.ndim > 1 and _sums_to_1(values, -2):
        return "normalised along the wrong axis: its columns sum to 1, and its rows should"
    sums = values.sum(-1, keepdims=True)
    if (sums > 0).all() and equal(values / sums, truth):
        shown = ", ".join(map(number, sums.ravel()[:3])) + (", ..." if sums.size > 3 else "")
        return f"not normalised: each row should sum to 1, and yours sum to {shown}"
    return ""


def _sums_to_1(values: np.ndarray, axis: int) -> bool:
    return bool((values >= 0).all() and np.allclose(values.sum(axis), 1, atol=1e-5))


def _scaled(task: Task, case: Case, truth: np.ndarray, values: np.ndarray, others: Seen) -> str:
    factor = _factor(truth, values)
    if factor and not np.isclose(factor, 1):
        name = _name(task, case, factor, others)
        if np.isinf(factor):
            return "infinite, and the right value is not"
        by_accident = factor < 0 and not name and not np.isclose(factor, -1)
        known = f", and {number(factor)} = {name}" if name else ""
        return "" if by_accident else f"{number(factor)} times {OURS}{known}"
    gap = _gap(truth, values)
    shifted = gap is not None and np.isfinite(gap) and abs(gap) > 1e-6
    return f"{OURS}, plus {number(gap)}" if shifted else ""


def _factor(truth: np.ndarray, values: np.ndarray) -> float | None:
    return factor_of(*_nodes(truth, values)) if _comparable(truth, values) else None


def _gap(truth: np.ndarray, values: np.ndarray) -> float | None:
    if not _comparable(truth, values) or (np.isinf(truth) != np.isinf(values)).any():
        return None
    return gap_of(*_nodes(truth, values))


def _comparable(truth: np.ndarray, values: np.ndarray) -> bool:
    return values.shape == truth.shape and {truth.dtype.kind, values.dtype.kind} <= set("fi")


def _nodes(*arrays: np.ndarray) -> list[Numbers]:
    return [Numbers(array, array.shape, str(array.dtype), "") for array in arrays]


def _name(task: Task, case: Case, factor: float, others: Seen) -> str:
    """The name of a factor that fits on this case and on the others."""
    seen = [(_names(task, case), factor)]
    for other, truth, step in others:
        factors = (_factor(truth.value, values) for values in readings(step, truth.value))
        there = next((value for value in factors if value is not None), None)
        if there is not None:
            seen.append((_names(task, other), there))
    for name in seen[0][0]:
        if all(name in named and np.isclose(value, named[name]) for named, value in seen):
            return "" if name == number(factor) else name
    return ""


def _names(task: Task, case: Case) -> dict[str, float]:
    """The factors that the sizes of the arguments suggest, and the roots of their ratios."""
    named = dict(candidates(task, case))
    sizes = {name: size for name, size in named.items() if name.endswith("]") and "/" not in name}
    for above, below in itertools.permutations(sizes, 2):
        named.setdefault(f"sqrt({above}/{below})", (sizes[above] / sizes[below]) ** 0.5)
    return named


def line_words(step: Step) -> str:
    """The text of a step and its line."""
    text = step.text if len(step.text) <= LONGEST else step.text[: LONGEST - 4] + " ..."
    return f"`{text}` (line {step.line})"


def is_plural(name: str) -> bool:
    """Whether a name speaks of several things."""
    return name.endswith("s") and not name.endswith("ss")


def these(name: str) -> str:
    return f"{'these are' if is_plural(name) else 'this is'} {name}"
