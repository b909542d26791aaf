"""Other weights with the same output: that they are, and that there are no more."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from lib.interpretability import same_output
from lib.seeds import generator
from lib.shapes import ShapeError


def test_unseen_changes_change_neither_output_nor_sum_and_there_are_as_many_as_can_be():
    values = generator("values").normal(size=(11, 3))
    changes = same_output.null_space(values)
    assert changes.shape == (7, 11)
    assert np.abs(changes @ values).max() < 1e-12
    assert np.abs(changes.sum(1)).max() < 1e-12
    assert np.abs(changes @ changes.T - np.eye(7)).max() < 1e-12
    assert same_output.null_space(values[:4]).shape == (0, 4)
    flat = np.outer(np.arange(11.0), [1.0, 2.0, -1.0])  # three columns, one direction
    assert same_output.null_space(flat).shape == (9, 11)


def test_the_hand_example_has_the_two_ends_of_its_range():
    values = np.array([[6.0, 0.0], [0.0, 6.0], [6.0, 6.0], [0.0, 0.0]])
    weights = np.array([1 / 3, 1 / 4, 1 / 4, 1 / 6])
    least = same_output.other_weights(weights, values, np.array([1.0, 0.0, 0.0, 0.0]))
    most = same_output.other_weights(weights, values, np.array([-1.0, 0.0, 0.0, 0.0]))
    wanted = [
        [Fraction(1, 12), 0, Fraction(1, 2), Fraction(5, 12)],
        [Fraction(1, 2), Fraction(5, 12), Fraction(1, 12), 0],
    ]
    assert np.abs([least, most] - np.array(wanted, dtype=float)).max() < 1e-9


@pytest.mark.parametrize("seed", range(5))
def test_a_twin_has_the_same_output_and_at_most_d_v_plus_one_weights(seed):
    rng = generator("twin", seed)
    values, weights = rng.normal(size=(29, 5)), rng.dirichlet(np.ones(29))
    cost = np.eye(29)[weights.argmax()]
    other = same_output.other_weights(weights, values, cost)
    assert other.min() >= 0
    assert other.sum() == pytest.approx(1)
    assert np.abs((other - weights) @ values).max() < 1e-7
    assert (other > 1e-9).sum() <= 6
    assert other @ cost < weights @ cost - 0.01


def test_a_row_at_a_corner_has_no_twin():
    corner = np.eye(7)[2]
    values = np.vstack([np.cos(np.arange(7)), np.sin(np.arange(7))]).T  # on a circle
    assert np.abs(same_output.other_weights(corner, values, corner) - corner).max() < 1e-7


def test_a_twin_needs_one_value_and_one_cost_for_each_weight(bare_calls):
    with pytest.raises(ShapeError, match=r"one weight, one value and one cost.*values \(5, 2\)"):
        same_output.other_weights(np.full(4, 0.25), np.zeros((5, 2)), np.zeros(4))
