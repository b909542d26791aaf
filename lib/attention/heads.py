"""Split the feature axis into heads and merge it again, for NumPy and torch."""

from einops import rearrange
from jaxtyping import Float

from lib.shapes import Array


def split_heads(
    x: Float[Array, "*batch n d_model"], heads: int
) -> Float[Array, "*batch head n d_k"]:
    """Split each vector into equal slices, one for each head, and move the head axis forward.

    Source: Vaswani et al. 2017, section 3.2.2.
    Taught in: chapter 09.
    Raises: EinopsError if d_model is not divisible by the number of heads.
    """
    return rearrange(x, "... n (head d_k) -> ... head n d_k", head=heads)


def merge_heads(x: Float[Array, "*batch head n d_k"]) -> Float[Array, "*batch n d_model"]:
    """Concatenate the vectors of all heads: the inverse of `split_heads`.

    Source: Vaswani et al. 2017, section 3.2.2.
    Taught in: chapter 09.
    """
    return rearrange(x, "... head n d_k -> ... n (head d_k)")
