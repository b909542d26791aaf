"""Positional encodings, without which attention ignores the order of tokens."""

from typing import NamedTuple

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
    # In float64 first: a frequency that is rounded once is right up to the farthest position.
    frequencies = [base ** (-2 * pair / width) for pair in range(width // 2)]
    xp = array_namespace(positions)
    return positions[..., None] * xp.asarray(
        frequencies, dtype=positions.dtype, device=device(positions)
    )


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


class Rotation(NamedTuple):
    """The cosine and the sine of every position's angle, one for each pair of components."""

    cos: Float[Array, "*batch n pair"]
    sin: Float[Array, "*batch n pair"]


def rotations(positions: Float[Array, "*batch n"], d_k: int, *, base: float = 10000.0) -> Rotation:
    r"""Compute the rotation of each position: pair i of position t turns by $t / b^{2i/d}$ radians.

    All layers and heads of a model use the same rotations, so compute them once.

    Source: Su et al. 2021, equation 15.
    Taught in: chapter 18.
    Raises: ShapeError if d_k is odd.
    """
    _even(d_k)
    xp = array_namespace(positions)
    angles = _angles(positions, d_k, base)
    return Rotation(xp.cos(angles), xp.sin(angles))


def rotate(
    x: Float[Array, "*batch n d_k"], rotation: Rotation, *, halves: bool = False
) -> Float[Array, "*batch n d_k"]:
    r"""Rotate the pairs of each vector: neighbours $(x_{2i}, x_{2i+1})$, or halves.

    With `halves`, component i is paired with component $i + d_k/2$. The two conventions differ only
    in the order of the components, but weights trained with one are wrong with the other.

    Source: Su et al. 2021, equation 34 (neighbours); the released code of Llama's port to
    `transformers` (halves).
    Taught in: chapter 18.
    """
    xp, middle = array_namespace(x), x.shape[-1] // 2
    first, second = (x[..., :middle], x[..., middle:]) if halves else (x[..., 0::2], x[..., 1::2])
    turned = (
        first * rotation.cos - second * rotation.sin,
        first * rotation.sin + second * rotation.cos,
    )
    if halves:
        return xp.concat(turned, axis=-1)
    return xp.reshape(xp.stack(turned, axis=-1), x.shape)


def rotary(
    x: Float[Array, "*batch n d_k"], *, base: float = 10000.0, halves: bool = False
) -> Float[Array, "*batch n d_k"]:
    r"""Rotate each query and key by its position, so that scores depend on relative position only.

    Each pair $(x_{2i}, x_{2i+1})$ at position $t$ is rotated by the angle $t / b^{2i/d}$;
    with `halves`, each pair $(x_i, x_{i+d/2})$.

    Source: Su et al. 2021, equation 34.
    Taught in: chapters 07 and 18.
    Raises: ShapeError if d_k is odd.
    """
    positions = array_namespace(x).arange(x.shape[-2], dtype=x.dtype, device=device(x))
    return rotate(x, rotations(positions, x.shape[-1], base=base), halves=halves)
