"""The same attention with less to move: a fused kernel, shared keys, a store of past ones."""

import torch.nn.functional as F
from einops import rearrange, repeat
from jaxtyping import Bool, Float
from torch import Tensor

from lib import masks
from lib.attention import attend
from lib.onethread import ShortAttention, attends_here
from lib.shapes import Array, Attended, mismatch


def fused(
    q: Float[Tensor, "*batch query d_k"],
    k: Float[Tensor, "*batch key d_k"],
    v: Float[Tensor, "*batch key d_v"],
    mask: Bool[Tensor, "..."] | None = None,
    *,
    causal: bool = False,
    dropout: float = 0.0,
) -> Attended:
    r"""Attend in one kernel, which holds no table of weights and so cannot return it.

    The output is that of `lib.attention.attend`; the weights are None.
    With `causal`, each query sees the keys up to its own, the last query aligned with the last key.
    Where a short text is learned on one thread, `lib.onethread` has another way. Elsewhere
    PyTorch chooses the kernel, and where it has none it holds the table after all. On a CPU that is
    so with dropout, with $d_v \ne d_k$, and with more than one axis before that of the heads.

    Source: Dao et al. 2022, algorithm 1, as PyTorch's scaled_dot_product_attention implements it.
    Taught in: chapter 14.
    Raises: ValueError if it is causal and there are more queries than keys.
    """
    queries, keys = q.shape[-2], k.shape[-2]
    # The kernel's own causal mask aligns the first query with the first key: ours the last ones.
    if causal and (mask is not None or 1 < queries != keys):
        past = masks.causal(queries, keys, like=q)
        mask, causal = past if mask is None else mask & past, False
    four = [_with_four_axes(one) for one in (q, k, v)]
    if causal and not dropout and attends_here(*four):
        output = ShortAttention.apply(*four)
    else:  # a single query is the last one, and sees everything
        output = F.scaled_dot_product_attention(
            *four,
            None if mask is None else _with_four_axes(mask),
            dropout_p=dropout,
            is_causal=causal and queries > 1,
        )
    return Attended(output.reshape(*q.shape[:-1], v.shape[-1]), None)


def _with_four_axes(x: Tensor) -> Tensor:
    """Put axes of length 1 in front: for fewer than four, PyTorch falls back to a whole table."""
    return x[(None,) * (4 - x.ndim)]


def grouped(
    q: Float[Array, "*batch head query d_k"],
    k: Float[Array, "... key d_k"],
    v: Float[Array, "... key d_v"],
    mask: Bool[Array, "..."] | None = None,
) -> Attended:
    r"""Attend with fewer heads of keys and values than of queries: neighbours share them.

    With $h$ query heads and $g$ heads of keys, query head $i$ reads number
    $\lfloor i g / h \rfloor$. The result is that of `lib.attention.attend` on keys and values
    repeated $h / g$ times each, without the copies: the queries of a group stand below each other.
    $g = h$ is the usual attention, $g = 1$ is multi-query attention.

    Source: Ainslie et al. 2023, section 2.2; Shazeer 2019, section 3, for one head of keys.
    Taught in: chapter 14.
    Raises: ShapeError if the groups do not divide the heads, or keys and values differ in them.
    """
    heads, groups = q.shape[-3], k.shape[-3]
    if heads % groups or v.shape[-3] != groups:
        raise mismatch(
            "Each head of keys and values serves equally many heads of queries.",
            "Give k and v one number of heads, a divisor of q's.",
            q=q,
            k=k,
            v=v,
        )
    below = "... (group one) n d -> ... group (one n) d"
    back = "... group (one n) d -> ... (group one) n d"
    if mask is not None and mask.ndim > 1:
        of_heads = below if mask.ndim > 2 and mask.shape[-3] > 1 else "... n d -> ... (one n) d"
        # A mask with one row for all queries needs one for each, to be repeated with them.
        rows = repeat(mask, "... n m -> ... (n rest) m", rest=q.shape[-2] // mask.shape[-2])
        mask = repeat(rows, of_heads, one=heads // groups)
    output, weights = attend(rearrange(q, below, group=groups), k, v, mask)
    return Attended(*(rearrange(x, back, one=heads // groups) for x in (output, weights)))


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
        self.store(k, v)
        keys, values = (old[..., : self.used, :] for old in (self.keys, self.values))
        return fused(q, keys, values, mask, causal=True)

    def store(
        self, k: Float[Tensor, "*batch query d_k"], v: Float[Tensor, "*batch query d_v"]
    ) -> None:
        """Put new keys and values behind those that are stored."""
        start, end = self.used, self.used + k.shape[-2]
        if end > self.longest:
            raise ValueError(
                f"The cache has room for {self.longest} tokens, holds {start} and was given "
                f"{k.shape[-2]} more. Start a new cache with the end of the text."
            )
        if self.keys is None:
            self.keys = k.new_empty(*k.shape[:-2], self.longest, k.shape[-1])
            self.values = v.new_empty(*v.shape[:-2], self.longest, v.shape[-1])
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
