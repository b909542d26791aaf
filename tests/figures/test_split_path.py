"""The path of chapter 17 goes through the halves that a reshape without a transpose deals."""

import numpy as np

from figures.diagrams.split_path import HALVES, split_of_four, split_path, split_swapped
from figures.widgets.bug_hunt import SHOWN


def test_the_halves_are_those_of_the_reshape():
    tokens = np.reshape([[token] * 4 for token in (1, 2, 3, 4)], (2, 4, 2))  # (head, row, d_k)
    assert HALVES.tolist() == tokens[..., 0].tolist() == [[1, 1, 2, 2], [3, 3, 4, 4]]


def test_the_path_leads_from_token_4_through_token_3_to_token_1():
    figure = split_path()
    assert "row 1 half of token 3, row 2 half of token 3, row 3 half of token 4" in figure.alt
    for word, times in (("half of 3", 4), ("half of 4", 4), ("token 1", 3), ("token 4", 3)):
        assert figure.svg.count(f">{word}<") == times
    assert (SHOWN["M37"]["future"][:3, 0] > 1e-6).all()


def test_the_split_of_four_shows_what_each_head_gets():
    figure = split_of_four()
    assert "without a transpose: head 1 gets halves of 1, 1, 2, 2; head 2 gets" in figure.alt
    for token in (1, 2, 3, 4):  # in each head when split correctly, twice in one when not
        assert figure.svg.count(f">half of {token}<") == 4


def test_the_swap_changes_what_head_1_gives_tokens_3_and_4():
    figure = split_swapped()
    assert "before the swap: halves of 2 in head 1, of 4 in head 2" in figure.alt
    assert "after the swap: halves of 1 in head 1, of 4 in head 2" in figure.alt
    for token, times in ((1, 2), (2, 2), (3, 0), (4, 4)):
        assert figure.svg.count(f">half of {token}<") == times
    assert (SHOWN["M37"]["swap"][2:, 0] > 1e-6).all()
