"""Attention without its table: the scores are made, used and forgotten a tile at a time."""

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
    r"""Attend with memory for one tile of scores at a time.

    The output is that of `lib.attention.dot_product.attend`.

    For each block of queries, the keys pass by in blocks, and three things are kept of them: for
    each row its largest score $m$, the sum $\ell$ of its exponentials, and their mixture $o$:
    $m' = \max(m, \max_j s_j)$, then with $c = e^{m - m'}$ and $p_j = e^{s_j - m'}$,
    $\ell' = c\,\ell + \sum_j p_j$ and $o' = c\,o + \sum_j p_j v_j$. At the end $o / \ell$.
    With `causal`, the last query is aligned with the last key; tiles that no query may see are
    never made, and only those that the diagonal crosses are masked.

    Source: Dao et al. 2022, algorithm 1, with the queries in the outer loop as in Dao 2023,
    algorithm 1; Milakov and Gimelshein 2018, algorithm 3, for the sum.
    Taught in: chapter 14.
    Raises: ShapeError if the shapes do not fit or there is no key; TypeError if the numbers have
    no fractions; ValueError if a tile is empty, or if causal with more queries than keys.
    """
    _check(q, k, v)
    if rows < 1 or columns < 1:
        raise ValueError(f"A tile of {rows} by {columns} holds nothing. Give at least 1 of each.")
    if causal and q.shape[-2] > k.shape[-2]:
        raise ValueError(
            f"Of {q.shape[-2]} queries and {k.shape[-2]} keys, aligned at the end, the first "
            "queries may attend to nothing. Give at least as many keys as queries."
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
    mixture = np.zeros((len(q), v.shape[-1]), q.dtype)
    seen = len(k) if first is None else first + len(q)
    for left in range(0, seen, tile.shape[1]):
        right = min(left + tile.shape[1], seen)
        scores = np.matmul(q, k[left:right].T, out=tile[: len(q), : right - left])
        if first is not None and right > first + 1:
            later = np.arange(left, right) > first + np.arange(len(q))[:, None]
            scores[later] = -np.inf
        highest = np.maximum(maximum, scores.max(axis=1, keepdims=True))
        # What was summed relative to the old maximum is brought to the new one.
        correction = np.exp(maximum - highest)
        np.exp(np.subtract(scores, highest, out=scores), out=scores)
        total = correction * total + scores.sum(axis=1, keepdims=True)
        mixture *= correction
        mixture += scores @ v[left:right]
        maximum = highest
    return mixture / total


def _check(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> None:
    """Say what does not fit before a loop stumbles over it."""
    if q.shape[-1] != k.shape[-1] or k.shape[:-1] != v.shape[:-1] or q.shape[:-2] != k.shape[:-2]:
        raise mismatch(
            "Queries and keys need one width, each key a value, and all the same leading axes.",
            "Give q (..., query, d_k), k (..., key, d_k) and v (..., key, d_v).",
            q=q,
            k=k,
            v=v,
        )
    if not k.shape[-2]:
        raise mismatch("There is nothing to attend to.", "Give at least one key.", k=k)
    if not all(np.issubdtype(one.dtype, np.floating) for one in (q, k, v)):
        raise TypeError(
            f"Shares are fractions, and q, k, v came as {q.dtype}, {k.dtype}, {v.dtype}. "
            "Give floats, for example q.astype(np.float32)."
        )
