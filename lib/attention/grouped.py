"""Fewer heads of keys and values than of queries: multi-query and grouped-query attention."""

from einops import rearrange, repeat
from jaxtyping import Bool, Float

from lib.attention.dot_product import attend
from lib.shapes import Array, AttentionOutput, mismatch


def grouped(
    q: Float[Array, "*batch head query d_k"],
    k: Float[Array, "... key d_k"],
    v: Float[Array, "... key d_v"],
    mask: Bool[Array, "..."] | None = None,
) -> AttentionOutput:
    r"""Attend with fewer heads of keys and values than of queries: neighbours share them.

    With $h$ query heads and $g$ heads of keys, query head $i$ reads number
    $\lfloor i g / h \rfloor$. The result is that of `lib.attention.dot_product.attend` on keys and
    values repeated $h / g$ times each, without the copies: the queries of a group stand below each
    other.
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
    return AttentionOutput(*(rearrange(x, back, one=heads // groups) for x in (output, weights)))
