"""What the axes of a result are as long as, where its shape is wrong."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from checks.differences.factors import Triple
from checks.run.call import argument_names
from checks.run.nodes import Numbers
from checks.run.trial import Compared
from checks.task import Case, Task

Known = tuple[Case, Numbers]  # a case and its right result


def about_axes(task: Task, failing: Sequence[Triple], raised: Sequence[Known] = ()) -> str:
    """A sentence on an axis of the wrong length, or on all axes where some are missing.

    An axis is as long as something only if it is on every case where the answer fails or raises.
    """
    _, expected, got = failing[0]
    known = [*(triple[:2] for triple in failing), *raised]
    lengths = [_length_words(task, known, axis) for axis in range(len(expected.shape))]
    if len(expected.shape) == len(got.shape):
        wrong = [n for n, size in enumerate(expected.shape) if got.shape[n] != size]
        wanted = [f"axis {n} should be as long as {lengths[n]}" for n in wrong if lengths[n]]
        return f"{' and '.join(wanted)}." if wanted else ""
    if not expected.shape or not all(lengths):
        return ""
    return f"the axes of a right result are, in order: {', '.join(lengths)}."


def right_results(compared: Iterable[Compared]) -> list[Known]:
    """The right results of cases, where they are arrays."""
    known = [(each.case, each.truth.value.as_numbers()) for each in compared]
    return [(case, result) for case, result in known if result is not None]


def _length_words(task: Task, known: Sequence[Known], axis: int) -> str:
    """What an axis is as long as; nothing if there is no such thing, or the shapes vary."""
    if any(axis >= len(expected.shape) for _, expected in known):
        return ""
    fitting = [
        {name for name, size in _sizes(task, case) if size == expected.shape[axis]}
        for case, expected in known
    ]
    shared = set.intersection(*fitting)
    return next((name for name, _ in _sizes(task, known[0][0]) if name in shared), "")


def _sizes(task: Task, case: Case) -> Iterator[tuple[str, int]]:
    """The whole numbers among the arguments, and the lengths of their axes, by name."""
    names = [*argument_names(task.reference, task.call, len(case.args)), *case.kwargs]
    values = (*case.args, *case.kwargs.values())
    pairs = list(zip(names, values, strict=True))
    for name, value in pairs:
        if isinstance(value, int) and not isinstance(value, bool):
            yield f"`{name}`", value
    for name, value in pairs:
        shape = getattr(value, "shape", ())
        for axis, size in enumerate(shape):
            yield f"`{name}.shape[{axis - len(shape)}]`", size
        if isinstance(value, list | tuple | str):
            yield f"`{name}`", len(value)
