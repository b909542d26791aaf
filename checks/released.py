"""Checks without answers: what is right on the shown cases is kept as numbers, and not as code.

A class gets these in the place of `exercises/NN_name.py`. Whoever reads the file finds what is
right for a few small cases, and no way to compute it. Work is graded on other cases.
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from checks.drivers import MODULES, driver_named
from checks.feedback.fitting import outcome_of
from checks.measures import DRIVERS, measure_named, outside_driver
from checks.run.call import Mistake, Outcome, argument_names
from checks.run.nodes import Items, Mapping, Node
from checks.run.plain_data import plain
from checks.run.trial import right_outcomes
from checks.status import Status
from checks.task import Case, Exercise, Task, Wrong
from checks.wire.messages import packed, receive
from checks.wire.values import error_named, put_together, taken_apart

FIELDS = ("id", "name", "title", "difficulty", "importance", "minutes", "read", "slow")


class KnownOutcomes:
    """A function that is known on a few inputs only, where it gives what was kept."""

    is_measured = True  # what was kept is what the task's measure says

    def __init__(self, outcomes: dict[str, Outcome], names: Sequence[str]):
        self.outcomes = outcomes
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        self.__signature__ = inspect.Signature(
            [inspect.Parameter(name.replace(" ", "_"), kind) for name in names]
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What was kept for these inputs; an error that was kept is raised."""
        outcome = self.outcomes[input_key(args, kwargs)]
        if outcome.mistake:
            raise error_named(outcome.mistake.type, outcome.mistake.message)
        return put_together(outcome.value)


def input_key(args: tuple, kwargs: dict[str, Any]) -> str:
    """Inputs as a short text: the same for the same numbers, in NumPy and in torch."""
    digest = hashlib.sha256()
    for value in (*args, *(kwargs[name] for name in sorted(kwargs))):
        _feed(digest, plain(value))
    return digest.hexdigest()


def _feed(digest: Any, node: Node) -> None:
    """Add one node to a digest."""
    numbers = node.as_numbers()
    if numbers is not None:
        digest.update(repr((numbers.shape, numbers.kind)).encode())
        digest.update(numbers.values.astype(complex).tobytes())
    elif isinstance(node, Items):
        digest.update(f"({len(node.items)}".encode())
        for item in node.items:
            _feed(digest, item)
    elif isinstance(node, Mapping):
        digest.update(f"{{{list(node.entries)!r}".encode())
        for entry in node.entries.values():
            _feed(digest, entry)
    else:
        digest.update(repr(node).encode())


def exercise_bytes(exercise: Exercise) -> bytes:
    """An exercise as numbers: shown cases, what is right there, what each misconception gives."""
    tasks = [_task_fields(task) for task in exercise.tasks]
    return packed({"chapter": exercise.chapter, "title": exercise.title, "tasks": tasks})


def _task_fields(task: Task) -> dict[str, Any]:
    """One task; `later` where what is right cannot be shown without giving it away."""
    fields = {name: getattr(task, name) for name in FIELDS}
    if not is_shown(task):
        return fields | {"later": True}
    cases = task.draw()
    if task.call not in (None, *DRIVERS) and task.call.__module__ not in MODULES:
        raise ValueError(
            f"task {task.id}: write its `call` in {MODULES[0]}, so that a class gets it"
        )
    return fields | {
        "later": False, "arrays": list(task.arrays), "tolerance": task.tolerance,
        "saturated": task.saturated, "driver": task.call.__name__ if task.call else None,
        "measure": task.measure.__name__ if task.measure else None,
        "names": argument_names(task.reference, task.call, len(cases[0].args)),
        "cases": [_case_fields(task, case) for case in cases],
        "truths": list(map(_outcome_fields, right_outcomes(task, cases))),
        "wrong": [[ids, list(map(_outcome_fields, outcomes))]
                  for ids, outcomes in _misconceptions(task, cases)],
    }  # fmt: skip


def is_shown(task: Task) -> bool:
    """Whether a released folder holds cases of this task, with what is right there."""
    if task.cases is None or not task.unique:
        return False
    return not any(map(_takes_functions, task.draw()))


def _misconceptions(task: Task, cases: Sequence[Case]) -> Iterator[tuple[str, list[Outcome]]]:
    """What each misconception gives on these cases; one that gives nothing there is left out."""
    for wrong in task.wrong:
        outcomes = [outcome_of(wrong, task, case) for case in cases]
        if {outcome.status for outcome in outcomes} <= {Status.RETURNED, Status.RAISED}:
            yield wrong.misconception, outcomes


def _takes_functions(case: Case) -> bool:
    """Whether a case hands the answer something to call, which is code."""
    return any(map(callable, (*case.args, *case.kwargs.values())))


def _case_fields(task: Task, case: Case) -> dict[str, Any]:
    constants = dict(task.constants(case)) if task.constants else None
    return {"args": taken_apart(case.args), "kwargs": taken_apart(case.kwargs),
            "about": case.about, "constants": constants}  # fmt: skip


def _outcome_fields(outcome: Outcome) -> list[Any]:
    mistake = outcome.mistake and [outcome.mistake.type, outcome.mistake.message]
    return [outcome.status, outcome.value, mistake]


def load_exercise(path: Path) -> Exercise:
    """The exercise in a file of checks without answers."""
    with open(path, "rb") as file:
        held = receive(file.read)
    return Exercise(held["chapter"], held["title"], list(map(_task_of, held["tasks"])))


def _task_of(held: dict[str, Any]) -> Task:
    """A task from its fields."""
    fields = {name: held[name] for name in FIELDS}
    if held["later"]:
        return Task(**fields, reference=None, later=True)
    cases = [
        Case(put_together(case["args"]), put_together(case["kwargs"]), case["about"])
        for case in held["cases"]
    ]
    keys = [input_key(case.args, case.kwargs) for case in cases]
    pairs = zip(keys, held["cases"], strict=True)
    constants = {key: case["constants"] for key, case in pairs if case["constants"]}

    def known(outcomes: list) -> KnownOutcomes:
        by_key = dict(zip(keys, map(_outcome_of, outcomes), strict=True))
        return KnownOutcomes(by_key, held["names"])

    return Task(
        **fields, reference=known(held["truths"]), cases=lambda rng: cases,
        wrong=[Wrong(ids, known(outcomes)) for ids, outcomes in held["wrong"]],
        arrays=tuple(held["arrays"]), tolerance=held["tolerance"], saturated=held["saturated"],
        call=_driver(held["driver"]) if held["driver"] else None,
        measure=measure_named(held["measure"]) if held["measure"] else None,
        constants=(lambda case: constants[input_key(case.args, case.kwargs)])
        if constants else None,
    )  # fmt: skip


def _outcome_of(fields: list[Any]) -> Outcome:
    status, value, mistake = fields
    return Outcome(Status(status), value, mistake and Mistake(*mistake))


def _driver(name: str) -> Callable:
    """A way of calling, which is passed by where the numbers are already known."""
    way = outside_driver(name) or driver_named(name)

    def call(answer: Any, *args: Any) -> Any:
        return answer(*args) if isinstance(answer, KnownOutcomes) else way(answer, *args)

    call.__signature__ = inspect.signature(way)
    return call
