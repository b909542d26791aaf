"""What can be seen in wrong numbers that no named idea explains."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from checks.feedback.factors import Triple, about_factor
from checks.run.call import Outcome, argument_names
from checks.run.compare import agree, compare, number
from checks.run.plain_data import Items, Mapping, Numbers, as_numbers
from checks.task import Case, Task


def describe_numbers(task: Task, failing: Sequence[tuple[Case, Outcome, Outcome]]) -> str:
    """A sentence about wrong numbers that no named idea explains, or nothing.

    `failing` holds (case, truth, answer); the first of them is the one that is shown.
    """
    case, truth, got = failing[0]
    swapped = part_or_order(truth.value, got.value, task.tolerance)
    if swapped:
        return swapped
    for name, expected, answered in pairs(truth.value, got.value):
        others = [
            (other, *pair[1:])
            for other, one, two in failing
            for pair in pairs(one.value, two.value)
            if pair[0] == name
        ]
        said = describe(task, case, expected, answered, others)
        if said:
            return f"In `{name}`: {said}" if name else said[0].upper() + said[1:]
    return ""


def pairs(expected: object, got: object) -> list[tuple[str, Numbers, Numbers]]:
    one, other = as_numbers(expected), as_numbers(got)
    listed = isinstance(expected, Items) and expected.kind != "list"
    if one is not None and other is not None and not listed:
        return [("", one, other)]
    if isinstance(expected, Mapping) and isinstance(got, Mapping):
        both = [(key, as_numbers(one), as_numbers(got.entries.get(key)))
                for key, one in expected.entries.items()]  # fmt: skip
        return [(key, a, b) for key, a, b in both if a is not None and b is not None]
    if isinstance(expected, Items) and isinstance(got, Items):
        names = expected.names or [f"result {n + 1}" for n in range(len(expected.items))]
        triples = zip(names, expected.items, got.items, strict=False)
        read = [(name, as_numbers(a), as_numbers(b)) for name, a, b in triples]
        return [(name, a, b) for name, a, b in read if a is not None and b is not None]
    return [("", one, other)] if one is not None and other is not None else []


def part_or_order(expected: object, got: object, tolerance: float | None) -> str:
    if isinstance(got, Items):
        for n, part in enumerate(got.items):
            if compare(expected, part, tolerance) is None:
                return f"Result {n + 1} of your {len(got.items)} is right; return it alone."
    if not isinstance(expected, Items) or len(expected.items) < 2:
        return ""
    names = expected.names or [f"result {n + 1}" for n in range(len(expected.items))]
    for name, part in zip(names, expected.items, strict=True):
        if compare(part, got, tolerance) is None:
            return f"This is `{name}` alone; all of ({', '.join(names)}) are asked for."
    if isinstance(got, Items) and len(got.items) == len(expected.items):
        backwards = Items(got.items[::-1], got.kind, got.names)
        if compare(expected, backwards, tolerance) is None:
            return f"The results are right but in the opposite order; return ({', '.join(names)})."
    return ""


def describe(task: Task, case: Case, expected: Numbers, got: Numbers, failing: list[Triple]) -> str:
    if expected.values is None or got.values is None or not got.values.size:
        return ""
    if agree_all(task, expected, got) or "complex" in (expected.kind, got.kind):
        return ""
    if expected.shape != got.shape:
        return about_shape(task, expected, got)
    for look in (about_nan, about_bool, about_inputs, about_sums):
        said = look(task, case, expected, got)
        if said:
            return said
    said = about_factor(task, failing)
    return said or about_order(task, expected, got) or about_place(task, expected, got)


def agree_all(task: Task, expected: Numbers, got: Numbers) -> bool:
    """Whether all numbers of two arrays agree."""
    return expected.shape == got.shape and bool(agree(expected, got, task.tolerance).all())


def _equals(task: Task, expected: Numbers, got: Numbers, values: np.ndarray) -> bool:
    """Whether the answer would be right with these values."""
    return agree_all(task, expected, Numbers(values, values.shape, got.dtype, got.home))


def _same_numbers(one: np.ndarray, other: np.ndarray) -> bool:
    first, second = (np.sort(values.astype(float), axis=None) for values in (one, other))
    return bool(np.allclose(first, second, rtol=1e-5, atol=1e-7))


def about_shape(task: Task, expected: Numbers, got: Numbers) -> str:
    if expected.values.ndim == got.values.ndim == 1:
        return about_length(task, expected, got)
    if got.values.ndim >= 2 and _equals(task, expected, got, np.swapaxes(got.values, -1, -2)):
        return "the numbers are right but transposed: the last two axes are swapped."
    if got.values.size == expected.values.size and _equals(
        task, expected, got, got.values.reshape(expected.shape)
    ):
        return "the numbers are right, only the shape is not: an axis is missing or too many."
    pairs = zip(got.shape, expected.shape, strict=False)
    grown = all(one == two or two == 1 for one, two in pairs)
    if got.values.ndim > expected.values.ndim or (
        got.values.ndim == expected.values.ndim and grown
    ):
        return (
            "the result is larger than it should be: often two arrays were broadcast against "
            "each other because a sum or a maximum lost its axis; `keepdims=True` keeps it."
        )
    if got.values.ndim < expected.values.ndim:
        return "an axis too many was summed or picked away; say which axis you reduce."
    return ""


def about_length(task: Task, expected: Numbers, got: Numbers) -> str:
    """What a row has too many or too few, where the rest of it is right."""
    short, long = sorted((expected, got), key=lambda one: one.values.size)
    more, size = long.values.size - short.values.size, short.values.size
    what = "missing" if got is short else "too many"
    some = f"{more} {'number is' if more == 1 else 'numbers are'} {what}"
    for where, part in (("at the end", slice(None, size)), ("in front", slice(more, None))):
        rest = Numbers(long.values[part], short.shape, long.dtype, long.home)
        if size > 1 and agree_all(task, *((rest, got) if got is short else (expected, rest))):
            return f"{some} {where}; the others are right."
    return ""


def about_nan(task: Task, case: Case, expected: Numbers, got: Numbers) -> str:
    if np.isnan(got.values.astype(float)).any() and not np.isnan(expected.values).any():
        count = int(np.isnan(got.values).sum())
        return (
            f"{count} of {got.values.size} numbers are NaN, which comes from 0/0, inf - inf "
            "or inf/inf; look for a division by a sum of zero or for an overflow in exp."
        )
    if np.isinf(got.values.astype(float)).any() and not np.isinf(expected.values).any():
        return "some numbers are infinite: a division by zero, or exp of a large number."
    if expected.kind != "bool" and got.values.size > 1 and not got.values.any():
        return "every number is zero."
    return ""


def about_bool(task: Task, case: Case, expected: Numbers, got: Numbers) -> str:
    both = {0, 1}.issuperset(np.unique(got.values)) and expected.kind == "bool"
    if both and np.array_equal(got.values.astype(bool), ~expected.values):
        return "every value is the opposite: True and False are exchanged."
    if "bool" in (expected.kind, got.kind) and expected.kind != got.kind:
        return f"the result is {got.dtype}, and {expected.kind} is expected."
    return ""


def about_inputs(task: Task, case: Case, expected: Numbers, got: Numbers) -> str:
    names = argument_names(task.reference, task.call, len(case.args))
    for name, value in zip(names, case.args, strict=True):
        same_shape = isinstance(value, np.ndarray) and value.shape == got.shape
        if same_shape and np.array_equal(value, got.values):
            return f"this is the argument `{name}`, unchanged."
    return ""


def about_sums(task: Task, case: Case, expected: Numbers, got: Numbers) -> str:
    """Where the rows of the truth sum to 1, what those of the answer sum to."""
    one, other = expected.values, got.values
    if one.ndim == 0 or one.shape[-1] < 2 or one.min() < 0 or expected.kind != "float":
        return ""
    rows = other.sum(axis=-1)
    if not np.allclose(one.sum(axis=-1), 1) or np.allclose(rows, 1, atol=1e-4):
        return ""
    if other.ndim > 1 and np.allclose(other.sum(axis=-2), 1, atol=1e-4):
        return "the columns of your answer sum to 1, and its rows should."
    if np.isclose(other.sum(), 1, atol=1e-4):
        return "all numbers of your answer together sum to 1, and each row should."
    if {*map(number, rows.ravel())} == {"1"}:
        return "the rows of your answer sum to 1 only nearly: were they rounded?"
    sums = ", ".join(map(number, rows.ravel()[:3])) + (", ..." if rows.size > 3 else "")
    return f"the rows of your answer sum to {sums}, and each should sum to 1."


def about_order(task: Task, expected: Numbers, got: Numbers) -> str:
    one, other = expected.values, got.values

    if (
        one.ndim >= 2
        and one.shape[-1] == one.shape[-2]
        and _equals(task, expected, got, np.swapaxes(other, -1, -2))
    ):
        return "the numbers are right but transposed: the last two axes are swapped."
    for axis, name in ((-2, "rows"), (-1, "columns")):
        if (
            one.ndim >= -axis
            and one.shape[axis] > 1
            and _equals(task, expected, got, np.flip(other, axis))
        ):
            name = name if one.ndim > 1 else "numbers"
            return f"the {name} are right but in the opposite order."
    if one.ndim == 2 and one.shape[0] > 1:
        order = [np.abs(one.astype(float) - row).max(axis=1).argmin() for row in other]
        if sorted(order) == list(range(len(one))) and _equals(
            task, expected, got, other[np.argsort(order)]
        ):
            moved = next(n for n, row in enumerate(order) if n != row)
            at = f"row {moved} is yours at {order.index(moved)}"
            return f"the rows are right but in another order: {at}."
    if one.ndim >= 1 and one.size > 2 and _same_numbers(one, other):
        return "the right numbers, in another order."
    return ""


def about_place(task: Task, expected: Numbers, got: Numbers) -> str:
    wrong = ~agree(expected, got, task.tolerance)
    # One digit of one number may be an accident; of several numbers it is not.
    rounded = any(
        np.allclose(got.values, np.round(expected.values.astype(float), digits), atol=1e-12)
        for digits in range(1 if expected.values.size > 1 else 2, 5)
    )
    if expected.kind == "float" and rounded:
        return "these are the right numbers, rounded; give them with full precision."
    if wrong.ndim < 2 or wrong.all():
        return ""
    rows, columns = wrong.shape[-2:]
    plane = wrong.reshape(-1, rows, columns).any(axis=0)
    if plane.all():
        return ""
    above = np.triu(np.ones((rows, columns), bool), 1)
    if rows == columns and not plane[~above].any():
        return "all that differs lies above the diagonal: keys that come after the query."
    if rows == columns and not plane[~above.T].any():
        return "all that differs lies below the diagonal: keys that come before the query."
    if rows == columns and not plane[~np.eye(rows, dtype=bool)].any():
        return "all that differs lies on the diagonal."
    hit = [n for n in range(rows) if plane[n].any()]
    if len(hit) == 1:
        return f"only row {hit[0]} differs."
    hit = [n for n in range(columns) if plane[:, n].any()]
    return f"only column {hit[0]} differs." if len(hit) == 1 else ""
