"""Positional encodings, without which attention ignores the order of tokens."""

import math

from array_api_compat import array_namespace, device
from jaxtyping import Float

from lib.shapes import Array, ShapeError


def _even(width: int) -> None:
    if width % 2:
        raise ShapeError(
            f"A positional encoding fills the components in pairs, so their number must be even; "
            f"got {width}."
        )


def _angles(positions: Array, width: int, base: float) -> Array:
    """Give every pair of features its own frequency, from 1 radian per position to 1/base."""
    xp = array_namespace(positions)
    pairs = xp.arange(width // 2, dtype=positions.dtype, device=device(positions))
    return positions[:, None] * xp.exp(pairs * (-2 * math.log(base) / width))[None, :]


def sinusoidal(
    n: int, d_model: int, *, base: float = 10000.0, like: Array | None = None
) -> Float[Array, "n d_model"]:
    r"""Encode each position by sines and cosines of many frequencies, like the hands of clocks.

    $P_{t,2i} = \sin(t / b^{2i/d})$ and $P_{t,2i+1} = \cos(t / b^{2i/d})$ with $b = 10000$,
    so that a shift by a fixed number of positions is the same rotation everywhere.

    Source: Vaswani et al. 2017, section 3.5.
    Taught in: chapter 07.
    Raises: ShapeError if d_model is odd.
    """
    _even(d_model)
    if like is None:
        import numpy as np

        like = np.empty(0)
    xp = array_namespace(like)
    angles = _angles(xp.arange(n, dtype=like.dtype, device=device(like)), d_model, base)
    return xp.reshape(xp.stack([xp.sin(angles), xp.cos(angles)], axis=-1), (n, d_model))


def rotary(
    x: Float[Array, "*batch n d_k"], *, base: float = 10000.0
) -> Float[Array, "*batch n d_k"]:
    r"""Rotate each query and key by its position, so that scores depend on relative position only.

    Each pair $(x_{2i}, x_{2i+1})$ at position $t$ is rotated by the angle $t / b^{2i/d}$.

    Source: Su et al. 2021, equation 34.
    Taught in: chapter 07.
    Raises: ShapeError if d_k is odd.
    """
    _even(x.shape[-1])
    xp = array_namespace(x)
    angles = _angles(xp.arange(x.shape[-2], dtype=x.dtype, device=device(x)), x.shape[-1], base)
    even, odd = x[..., 0::2], x[..., 1::2]
    rotated = [
        even * xp.cos(angles) - odd * xp.sin(angles),
        even * xp.sin(angles) + odd * xp.cos(angles),
    ]
    return xp.reshape(xp.stack(rotated, axis=-1), x.shape)
