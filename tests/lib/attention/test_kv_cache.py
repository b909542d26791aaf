"""A KV cache filled in pieces gives what all tokens at once would."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lib.attention import masks
from lib.attention.dot_product import attend
from lib.attention.kv_cache import KeyValueCache
from lib.shapes import ShapeError
from tests.support.attention_inputs import BATCH, D_K, D_V, HEADS, projected


@given(st.lists(st.integers(1, 5), min_size=1, max_size=6))
def test_a_cache_filled_in_pieces_attends_as_if_all_had_come_at_once(pieces):
    n = sum(pieces)
    q, k, v = projected(n, n)
    cache, outputs = KeyValueCache(31), []
    for part in zip(*(x.split(pieces, dim=-2) for x in (q, k, v)), strict=True):
        outputs.append(cache(*part).output)
    expected = attend(q, k, v, masks.causal(n, like=q)).output
    torch.testing.assert_close(torch.cat(outputs, dim=-2), expected)
    assert cache.used == n


def test_room_is_taken_once_for_all_that_may_come():
    q, k, v = projected(11, 11)
    cache = KeyValueCache(13)
    cache(q[..., :2, :], k[..., :2, :], v[..., :2, :])
    assert cache.keys.shape == (BATCH, HEADS, 13, D_K)
    assert cache.values.shape == (BATCH, HEADS, 13, D_V)
    places = cache.keys.data_ptr(), cache.values.data_ptr()
    for i in range(2, 11):
        cache(*(x[..., i : i + 1, :] for x in (q, k, v)))
    assert (cache.keys.data_ptr(), cache.values.data_ptr()) == places
    torch.testing.assert_close(cache.keys[..., :11, :], k)


def test_a_mask_may_hide_what_is_stored():
    q, k, v = projected(5, 5)
    cache = KeyValueCache(5)
    cache(*(x[..., :3, :] for x in (q, k, v)))
    seen = torch.tensor([True, False, True, True, True])
    output = cache(*(x[..., 3:, :] for x in (q, k, v)), seen.expand(2, 5)).output
    allowed = masks.causal(2, 5, like=q) & seen
    torch.testing.assert_close(output, attend(q[..., 3:, :], k, v, allowed).output)


def test_a_full_cache_says_what_to_do():
    q, k, v = projected(3, 3)
    cache = KeyValueCache(5)
    cache(q, k, v)
    with pytest.raises(ValueError, match=r"at most 5 tokens; got 3 more after 3. Start"):
        cache(q, k, v)


@pytest.mark.parametrize("axis", [0, 1, 3], ids=["batch", "heads", "width"])
def test_a_stale_cache_does_not_mix_with_other_sequences(axis):
    q, k, v = projected(3, 3)
    cache = KeyValueCache(7)
    cache(q, k, v)
    with pytest.raises(ShapeError, match=r"Start a new cache"):
        cache(*(x.narrow(axis, 0, 1) for x in (q, k, v)))
