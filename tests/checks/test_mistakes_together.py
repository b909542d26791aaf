"""Several known mistakes in one answer, each in another part of it, are all named."""

import numpy as np

from checks import Case, Task, Wrong
from checks.check import grade_source, judge
from tests.support.attempts import load


def on(exercise: str, number: str, source: str):
    return grade_source(load(exercise)[number], source, {"np": np})


def test_two_wrong_letters_are_two_mistakes():
    source = "changes = {'A': 'b', 'B': 'c', 'C': 'a', 'D': 'd', 'E': 'a', 'F': 'e'}"
    verdict = on("04_queries_keys_values", "4.3", source)
    assert verdict.misconceptions == ("M743", "M744")
    assert verdict.sentences[0] == "Two mistakes together give exactly this answer:"


def test_what_is_missing_from_a_set_and_what_does_not_belong_are_two_mistakes():
    verdict = on("15_counting", "15.6", "false = {'A', 'C', 'D'}")
    assert verdict.misconceptions == ("M969", "M972")


def test_a_word_that_nobody_knows_is_named_beside_the_mistake_that_is_known():
    words = "{'weights', 'momentum', 'second moments', 'step', 'generator state'}"
    verdict = on("13_training", "13.8", f"checkpoint = {words}")
    assert verdict.misconceptions == ("M279",)
    assert verdict.sentences[0].startswith("This mistake gives a part of your answer")
    assert verdict.sentences[-1] == "'momentum' does not belong and 1 is missing."


def counted(answer, *wrong):
    """The verdict on a task of three counts, whose misconceptions are a part each."""
    cases = [Case((3, 5), about="3 and 5"), Case((7, 2), about="7 and 2")]
    wrongs = [
        Wrong(number, change) for number, change in zip(("M346", "M354"), wrong, strict=False)
    ]
    task = Task("1.1", "f", "f", 1, 1, 1, right, lambda _: cases, wrong=wrongs, arrays=("numpy",))
    return judge(task, answer)


def right(a, b):
    return [a, b, a * b]


def test_two_wrong_counts_of_a_row_are_two_mistakes():
    verdict = counted(
        lambda a, b: [1, b, a + b], lambda a, b: [1, b, a * b], lambda a, b: [a, b, a + b]
    )
    assert verdict.misconceptions == ("M346", "M354")


def test_a_known_mistake_in_one_count_is_not_named_where_another_count_is_wrong_too():
    assert not counted(lambda a, b: [1, b, a + b], lambda a, b: [1, b, a * b]).misconceptions


def test_a_mistake_that_would_change_a_right_count_is_not_named():
    assert not counted(lambda a, b: [1, b, a * b], lambda a, b: [1, 1, a * b]).misconceptions


def test_a_mistake_that_explains_one_case_alone_is_not_named():
    assert not counted(
        lambda a, b: [1 if a == 3 else 2, b, a + b],
        lambda a, b: [1, b, a * b],
        lambda a, b: [a, b, a + b],
    ).misconceptions


def test_the_counts_that_a_named_mistake_makes_wrong_are_told():
    verdict = counted(lambda a, b: [1, b, a * b], lambda a, b: [1, b, a * b])
    assert verdict.misconceptions == ("M346",)
    assert verdict.sentences[-1] == (
        "Of your results, over all cases, `[0]` is wrong, the rest is right."
    )


def test_no_part_is_told_where_all_are_wrong():
    verdict = counted(lambda a, b: [1, 1, 1], lambda a, b: [1, 1, 1])
    assert verdict.misconceptions == ("M346",)
    assert "Of your results" not in repr(verdict)
