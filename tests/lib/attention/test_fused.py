"""Attention in torch's fused kernels equals attend."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lib.attention import masks
from lib.attention.dot_product import attend
from lib.attention.fused import fused
from tests.support.attention_inputs import BATCH, D_K, D_V, HEADS, numbers_held, projected, random


@given(st.integers(1, 13), st.integers(0, 11), st.booleans(), st.booleans())
def test_the_fused_kernel_mixes_as_attend_does(queries, older, causal, masked):
    q, k, v = projected(queries, queries + older)
    mask = torch.rand(BATCH, 1, queries, queries + older) < 0.7 if masked else None
    if masked:
        mask[..., 0] = True
    allowed = mask
    if causal:
        past = masks.causal(queries, queries + older, like=q)
        allowed = past if mask is None else past & mask
    attended = fused(q, k, v, mask, causal=causal)
    torch.testing.assert_close(attended.output, attend(q, k, v, allowed).output)
    assert attended.weights is None


def test_a_query_that_may_attend_to_nothing_gets_zeros_as_from_attend():
    q, k, v = projected(5, 7)
    mask = torch.rand(5, 7) < 0.5
    mask[3] = False
    torch.testing.assert_close(fused(q, k, v, mask).output, attend(q, k, v, mask).output)
    assert not fused(q, k, v, mask).output[..., 3, :].any()


@pytest.mark.parametrize("leading", [(), (HEADS,), (BATCH, HEADS)], ids=str)
@pytest.mark.parametrize("causal", [False, True])
def test_no_table_is_held_however_many_axes_stand_before_the_queries(leading, causal):
    q, k, v = random(3, *leading, 67, D_K)
    table = math.prod(leading) * 67 * 67
    assert numbers_held(lambda: attend(q, k, v)) == table
    assert numbers_held(lambda: fused(q, k, v, causal=causal)) < table / 2
    expected = attend(q, k, v, masks.causal(67, like=q) if causal else None).output
    torch.testing.assert_close(fused(q, k, v, causal=causal).output, expected)


@pytest.mark.parametrize("masked", [(11,), (7, 11), (HEADS, 7, 11)], ids=str)
def test_a_mask_with_few_axes_serves_queries_with_few(masked):
    q, k, v = random(HEADS, 7, D_K), random(HEADS, 11, D_K), random(HEADS, 11, D_V)
    mask = torch.arange(math.prod(masked)).reshape(masked) % 3 > 0
    torch.testing.assert_close(fused(q, k, v, mask).output, attend(q, k, v, mask).output)


def test_a_causal_call_with_more_queries_than_keys_is_refused():
    with pytest.raises(ValueError, match=r"got 7 queries, 5 keys"):
        fused(*projected(7, 5), causal=True)


def test_dropout_takes_weights_out_and_keeps_their_mean():
    torch.manual_seed(0)
    q, k = torch.zeros(1, 1, D_K), torch.zeros(1, 4001, D_K)
    output = fused(q, k, torch.ones(1, 4001, 1), dropout=0.25).output.item()
    assert output != 1
    assert output == pytest.approx(1, abs=0.05)
