"""Grouped-query attention equals Llama's attention in transformers, whole and with a cache."""

import pytest
import torch
from transformers.models.llama.configuration_llama import LlamaConfig
from transformers.models.llama.modeling_llama import LlamaAttention, LlamaRotaryEmbedding

from lib.attention import masks
from lib.attention.fused import fused
from lib.attention.grouped import grouped
from lib.attention.grouped_query import GroupedQueryAttention
from lib.attention.kv_cache import KeyValueCache
from lib.attention.multi_head import MultiHeadAttention

BATCH, N, HEADS, KV_HEADS, D_K, BASE = 2, 7, 6, 3, 10, 500.0
D_MODEL = HEADS * D_K


def ours(**options) -> GroupedQueryAttention:
    torch.manual_seed(0)
    return GroupedQueryAttention(D_MODEL, HEADS, KV_HEADS, **{"base": BASE} | options).double()


def sequences() -> torch.Tensor:
    torch.manual_seed(1)
    return torch.randn(BATCH, N, D_MODEL, dtype=torch.float64)


def by_transformers(module: GroupedQueryAttention, x: torch.Tensor) -> torch.Tensor:
    """The output of LlamaAttention with the same weights, under a causal mask."""
    config = LlamaConfig(
        hidden_size=D_MODEL, num_attention_heads=HEADS, num_key_value_heads=KV_HEADS,
        rope_theta=BASE, attn_implementation="eager",
    )  # fmt: skip
    theirs = LlamaAttention(config, layer_idx=0).double()
    names = {"query": "q", "key": "k", "value": "v", "out": "o"}
    theirs.load_state_dict({f"{short}_proj.weight": getattr(module, name).weight
                            for name, short in names.items()})  # fmt: skip
    angles = LlamaRotaryEmbedding(config).double()(x, torch.arange(N)[None])
    mask = torch.full((N, N), -torch.inf, dtype=x.dtype).triu(1)[None, None]
    return theirs(x, angles, mask)[0]


def causal(x: torch.Tensor) -> torch.Tensor:
    return masks.causal(x.shape[-2], like=x)


def test_it_equals_llamas_attention():
    module, x = ours(), sequences()
    # The reference computes its angles in float32.
    torch.testing.assert_close(
        module(x, causal(x)).output, by_transformers(module, x), rtol=1e-5, atol=1e-6
    )


def test_neighbouring_pairs_are_a_different_function_with_the_same_weights():
    x = sequences()
    halves, neighbours = (ours(halves=pairs)(x, causal(x)).output for pairs in (True, False))
    torch.testing.assert_close(halves[:, 0], neighbours[:, 0])  # position 0 is not rotated
    assert (halves - neighbours)[:, 1:].abs().amax((0, 2)).min() > 1e-4


@pytest.mark.parametrize("chunk", [1, 2, 3])
def test_with_a_cache_the_positions_go_on(chunk):
    module, x = ours(), sequences()
    cache = KeyValueCache(N, attention=grouped)
    parts = [module(part, attention=cache).output for part in x.split(chunk, dim=1)]
    torch.testing.assert_close(torch.cat(parts, dim=1), module(x, causal(x)).output)
    assert cache.keys.shape == (BATCH, KV_HEADS, N, D_K)


def test_the_fused_kernel_takes_fewer_kv_heads():
    module, x = ours(), sequences()

    def kernel(q, k, v, mask):
        return fused(q, k, v, mask, causal=True)

    torch.testing.assert_close(module(x, attention=kernel).output, module(x, causal(x)).output)


def test_without_rotation_and_with_all_kv_heads_it_is_multi_head_attention():
    torch.manual_seed(0)
    plain = MultiHeadAttention(D_MODEL, HEADS).double()
    module = GroupedQueryAttention(D_MODEL, HEADS, HEADS, bias=True).double()
    module.load_state_dict(plain.state_dict())
    x = sequences()
    torch.testing.assert_close(module(x, causal(x)), plain(x, mask=causal(x)))


@pytest.mark.parametrize(("heads", "kv_heads"), [(7, 7), (6, 4)])
def test_heads_that_do_not_divide_are_refused(heads, kv_heads):
    with pytest.raises(ValueError, match=f"heads {heads}, kv_heads {kv_heads}"):
        GroupedQueryAttention(D_MODEL, heads, kv_heads)
