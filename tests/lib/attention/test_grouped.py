"""Query heads that share KV heads give what repeated keys and values would."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lib.attention.dot_product import attend
from lib.attention.grouped import grouped
from lib.shapes import ShapeError
from tests.support.attention_inputs import BATCH, D_K, D_V, HEADS, numbers_held, random


@given(
    groups=st.sampled_from([1, 2, 3]), each=st.integers(1, 3), keys=st.integers(1, 11),
    masked=st.sampled_from(["not", "all heads", "sequence", "head"]), rows=st.sampled_from([1, 7]),
)  # fmt: skip
def test_shared_keys_give_what_repeated_ones_give(groups, each, keys, masked, rows):
    torch.manual_seed(keys)
    heads = groups * each
    q, k = random(BATCH, heads, 7, D_K), random(BATCH, groups, keys, D_K)
    v = random(BATCH, groups, keys, D_V)
    leading = {"not": (), "all heads": (), "sequence": (BATCH, 1), "head": (BATCH, heads)}[masked]
    mask = None if masked == "not" else torch.rand(*leading, rows, keys) < 0.6
    actual = grouped(q, k, v, mask)
    expected = attend(q, *(tensor.repeat_interleave(each, dim=1) for tensor in (k, v)), mask)
    torch.testing.assert_close(actual.output, expected.output)
    torch.testing.assert_close(actual.weights, expected.weights)


def test_shared_keys_are_not_copied_for_the_heads_that_share_them():
    q, k, v = random(BATCH, 6, 1, D_K), random(BATCH, 2, 101, D_K), random(BATCH, 2, 101, D_V)
    repeated = [tensor.repeat_interleave(3, dim=1) for tensor in (k, v)]
    assert numbers_held(lambda: attend(q, *repeated)) == 3 * v.numel()
    assert numbers_held(lambda: grouped(q, k, v)) <= v.numel()


def test_one_row_of_a_mask_serves_all_heads_and_queries():
    q, k, v = random(BATCH, 6, 7, D_K), random(BATCH, 2, 11, D_K), random(BATCH, 2, 11, D_V)
    mask = torch.arange(11) % 3 > 0
    repeated = (tensor.repeat_interleave(3, dim=1) for tensor in (k, v))
    torch.testing.assert_close(grouped(q, k, v, mask).output, attend(q, *repeated, mask).output)


def test_shared_keys_agree_with_pytorchs_own():
    torch.manual_seed(0)
    q, k, v = random(BATCH, 6, 7, D_K), random(BATCH, HEADS, 11, D_K), random(BATCH, HEADS, 11, D_V)
    theirs = torch.nn.functional.scaled_dot_product_attention(q, k, v, enable_gqa=True)
    torch.testing.assert_close(grouped(q, k, v).output, theirs)
    arrays = (tensor.numpy() for tensor in (q, k, v))
    torch.testing.assert_close(torch.from_numpy(grouped(*arrays).output), theirs)


@pytest.mark.parametrize("groups", [(2, 2), (3, 1), (5, 5)])
def test_heads_that_do_not_share_equally_are_refused(groups):
    k, v = random(BATCH, groups[0], 7, D_K), random(BATCH, groups[1], 7, D_V)
    with pytest.raises(ShapeError, match=r"same number of query heads"):
        grouped(random(BATCH, HEADS, 7, D_K), k, v)
