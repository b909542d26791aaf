"""Other attention weights with the same output: why weights alone are no explanation."""

import numpy as np
from jaxtyping import Float

from lib.shapes import mismatch


def null_space(values: Float[np.ndarray, "key d_v"]) -> Float[np.ndarray, "... key"]:
    r"""The changes to a row of weights that no output can show, as rows at right angles.

    All z with $z V = 0$ and $\sum_j z_j = 0$: what $[V, 1]$ sends to zero. There are
    $n - \mathrm{rank}\,[V, 1]$ of them, so at least one as soon as $n > d_v + 1$.

    Source: Brunner et al. 2020, section 3 (the null space of the values, and of the sum).
    Taught in: chapter 16.
    """
    seen = np.concatenate([values, np.ones((len(values), 1))], axis=1)  # (key, d_v + 1)
    left, sizes, _ = np.linalg.svd(seen)
    rank = int((sizes > sizes[0] * max(seen.shape) * np.finfo(sizes.dtype).eps).sum())
    return left[:, rank:].T


def other_weights(
    weights: Float[np.ndarray, " key"],
    values: Float[np.ndarray, "key d_v"],
    cost: Float[np.ndarray, " key"],
) -> Float[np.ndarray, " key"]:
    r"""Of all rows of weights with the same output, one for which $\sum_j c_j w_j$ is least.

    Minimise $c \cdot w'$ subject to $w' V = w V$, $\sum_j w'_j = 1$ and $w' \ge 0$: a linear
    program. With c = 1 at one key and 0 elsewhere it takes from that key all that can be taken.

    Source: Brunner et al. 2020, section 3, for the freedom; the program is the usual one.
    Taught in: chapter 16.
    Raises: ShapeError if there is not one weight, one value and one cost for each key.
    """
    if not len(weights) == len(values) == len(cost):
        raise mismatch(
            "Every key has one weight, one value and one cost.",
            "Give a row of weights for one query, and the values of the keys it may see.",
            weights=weights,
            values=values,
            cost=cost,
        )
    from scipy.optimize import linprog  # takes a quarter of a second, and few need it

    seen = np.concatenate([values, np.ones((len(values), 1))], axis=1)  # (key, d_v + 1)
    found = linprog(cost, A_eq=seen.T, b_eq=weights @ seen, bounds=(0, None), method="highs")
    # The row itself is a solution; only rounding can hide it.
    return found.x if found.success else weights
