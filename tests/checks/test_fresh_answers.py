"""Answers written from the tasks' texts alone, by people who had not seen the checks.

Each line of `fresh_answers.jsonl` is an answer: the task, whether it is wrong or right, the slip
behind a wrong one in words, and its code. Every ninth is judged in each run, all by night.
"""

import json
from pathlib import Path

import pytest

from checks.check import grade_source
from checks.feedback.verdict import Verdict
from checks.status import Status
from tests.support.attempts import load, setup

ANSWERS = [
    json.loads(line)
    for line in Path(__file__).with_name("fresh_answers.jsonl").read_text("utf8").splitlines()
]
WRONG = [answer for answer in ANSWERS if answer["kind"] == "wrong"]
RIGHT = [answer for answer in ANSWERS if answer["kind"] == "right"]
NAMED = 0.75  # the share of these slips whose misconception is named; measured: 0.82
EACH_DAY = 9
TRAINS = "13.9"  # seconds for each answer


def verdict_on(answer: dict) -> Verdict:
    """Judge an answer as its page does."""
    task = load(answer["exercise"])[answer["task"]]
    return grade_source(task, answer["code"], setup(answer["exercise"]))


def sampled(answers: list[dict]) -> list:
    """Mark for the night all but every ninth."""
    return [
        pytest.param(
            answer,
            id=f"{answer['task']} {answer['slip']}",
            marks=pytest.mark.nightly if n % EACH_DAY or answer["task"] == TRAINS else (),
        )
        for n, answer in enumerate(answers)
    ]


def test_the_answers_cover_nearly_all_tasks_that_ask_for_code():
    assert len(WRONG) > 300
    assert len(RIGHT) > 120
    assert len({answer["task"] for answer in ANSWERS}) > 120


@pytest.mark.parametrize("answer", sampled(WRONG))
def test_a_wrong_answer_is_refused_with_a_reason(answer):
    verdict = verdict_on(answer)
    assert verdict.status != Status.PASSED
    assert verdict.sentences


@pytest.mark.parametrize("answer", sampled(RIGHT))
def test_a_right_answer_in_a_style_of_its_own_passes(answer):
    assert verdict_on(answer).status == Status.PASSED


@pytest.mark.nightly
def test_most_of_these_slips_have_a_name():
    named = [bool(verdict_on(answer).misconceptions) for answer in WRONG]
    assert sum(named) > NAMED * len(named)
