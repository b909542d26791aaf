"""Checks without answers: what is right on the shown cases is kept as numbers, and not as code.

A class gets these in the place of `exercises/NN_name.py`. Whoever reads the file finds what is
right for a few small cases, and no way to compute it. Work is graded on other cases.
"""

from __future__ import annotations

import hashlib
import importlib
import inspect
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from checks.check import truth
from checks.feedback.named_ideas import outcomes_of
from checks.run.call import Mistake, Outcome, argument_names
from checks.run.plain_data import Items, Mapping, Numbers, as_numbers, plain
from checks.run.wire import error_named, packed, put_together, receive, taken_apart
from checks.task import Case, Exercise, Task, Wrong

FIELDS = ("id", "name", "title", "difficulty", "importance", "minutes", "read")
BESIDE = "checks.drivers"


class Recorded:
    """A function that is known on a few inputs only, where it gives what was recorded."""

    def __init__(self, outcomes: dict[str, Outcome], names: Sequence[str]):
        self.outcomes = outcomes
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        self.__signature__ = inspect.Signature([inspect.Parameter(name, kind) for name in names])

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What was recorded for these inputs; an error that was recorded is raised."""
        outcome = self.outcomes[key_of(args, kwargs)]
        if outcome.mistake:
            raise error_named(outcome.mistake.type, outcome.mistake.message)
        return put_together(outcome.value)


def key_of(args: tuple, kwargs: dict[str, Any]) -> str:
    """Inputs as a short text: the same for the same numbers, in NumPy and in torch."""
    found = hashlib.sha256()
    for one in (*args, *(kwargs[name] for name in sorted(kwargs))):
        feed(found, plain(one))
    return found.hexdigest()


def feed(found: Any, node: Any) -> None:
    """Add one node to a digest."""
    numbers = as_numbers(node) if isinstance(node, (Numbers, Items)) else None
    if numbers is not None:
        found.update(repr((numbers.shape, numbers.kind)).encode())
        found.update(numbers.values.astype(complex).tobytes())
    elif isinstance(node, Items):
        found.update(f"({len(node.items)}".encode())
        for one in node.items:
            feed(found, one)
    elif isinstance(node, Mapping):
        found.update(f"{{{list(node.entries)!r}".encode())
        for one in node.entries.values():
            feed(found, one)
    else:
        found.update(repr(node).encode())


def record(exercise: Exercise) -> bytes:
    """An exercise as numbers: the shown cases, what is right there, what each wrong idea gives."""
    tasks = [recorded_task(task) for task in exercise.tasks]
    return packed({"chapter": exercise.chapter, "title": exercise.title, "tasks": tasks})


def recorded_task(task: Task) -> dict[str, Any]:
    """One task; `later` where what is right cannot be shown without giving it away."""
    said = {name: getattr(task, name) for name in FIELDS}
    cases = [] if task.is_value else task.draw()
    if task.is_value or not task.unique or any(map(asks_functions, cases)):
        return said | {"later": True}
    if task.call is not None and task.call.__module__ != BESIDE:
        raise ValueError(f"task {task.id}: its way of calling must stand in {BESIDE} to go out")
    names = argument_names(task.reference, task.call, len(cases[0].args))
    truths = truth(task, cases)
    return said | {
        "later": False, "arrays": list(task.arrays), "tolerance": task.tolerance,
        "saturated": task.saturated, "driver": task.call.__name__ if task.call else None,
        "names": names, "cases": [written_case(task, case) for case in cases],
        "truths": [written(one) for one in truths],
        "wrong": [[idea, list(map(written, outcomes))] for idea, outcomes in ideas(task, cases)],
    }  # fmt: skip


def ideas(task: Task, cases: Sequence[Case]) -> Iterator[tuple[str, list[Outcome]]]:
    """What each wrong idea gives on these cases; one that gives nothing there is left out."""
    for one in task.wrong:
        outcomes = outcomes_of(one, task, cases)
        if all(found.status in ("returned", "raised") for found in outcomes):
            yield one.misconception, outcomes


def asks_functions(case: Case) -> bool:
    """Whether a case hands the answer something to call, which is code."""
    return any(callable(one) for one in (*case.args, *case.kwargs.values()))


def written_case(task: Task, case: Case) -> dict[str, Any]:
    """A case as a message."""
    constants = dict(task.constants(case)) if task.constants else None
    return {"args": taken_apart(case.args), "kwargs": taken_apart(case.kwargs),
            "about": case.about, "constants": constants}  # fmt: skip


def written(outcome: Outcome) -> list[Any]:
    """An outcome as a message."""
    mistake = outcome.mistake and [outcome.mistake.type, outcome.mistake.message]
    return [outcome.status, outcome.value, mistake]


def load(path: Path) -> Exercise:
    """The exercise in a file of recorded checks."""
    with open(path, "rb") as file:
        found = receive(file.read)
    return Exercise(found["chapter"], found["title"], [made(task) for task in found["tasks"]])


def made(said: dict[str, Any]) -> Task:
    """A task from its record."""
    fields = {name: said[name] for name in FIELDS}
    if said["later"]:
        return Task(**fields, reference=None, later=True)
    cases = [
        Case(put_together(one["args"]), put_together(one["kwargs"]), one["about"])
        for one in said["cases"]
    ]
    keys = [key_of(case.args, case.kwargs) for case in cases]
    constants = {
        key: one["constants"]
        for key, one in zip(keys, said["cases"], strict=True) if one["constants"]
    }  # fmt: skip

    def known(outcomes: list) -> Recorded:
        read = [Outcome(one[0], one[1], one[2] and Mistake(*one[2])) for one in outcomes]
        return Recorded(dict(zip(keys, read, strict=True)), said["names"])

    return Task(
        **fields, reference=known(said["truths"]), cases=lambda rng: cases,
        wrong=[Wrong(idea, known(outcomes)) for idea, outcomes in said["wrong"]],
        arrays=tuple(said["arrays"]), tolerance=said["tolerance"], saturated=said["saturated"],
        call=driver(said["driver"]) if said["driver"] else None,
        constants=(lambda case: constants[key_of(case.args, case.kwargs)]) if constants else None,
    )  # fmt: skip


def driver(name: str) -> Callable:
    """A way of calling, which is passed by where the numbers are already known."""
    way = getattr(importlib.import_module(BESIDE), name)

    def call(answer: Any, *args: Any) -> Any:
        return answer(*args) if isinstance(answer, Recorded) else way(answer, *args)

    call.__signature__ = inspect.signature(way)
    return call
