"""Scaled dot-product attention: one definition for NumPy arrays and torch tensors."""

import math

from array_api_compat import array_namespace, device
from jaxtyping import Bool, Float

from lib.functional import softmax
from lib.shapes import Array, AttentionOutput, mismatch


def scores(
    q: Float[Array, "*#batch query d_k"],
    k: Float[Array, "*#batch key d_k"],
    *,
    scale: float | None = None,
) -> Float[Array, "*batch query key"]:
    r"""Compute the score matrix: one row for each query, one column for each key.

    $S = Q K^\top / \sqrt{d_k}$. Pass `scale` to multiply by a different factor than $1/\sqrt{d_k}$.

    Source: Vaswani et al. 2017, equation 1.
    Taught in: chapters 04 and 05.
    Raises: ShapeError if q and k have different dimensions.
    """
    if q.shape[-1] != k.shape[-1]:
        raise mismatch(
            "A query and a key must have the same dimension d_k.",
            "Make the last axes of q and k equal: project both to d_k components.",
            q=q,
            k=k,
        )
    xp = array_namespace(q, k)
    return xp.matmul(q, xp.matrix_transpose(k)) * (
        1 / math.sqrt(q.shape[-1]) if scale is None else scale
    )


def attend(
    q: Float[Array, "*#batch query d_k"],
    k: Float[Array, "*#batch key d_k"],
    v: Float[Array, "*#batch key d_v"],
    mask: Bool[Array, "..."] | None = None,
    *,
    scale: float | None = None,
) -> AttentionOutput:
    r"""Return for each query the average of the values, weighted by the softmax of its scores.

    $\mathrm{attend}(Q, K, V) = \mathrm{softmax}(Q K^\top / \sqrt{d_k})\, V$, row by row.
    The mask is boolean and broadcasts against (query, key): True means "may attend".
    A query that may attend to no key gets weights and output of zeros.

    Source: Vaswani et al. 2017, equation 1 and section 3.2.3 for the mask.
    Taught in: chapters 04 to 08.
    Raises: ShapeError if q, k, v or mask do not fit; TypeError if the mask is not boolean.
    """
    if k.shape[-2] != v.shape[-2]:
        raise mismatch(
            "Every key must have one value.",
            "Make the second-last axes of k and v equal.",
            k=k,
            v=v,
        )
    score_matrix = scores(q, k, scale=scale)
    where = None if mask is None else _fitting(mask, score_matrix)
    weights = softmax(score_matrix, where=where)
    return AttentionOutput(array_namespace(weights, v).matmul(weights, v), weights)


def _fitting(mask: Array, score_matrix: Array) -> Array:
    """Convert the mask to the library and device of the scores and broadcast it to their shape."""
    if "bool" not in str(mask.dtype):
        raise TypeError(
            f"`mask` must be boolean, True = may attend; got {mask.dtype}. "
            "Pass mask != 0 for a mask of ones and zeros, mask == 0 for a mask of 0 and -inf."
        )
    xp = array_namespace(score_matrix)
    try:
        return xp.broadcast_to(xp.asarray(mask, device=device(score_matrix)), score_matrix.shape)
    except (ValueError, RuntimeError) as error:
        raise mismatch(
            "`mask` must broadcast to the score matrix.",
            "Give it the shape (query, key), with leading axes of 1 or as in the scores.",
            mask=mask,
            scores=score_matrix,
        ) from error
