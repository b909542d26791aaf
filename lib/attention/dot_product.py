"""Attention itself: one definition, for NumPy arrays and torch tensors alike."""

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
    r"""Score every query against every key: a table with a row for each query.

    $S = Q K^\top / \sqrt{d_k}$. Pass `scale` to multiply by another number than $1/\sqrt{d_k}$.

    Source: Vaswani et al. 2017, equation 1.
    Taught in: chapters 04 and 05.
    Raises: ShapeError if q and k have different widths.
    """
    if q.shape[-1] != k.shape[-1]:
        raise mismatch(
            "A query can only be compared with keys of its own width d_k.",
            "Make the last axes of q and k equal: project both to d_k numbers.",
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
    r"""Give each query the average of the values, weighted by how well its key fits the query.

    $\mathrm{attend}(Q, K, V) = \mathrm{softmax}(Q K^\top / \sqrt{d_k})\, V$, row by row.
    The mask is boolean and broadcasts against (query, key): True means "may attend".
    A query that may attend to nothing gets weights and output of zeros.

    Source: Vaswani et al. 2017, equation 1 and section 3.2.3 for the mask.
    Taught in: chapters 04 to 08.
    Raises: ShapeError if q, k, v or mask do not fit; TypeError if the mask is not boolean.
    """
    if k.shape[-2] != v.shape[-2]:
        raise mismatch(
            "Every key needs a value of its own.",
            "Make the second-last axes of k and v equal.",
            k=k,
            v=v,
        )
    table = scores(q, k, scale=scale)
    weights = softmax(table, where=None if mask is None else _fitting(mask, table))
    return AttentionOutput(array_namespace(weights, v).matmul(weights, v), weights)


def _fitting(mask: Array, table: Array) -> Array:
    """Bring the mask to the library and device of the scores, or say why it does not fit."""
    if "bool" not in str(mask.dtype):
        raise TypeError(
            f"A mask is boolean, True = may attend, and this one is {mask.dtype}. "
            "Write mask != 0 for one of ones and zeros, mask == 0 for one of 0 and -inf."
        )
    xp = array_namespace(table)
    try:
        return xp.broadcast_to(xp.asarray(mask, device=device(table)), table.shape)
    except (ValueError, RuntimeError) as error:
        raise mismatch(
            "The mask does not broadcast to the table of scores.",
            "Give it the shape (query, key), with leading axes of 1 or as in the scores.",
            mask=mask,
            scores=table,
        ) from error
