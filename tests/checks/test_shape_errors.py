"""An error about shapes is told in words of the course, and readers are sent to pages they know."""

import importlib
from dataclasses import replace

import numpy as np
import pytest
import torch

from checks import grade_source
from checks.feedback.library_errors import about_shapes
from checks.feedback.misconceptions import misconceptions
from checks.feedback.words import place_of
from checks.run.call import observe
from checks.task import Case

EXERCISE = importlib.import_module("exercises.07_self_attention").EXERCISE
PRODUCT = (
    "In `A @ B`, A needs as many columns as B has rows; here the columns are 2 and the rows 3."
)


def said(call, *arrays) -> str:
    return about_shapes(observe(call, Case(arrays)).mistake)


@pytest.mark.parametrize("ones", [np.ones, torch.ones])
def test_a_product_names_the_columns_and_the_rows(ones):
    assert said(lambda a, b: a @ b, ones((4, 2)), ones((3, 5))) == PRODUCT


def test_arrays_that_do_not_broadcast_are_told_with_their_shapes():
    kept = said(lambda a, b: a / b, np.ones((2, 3)), np.ones(2))
    assert "(2, 3) and (2,)" in kept
    assert "keepdims=True" in kept
    other = said(lambda a, b: a + b, np.ones((2, 3)), np.ones((4, 3)))
    assert "(2, 3) and (4, 3)" in other
    assert "keepdims" not in other


def test_other_errors_are_left_to_the_library():
    assert said(lambda: int("cat")) == ""


def test_the_sentence_stands_above_the_words_of_the_library():
    verdict = grade_source(
        EXERCISE["7.1"], "def mix(weights, values):\n    return values @ weights"
    )
    assert verdict.sentences[0] == PRODUCT
    assert "gufunc" in verdict.sentences[1]


def test_an_array_for_one_number_is_called_an_array():
    source = "def is_equivariant(f, x, permutation):\n    return f(x) > 0"
    verdict = grade_source(EXERCISE["7.6"], source)
    assert "One True or False is expected" in repr(verdict)
    assert "keepdims" not in repr(verdict)


def test_the_core_pages_of_the_afternoon_lead_to_no_page_off_their_path():
    task = EXERCISE["7.2"]
    for idea in ("M01", "M11", "M16"):  # read in chapters 5 and 6, and on a deeper page
        assert place_of(misconceptions()[idea], task) == task.read
    deeper = replace(task, read="chapters/07_self_attention_deeper.html#why-sinusoids")
    assert place_of(misconceptions()["M01"], deeper) == misconceptions()["M01"].read
    assert place_of(misconceptions()["M05"], task) == misconceptions()["M05"].read
