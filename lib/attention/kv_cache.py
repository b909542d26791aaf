"""The KV cache: the keys and values of past tokens, stored for the next token."""

from collections.abc import Callable
from typing import NamedTuple

from array_api_compat import array_namespace, device
from jaxtyping import Bool, Float

from lib.attention import masks
from lib.attention.dot_product import attend
from lib.shapes import Array, AttentionOutput, mismatch


class KeysValues(NamedTuple):
    """The keys and values of all tokens so far."""

    keys: Float[Array, "*batch key d_k"]
    values: Float[Array, "*batch key d_v"]


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

    def __init__(self, context_length: int, *, attention: Callable[..., AttentionOutput] = attend):
        self.context_length, self.used = context_length, 0
        self.attention = attention
        self.keys: Array | None = None
        self.values: Array | None = None

    def __call__(
        self,
        q: Float[Array, "*batch query d_k"],
        k: Float[Array, "... query d_k"],
        v: Float[Array, "... query d_v"],
        mask: Bool[Array, "..."] | None = None,
    ) -> AttentionOutput:
        """Store the new keys and values, then attend to all stored keys."""
        keys, values = self.store(k, v)
        if q.shape[-2] > 1:  # a single query is the last and attends to all keys
            past = masks.causal(q.shape[-2], keys.shape[-2], like=q)
            mask = past if mask is None else mask & past
        return self.attention(q, keys, values, mask)

    def store(
        self, k: Float[Array, "*batch query d_k"], v: Float[Array, "*batch query d_v"]
    ) -> KeysValues:
        """Append new keys and values, and return all that are stored."""
        start, end = self.used, self.used + k.shape[-2]
        if end > self.context_length:
            raise ValueError(
                f"The cache holds at most {self.context_length} tokens; got {k.shape[-2]} more "
                f"after {start}. Start a new cache with the end of the sequence."
            )
        if self.keys is None:
            self.keys, self.values = self._allocate(k), self._allocate(v)
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
        return KeysValues(self.keys[..., :end, :], self.values[..., :end, :])

    def _allocate(self, x: Float[Array, "*batch query d_k"]) -> Float[Array, "*batch key d_k"]:
        """Return uninitialised memory for vectors like these, up to the context length."""
        shape = (*x.shape[:-2], self.context_length, x.shape[-1])
        return array_namespace(x).empty(shape, dtype=x.dtype, device=device(x))
