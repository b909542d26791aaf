"""The cases of a grade: drawn from the secret, and none of those that a released folder holds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from checks import Case, Task
from checks.released import input_key, is_shown

MOST_DRAWS = 8  # beyond the first, of a task most of whose cases are shown


def hidden_task(task: Task) -> Task:
    """The same task, whose cases differ from the shown ones, in number and order too."""
    return task if task.cases is None else replace(task, cases=partial(hidden_cases, task))


def hidden_cases(task: Task, rng: np.random.Generator) -> list[Case]:
    """Draw as many cases as are shown, and by chance up to half as many more, in any order.

    Raises: ValueError where every case of the task is shown, so that a table could answer it.
    """
    seen = {key_of(case) for case in task.draw()} if is_shown(task) else set()
    cases = list(unseen(task, rng, seen))
    usual, others = len(task.draw()), []
    more = max(0, usual - len(cases)) + int(rng.integers(usual // 2 + 1))
    for _ in range(MOST_DRAWS):
        if len(others) >= more:
            break
        others += unseen(task, rng, seen)
    cases += [others[n] for n in rng.permutation(len(others))[:more]]
    if not cases:
        raise ValueError(
            f"task {task.id}: a grade needs cases that depend on the secret; all of them are fixed"
        )
    return [cases[n] for n in rng.permutation(len(cases))]


def unseen(task: Task, rng: np.random.Generator, seen: set[str]) -> Iterator[Case]:
    """Draw once, and yield the cases that were not seen before; functions are always new."""
    drawn = task.cases(rng) + (task.graded_cases(rng) if task.graded_cases else [])
    for case in drawn:
        key = key_of(case)
        if not is_shown(task) or key not in seen:
            seen.add(key)
            yield case


def key_of(case: Case) -> str:
    """The arguments of a case as a short text."""
    return input_key(case.args, case.kwargs)
