"""An error about shapes is told in words of the course, and readers are sent to pages they know."""

import importlib
from dataclasses import replace

import numpy as np
import pytest
import torch

from checks import grade_source
from checks.feedback.misconceptions import misconceptions
from checks.feedback.shape_errors import about_shapes
from checks.feedback.verdict import place_of
from checks.run.call import observe
from checks.task import Case

EXERCISE = importlib.import_module("exercises.07_self_attention").EXERCISE
PRODUCT = (
    "In a product `A @ B`, A needs as many columns as B has rows; "
    + "here the columns are 2 and the rows 3."
)


def said(call, *arrays) -> str:
    return about_shapes(observe(call, Case(arrays)).mistake)


@pytest.mark.parametrize("ones", [np.ones, torch.ones])
def test_a_product_names_the_columns_and_the_rows(ones):
    assert said(lambda a, b: a @ b, ones((4, 2)), ones((3, 5))) == (
        "In `a @ b` the shapes do not fit: `a` has shape (4, 2) and `b` has shape (3, 5). "
        + PRODUCT
    )


def test_arrays_that_do_not_broadcast_are_told_with_their_shapes():
    kept = said(lambda a, b: a / b, np.ones((2, 3)), np.ones(2))
    assert "(2, 3) and (2,)" in kept
    assert "keepdims=True" in kept
    other = said(lambda a, b: a + b, np.ones((2, 3)), np.ones((4, 3)))
    assert "(2, 3) and (4, 3)" in other
    assert "keepdims" not in other


def test_of_a_transpose_the_shape_is_told_and_of_a_call_nothing_is_run_again():
    calls = []

    def noted(array):
        calls.append(1)
        return array

    text = said(lambda a, b: noted(a) @ b.T, np.ones((4, 2)), np.ones((5, 3)))
    assert text.startswith("In `noted(a) @ b.T` the shapes do not fit: `b.T` has shape (3, 5). ")
    assert calls == [1]


SIZES = {
    "two batches": (
        lambda: torch.bmm(torch.ones(2, 3, 5), torch.ones(2, 4, 6)),
        "the columns are 5 and the rows 4",
    ),
    "torch, number by number": (
        lambda: torch.ones(2, 3) + torch.ones(2, 5),
        "axis 1 has 3 in the first and 5 in the second",
    ),
    "a product of vectors": (
        lambda: np.dot(np.ones(3), np.ones(4)),
        "Shapes (3,) and (4,): in a product `A @ B`",
    ),
    "a matrix and a vector in torch": (
        lambda: torch.ones(3, 4) @ torch.ones(5),
        "the columns are 4 and the rows 5",
    ),
    "batches of NumPy": (
        lambda: np.ones((2, 3, 4)) @ np.ones((3, 4, 5)),
        "all axes but the last two must be equally long in both",
    ),
    "a letter of NumPy's einsum": (
        lambda: np.einsum("ij,jk->ik", np.ones((2, 3)), np.ones((5, 2))),
        "with the shapes (2,3) and (5,2), one of yours stands for two",
    ),
    "an axis without a letter": (
        lambda: np.einsum("id,dk->ik", np.ones((2, 3, 4)), np.ones((4, 5))),
        "a letter for each of its axes, and here it has more axes",
    ),
    "a letter without an axis": (
        lambda: np.einsum("bid,dk->bik", np.ones((3, 4)), np.ones((4, 5))),
        "an axis for each of its letters, and here it has fewer axes",
    ),
    "an axis without a letter in torch": (
        lambda: torch.einsum("id,dk->ik", torch.ones(2, 3, 4), torch.ones(4, 5)),
        "here it has more axes",
    ),
    "a letter without an axis in torch": (
        lambda: torch.einsum("bid,dk->bik", torch.ones(3, 4), torch.ones(4, 5)),
        "here it has fewer axes",
    ),
    "arrays of NumPy that are joined": (
        lambda: np.concatenate([np.ones((2, 3)), np.ones((3, 4))]),
        "must agree on axis 1: 3 and 4.",
    ),
    "tensors that are joined": (
        lambda: torch.cat([torch.ones(2, 3), torch.ones(3, 4)]),
        "must agree on the axes that are not joined: 3 and 4.",
    ),
    "a shape that does not hold it, in torch": (
        lambda: torch.ones(12).view(5, 2),
        "An array of 12 numbers cannot have the axes (5, 2), which hold 10.",
    ),
    "a letter of einsum": (
        lambda: torch.einsum("ij,jk->ik", torch.ones(2, 3), torch.ones(5, 2)),
        "`j` stands for 5 in one array and for 3 in another",
    ),
    "a shape that does not hold it": (
        lambda: np.ones(12).reshape(5, 2),
        "An array of 12 numbers cannot have the axes (5,2), which hold 10.",
    ),
}


@pytest.mark.parametrize("slip", SIZES)
def test_every_error_about_sizes_says_which_sizes(slip):
    call, words = SIZES[slip]
    assert words in said(call)


def test_other_errors_are_left_to_the_library():
    assert said(lambda: int("cat")) == ""


def test_the_sentence_stands_above_the_words_of_the_library():
    verdict = grade_source(
        EXERCISE["7.1"], "def mix(weights, values):\n    return values @ weights"
    )
    assert verdict.sentences[0].startswith("In `values @ weights` the shapes do not fit: `values`")
    assert verdict.sentences[0].endswith(PRODUCT)
    assert "gufunc" in verdict.sentences[1]


def test_an_array_for_one_number_is_called_an_array():
    source = "def is_equivariant(f, x, permutation):\n    return f(x) > 0"
    verdict = grade_source(EXERCISE["7.6"], source)
    assert "One True or False is expected" in repr(verdict)
    assert "keepdims" not in repr(verdict)


def test_the_core_pages_of_the_afternoon_lead_to_no_page_off_their_path():
    task = EXERCISE["7.2"]
    for number in ("M01", "M11", "M16"):  # read in chapters 5 and 6, and on a deeper page
        assert place_of(misconceptions()[number], task) == task.read
    deeper = replace(task, read="chapters/07_self_attention_deeper.html#why-sinusoids")
    assert place_of(misconceptions()["M01"], deeper) == misconceptions()["M01"].read
    assert place_of(misconceptions()["M05"], task) == misconceptions()["M05"].read
