"""What a wrong result has in common with the right one is told, and only if it is certain."""

import importlib
from dataclasses import replace

import numpy as np
import pytest

from checks import Case, Task, Wrong
from checks.check import grade_source, judge
from tests.support.attempts import NAMES


def on(number: str, source: str) -> str:
    """What the check says of an answer that it cannot name, in one text."""
    chapter = number.split(".")[0].zfill(2)
    name = next(name for name in NAMES if name.startswith(chapter))
    task = importlib.import_module(f"exercises.{name}").EXERCISE[number]
    return " ".join(grade_source(replace(task, wrong=(), laws=()), source, {"np": np}).sentences)


def of(reference, answer, *shapes) -> str:
    """What a check says of an answer to a task of two cases, each an array per shape."""
    rngs = [np.random.default_rng(seed) for seed in (1, 2)]
    cases = [Case(tuple(rng.normal(size=shape) for shape in shapes)) for rng in rngs]
    task = Task("1.1", "f", "f", 1, 1, 1, reference, lambda _: cases, arrays=("numpy",))
    return " ".join(judge(task, answer).sentences)


VALUES = {
    "a component of an entry": (
        "1.1",
        "by_pencil = {'weights': [1/2, 1/8, 3/8], 'output': [7, 1]}",
        "'weights' is right; 'output' (at [1]) is not.",
    ),
    "two letters exchanged": (
        "1.3",
        "symptoms = {'A': 'a', 'B': 'b', 'C': 'c', 'D': 'e'}",
        "'C' and 'D' are right; 'A' and 'B' are not.",
    ),
    "ties counted": (
        "3.4",
        "right_attempts = {'A': 'abc', 'B': 'abc', 'C': 'bc', 'D': 'abc'}",
        "'D' is right; 'A' (too many letters), 'B' (too many letters) and "
        "'C' (too many letters) are not.",
    ),
    "a factor too many": (
        "2.1",
        "table_numbers = 50257 * 12288 * 2048",
        "is there a factor too many?",
    ),
    "norms added": (
        "2.3",
        "cos_mom_king = 0.62 / (1.34 ** 0.5 + 1.07 ** 0.5)",
        "One small change in line 1, `cos_mom_king = 0.62 / (1.34 ** 0.5 + 1.07 ** 0.5)`, makes "
        "your answer right. Look there: is `+` the right operator in `1.34 ** 0.5 + 1.07 ** 0.5`? "
        "That is not the right value. Your number is too small.",
    ),
}


@pytest.mark.parametrize("slip", VALUES)
def test_of_a_value_the_entries_and_the_size_are_told(slip):
    number, source, words = VALUES[slip]
    assert words in on(number, source)


def test_the_right_value_is_not_in_what_is_told():
    assert "617558016" not in on("2.1", VALUES["a factor too many"][1])
    assert "0.51" not in on("2.3", VALUES["norms added"][1])


def test_an_axis_of_the_wrong_length_is_told_by_what_it_should_be_as_long_as():
    source = (
        "def table_gradient(ids, dx, vocab):\n"
        "    return np.stack([dx[ids == w].sum(axis=0) for w in np.unique(ids)])"
    )
    assert "Axis 0 should be as long as `vocab`." in on("2.2", source)


def test_the_cases_on_which_an_answer_is_right_are_told():
    source = "def score(q, k):\n    return sum(q[c] * k[c] for c in range(len(q) - 1))"
    about = "Your answer is right on 1 of 4 cases: a query (4, 0) and a key (1, 1)."
    assert about in on("4.2", source)


PLACES = {
    "where an argument is negative": (
        lambda x: np.where(x < 0, 0, x + 1), lambda x: x + 1, "differ only where `x` is negative."
    ),
    "the last row": (
        lambda x: x + 1,
        lambda x: np.vstack([x[:-1] + 1, x[-1:] ** 2]),
        "Only the last row differs.",
    ),
    "all but the first column": (
        lambda x: x + 1,
        lambda x: np.hstack([x[:, :1] + 1, np.sin(x[:, 1:])]),
        "The first column is right, the others are not.",
    ),
    "a square": (
        np.abs, np.square, "Every number is the square of the right one."
    ),
    "a sum along an axis": (
        lambda x: x * [[1], [2], [3], [4], [5]],
        lambda x: np.broadcast_to((x * [[1], [2], [3], [4], [5]]).mean(0), x.shape) + 0.0,
        "Summed along axis 0, your numbers are right",
    ),
}  # fmt: skip


@pytest.mark.parametrize("place", PLACES)
def test_what_wrong_numbers_have_in_common_is_told(place):
    reference, answer, words = PLACES[place]
    assert words in of(reference, answer, (5, 7))


def test_a_place_that_holds_on_one_case_alone_is_not_told():
    seen = []

    def answer(x):
        seen.append(1)
        row = 1 if x[0, 0] > 0 else 3
        wrong = x + 1
        wrong[row] += np.arange(7)
        return wrong

    signs = [np.random.default_rng(seed).normal(size=(5, 7))[0, 0] > 0 for seed in range(9)]
    first, second = signs.index(True), signs.index(False)
    cases = [Case((np.random.default_rng(seed).normal(size=(5, 7)),)) for seed in (first, second)]
    task = Task("1.1", "f", "f", 1, 1, 1, lambda x: x + 1, lambda _: cases, arrays=("numpy",))
    assert "only row" not in " ".join(judge(task, answer).sentences)


def test_the_same_gap_on_every_failing_case_is_told():
    task = importlib.import_module("exercises.04_queries_keys_values").EXERCISE["4.2"]
    sentences = judge(replace(task, wrong=()), lambda q, k: float(q @ k) + np.pi).sentences
    assert "Wherever it is wrong, your number is the right one plus 3.14." in sentences


def of_counts(reference, answer) -> str:
    """What a check says of a count of three sizes."""
    cases = [Case(sizes) for sizes in ((2, 7, 3), (5, 3, 11), (3, 13, 5))]
    task = Task("1.1", "f", "f", 1, 1, 1, reference, lambda _: cases, arrays=("numpy",))
    return " ".join(judge(task, answer).sentences)


def test_the_product_that_a_count_lacks_is_named():
    words = of_counts(lambda a, b, c: a * b + 3 * a * c, lambda a, b, c: a * (b + c))
    assert "Wherever it is wrong, your number is too small by `2 * a * c`." in words


def test_the_product_that_is_counted_in_the_place_of_another_is_named():
    words = of_counts(lambda a, b, c: a * b + c, lambda a, b, c: a * c + c)
    assert "Wherever it is wrong, you count `a * c` where `a * b` is needed." in words


def test_a_count_that_is_wrong_by_no_product_is_not_explained():
    assert "Wherever" not in of_counts(lambda a, b, c: a * b, lambda a, b, c: a * b + a % 2 + 1)


def test_what_does_not_belong_to_a_set_is_named_and_what_is_missing_counted():
    task = Task("1.1", "words", "words", 1, 1, 1, {"bank", "river", "money"})
    assert "'loan' does not belong and 1 is missing." in repr(
        judge(task, {"bank", "river", "loan"})
    )
    assert "loan" not in repr(judge(task, {"bank", "loan", "cash"}).sentences)


def test_a_named_mistake_that_leaves_an_entry_out_does_not_call_the_others_wrong():
    """All entries that the two dictionaries have in common are right: no part is wrong."""
    task = Task("1.1", "f", "f", 1, 1, 1, lambda n: {"a": n, "b": 2 * n},
                lambda _: [Case((3,)), Case((5,))], wrong=[Wrong("M01", lambda n: {"a": n})],
                arrays=("numpy",))  # fmt: skip
    verdict = judge(task, lambda n: {"a": n})
    assert verdict.misconceptions == ("M01",)
    assert "wrong, the rest is right" not in " ".join(verdict.sentences)
