"""The schematic of chapter 6 shows the softmax of the scores that it is given."""

import numpy as np
import pytest

from figures.diagrams.softmax import three_bars

NAMES = ["fluffy", "blue", "creature", "roamed"]


def test_the_bars_carry_scores_exponentials_and_weights():
    figure = three_bars(NAMES, np.array([-3.0, -1.0, 2.0, 1.0]))
    for number in ("\N{MINUS SIGN}3", "7.39", "0.70", "sum 10.53", "sum 1.00"):
        assert f">{number}<" in figure.svg
    assert "creature: score 2, exponential 7.39, weight 0.70" in figure.alt


def test_whole_numbers_and_equal_scores_are_drawn():
    assert (
        "a: score 0, exponential 1.00, weight 0.50" in three_bars(["a", "b"], np.zeros(2, int)).alt
    )


def test_large_scores_are_drawn_with_short_numbers():
    assert ">3e43<" in three_bars(["a", "b"], np.array([100.0, -3.0])).svg


@pytest.mark.parametrize(
    ("names", "scores", "words"),
    [
        (["a"], [1.0], "2 to 6 words"),
        (["a", "b"], [1.0, 2.0, 3.0], r"2 names and scores of shape \(3,\)"),
        (["a", "b"], [1.0, 900.0], "between -700 and 700"),
        (["a", "b"], [1.0, np.nan], "between -700 and 700"),
    ],
)
def test_what_does_not_fit_is_refused(names, scores, words):
    with pytest.raises(ValueError, match=words):
        three_bars(names, np.array(scores))
