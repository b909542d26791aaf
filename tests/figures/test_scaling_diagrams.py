"""The schematics of chapter 5 show what they say, in words too."""

import numpy as np
import pytest

from figures.diagrams.divided_row import divided_row, step_chain
from figures.diagrams.divisors import divisor_curve, learned_at, saturation
from figures.diagrams.scaling import (
    coin_scores,
    push_on_query,
    scores_to_weights,
    widening,
)
from lib.functional import softmax
from lib.seeds import generator

SCORES = {4: np.array([1.0, -2.0, 0.5]), 512: np.array([20.0, -30.0, 5.0])}
WEIGHTS = {d_k: softmax(row) for d_k, row in SCORES.items()}


def test_every_score_and_weight_is_written():
    figure = scores_to_weights(SCORES, WEIGHTS)
    for number in (*SCORES[4], *SCORES[512]):
        assert f">{number:.1f}<".replace("-", "\N{MINUS SIGN}") in figure.svg or (
            f">{number:.1f}<" in figure.svg
        )
    assert ">0.60<" in figure.svg
    assert "between -30.0 and 20.0, and the largest weight is 1.00" in figure.alt


def test_weights_that_do_not_belong_to_the_scores_are_refused():
    with pytest.raises(ValueError, match=r"scores \(3,\) and weights \(2,\) for d_k = 4"):
        scores_to_weights({4: SCORES[4]}, {4: WEIGHTS[4][:2]})
    with pytest.raises(ValueError, match="at most 8"):
        scores_to_weights({4: np.zeros(9)}, {4: np.full(9, 1 / 9)})


def test_the_histograms_widen_until_they_are_divided():
    samples = {d_k: np.sqrt(d_k) * generator(d_k).standard_normal(4000) for d_k in (4, 64)}
    figure = widening(samples)
    assert ">sd 2.0<" in figure.svg
    assert ">sd 8.0<" in figure.svg or ">sd 8.1<" in figure.svg or ">sd 7.9<" in figure.svg
    assert figure.svg.count(">sd 1.0<") == 2
    assert "for d_k = 64" in figure.alt


@pytest.mark.parametrize("count", [1, 5])
def test_too_many_histograms_for_a_phone_are_refused(count):
    with pytest.raises(ValueError, match=f"2 to 4 dimensions; got {count}"):
        widening({d_k: np.arange(3.0) for d_k in range(count)})


def test_the_coins_show_every_score_and_their_spread():
    figure = coin_scores({-4: 1, -2: 4, 0: 6, 2: 4, 4: 1})
    for text in ("patterns, 16 in all", "\N{MINUS SIGN}4", "6", "sd 2"):
        assert f">{text}<" in figure.svg, text
    assert "1 give -4, 4 give -2, 6 give 0" in figure.alt


@pytest.mark.parametrize("patterns", [{}, {0: 1, 2: 1}])
def test_coins_whose_mean_is_not_0_are_refused(patterns):
    with pytest.raises(ValueError, match="mean score 0; got"):
        coin_scores(patterns)


def test_each_divisor_has_its_spread_and_its_end_on_the_derivative():
    figure = saturation({"√d_k": 32 / 512**0.5, "no division": 32}, "A caption.")
    for text in ("√d_k: sd 1.41", "no division: sd 32"):
        assert f">{text}<" in figure.svg, text
    assert "√d_k: 1.41, derivative 0.16; no division: 32, derivative 0.00." in figure.alt


@pytest.mark.parametrize("spreads", [{}, {"d_k": 0}, {"root": 8}])
def test_a_spread_that_is_not_positive_or_has_no_colour_is_refused(spreads):
    with pytest.raises(ValueError, match="must be positive; got"):
        saturation(spreads, "A caption.")


def test_three_divisors_are_marked_on_each_curve():
    divisors = 2 ** np.linspace(0, 6, 61)
    hill = divisors * np.exp(-divisors / 8)  # highest at 8, which is the root of 64
    figure = divisor_curve(divisors, {"one pair": hill, "median": hill}, d_k=64)
    for text in ("no", "division", "√d_k", "d_k", "one pair", "median", "dw/dr"):
        assert f">{text}<" in figure.svg, text
    assert "one pair: highest at c = 8; of this maximum" in figure.alt
    assert "100% at c = 8" in figure.alt


def test_a_dimension_outside_the_divisors_is_refused():
    with pytest.raises(ValueError, match="from 1 to d_k = 64; they reach from 1 to 32"):
        divisor_curve(np.array([1.0, 32.0]), {"one pair": np.ones(2)}, d_k=64)


def test_a_push_is_as_long_as_it_says_and_the_smallest_has_its_zeros():
    figure = push_on_query({"none": 4e-13, "root": 0.22, "d_k": 0.0156})
    for text in ("none", "root", "d_k", "0.0000000000004", "0.22", "0.016"):
        assert f">{text}<" in figure.svg
    assert "root: 0.22; d_k: 0.016." in figure.alt


@pytest.mark.parametrize("count", [0, 6])
def test_too_many_pushes_are_refused(count):
    with pytest.raises(ValueError, match=f"1 to 5 pushes; got {count}"):
        push_on_query({f"divisor {i}": 1.0 for i in range(count)})


def test_a_row_shows_each_score_and_weight_at_every_divisor():
    figure = divided_row(["a", "b", "c"], np.array([16.0, -8.0, 4.0]), {"raw": 1, "by 8": 8})
    for text in ("raw", "by 8", "16.0", "\N{MINUS SIGN}8.0", "2.0", "\N{MINUS SIGN}1.0", "1.00"):
        assert f">{text}<" in figure.svg, text
    assert "raw: scores from \N{MINUS SIGN}8.0 to 16.0, the weight of a 1.00" in figure.alt


def test_a_row_without_a_score_for_each_token_is_refused():
    with pytest.raises(ValueError, match="got 2 tokens, 3 scores and 2 divisors"):
        divided_row(["a", "b"], np.zeros(3), {"raw": 1, "by 8": 8})


def test_the_chain_names_its_factors():
    figure = step_chain()
    for text in ("step", "q, k", "× d_k", "÷ c", "Adam"):
        assert figure.svg.count(f">{text}<") >= 1, text


def test_the_count_at_each_rate_is_told_and_the_marked_rate_named():
    rates = np.array([0.001, 0.01, 0.1])
    figure = learned_at(rates, {"√d_k": [7, 3, 0], "d_k": [0, 7, 7]}, 7, 0.1)
    assert "with √d_k, 7, 3, 0; with d_k, 0, 7, 7." in figure.alt
    assert ">(all others)<" in figure.svg
    with pytest.raises(ValueError, match="the mark must be one of the rates"):
        learned_at(rates, {"√d_k": [7, 3, 0]}, 7, 0.2)
