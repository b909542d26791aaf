"""Every exercise: the truth passes in many styles, every misconception is killed and named."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator

import numpy as np
import pytest

from checks import Task, judge
from checks.feedback.misconceptions import misconceptions
from checks.feedback.verdict import split_read
from checks.run.nodes import Numbers
from checks.run.trial import right_outcomes
from checks.status import Status
from tests.support.attempts import (
    NAMES,
    ROOT,
    answers,
    known_once,
    leaves,
    load,
    names_alone,
    section,
)
from tests.support.kill_matrix import FORMS, RECORD, Form
from tests.support.pages import anchors, cells

# Whoever presses a check meets the cases of seed 0; those of a grading are drawn at night.
each_seed = pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.nightly) for seed in (1, 2))]
)


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
each_form = pytest.mark.parametrize("form", FORMS, ids=[form.name for form in FORMS])


@pytest.fixture(autouse=True, scope="module")
def what_is_known() -> Iterator[None]:
    with known_once():
        yield


def test_every_page_has_its_checks_and_its_right_answers() -> None:
    pages = sorted(path.stem for path in (ROOT / "exercises").glob("[0-9]*.md"))
    solved = sorted(path.stem for path in (ROOT / "tests" / "answers").glob("[0-9]*.py"))
    assert pages == NAMES
    assert solved == NAMES


@each_exercise
def test_an_exercise_has_five_to_ten_tasks_of_its_chapter(name: str) -> None:
    exercise = load(name)
    assert 5 <= len(exercise.tasks) <= 10
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
    assert 1 <= task.minutes <= 120  # a stage of the capstone is a small project
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
@each_seed
def test_the_reference_passes_and_is_finite_and_not_saturated(
    name: str, task: Task, seed: int
) -> None:
    verdict = judge(task, task.reference, seed)
    assert verdict.passed, verdict
    if task.is_value:
        return
    for outcome in right_outcomes(task, task.draw(seed)):
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
@each_seed
def test_right_answers_in_five_styles_pass(name: str, task: Task, seed: int) -> None:
    styles = answers(name)[task.id]
    assert len(styles) >= 5
    for n, answer in enumerate(styles):
        verdict = judge(task, answer, seed)
        assert verdict.passed, f"style {n}\n{verdict}"


@each_task
@each_seed
def test_each_misconception_is_killed_and_named(name: str, task: Task, seed: int) -> None:
    assert task.wrong, f"task {task.id} knows no misconception"
    for wrong in task.wrong:
        unknown = set(wrong.ids) - set(misconceptions())
        assert not unknown, f"{unknown}: write it in checks/feedback/misconceptions.yml"
        with contextlib.nullcontext() if seed else names_alone():
            verdict = judge(task, wrong.answer, seed)
        assert verdict.status in (Status.WRONG, Status.RAISED, Status.NOT_UNDERSTOOD), verdict
        if seed:  # in another draw two of them may give the same numbers: then both are named
            assert set(verdict.misconceptions) & set(wrong.ids), verdict
        else:
            assert verdict.misconceptions == wrong.ids, verdict


@each_task
@each_form
def test_a_failure_of_form_is_told_in_its_own_words(name: str, task: Task, form: Form) -> None:
    verdict = form.judged(name, task)
    assert recorded(name, task)["forms"][form.name] is (None if verdict is None else True)
    assert verdict is None or form.explained(task, verdict), verdict


def recorded(name: str, task: Task) -> dict:
    """What the record that the book shows holds about a task."""
    rows = {row["task"]: row for row in json.loads(RECORD.read_text("utf8"))[name]}
    assert task.id in rows, "run: python -m tests.support.kill_matrix"
    return rows[task.id]


@each_exercise
def test_the_book_shows_what_was_tried_and_no_more(name: str) -> None:
    assert list(json.loads(RECORD.read_text("utf8"))) == NAMES, (
        "run: python -m tests.support.kill_matrix"
    )
    for task in load(name).tasks:
        row = recorded(name, task)
        named = [wrong.misconception for wrong in task.wrong]
        assert (row["title"], row["misconceptions"]) == (task.title, named), (
            "run: python -m tests.support.kill_matrix"
        )
        assert row["killed"] == row["named"] == len(named)
        assert (row["styles"], row["refused"]) == (len(answers(name)[task.id]), 0)
