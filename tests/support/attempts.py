"""Attempts at an exercise, made from its page and its answers: unsolved, spoiled, disguised."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import importlib
import importlib.util
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

from checks import Case, Task, Wrong, check
from checks.feedback import fitting
from checks.run import trial
from checks.run.nodes import Mapping, Node, Numbers
from tests.support.pages import cells

ROOT = Path(__file__).resolve().parents[2]
NAMES = sorted(path.stem for path in (ROOT / "exercises").glob("[0-9]*.py"))


def load(name: str) -> Any:
    return importlib.import_module(f"exercises.{name}").EXERCISE


@functools.cache
def answers(name: str) -> dict[str, list]:
    path = ROOT / "tests" / "answers" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"answers_{name}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.RIGHT


@functools.cache
def page(name: str) -> str:
    return (ROOT / "exercises" / f"{name}.md").read_text("utf8")


@functools.cache
def section(name: str, task: str) -> str:
    """The part of a page that begins with `## 5.1 ...`."""
    parts = re.split(r"^(?=## )", page(name), flags=re.MULTILINE)
    headed = [part for part in parts if re.match(rf"## {re.escape(task)}[ .:]", part)]
    assert len(headed) == 1, f"{name}.md has {len(headed)} headings '## {task} ...'"
    return headed[0]


def stub(name: str, task: Task) -> str:
    """The text of the cell that waits for the learner."""
    waiting = [source for tags, source in cells(section(name, task.id)) if "exercise" in tags]
    assert len(waiting) == 1, f"task {task.id} needs exactly one cell tagged exercise"
    return waiting[0]


@functools.cache
def setup(name: str) -> dict[str, Any]:
    """The names that the page's own cells define before anything is solved."""
    namespace: dict[str, Any] = {"__name__": "page"}
    for tags, source in cells(page(name)):
        if not tags & {"exercise", "check"} and "check(" not in source:
            exec(source, namespace)
    return namespace


def rewritten(name: str, task: Task, body: str) -> str:
    """The stub with another body, or with another value."""
    text = stub(name, task)
    if "raise NotImplementedError" in text:
        return re.sub(r"raise NotImplementedError[^\n]*", body, text)
    assert re.search(rf"^{task.name}\b[^=\n]*= \.\.\.", text, re.MULTILINE), text
    if not task.is_value:  # an empty file, in which the learner decides on everything
        return f"def {task.name}(*args):\n    {body}"
    return re.sub(
        rf"^({task.name}\b[^=\n]*=) \.\.\.", rf"\1 {body.removeprefix('return ')}", text, flags=re.M
    )


def leaves(node: Node) -> list[Numbers]:
    """All arrays inside a node."""
    numbers = node.as_numbers()
    if numbers is not None:
        return [numbers]
    parts = node.entries.values() if isinstance(node, Mapping) else getattr(node, "items", ())
    return [leaf for part in parts for leaf in leaves(part)]


def altered(
    task: Task,
    edit: Callable[[Sequence], None] | None = None,
    change: Callable[[Any], Any] | None = None,
) -> tuple[Task, Callable]:
    """A task, and an answer to it: the reference that edits its arguments or changes its result.

    Where the task has a `call` of its own, the result is what that gives for the reference.
    """
    count, own_call = len(task.draw()[0].args), measured_call(task)

    def altered_call(function: Callable, *args: Any, **kwargs: Any) -> Any:
        result = function(*args, **kwargs)
        if edit:
            edit(args[-count:])
        return change(result) if change else result

    if own_call is None:
        return task, functools.wraps(task.reference)(
            functools.partial(altered_call, task.reference)
        )

    def answer() -> None:
        """Stand for the altered reference, which only `call` can run."""

    def call(asked: Any, *args: Any, **kwargs: Any) -> Any:
        if asked is answer:
            return altered_call(own_call, task.reference, *args, **kwargs)
        return own_call(asked, *args, **kwargs)

    return dataclasses.replace(task, call=call, measure=None), answer


def measured_call(task: Task) -> Callable | None:
    """What the task's `call` gives, after its measure if it has one."""
    if task.measure is None:
        return task.call
    return lambda asked, *args: task.measure(task.call(asked, *args), *args)


def widen(result: Any) -> Any:
    """The same result, its first array with an axis too many."""
    if isinstance(result, tuple):
        rest = (widen(result[0]), *result[1:])
        return type(result)(*rest) if hasattr(result, "_fields") else rest
    if isinstance(result, dict):
        first = next(iter(result))
        return {**result, first: widen(result[first])}
    return result[None] if hasattr(result, "shape") else [result]


class Agreeable:
    """Equal to everything, and not a number."""

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = None


def nowhere(result: Any) -> Any:
    """The same result with NaN for every fraction; None where it has none."""
    if isinstance(result, tuple):
        parts = [nowhere(part) for part in result]
        parts = [new if new is not None else old for new, old in zip(parts, result, strict=True)]
        changed = any(new is not old for new, old in zip(parts, result, strict=True))
        made = type(result)(*parts) if hasattr(result, "_fields") else tuple(parts)
        return made if changed else None
    kind = str(getattr(result, "dtype", type(result).__name__))
    return result * float("nan") if "float" in kind else None


@contextlib.contextmanager
def names_alone() -> Iterator[None]:
    """Judge without the place of a mistake, which takes two thirds of the time and has tests."""
    with patch.object(
        check, "_with_place", lambda task, trial, answer, mistake, source="": mistake
    ):
        yield


@contextlib.contextmanager
def known_once() -> Iterator[None]:
    """Keep what judging a task always gives again: each is judged some thirty times a seed.

    These are its cases, their truth, and what its misconceptions answer to them. Nothing is lost:
    an answer gets copies of the cases, and the reference and each misconception are themselves
    answers that are judged, so one that gave another result the second time would fail.
    """
    cases: dict[tuple, tuple[Task, list[Case]]] = {}
    truths: dict[int, list] = {}
    outcomes: dict[tuple[int, int], Any] = {}
    draw, right_outcomes = Task.draw, trial.right_outcomes
    outcome_of = fitting.outcome_of

    def draw_once(task: Task, seed: int = 0, again: bool = False) -> list[Case]:
        key = (task.id, id(task.cases), id(task.reference), seed, again)
        if key not in cases:  # the task is kept, so that what it holds keeps its id
            cases[key] = task, draw(task, seed, again)
        return cases[key][1]

    def right_once(task: Task, drawn: list[Case]) -> list:
        if id(drawn) not in truths:
            truths[id(drawn)] = right_outcomes(task, drawn)
        return truths[id(drawn)]

    def outcome_once(wrong: Wrong, task: Task, case: Case) -> Any:
        key = (id(wrong), id(case))
        if task.is_value:
            return outcome_of(wrong, task, case)
        if key not in outcomes:
            outcomes[key] = outcome_of(wrong, task, case)
        return outcomes[key]

    with (
        patch.object(Task, "draw", draw_once),
        patch.object(trial, "right_outcomes", right_once),
        patch.object(fitting, "outcome_of", outcome_once),
    ):
        yield
