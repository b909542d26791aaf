"""By what product of the arguments a count is too large or too small."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

from checks.differences.factors import Triple
from checks.run.call import argument_names
from checks.task import Case, Task

DEGREE = 3  # factors in a product
LARGEST = 12  # times which the product is taken
FEWEST = 3  # failing cases that a difference of two products needs to be no accident


def about_counts(task: Task, failing: Sequence[Triple]) -> str:
    """A sentence if, on every failing case, one product of arguments is too many or missing."""
    gaps = [_gap(triple) for triple in failing]
    if len(failing) < 2 or not all(gaps) or len(set(gaps)) == 1:
        return ""
    products = [dict(_products(task, case)) for case, _, _ in failing]
    for name in products[0]:
        number = _times(gaps, [named.get(name, 0) for named in products])
        if number:
            kind = "large" if number > 0 else "small"
            return f"wherever it is wrong, your number is too {kind} by {_words(number, name)}."
    return _difference(gaps, products) if len(failing) >= FEWEST else ""


def _gap(triple: Triple) -> int:
    """By how much a count is too large; 0 if it is no count."""
    _, expected, got = triple
    whole = expected.kind == "int" and expected.shape == got.shape == () and got.kind in "int float"
    gap = float(got.values) - float(expected.values) if whole else 0.0
    return int(gap) if gap.is_integer() and abs(gap) < 2**53 else 0


def _products(task: Task, case: Case) -> Iterator[tuple[str, int]]:
    """The products of a few whole numbers among the arguments, by name."""
    names = argument_names(task.reference, task.call, len(case.args))
    sizes = {
        name: value
        for name, value in zip(names, case.args, strict=True)
        if isinstance(value, int) and not isinstance(value, bool)
    }
    for degree in range(1, DEGREE + 1):
        for chosen in itertools.combinations_with_replacement(sizes, degree):
            yield " * ".join(chosen), math.prod(sizes[name] for name in chosen)


def _times(gaps: Sequence[int], sizes: Sequence[int]) -> int:
    """How many times the sizes the gaps are: the same small whole number on every case, or 0."""
    number = gaps[0] // sizes[0] if sizes[0] else 0
    same = all(number * size == gap for size, gap in zip(sizes, gaps, strict=True))
    return number if same and abs(number) <= LARGEST else 0


def _difference(gaps: Sequence[int], products: Sequence[dict[str, int]]) -> str:
    """One product that is counted in the place of another."""
    for first, second in itertools.permutations(products[0], 2):
        sizes = [named.get(first, 0) - named.get(second, 0) for named in products]
        number = _times(gaps, sizes)
        if number > 0:
            own, needed = (_words(number, name) for name in (first, second))
            return f"wherever it is wrong, you count {own} where {needed} is needed."
    return ""


def _words(number: int, name: str) -> str:
    return f"`{name}`" if abs(number) == 1 else f"`{abs(number)} * {name}`"
