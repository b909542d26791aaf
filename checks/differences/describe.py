"""What can be seen in wrong numbers that no named misconception explains."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from checks.differences.axes import Known, about_axes
from checks.differences.counts import about_counts
from checks.differences.factors import (
    Triple,
    about_factor,
    about_rounding,
    about_sums,
    about_totals,
)
from checks.differences.places import about_place
from checks.differences.results import part_or_order
from checks.run.call import argument_names
from checks.run.compare import agree
from checks.run.nodes import Items, Mapping, Node, Numbers
from checks.run.trial import Compared
from checks.task import Task


def describe_numbers(
    task: Task, failing: Sequence[Compared], everywhere: bool = True, raised: Sequence[Known] = (),
) -> str:  # fmt: skip
    """A sentence about wrong numbers that no named misconception explains, or nothing.

    The first of the failing cases is the one that is shown; `everywhere` if no other case is right.
    """
    first = failing[0]
    if swapped := part_or_order(first.truth.value, first.outcome.value, task.tolerance):
        return swapped
    wanted = first.truth.value.as_numbers()
    if wanted is not None and first.outcome.value.count_of(wanted.shape):
        return ""  # the axis that is one too many is that of the results
    for name, expected, got in array_pairs(first.truth.value, first.outcome.value):
        triples = [
            (compared.case, wanted, came)
            for compared in failing
            for part, wanted, came in array_pairs(compared.truth.value, compared.outcome.value)
            if part == name
        ]
        others = () if name else raised
        sentence = describe_difference(task, expected, got, triples, everywhere, others)
        if sentence:
            return f"In `{name}`: {sentence}" if name else capital(sentence)
    return ""


def array_pairs(expected: Node, got: Node) -> Iterator[tuple[str, Numbers, Numbers]]:
    """The arrays of the truth, each with its name and the array that came in its place."""
    for name, wanted, came in _parts(expected, got):
        wanted, came = wanted.as_numbers(), came.as_numbers()
        if wanted is not None and came is not None:
            yield name, wanted, came


def _parts(expected: Node, got: Node) -> list[tuple[str, Node, Node]]:
    listed = isinstance(expected, Items) and expected.kind != "list"
    whole = expected.as_numbers() is not None and got.as_numbers() is not None
    if isinstance(expected, Mapping) and isinstance(got, Mapping):
        entries = expected.entries.items()
        return [(key, own, got.entries[key]) for key, own in entries if key in got.entries]
    if isinstance(expected, Items) and isinstance(got, Items) and (listed or not whole):
        return list(zip(expected.item_names, expected.items, got.items, strict=False))
    return [("", expected, got)]


def describe_difference(
    task: Task, expected: Numbers, got: Numbers, failing: list[Triple],
    everywhere: bool, raised: Sequence[Known] = (),
) -> str:  # fmt: skip
    """What can be seen in one array."""
    if expected.values is None or got.values is None or not got.values.size:
        return ""
    if agree_all(task, expected, got) or "complex" in (expected.kind, got.kind):
        return ""
    if expected.shape != got.shape:
        same = [triple for triple in failing if triple[1].shape != triple[2].shape]
        shape = about_shape(task, expected, got)
        axes = "" if shape == TRANSPOSED else about_axes(task, same, raised)
        axes = f"here {axes}" if axes and not everywhere else axes
        return f"{shape} {capital(axes)}".strip() if shape else axes
    return (
        about_nan(expected, got)
        or about_bool(expected, got, failing if everywhere else [])
        or about_inputs(task, failing)
        or about_rounding(expected, got)
        or about_sums(expected, got)
        or about_factor(task, failing)
        or about_counts(task, failing)
        or about_order(task, expected, got)
        or about_totals(failing)
        or about_place(task, failing)
    )


def agree_all(task: Task, expected: Numbers, got: Numbers) -> bool:
    """Whether all numbers of two arrays agree."""
    return expected.shape == got.shape and bool(agree(expected, got, task.tolerance).all())


def _equals(task: Task, expected: Numbers, got: Numbers, values: np.ndarray) -> bool:
    """Whether the answer would be right with these values."""
    return agree_all(task, expected, Numbers(values, values.shape, got.dtype, got.home))


def _transposed(task: Task, expected: Numbers, got: Numbers) -> bool:
    return got.values.ndim >= 2 and _equals(task, expected, got, np.swapaxes(got.values, -1, -2))


TRANSPOSED = "the numbers are right but transposed: the last two axes are swapped."


def about_shape(task: Task, expected: Numbers, got: Numbers) -> str:
    """What became of the axes."""
    wanted, came = expected.values, got.values
    if wanted.ndim == came.ndim == 1:
        return about_length(task, expected, got)
    if _transposed(task, expected, got):
        return TRANSPOSED
    if came.size == wanted.size and _equals(task, expected, got, came.reshape(wanted.shape)):
        axes = ": an axis is missing or too many" * (came.ndim != wanted.ndim)
        return f"the numbers are right and in the right order, only the shape is not{axes}."
    if wanted.ndim == 0:
        what = "one True or False" if expected.kind == "bool" else "one number"
        return f"{what} is expected for the whole input, and yours is an array or a sequence."
    if came.ndim == 0:
        what = (
            f"{wanted.size} numbers are"
            if wanted.ndim == 1
            else f"an array of shape {expected.shape} is"
        )
        return f"yours is one number, and {what} expected."
    if came.ndim < wanted.ndim:
        return "axes are missing: were they summed, picked or reshaped away, or never there?"
    if came.ndim > wanted.ndim and [n for n in got.shape if n != 1] == [*expected.shape]:
        return "an axis of length 1 is left over: take its only entry, with `[0]` for example."
    sizes = zip(got.shape, expected.shape, strict=False)
    if came.ndim > wanted.ndim or all(own == size or size == 1 for own, size in sizes):
        pair = " Or was a pair stacked, such as an output with its weights?"
        return (
            "the result is larger than it should be: often two arrays were broadcast against "
            "each other because a sum or a maximum lost its axis; `keepdims=True` keeps it."
            f"{pair * _holds_pairs(got.shape, expected.shape)}"
        )
    return ""


def _holds_pairs(came: tuple[int, ...], wanted: tuple[int, ...]) -> bool:
    """Whether two arrays of the right shape were put together."""
    without = [came[:n] + came[n + 1 :] for n, size in enumerate(came) if size == 2]
    return len(wanted) > 1 and wanted in without


def about_length(task: Task, expected: Numbers, got: Numbers) -> str:
    """What a row has too many or too few, where the rest of it is right."""
    short, long = sorted((expected, got), key=lambda numbers: numbers.values.size)
    more, size = long.values.size - short.values.size, short.values.size
    what = "missing" if got is short else "too many"
    some = f"{more} {'number is' if more == 1 else 'numbers are'} {what}"
    for where, part in (("at the end", slice(None, size)), ("in front", slice(more, None))):
        rest = Numbers(long.values[part], short.shape, long.dtype, long.home)
        if size > 1 and agree_all(task, *((rest, got) if got is short else (expected, rest))):
            return f"{some} {where}; the others are right."
    return ""


def about_nan(expected: Numbers, got: Numbers) -> str:
    """Numbers that are none: NaN, infinite, or zero everywhere."""
    if np.isnan(got.values.astype(float)).any() and not np.isnan(expected.values).any():
        count = int(np.isnan(got.values).sum())
        return (
            f"{count} of {got.values.size} numbers are NaN, which comes from 0/0, inf - inf, "
            "inf/inf, 0 * inf, or the logarithm or root of a negative number; look for a division "
            "by a sum of zero, an overflow in exp, a mask multiplied by infinity, or a negative "
            "argument."
        )
    infinite = got.values[np.isinf(got.values.astype(float))]
    if infinite.size and not np.isinf(expected.values).any():
        if (infinite < 0).all():
            return "some numbers are minus infinity: is it a mask, log(0), or a first maximum?"
        return "some numbers are infinite: a division by zero, exp of a large number, or `inf`?"
    if expected.kind != "bool" and got.values.size > 1 and not got.values.any():
        return "every number is zero."
    return ""


def about_bool(expected: Numbers, got: Numbers, failing: list[Triple]) -> str:
    """True and False exchanged, on all cases that fail, or True and False in place of numbers."""
    if (
        got.values.size > 1
        and failing
        and all(_is_opposite(wanted, came) for _, wanted, came in failing)
    ):
        return "every value is the opposite: True and False are exchanged."
    if "bool" in (expected.kind, got.kind) and expected.kind != got.kind:
        return f"the result is {got.dtype}, and {expected.kind} is expected."
    return ""


def _is_opposite(expected: Numbers, got: Numbers) -> bool:
    both = {0, 1}.issuperset(np.unique(got.values)) and expected.kind == "bool"
    return both and np.array_equal(got.values.astype(bool), ~expected.values)


def about_inputs(task: Task, failing: Sequence[Triple]) -> str:
    """An argument returned as it came, wherever the answer is wrong."""
    names = argument_names(task.reference, task.call, len(failing[0][0].args))
    for n, name in enumerate(names):
        pairs = [(case.args[n], got.values) for case, _, got in failing if n < len(case.args)]
        if all(isinstance(own, np.ndarray) and np.array_equal(own, came) for own, came in pairs):
            return f"this is the argument `{name}`, unchanged."
    return ""


def about_order(task: Task, expected: Numbers, got: Numbers) -> str:
    """The right numbers at other positions."""
    wanted, came = expected.values, got.values
    if _transposed(task, expected, got):
        return TRANSPOSED
    for axis, name in ((-2, "rows"), (-1, "columns")):
        if wanted.ndim < -axis or wanted.shape[axis] < 2:
            continue
        if _equals(task, expected, got, np.flip(came, axis)):
            name = name if wanted.ndim > 1 else "numbers"
            return f"the {name} are right but in the opposite order."
    if wanted.ndim == 2 and wanted.shape[0] > 1:
        order = [np.abs(wanted.astype(float) - row).max(axis=1).argmin() for row in came]
        permuted = sorted(order) == list(range(len(wanted)))
        if permuted and _equals(task, expected, got, came[np.argsort(order)]):
            moved = next(n for n, row in enumerate(order) if n != row)
            at = f"row {moved} is yours at {order.index(moved)}"
            return f"the rows are right but in another order: {at}."
    ordered = (np.sort(values.astype(float), axis=None) for values in (wanted, came))
    if wanted.ndim >= 1 and wanted.size > 2 and np.allclose(*ordered, rtol=1e-5, atol=1e-7):
        return "the right numbers, in another order."
    return ""


def capital(text: str) -> str:
    """The text with a capital letter."""
    return text[:1].upper() + text[1:]
