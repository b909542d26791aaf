"""The schematics of chapter 7 show what they say, in words too."""

import pytest

from figures.diagrams.five_steps import WEIGHTS, five_steps
from figures.diagrams.position_clocks import POSITIONS, SPEEDS, position_clocks


def test_the_five_steps_name_every_array_and_its_shape():
    figure = five_steps()
    for word in ("project", "score", "scale", "softmax", "mix", "(n, d_model)", "(n, d_k)",
                 "(n, d_v)", "(n, n)", "output"):  # fmt: skip
        assert word in figure.svg, word
    for word in ("project", "score", "scale", "softmax", "mix", "(n, n)"):
        assert word in figure.alt


def test_the_weights_of_the_five_steps_are_weights():
    assert all(sum(row) == pytest.approx(1) and min(row) > 0 for row in WEIGHTS)


def test_the_clocks_show_three_speeds_at_six_positions():
    figure = position_clocks()
    assert figure.svg.count("<path") >= 2 * len(POSITIONS) * len(SPEEDS)
    assert "1 radian at position 10" in figure.alt
