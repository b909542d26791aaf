"""The KV cache: the keys and values of past tokens, stored for the next token."""

from jaxtyping import Bool, Float
from torch import Tensor

from lib.attention.fused import fused
from lib.shapes import AttentionOutput, mismatch


class KeyValueCache:
    r"""Store the keys and values of the tokens so far, so that only new tokens are projected.

    Pass it in place of `attend`: called with the new queries, keys and values, it appends the keys
    and values to the cache and lets each query attend to all keys up to its own position.
    Memory for `context_length` tokens is allocated once: $2\, n\, d$ numbers per layer, with n the
    context length.

    Source: the cache follows from causality: what a token hands over depends only on its past.
    Shazeer 2019, section 2.4, gives its cost.
    Taught in: chapters 12 and 14.
    Raises: ValueError if the cache is full, ShapeError if it holds keys of a different shape.
    """

    def __init__(self, context_length: int):
        self.context_length, self.used = context_length, 0
        self.keys: Tensor | None = None
        self.values: Tensor | None = None

    def __call__(
        self,
        q: Float[Tensor, "*batch query d_k"],
        k: Float[Tensor, "*batch query d_k"],
        v: Float[Tensor, "*batch query d_v"],
        mask: Bool[Tensor, "..."] | None = None,
    ) -> AttentionOutput:
        """Store the new keys and values, then attend to all stored keys."""
        self.store(k, v)
        keys, values = (stored[..., : self.used, :] for stored in (self.keys, self.values))
        return fused(q, keys, values, mask, causal=True)

    def store(
        self, k: Float[Tensor, "*batch query d_k"], v: Float[Tensor, "*batch query d_v"]
    ) -> None:
        """Append new keys and values to the stored keys and values."""
        start, end = self.used, self.used + k.shape[-2]
        if end > self.context_length:
            raise ValueError(
                f"The cache holds at most {self.context_length} tokens; got {k.shape[-2]} more "
                f"after {start}. Start a new cache with the end of the sequence."
            )
        if self.keys is None:
            self.keys = k.new_empty(*k.shape[:-2], self.context_length, k.shape[-1])
            self.values = v.new_empty(*v.shape[:-2], self.context_length, v.shape[-1])
        if any(
            (*stored.shape[:-2], stored.shape[-1]) != (*new.shape[:-2], new.shape[-1])
            for stored, new in ((self.keys, k), (self.values, v))
        ):
            raise mismatch(
                "New keys and values must have the batch, heads and dimensions of the stored ones.",
                "Start a new cache for other sequences.",
                stored=self.keys[..., :start, :],
                k=k,
            )
        self.keys[..., start:end, :], self.values[..., start:end, :] = k, v
        self.used = end
