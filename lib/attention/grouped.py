"""Multi-query and grouped-query attention: fewer KV heads than query heads."""

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
    r"""Attend with fewer KV heads than query heads: neighbouring query heads share a KV head.

    With $h$ query heads and $g$ KV heads, query head $i$ reads KV head $\lfloor i g / h \rfloor$.
    The result equals `lib.attention.dot_product.attend` on keys and values repeated $h / g$ times,
    without the copies: the queries of a group are concatenated along the query axis.
    $g = h$ is multi-head attention, $g = 1$ is multi-query attention.

    Source: Ainslie et al. 2023, section 2.2; Shazeer 2019, section 3, for one KV head.
    Taught in: chapter 14.
    Raises: ShapeError unless k and v have the same number of heads and it divides that of q.
    """
    heads, groups = q.shape[-3], k.shape[-3]
    if heads % groups or v.shape[-3] != groups:
        raise mismatch(
            "Each KV head must serve the same number of query heads.",
            "Give k and v the same number of heads, a divisor of the number in q.",
            q=q,
            k=k,
            v=v,
        )
    stack = "... (group member) n d -> ... group (member n) d"
    unstack = "... group (member n) d -> ... (group member) n d"
    if mask is not None and mask.ndim > 1:
        has_heads = mask.ndim > 2 and mask.shape[-3] > 1
        pattern = stack if has_heads else "... n d -> ... (member n) d"
        # A mask with a single row for all queries needs one row for each before it is stacked.
        rows = repeat(mask, "... n m -> ... (n rest) m", rest=q.shape[-2] // mask.shape[-2])
        mask = repeat(rows, pattern, member=heads // groups)
    output, weights = attend(rearrange(q, stack, group=groups), k, v, mask)
    members = heads // groups
    return AttentionOutput(*(rearrange(x, unstack, member=members) for x in (output, weights)))
