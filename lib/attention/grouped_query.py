"""Grouped-query attention with its projections and optional rotary positions, as a torch module."""

from collections.abc import Callable

import torch
from jaxtyping import Bool, Float
from torch import nn

from lib.attention.grouped import grouped
from lib.attention.heads import merge_heads, split_heads
from lib.attention.kv_cache import KeyValueCache
from lib.attention.positions import rotate, rotations
from lib.shapes import AttentionOutput


class GroupedQueryAttention(nn.Module):
    r"""Self-attention with fewer KV heads than query heads, and optionally with rotary positions.

    With $h$ query heads and $g$ KV heads, the key and value projections are $d \times g\,d_k$.
    With a `base`, queries and keys are rotated by their positions before they meet.
    With g = h and without a base this is `MultiHeadAttention` on its own sequence.

    Source: Ainslie et al. 2023, section 2.2; Su et al. 2021, section 3.2.2.
    Taught in: chapter 18.
    Raises: ValueError if d_model is not divisible by heads, or heads by kv_heads.
    """

    def __init__(
        self,
        d_model: int,
        heads: int,
        kv_heads: int,
        *,
        base: float | None = None,
        halves: bool = True,
        bias: bool = False,
    ):
        super().__init__()
        if d_model % heads or heads % kv_heads:
            raise ValueError(
                "`heads` must divide `d_model`, and `kv_heads` must divide `heads`; got "
                f"d_model {d_model}, heads {heads}, kv_heads {kv_heads}."
            )
        self.heads, self.kv_heads, self.base, self.halves = heads, kv_heads, base, halves
        d_kv = d_model // heads * kv_heads
        self.query = nn.Linear(d_model, d_model, bias=bias)
        self.key = nn.Linear(d_model, d_kv, bias=bias)
        self.value = nn.Linear(d_model, d_kv, bias=bias)
        self.out = nn.Linear(d_model, d_model, bias=bias)

    def forward(
        self,
        x: Float[torch.Tensor, "*batch n d_model"],
        mask: Bool[torch.Tensor, "..."] | None = None,
        *,
        attention: Callable[..., AttentionOutput] = grouped,
    ) -> AttentionOutput:
        """Return the output, and the weights with a head axis before (query, key).

        `attention` may replace `grouped`, for example by a KV cache that calls it. The positions
        then continue those in the cache, which stores the rotated keys.
        """
        q = split_heads(self.query(x), self.heads)
        k = split_heads(self.key(x), self.kv_heads)
        v = split_heads(self.value(x), self.kv_heads)
        if self.base is not None:
            start = attention.used if isinstance(attention, KeyValueCache) else 0
            q, k = self.rotated(q, start), self.rotated(k, start)
        output, weights = attention(q, k, v, mask)
        return AttentionOutput(self.out(merge_heads(output)), weights)

    def rotated(
        self, x: Float[torch.Tensor, "*batch n d_k"], start: int
    ) -> Float[torch.Tensor, "*batch n d_k"]:
        """Rotate each query or key by its position, counted from `start`."""
        positions = torch.arange(start, start + x.shape[-2], dtype=x.dtype, device=x.device)
        rotation = rotations(positions, x.shape[-1], base=self.base)
        return rotate(x, rotation, halves=self.halves)
