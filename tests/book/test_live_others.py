"""Other right answers: what a page shows is what the checks pass, with a line on what differs."""

import json
from collections.abc import Iterator

import pytest

from book.live.front_end import chapters
from book.live.others import other_answers, write_others
from checks import Task, grade_source
from tests.conftest import without_shape_checks
from tests.support.attempts import NAMES, ROOT, load, setup

TASKS = [(name, task) for name in NAMES for task in load(name).tasks]
each_task = pytest.mark.parametrize(
    ("name", "task"), TASKS, ids=[f"{name}-{task.id}" for name, task in TASKS]
)
# A task that asks for a value, such as a table's size, has no other right answer than this value.


@pytest.fixture(autouse=True, scope="module")
def lib_as_readers_call_it() -> Iterator[None]:
    with without_shape_checks():
        yield


@pytest.fixture(scope="module")
def shown() -> dict[str, list]:
    """What is shown for each task."""
    return {task: answers for name in NAMES for task, answers in other_answers(name).items()}


@each_task
def test_a_task_has_two_or_three_other_right_answers_that_pass_as_shown(shown, name, task: Task):
    if task.is_value:
        assert task.id not in shown
        return
    assert 2 <= len(shown[task.id]) <= 3
    for answer in shown[task.id]:
        verdict = grade_source(task, answer.source, dict(setup(name)))
        assert verdict.passed, f"{verdict}\n{answer.source}"
        assert ("torch" in answer.source) <= answer.needs_torch


def test_a_line_says_what_differs(shown):
    for task, answers in shown.items():
        lines = [answer.line for answer in answers]
        assert len(set(lines)) == len(lines), task
        for line in lines:
            assert len(line.split()) >= 4, (task, line)
            assert "\n" not in line, (task, line)
            assert line.endswith("."), (task, line)


def test_each_page_finds_the_answers_of_its_chapter(shown, tmp_path):
    written = write_others(tmp_path)
    for chapter in chapters(ROOT / "exercises"):
        held = json.loads((tmp_path / written[chapter["number"]]).read_text("utf8"))
        assert {task: len(answers) for task, answers in held.items()} == {
            task["number"]: len(shown[task["number"]])
            for task in chapter["tasks"]
            if task["number"] in shown
        }
