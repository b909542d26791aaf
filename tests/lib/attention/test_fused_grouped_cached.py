"""The fused kernel and the cache give what `attend` gives, and refuse what would be wrong."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.utils._python_dispatch import TorchDispatchMode

from lib.attention import masks
from lib.attention.dot_product import attend
from lib.attention.fused import fused
from lib.attention.grouped import grouped
from lib.attention.kv_cache import KeyValueCache
from lib.shapes import ShapeError

BATCH, HEADS, D_K, D_V = 2, 3, 5, 7


def random(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, dtype=torch.float64)


def projected(queries: int, keys: int) -> tuple[torch.Tensor, ...]:
    torch.manual_seed(queries + keys)
    return (random(BATCH, HEADS, queries, D_K), random(BATCH, HEADS, keys, D_K),
            random(BATCH, HEADS, keys, D_V))  # fmt: skip


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


def numbers_held(call) -> int:
    """How many numbers the largest tensor held that an operator made inside the call."""

    class Largest(TorchDispatchMode):
        size = 0

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            made = func(*args, **(kwargs or {}))
            for tensor in made if isinstance(made, tuple) else (made,):
                if isinstance(tensor, torch.Tensor):
                    self.size = max(self.size, tensor.numel())
            return made

    with Largest() as largest:
        call()
    return largest.size


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
