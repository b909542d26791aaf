"""The scores of induction heads and their relatives, against loops."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lib.interpretability import head_scores
from lib.seeds import generator


def tables(seed: int, *shape: int) -> np.ndarray:
    scores = np.tril(generator("tables", seed).random(shape))
    return scores / scores.sum(-1, keepdims=True)


@given(st.lists(st.integers(0, 3), min_size=2, max_size=9))
def test_the_places_of_an_induction_head_are_those_behind_earlier_equals(text):
    places = head_scores.after_same(np.array(text))
    for i in range(len(text)):
        for j in range(len(text)):
            assert places[i, j] == (1 <= j <= i and text[j - 1] == text[i])


def test_scores_equal_loops_over_every_table():
    weights = tables(0, 2, 3, 11, 11)  # (batch, head, query, key)
    text = generator(1).integers(0, 5, (2, 11))
    stripe = head_scores.induction_score(weights, text[:, None])
    before, sink = head_scores.previous_token_score(weights), head_scores.sink_score(weights)
    assert stripe.shape == before.shape == sink.shape == (2, 3)
    for b in range(2):
        for h in range(3):
            a, on = weights[b, h], []
            for i in range(11):
                keys = [j for j in range(1, i + 1) if text[b, j - 1] == text[b, i]]
                if keys:
                    on.append(sum(a[i, j] for j in keys))
            assert stripe[b, h] == pytest.approx(sum(on) / len(on))
            assert before[b, h] == pytest.approx(sum(a[i, i - 1] for i in range(1, 11)) / 10)
            assert sink[b, h] == pytest.approx(sum(a[i, 0] for i in range(1, 11)) / 10)


def test_scores_are_the_same_in_torch():
    weights, text = tables(0, 2, 3, 11, 11), generator(1).integers(0, 5, (2, 11))
    in_torch = torch.from_numpy(weights)
    scores = head_scores.induction_score(in_torch, torch.from_numpy(text)[:, None])
    assert (
        np.abs(scores.numpy() - head_scores.induction_score(weights, text[:, None])).max() < 1e-12
    )
    for score in (head_scores.previous_token_score, head_scores.sink_score):
        assert np.abs(score(in_torch).numpy() - score(weights)).max() < 1e-12


def test_perfect_heads_score_one_and_each_other_nothing():
    text = np.array([4, 9, 1, 7, 3, 9, 1, 7, 3])
    stripe = np.eye(9)
    stripe[5:] = 0
    stripe[range(5, 9), range(2, 6)] = 1  # period 4: three places back
    before = np.eye(9, k=-1)
    before[0, 0] = 1
    assert head_scores.induction_score(stripe, text) == 1
    assert head_scores.previous_token_score(before) == 1
    assert (
        head_scores.induction_score(before, text) == head_scores.previous_token_score(stripe) == 0
    )


def test_a_text_without_a_repetition_has_no_score():
    with pytest.raises(ValueError, match="must mark at least one position"):
        head_scores.induction_score(tables(0, 5, 5), np.arange(5))
