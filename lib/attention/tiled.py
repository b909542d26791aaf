"""Tiled attention: the scores are computed, used and discarded one tile at a time."""

import math

import numpy as np
from jaxtyping import Float

from lib.shapes import mismatch


def tiled(
    q: Float[np.ndarray, "*batch query d_k"],
    k: Float[np.ndarray, "*batch key d_k"],
    v: Float[np.ndarray, "*batch key d_v"],
    *,
    causal: bool = False,
    rows: int = 256,
    columns: int = 512,
) -> Float[np.ndarray, "*batch query d_v"]:
    r"""Attend with memory for only one tile of scores.

    The output equals that of `lib.attention.dot_product.attend`.

    For each block of queries, loop over blocks of keys and keep three quantities for each row:
    the largest score $m$, the sum of exponentials $\ell$, and the weighted sum of values $o$:
    $m' = \max(m, \max_j s_j)$, then with $c = e^{m - m'}$ and $p_j = e^{s_j - m'}$,
    $\ell' = c\,\ell + \sum_j p_j$ and $o' = c\,o + \sum_j p_j v_j$. At the end $o / \ell$.
    With `causal`, the last query is aligned with the last key; tiles above the diagonal are
    skipped, and only tiles that cross the diagonal are masked.

    Source: Dao et al. 2022, algorithm 1, with the queries in the outer loop as in Dao 2023,
    algorithm 1; Milakov and Gimelshein 2018, algorithm 3, for the sum.
    Taught in: chapter 14.
    Raises: ShapeError if the shapes do not fit or there is no key; TypeError if the arrays are not
    floating-point; ValueError if a tile is empty, or if causal with more queries than keys.
    """
    _check(q, k, v)
    if rows < 1 or columns < 1:
        raise ValueError(f"`rows` and `columns` must be at least 1; got {rows} and {columns}.")
    if causal and q.shape[-2] > k.shape[-2]:
        raise ValueError(
            f"Causal attention needs at least as many keys as queries; got {q.shape[-2]} queries "
            f"and {k.shape[-2]} keys, so the first queries may attend to no key."
        )
    output = np.empty((*q.shape[:-1], v.shape[-1]), q.dtype)
    tile = np.empty((min(rows, q.shape[-2]), min(columns, k.shape[-2])), q.dtype)
    for head in np.ndindex(q.shape[:-2]):
        for top in range(0, q.shape[-2], rows):
            block = slice(top, min(top + rows, q.shape[-2]))
            first = block.start + k.shape[-2] - q.shape[-2] if causal else None
            output[head][block] = attend_rows(q[head][block], k[head], v[head], first, tile)
    return output


def attend_rows(
    q: Float[np.ndarray, "query d_k"],
    k: Float[np.ndarray, "key d_k"],
    v: Float[np.ndarray, "key d_v"],
    first: int | None,
    tile: Float[np.ndarray, "..."],
) -> Float[np.ndarray, "query d_v"]:
    """Let a block of queries attend, tile by tile; the first sees the keys up to index `first`.

    Source: Milakov and Gimelshein 2018, algorithm 3; Dao et al. 2022, algorithm 1.
    Taught in: chapter 14.
    """
    q = q / math.sqrt(q.shape[-1])
    maximum = np.full((len(q), 1), -np.inf, q.dtype)
    total = np.zeros_like(maximum)
    weighted = np.zeros((len(q), v.shape[-1]), q.dtype)
    seen = len(k) if first is None else first + len(q)
    for left in range(0, seen, tile.shape[1]):
        right = min(left + tile.shape[1], seen)
        scores = np.matmul(q, k[left:right].T, out=tile[: len(q), : right - left])
        if first is not None and right > first + 1:
            later = np.arange(left, right) > first + np.arange(len(q))[:, None]
            scores[later] = -np.inf
        highest = np.maximum(maximum, scores.max(axis=1, keepdims=True))
        # The sums so far are relative to the old maximum: rescale them to the new one.
        correction = np.exp(maximum - highest)
        np.exp(np.subtract(scores, highest, out=scores), out=scores)
        total = correction * total + scores.sum(axis=1, keepdims=True)
        weighted *= correction
        weighted += scores @ v[left:right]
        maximum = highest
    return weighted / total


def _check(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> None:
    """Check shapes and dtypes before the loops start."""
    if q.shape[-1] != k.shape[-1] or k.shape[:-1] != v.shape[:-1] or q.shape[:-2] != k.shape[:-2]:
        raise mismatch(
            "q and k need the same dimension, k and v the same length, all the same leading axes.",
            "Give q (..., query, d_k), k (..., key, d_k) and v (..., key, d_v).",
            q=q,
            k=k,
            v=v,
        )
    if not k.shape[-2]:
        raise mismatch("Attention needs at least one key.", "Give a longer k and v.", k=k)
    if not all(np.issubdtype(array.dtype, np.floating) for array in (q, k, v)):
        raise TypeError(
            f"q, k and v must be floating-point; got {q.dtype}, {k.dtype}, {v.dtype}. "
            "Convert them, for example with q.astype(np.float32)."
        )
