"""Attempts at an exercise, made from its page and its answers: unsolved, spoilt, disguised."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import importlib
import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

from checks import Task, Wrong, check
from checks.feedback import named_ideas
from checks.run.plain_data import Items, Mapping, Numbers, as_numbers
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
    found = [part for part in parts if re.match(rf"## {re.escape(task)}[ .:]", part)]
    assert len(found) == 1, f"{name}.md has {len(found)} headings '## {task} ...'"
    return found[0]


def stub(name: str, task: Task) -> str:
    """The text of the cell that waits for the learner."""
    found = [source for tags, source in cells(section(name, task.id)) if "exercise" in tags]
    assert len(found) == 1, f"task {task.id} needs exactly one cell tagged exercise"
    return found[0]


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
    return re.sub(
        rf"^({task.name}\b[^=\n]*=) \.\.\.", rf"\1 {body.removeprefix('return ')}", text, flags=re.M
    )


def leaves(node: Any) -> list[Numbers]:
    """All arrays inside a node."""
    if isinstance(node, Items) and as_numbers(node) is None:
        return [leaf for one in node.items for leaf in leaves(one)]
    if isinstance(node, Mapping):
        return [leaf for one in node.entries.values() for leaf in leaves(one)]
    numbers = as_numbers(node)
    return [numbers] if numbers is not None else []


def altered(task: Task, before: Any = None, after: Any = None) -> tuple[Task, Any]:
    """The reference, with its arguments edited or its result changed; and the task to judge it."""

    def run(driver: Any, *args: Any, **kwargs: Any) -> Any:
        result = driver(*args, **kwargs)
        if before:
            before(args[-task_arity:] if task.call else args, kwargs)
        return after(result) if after else result

    task_arity = len(task.draw()[0].args)
    if task.call is None:
        answer = functools.wraps(task.reference)(functools.partial(run, task.reference))
        return task, answer
    original = task.call

    def call(answer: Any, *args: Any, **kwargs: Any) -> Any:
        if answer is not altered:
            return original(answer, *args, **kwargs)
        return run(original, task.reference, *args, **kwargs)

    return dataclasses.replace(task, call=call), altered


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
        parts = [nowhere(one) for one in result]
        parts = [new if new is not None else old for new, old in zip(parts, result, strict=True)]
        changed = any(new is not old for new, old in zip(parts, result, strict=True))
        made = type(result)(*parts) if hasattr(result, "_fields") else tuple(parts)
        return made if changed else None
    kind = str(getattr(result, "dtype", type(result).__name__))
    return result * float("nan") if "float" in kind else None


@contextlib.contextmanager
def known_once() -> Iterator[None]:
    """Each task is judged some thirty times with each seed: what that always gives again is kept.

    These are its cases, their truth, and what its wrong ideas answer to them. Nothing is lost:
    an answer gets copies of the cases, and the reference and each wrong idea are themselves
    answers that are judged, so one that gave another result the second time would fail.
    """
    drawn: dict[tuple, tuple[Task, list]] = {}
    found: dict[int, list] = {}
    said: dict[tuple[int, int], Any] = {}
    draw, truth, outcomes_of = Task.draw, check.truth, named_ideas.outcomes_of

    def draw_once(task: Task, seed: int = 0) -> list:
        key = (task.id, id(task.cases), id(task.reference), seed)
        if key not in drawn:  # the task is kept, so that what it holds keeps its id
            drawn[key] = task, draw(task, seed)
        return drawn[key][1]

    def truth_once(task: Task, cases: list) -> list:
        if id(cases) not in found:
            found[id(cases)] = truth(task, cases)
        return found[id(cases)]

    def outcomes_once(wrong: Wrong, task: Task, cases: list) -> list:
        if task.is_value:
            return outcomes_of(wrong, task, cases)
        for case in cases:
            if (id(wrong), id(case)) not in said:
                said[id(wrong), id(case)] = outcomes_of(wrong, task, [case])[0]
        return [said[id(wrong), id(case)] for case in cases]

    with (
        patch.object(Task, "draw", draw_once),
        patch.object(check, "truth", truth_once),
        patch.object(named_ideas, "outcomes_of", outcomes_once),
    ):
        yield
