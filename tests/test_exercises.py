"""Every exercise: the truth passes in many styles, every wrong idea is killed and named.

`python -m tests.test_exercises` prints the totals of the kill matrix.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
import importlib.util
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lib.catalogue import misconceptions
from lib.checking import Task, grade_source, judge
from lib.checking.judging import truth
from lib.checking.report import split_read
from lib.checking.values import Items, Mapping, Numbers, as_numbers
from tests.pages import anchors, cells

ROOT = Path(__file__).resolve().parents[1]
NAMES = sorted(path.stem for path in (ROOT / "exercises").glob("[0-9]*.py"))
SEEDS = (0, 1, 2)
FAILS = {"wrong", "raised", "not attempted", "missing", "syntax error", "not understood"}


def load(name: str) -> Any:
    return importlib.import_module(f"exercises.{name}").EXERCISE


@functools.cache
def answers(name: str) -> dict[str, list]:
    path = ROOT / "tests" / "answers" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"answers_{name}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.RIGHT


def tasks(name: str) -> list[tuple[str, Task]]:
    """The tasks of one exercise; none if it cannot be loaded, which is a failed test of its own."""
    try:
        return [(name, task) for task in load(name).tasks]
    except Exception:
        return []


TASKS = [pair for name in NAMES for pair in tasks(name)]
each_exercise = pytest.mark.parametrize("name", NAMES)
each_task = pytest.mark.parametrize(
    ("name", "task"), TASKS, ids=[f"{name}-{task.id}" for name, task in TASKS]
)


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


def test_every_page_has_its_checks_and_its_right_answers() -> None:
    pages = sorted(path.stem for path in (ROOT / "exercises").glob("[0-9]*.md"))
    solved = sorted(path.stem for path in (ROOT / "tests" / "answers").glob("[0-9]*.py"))
    assert pages == NAMES
    assert solved == NAMES


@each_exercise
def test_an_exercise_has_five_to_eight_tasks_of_its_chapter(name: str) -> None:
    exercise = load(name)
    assert 5 <= len(exercise.tasks) <= 8
    assert name.startswith(exercise.chapter)
    number = str(int(exercise.chapter))
    assert [task.id for task in exercise.tasks] == [
        f"{number}.{n}" for n in range(1, len(exercise.tasks) + 1)
    ]
    assert set(answers(name)) == {task.id for task in exercise.tasks}


@each_task
def test_a_task_is_rated_and_its_page_has_three_hints(name: str, task: Task) -> None:
    assert 1 <= task.difficulty <= 5
    assert 1 <= task.importance <= 5
    assert 1 <= task.minutes <= 60
    text = section(name, task.id)
    assert text.startswith(f"## {task.id} {task.title}\n")
    hints = re.findall(r'<details class="hint">\s*<summary>(Hint \d)\b.*?</summary>', text)
    assert hints == ["Hint 1", "Hint 2", "Hint 3"]
    check = [source for tags, source in cells(text) if "check" in tags]
    assert check == [f'check("{task.id}")']


@each_task
def test_a_task_says_where_to_read(name: str, task: Task) -> None:
    target, anchor = split_read(task.read)
    path = ROOT / "chapters" / f"{target}.md"
    assert path.exists(), f"task {task.id} points to {task.read!r}"
    assert not anchor or anchor in anchors(path.read_text("utf8")), task.read


@each_task
def test_the_reference_passes_and_is_finite_and_not_saturated(name: str, task: Task) -> None:
    for seed in SEEDS:
        verdict = judge(task, task.reference, seed)
        assert verdict.passed, verdict
        if task.is_value:
            continue
        for outcome in truth(task, task.draw(seed)):
            for leaf in leaves(outcome.value):
                check_sound(task, leaf)


def check_sound(task: Task, leaf: Numbers) -> None:
    if task.saturated or leaf.kind not in ("int", "float"):
        return
    assert np.isfinite(leaf.values).all(), f"task {task.id}: the reference is not finite"
    if leaf.kind == "int" or leaf.values.ndim == 0 or leaf.values.shape[-1] < 2:
        return
    weights = leaf.values.min() >= 0 and np.allclose(leaf.values.sum(axis=-1), 1, atol=1e-4)
    saturated = weights and leaf.values.max() >= 0.99
    assert not saturated, f"task {task.id}: a weight of {leaf.values.max():.4f} hides mistakes"


@each_task
def test_right_answers_in_five_styles_pass(name: str, task: Task) -> None:
    styles = answers(name)[task.id]
    assert len(styles) >= 5
    for n, answer in enumerate(styles):
        for seed in SEEDS:
            verdict = judge(task, answer, seed)
            assert verdict.passed, f"style {n}, seed {seed}\n{verdict}"


@each_task
def test_each_wrong_idea_is_killed_and_named(name: str, task: Task) -> None:
    assert task.wrong, f"task {task.id} knows no wrong idea"
    for wrong in task.wrong:
        assert set(wrong.ids) <= set(misconceptions()), wrong.misconception
        for seed in SEEDS:
            verdict = judge(task, wrong.answer, seed)
            assert verdict.status in ("wrong", "raised", "not understood"), verdict
            assert verdict.misconceptions == wrong.ids, f"seed {seed}\n{verdict}"


@each_task
def test_the_untouched_stub_is_not_attempted(name: str, task: Task) -> None:
    verdict = grade_source(task, stub(name, task), setup(name))
    assert verdict.status == "not attempted", verdict
    assert "not attempted yet" in repr(verdict)


@each_task
@pytest.mark.parametrize("body", ["pass", "return None"])
def test_an_answer_without_a_result_is_told_about_return(name: str, task: Task, body: str) -> None:
    text = rewritten(name, task, "None" if task.is_value else body)
    verdict = grade_source(task, text, setup(name))
    assert verdict.status in FAILS, verdict
    assert verdict.misconceptions == ()
    if task.call is None:
        assert "None" in repr(verdict)
        assert task.is_value or "did you forget `return`" in repr(verdict)


@each_task
def test_an_exception_is_shown(name: str, task: Task) -> None:
    broken = "1 / 0" if task.is_value else "raise ValueError('the cat sat on it')"
    verdict = grade_source(task, rewritten(name, task, broken), setup(name))
    assert verdict.status == "raised", verdict
    assert ("ZeroDivisionError" if task.is_value else "the cat sat on it") in repr(verdict)


@each_task
def test_a_syntax_error_is_shown_with_its_line(name: str, task: Task) -> None:
    verdict = grade_source(task, rewritten(name, task, "return ("), setup(name))
    assert verdict.status == "syntax error", verdict
    assert "line" in repr(verdict)
    assert task.name in repr(verdict)


@each_task
def test_a_wrong_shape_is_met_with_both_shapes(name: str, task: Task) -> None:
    if task.is_value:
        verdict = judge(task, widen(task.reference))
    else:
        verdict = judge(*altered(task, after=widen))
    assert verdict.status in ("wrong", "not understood"), verdict
    assert verdict.misconceptions == () or not task.unique, verdict
    assert not task.unique or re.search(r"shape|expected", repr(verdict))


@each_task
def test_editing_an_argument_in_place_is_noticed(name: str, task: Task) -> None:
    if task.is_value:
        return
    case = task.draw()[0]
    for n, value in enumerate(case.args):
        if not isinstance(value, np.ndarray):
            continue

        def edit(args: Any, kwargs: Any, n: int = n) -> None:
            args[n][...] = ~args[n] if "bool" in str(args[n].dtype) else args[n] + 1

        verdict = judge(*altered(task, before=edit))
        assert verdict.status == "wrong", verdict
        assert verdict.misconceptions == ("M36",)


def kill_matrix() -> str:
    """The totals over all exercises, in one sentence."""
    wrong = [(task, one) for _, task in TASKS for one in task.wrong]
    verdicts = [(one, judge(task, one.answer)) for task, one in wrong]
    killed = sum(not verdict.passed for _, verdict in verdicts)
    named = sum(verdict.misconceptions == one.ids for one, verdict in verdicts)
    right = [(task, one) for name, task in TASKS for one in answers(name)[task.id]]
    false = sum(not judge(task, answer).passed for task, answer in right)
    return (
        f"kill matrix: {killed} of {len(wrong)} wrong ideas killed, {named} named, "
        f"{false} false failures over {len(right)} right answers in {len(TASKS)} tasks"
    )


if __name__ == "__main__":
    print(kill_matrix())
