"""The schematics of the exponential and of the two divisions."""

import numpy as np
import pytest

from figures.diagrams.softmax_steps import columns_leak, exponential_curve, two_divisions


def test_each_score_stands_on_the_curve():
    figure = exponential_curve(["blue", "creature"], np.array([-1.0, 2.0]))
    assert ">creature, 7.39<" in figure.svg
    assert "blue at -1 has 0.37" in figure.alt


@pytest.mark.parametrize("scores", [[1.0], [1.0, 9.0], [1.0, np.nan]])
def test_scores_off_the_curve_are_refused(scores):
    with pytest.raises(ValueError, match="between -5 and 5"):
        exponential_curve(["a", "b"], np.array(scores))


def test_the_sums_stand_beside_and_below():
    figure = two_divisions(np.array([[1.0, 2.0], [3.0, 6.0]]))
    for words in ("sums (2, 1)", "sums (2,)", "keepdims=True", "9.0"):
        assert f">{words}<" in figure.svg
    assert "3.0, 9.0" in figure.alt


@pytest.mark.parametrize("shape", [(2, 3), (5, 5), (1, 1)])
def test_a_matrix_that_is_not_square_is_refused(shape):
    with pytest.raises(ValueError, match="square with 2 to 4 rows"):
        two_divisions(np.ones(shape))


def test_down_the_columns_earlier_rows_move_and_along_the_rows_none_does():
    figure = columns_leak()
    assert figure.svg.count(">1/8<") == 2  # the first weights of rows 1 and 2, divided by columns
    for fraction in ("3/5", "3/10", "1/10"):  # the last row, divided by rows
        assert figure.svg.count(f">{fraction}<") == 1
    assert "only the last row of weights moves" in figure.alt
