"""Where wrong numbers stand, told only if they stand there on every failing case."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from checks.differences.factors import Triple
from checks.run.call import argument_names
from checks.run.compare import agree
from checks.run.plain_data import plain
from checks.task import Task

ENTRIES = 3  # wrong numbers and right ones that a pattern needs to be no accident
BY_ACCIDENT = 0.1  # the chance of a pattern that is not told


def about_place(task: Task, failing: Sequence[Triple]) -> str:
    """A sentence on what the wrong numbers have in common, or nothing."""
    seen: list[tuple[Triple, np.ndarray]] = []
    for triple in failing:
        if triple[1].shape != triple[2].shape or not triple[1].shape:
            return ""
        seen.append((triple, ~agree(triple[1], triple[2], task.tolerance)))
    wrong, right = (sum(int((w == kind).sum()) for _, w in seen) for kind in (True, False))
    if min(wrong, right) < ENTRIES:
        return ""
    for look in LOOKS:
        patterns = [set(look(task, triple, wrong)) for triple, wrong in seen]
        shared = sorted(set.intersection(*patterns))
        if shared:
            return shared[0]
    return ""


def _diagonal(task: Task, triple: Triple, wrong: np.ndarray) -> Iterator[str]:
    """Above, below or on the diagonal of a square."""
    if wrong.ndim < 2 or wrong.shape[-1] != wrong.shape[-2]:
        return
    query, key = np.nonzero(wrong.reshape(-1, *wrong.shape[-2:]).any(axis=0))
    of_keys = _has_queries(task)
    for there, side, place in ((key > query, "above", "after"), (key < query, "below", "before")):
        if there.all():
            which = f" (for queries in rows: keys that come {place} the query)" if of_keys else ""
            yield f"all that differs lies {side} the diagonal{which}."
    if (key == query).all():
        yield "all that differs lies on the diagonal."


def _has_queries(task: Task) -> bool:
    """Whether queries and keys are known: chapter 4 brings them, and chapter 1 in its tasks."""
    return task.id.split(".")[0] not in ("2", "3")


def _arguments(task: Task, triple: Triple, wrong: np.ndarray) -> Iterator[str]:
    """Where an argument is True, False, negative, zero or repeated."""
    case = triple[0]
    names = argument_names(task.reference, task.call, len(case.args))
    for name, value in zip(names, case.args, strict=True):
        numbers = None if callable(value) else plain(value).as_numbers()
        if numbers is None or numbers.values is None or not numbers.shape:
            continue
        for words, place in _kinds(numbers.values):
            where = _spread(place, wrong.shape)
            if where is not None and not where.all() and not wrong[~where].any():
                yield f"numbers differ only where `{name}` {words}."


def _kinds(values: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    if values.dtype.kind == "b":
        yield "is True", values
        yield "is False", ~values
    if values.dtype.kind == "f":
        yield "is negative", values < 0
        yield "is positive", values > 0
        yield "is 0", values == 0
    if values.dtype.kind in "iu" and values.ndim == 1:
        ids, counts = np.unique(values, return_counts=True)
        yield "has an id several times", np.isin(values, ids[counts > 1])


def _spread(place: np.ndarray, shape: tuple[int, ...]) -> np.ndarray | None:
    """A place in an argument as a place in the result: entry by entry, or by its rows."""
    if place.shape == shape:
        return place
    if len(place.shape) < len(shape) and place.shape == shape[: place.ndim]:
        rows = place.reshape(*place.shape, *[1] * (len(shape) - place.ndim))
        return np.broadcast_to(rows, shape)
    return None


def _indices(task: Task, triple: Triple, wrong: np.ndarray) -> Iterator[str]:
    """The first, the last or one index along an axis, or all but these."""
    for back in range(1, wrong.ndim + 1):
        size = wrong.shape[-back]
        others = tuple(axis for axis in range(wrong.ndim) if axis != wrong.ndim - back)
        at = np.flatnonzero(wrong.any(axis=others))
        if size < 2 or len(at) == size:
            continue
        along = f"along axis {wrong.ndim - back} " if back > 2 else ""
        for words in _edges(_axis_word(wrong.ndim, back), at.tolist(), size):
            yield along + words


def _axis_word(ndim: int, back: int) -> str:
    if ndim == 1:
        return "number"
    return {1: "column", 2: "row"}.get(back, "index")


def _edges(what: str, at: list[int], size: int) -> Iterator[str]:
    if at == [0]:
        yield f"only the first {what} differs."
    if at == [size - 1]:
        yield f"only the last {what} differs."
    if at == list(range(1, size)):
        yield f"the first {what} is right, the others are not."
    if at == list(range(size - 1)):
        yield f"the last {what} is right, the others are not."
    if len(at) == 1 and 0 < at[0] < size - 1:
        yield f"only {what} {at[0]} differs."
    for start in (0, 1):
        if size > start + 1 and at == list(range(start, size, 2)):
            yield f"what differs is every second {what}, from {what} {start} on."
    if 1 < len(at) < size - 1:
        several = "the indices" if what == "index" else f"{what}s"
        yield f"only {several} {', '.join(map(str, at[:-1]))} and {at[-1]} differ."


def _truths(task: Task, triple: Triple, wrong: np.ndarray) -> Iterator[str]:
    """Where the right number is 0, negative or infinite."""
    wanted = triple[1].values
    if wanted.dtype.kind not in "if":
        return
    for words, where in (
        ("0", wanted == 0),
        ("not 0", wanted != 0),
        ("-inf", np.isneginf(wanted)),
        ("negative", wanted < 0),
        ("positive", wanted > 0),
    ):
        if not where.all() and not wrong[~where].any() and _is_telling(wrong, where):
            yield f"numbers differ only where the right one is {words}."


def _is_telling(wrong: np.ndarray, where: np.ndarray) -> bool:
    """Whether so many numbers are right elsewhere that this is no accident."""
    share = wrong.sum() / max(1, where.sum())
    return bool((1 - share) ** (~where).sum() < BY_ACCIDENT)


Look = Callable[[Task, Triple, np.ndarray], Iterator[str]]
LOOKS: Sequence[Look] = (_diagonal, _arguments, _indices, _truths)
