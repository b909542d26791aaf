"""Dropout on the weights, against loops: what is dropped, by what the rest is divided."""

import math
from operator import mul

import pytest
import torch

from lib.attention.dropout import attend_with_dropout

Q_N, KEYS, D_K, D_V = 3, 7, 5, 2


@pytest.fixture
def qkv() -> list[torch.Tensor]:
    torch.manual_seed(0)
    return [
        torch.randn(n, d, dtype=torch.float64) for n, d in ((Q_N, D_K), (KEYS, D_K), (KEYS, D_V))
    ]


def shares(q, k, mask):
    """The rows of softmax, by loops over Python's numbers."""
    rows = []
    for query, allowed in zip(q.tolist(), mask, strict=True):
        scores = (sum(map(mul, query, key)) / math.sqrt(D_K) for key in k.tolist())
        powers = [math.exp(score) * may for score, may in zip(scores, allowed, strict=True)]
        rows.append([power / sum(powers) for power in powers])
    return rows


def test_every_weight_is_zero_or_its_share_over_one_minus_p_and_multiplies_its_value(qkv):
    q, k, v = qkv
    mask = torch.ones(Q_N, KEYS, dtype=torch.bool).tril(KEYS - Q_N)
    output, weights = attend_with_dropout(q, k, v, mask, dropout=0.4)
    expected = torch.tensor(shares(q, k, mask.tolist()), dtype=torch.float64)
    dropped = weights == 0
    assert (dropped & mask).any()
    assert (~dropped).any()
    torch.testing.assert_close(weights[~dropped] * 0.6, expected[~dropped])
    for i in range(Q_N):
        for c in range(D_V):
            average = sum(weights[i, j].item() * v[j, c].item() for j in range(KEYS))
            assert output[i, c].item() == pytest.approx(average, abs=1e-12)


def test_dropout_of_zero_changes_nothing_and_draws_no_random_number(qkv):
    before = torch.get_rng_state()
    output, weights = attend_with_dropout(*qkv)
    expected = torch.tensor(shares(*qkv[:2], [[True] * KEYS] * Q_N), dtype=torch.float64)
    torch.testing.assert_close(weights, expected)
    torch.testing.assert_close(output, expected @ qkv[2])
    assert torch.equal(torch.get_rng_state(), before)


def test_the_share_of_zero_weights_is_the_probability():
    torch.manual_seed(0)
    q, k, v = torch.zeros(101, 1), torch.zeros(1009, 1), torch.ones(1009, 1)
    weights = attend_with_dropout(q, k, v, dropout=0.25).weights
    # 101,909 weights: the standard deviation of the share is 0.0014.
    assert (weights == 0).double().mean().item() == pytest.approx(0.25, abs=0.01)
