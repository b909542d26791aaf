"""The KV cache: keys and values of past tokens, kept for the next one."""

from jaxtyping import Bool, Float
from torch import Tensor

from lib.attention.fused import fused
from lib.shapes import AttentionOutput, mismatch


class KeyValueCache:
    r"""Remember the keys and values of the tokens so far; only new tokens are projected.

    It stands in for `attend`: called with the new queries, keys and values, it adds the new keys
    and values to the store and lets the queries attend to all of it, each to its own past.
    Room for `context_length` tokens is taken once: $2\, n\, d$ numbers a
    layer, with n the context length.

    Source: the store follows from causality: what a token hands over depends on its past alone.
    Shazeer 2019, section 2.4, gives its cost.
    Taught in: chapters 12 and 14.
    Raises: ValueError if there is no room left, ShapeError if it holds keys of another shape.
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
        """Store the new keys and values, and attend to all that are stored."""
        self.store(k, v)
        keys, values = (old[..., : self.used, :] for old in (self.keys, self.values))
        return fused(q, keys, values, mask, causal=True)

    def store(
        self, k: Float[Tensor, "*batch query d_k"], v: Float[Tensor, "*batch query d_v"]
    ) -> None:
        """Put new keys and values behind those that are stored."""
        start, end = self.used, self.used + k.shape[-2]
        if end > self.context_length:
            raise ValueError(
                f"The cache has room for {self.context_length} tokens, holds {start} and was given "
                f"{k.shape[-2]} more. Start a new cache with the end of the text."
            )
        if self.keys is None:
            self.keys = k.new_empty(*k.shape[:-2], self.context_length, k.shape[-1])
            self.values = v.new_empty(*v.shape[:-2], self.context_length, v.shape[-1])
        if any(
            (*old.shape[:-2], old.shape[-1]) != (*new.shape[:-2], new.shape[-1])
            for old, new in ((self.keys, k), (self.values, v))
        ):
            raise mismatch(
                "A cache goes on with the sequences, heads and widths that it began with.",
                "Start a new cache for other sequences.",
                stored=self.keys[..., :start, :],
                k=k,
            )
        self.keys[..., start:end, :], self.values[..., start:end, :] = k, v
        self.used = end
