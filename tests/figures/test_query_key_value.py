"""The schematics of chapter 4 show the numbers that they are given, in words too."""

import math

import numpy as np
import pytest

from figures.diagrams.head_controls import sentence_with_controls
from figures.diagrams.head_output import raised_tokens
from figures.diagrams.position_clocks import positions_as_hands
from figures.diagrams.query_key_value import heads_against_controls, one_query

WORDS = ["fluffy", "blue", "creature"]
SCORES, WEIGHTS = np.array([4.0, 4.0, -1.0]), np.array([0.5, 0.5, 0.0])
VALUES = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])


def test_one_query_shows_scores_weights_values_and_output():
    figure = one_query(WORDS, 2, SCORES, WEIGHTS, VALUES, ["soft", "cold"], d_model=5, d_k=4)
    for text in (
        "output of creature",
        "embedding (5,)",
        "(3, 4)",
        "(3, 2)",
        "−1.0",
        "soft",
        "0.50",
    ):
        assert text in figure.svg
    assert "creature: score -1.0, weight 0.00" in figure.alt
    assert "0.50 soft, 0.50 cold" in figure.alt


def test_one_query_needs_a_value_for_each_word():
    with pytest.raises(ValueError, match=r"values \(3, 1\); got \(3,\), \(3,\), \(3, 2\)"):
        one_query(WORDS, 2, SCORES, WEIGHTS, VALUES, ["soft"], d_model=5, d_k=4)


def test_the_clock_names_the_hand_that_a_query_asks_for():
    step = math.pi / 8
    figure = positions_as_hands(WORDS, 2, step=step, back=1.5 * step)
    assert "turned back by" in figure.svg
    assert "The query of creature points to 11.2 degrees" in figure.alt


def test_the_clock_has_room_for_one_turn():
    with pytest.raises(ValueError, match="20 words with a step"):
        positions_as_hands(["word"] * 20, 2, step=math.pi / 8, back=0)


def test_heads_are_points_with_the_named_ones_labelled():
    noun, control = np.array([[0.2, 0.9]]), np.array([[0.1, 0.95]])
    figure = heads_against_controls(noun, control, [(0, 1)], label="weight", caption="Points.")
    assert "L0H1" in figure.svg
    assert "2 points" in figure.alt
    assert "L0H1: weight 0.90, control 0.95" in figure.alt
    assert "0.10 above it" in figure.alt


def test_a_sentence_shows_its_claim_and_its_controls():
    tokens = ["at", "noon", "dogs", "that", "boys", "saw"]
    figure = sentence_with_controls(tokens, 2, {"other noun": 4}, [0.7, 0.2, 0.1])
    for text in (*tokens, "the subject", "other noun", "0.70", "0.20", "mean 0.10"):
        assert f">{text}<" in figure.svg
    assert "token, saw: 0.70 to the subject, dogs, 0.20 to other noun, boys" in figure.alt
    assert "0.10 on average" in figure.alt


def test_a_sentence_needs_a_weight_for_each_control():
    with pytest.raises(ValueError, match="1 controls need 3 weights; got 2"):
        sentence_with_controls(["dogs", "that", "ran"], 0, {"other noun": 1}, [0.7, 0.2])


SHAPES = {"head": "L3H1", "d_v": 4, "d_model": 12, "vocabulary": 5000}
TOKENS = ["are", "mail"]


def test_the_output_of_a_head_shows_what_it_raises_and_lowers_with_each_subject():
    products = {"dogs": [9.4, -2.0], "dog": [-1.5, 0.3]}
    figure = raised_tokens("noon", TOKENS, products, **SHAPES)
    for text in ("output of L3H1", "added to noon", "(4,)", "(12,)", "are", "9.4", "mail", "−2.0",
                 "−1.5", "0.3", "with dogs", "with dog", "5,000 products; here 2"):  # fmt: skip
        assert f">{text}<" in figure.svg
    assert "with dogs, are 9.4, mail -2.0; with dog, are -1.5, mail 0.3." in figure.alt


@pytest.mark.parametrize(
    ("tokens", "products"),
    [
        ([], {"dogs": []}),
        (TOKENS, {}),
        (TOKENS, {"dogs": [1.0]}),
        (["are"] * 13, {"a": [1.0] * 13}),
    ],
)
def test_products_that_the_drawing_cannot_hold_are_refused(tokens, products):
    with pytest.raises(ValueError, match="1 to 12 tokens, and for one or two subjects"):
        raised_tokens("noon", tokens, products, **SHAPES)
