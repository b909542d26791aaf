"""The slow loops equal PyTorch, so that they can stand as an oracle for the rest."""

import numpy as np
import torch
import torch.nn.functional as F

from lib import by_hand

RNG = np.random.default_rng(0)


def test_dot_and_cosine():
    a, b = RNG.normal(size=(2, 7))
    np.testing.assert_allclose(by_hand.dot(a, b), torch.dot(torch.tensor(a), torch.tensor(b)))
    expected = F.cosine_similarity(torch.tensor(a), torch.tensor(b), dim=0)
    np.testing.assert_allclose(by_hand.cosine(a, b), expected)


def test_softmax_and_layer_norm():
    row = RNG.normal(size=5)
    np.testing.assert_allclose(by_hand.softmax(row), torch.softmax(torch.tensor(row), -1))
    np.testing.assert_allclose(by_hand.layer_norm(row), F.layer_norm(torch.tensor(row), (5,)))


def test_scores_and_attention_with_and_without_a_mask():
    q, k, v = RNG.normal(size=(3, 7)), RNG.normal(size=(5, 7)), RNG.normal(size=(5, 11))
    tensors = [torch.tensor(array)[None, None] for array in (q, k, v)]
    np.testing.assert_allclose(by_hand.scores(q, k), q @ k.T / 7**0.5)
    for mask in (None, RNG.random((3, 5)) < 0.6):
        allowed = None if mask is None else torch.tensor(mask)
        expected = F.scaled_dot_product_attention(*tensors, attn_mask=allowed)[0, 0]
        np.testing.assert_allclose(by_hand.attend(q, k, v, mask).output, expected, atol=1e-12)


def test_a_row_that_may_attend_to_nothing_is_zeros():
    q, k, v = np.ones((1, 2)), np.ones((3, 2)), np.ones((3, 5))
    output, weights = by_hand.attend(q, k, v, np.zeros((1, 3), dtype=bool))
    assert not output.any()
    assert not weights.any()
