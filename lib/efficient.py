"""The same attention with less to move: a fused kernel, and a store of past keys and values."""

import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor

from lib import masks
from lib.shapes import Attended, mismatch


def fused(
    q: Float[Tensor, "*batch query d_k"],
    k: Float[Tensor, "*batch key d_k"],
    v: Float[Tensor, "*batch key d_v"],
    mask: Bool[Tensor, "..."] | None = None,
    *,
    causal: bool = False,
    dropout: float = 0.0,
) -> Attended:
    r"""Attend in one kernel, which never holds the table of weights and so cannot return it.

    The output is that of `lib.attention.attend`; the weights are None.
    With `causal`, each query sees the keys up to its own, the last query aligned with the last key.

    Source: Dao et al. 2022, algorithm 1, as PyTorch's scaled_dot_product_attention implements it.
    Taught in: chapter 14.
    Raises: ValueError if it is causal and there are more queries than keys.
    """
    queries, keys = q.shape[-2], k.shape[-2]
    # The kernel's own causal mask aligns the first query with the first key: ours the last ones.
    if causal and (mask is not None or 1 < queries != keys):
        past = masks.causal(queries, keys, like=q)
        mask, causal = past if mask is None else mask & past, False
    # A single query is the last one, and sees everything.
    output = F.scaled_dot_product_attention(
        q, k, v, mask, dropout_p=dropout, is_causal=causal and queries > 1
    )
    return Attended(output, None)


class KeyValueCache:
    r"""Remember the keys and values of the tokens so far; only new tokens are projected.

    It stands in for `attend`: called with the new queries, keys and values, it adds the new keys
    and values to the store and lets the queries attend to all of it, each to its own past.
    Room for `longest` tokens is taken once: $2 \cdot \text{longest} \cdot d$ numbers a layer.

    Source: the store follows from causality: what a token hands over depends on its past alone.
    Shazeer 2019, section 2.4, gives its cost.
    Taught in: chapters 12 and 14.
    Raises: ValueError if there is no room left, ShapeError if it holds keys of another shape.
    """

    def __init__(self, longest: int):
        self.longest, self.used = longest, 0
        self.keys: Tensor | None = None
        self.values: Tensor | None = None

    def __call__(
        self,
        q: Float[Tensor, "*batch query d_k"],
        k: Float[Tensor, "*batch query d_k"],
        v: Float[Tensor, "*batch query d_v"],
        mask: Bool[Tensor, "..."] | None = None,
    ) -> Attended:
        """Store the new keys and values, and attend to all that are stored."""
        start, end = self.used, self.used + k.shape[-2]
        if end > self.longest:
            raise ValueError(
                f"The cache has room for {self.longest} tokens, holds {start} and was given "
                f"{k.shape[-2]} more. Start a new cache with the end of the text."
            )
        if self.keys is None:
            self.keys = k.new_empty(*k.shape[:-2], self.longest, k.shape[-1])
            self.values = v.new_empty(*v.shape[:-2], self.longest, v.shape[-1])
        if self.keys.shape[:-2] != k.shape[:-2]:
            raise mismatch(
                "A cache goes on with the sequences and heads that it began with.",
                "Start a new cache for other sequences.",
                stored=self.keys[..., :start, :],
                k=k,
            )
        self.keys[..., start:end, :], self.values[..., start:end, :] = k, v
        self.used = end
        return fused(q, self.keys[..., :end, :], self.values[..., :end, :], mask, causal=True)
