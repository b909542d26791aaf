"""Splitting into heads and merging them again."""

import pytest
import torch

from lib.attention.heads import merge_heads, split_heads
from lib.attention.multi_head import MultiHeadAttention


def test_merging_undoes_splitting_and_heads_hold_neighbouring_features():
    x = torch.arange(2 * 5 * 6.0).reshape(2, 5, 6)
    parts = split_heads(x, 3)
    assert parts.shape == (2, 3, 5, 2)
    assert torch.equal(parts[:, 1], x[..., 2:4])
    assert torch.equal(merge_heads(parts), x)


def test_heads_that_do_not_divide_the_width_are_refused():
    with pytest.raises(ValueError, match="divisible by `heads`; got 15 and 4"):
        MultiHeadAttention(15, 4)
