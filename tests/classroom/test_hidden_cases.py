"""Who knows only what a released folder holds, or the order of the calls, passes no task."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
import torch

from checks import Task, judge
from checks.released import exercise_bytes, is_shown, load_exercise
from classroom.grading.hidden_cases import hidden_task, key_of
from classroom.provided import exercise_named
from tests.classroom.by_heart import counting_notebook, lookup_notebook
from tests.support.attempts import NAMES, answers, known_once, names_alone

SECRETS = (2_147_483_647, 524_287, 131_071)
# A step of 1e-5 and a number of 1e-6 added change no digit that float32 has.
NEAR = {("5.6", "M1117", "float32"), ("6.7", "M1280", "float32")}
DAILY = ("07_self_attention", "15_counting")
SOME = [name if name in DAILY else pytest.param(name, marks=pytest.mark.nightly) for name in NAMES]


def defined(source: str) -> dict[str, Any]:
    """What a notebook defines."""
    namespace: dict[str, Any] = {}
    exec(source, namespace)
    return namespace


def drawn_tasks(name: str) -> list[Task]:
    return [task for task in exercise_named(name).tasks if task.cases]


def passes(task: Task, answer: Any, seeds: tuple[int, ...]) -> bool:
    """Whether the answer passes with one of these secrets at least."""
    with names_alone():
        return any(judge(task, answer, seed).passed for seed in seeds)


def narrow(answer: Any, dtype: str) -> Any:
    """The same answer, whose result has the precision of this dtype."""
    if dtype == "float64":
        return answer

    @functools.wraps(answer)
    def cut(*args: Any, **kwargs: Any) -> Any:
        return _narrowed(answer(*args, **kwargs), dtype)

    return cut


def _narrowed(value: Any, dtype: str) -> Any:
    if isinstance(value, tuple | list):
        items = [_narrowed(item, dtype) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    if isinstance(value, float | np.floating | np.ndarray) and np.asarray(value).dtype.kind == "f":
        value = torch.as_tensor(np.array(value))
    wide = isinstance(value, torch.Tensor) and value.is_floating_point()
    return value.detach().to(getattr(torch, dtype)) if wide else value


@pytest.fixture(scope="module")
def looked_up(tmp_path_factory):
    """What the lookup notebook of each exercise defines, and the tasks of its released file."""

    def made(name: str) -> tuple[dict[str, Any], dict[str, Task]]:
        path = tmp_path_factory.mktemp("released") / f"{name}.checks"
        path.write_bytes(exercise_bytes(exercise_named(name)))
        tasks = {task.id: task for task in load_exercise(path).tasks if not task.later}
        return defined(lookup_notebook(path)), tasks

    return made


@pytest.mark.parametrize("name", SOME)
def test_a_lookup_notebook_passes_what_is_shown_and_no_hidden_case(name, looked_up):
    answers, shown = looked_up(name)
    with known_once():
        seen = [task.id for task in shown.values() if judge(task, answers[task.name]).passed]
        graded = [
            task.id for task in drawn_tasks(name)
            if task.id in shown and passes(hidden_task(task), answers[task.name], SECRETS[:1])
        ]  # fmt: skip
    assert len(seen) >= len(shown) / 2, "most tasks are answered on the shown cases"
    assert not graded


@pytest.mark.parametrize("name", SOME)
def test_an_answer_that_counts_its_calls_passes_no_task(name):
    """It knows every right result in the order of the shown cases, of tasks with functions too."""
    answers = defined(counting_notebook(drawn_tasks(name)))
    with known_once():
        graded = [
            task.id for task in drawn_tasks(name)
            if passes(hidden_task(task), answers[task.name], SECRETS)
        ]  # fmt: skip
    assert not graded


@pytest.mark.parametrize("name", SOME)
def test_no_case_of_a_grade_is_in_a_released_folder(name):
    for task in filter(is_shown, drawn_tasks(name)):
        shown = set(map(key_of, task.draw()))
        for seed in SECRETS:
            for again in (False, True):
                hidden = hidden_task(task).draw(seed, again)
                assert not shown & set(map(key_of, hidden)), task.id


@pytest.mark.parametrize("name", SOME)
def test_the_number_of_cases_follows_the_secret(name):
    for task in drawn_tasks(name):
        if len(task.draw()) > 1:
            assert len({len(hidden_task(task).draw(seed)) for seed in range(23)}) > 1, task.id


@pytest.mark.nightly
@pytest.mark.parametrize("name", NAMES)
def test_every_misconception_fails_on_the_cases_of_a_grade(name, bare_calls):
    """Cut to fewer digits too, in which a small mistake is near to nothing."""
    passed = []
    for task in drawn_tasks(name):
        hidden = hidden_task(task)
        with known_once():
            passed += [
                (task.id, wrong.misconception, form)
                for wrong in task.wrong
                for form in ("float64", "float32", "float16", "bfloat16")
                if (task.id, wrong.misconception, form) not in NEAR
                and passes(hidden, narrow(wrong.answer, form), SECRETS)
            ]
    assert not passed


@pytest.mark.nightly
@pytest.mark.parametrize("name", NAMES)
def test_every_right_answer_passes_the_cases_of_a_grade(name, bare_calls):
    refused = []
    for task in drawn_tasks(name):
        hidden = hidden_task(task)
        with known_once():
            refused += [
                (task.id, number, seed)
                for number, answer in enumerate(answers(name)[task.id])
                for seed in SECRETS
                if not judge(hidden, answer, seed).passed
            ]
    assert not refused
