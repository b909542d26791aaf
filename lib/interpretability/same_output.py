"""Different attention weights with the same output: why weights alone do not explain it."""

import numpy as np
from jaxtyping import Float

from lib.shapes import mismatch


def null_space(values: Float[np.ndarray, "key d_v"]) -> Float[np.ndarray, "... key"]:
    r"""Compute an orthonormal basis of the changes to a row of weights that keep its output.

    All z with $z V = 0$ and $\sum_j z_j = 0$: the left null space of $[V, 1]$. Its dimension is
    $n - \mathrm{rank}\,[V, 1]$, so at least 1 as soon as $n > d_v + 1$.

    Source: Brunner et al. 2020, section 3 (the null space of the values, and of the sum).
    Taught in: chapter 16.
    """
    extended = np.concatenate([values, np.ones((len(values), 1))], axis=1)  # (key, d_v + 1)
    left, singular, _ = np.linalg.svd(extended)
    threshold = singular[0] * max(extended.shape) * np.finfo(singular.dtype).eps
    rank = int((singular > threshold).sum())
    return left[:, rank:].T


def other_weights(
    weights: Float[np.ndarray, " key"],
    values: Float[np.ndarray, "key d_v"],
    cost: Float[np.ndarray, " key"],
) -> Float[np.ndarray, " key"]:
    r"""Return the row of weights with the same output that minimises $\sum_j c_j w_j$.

    Minimise $c \cdot w'$ subject to $w' V = w V$, $\sum_j w'_j = 1$ and $w' \ge 0$: a linear
    program. With c = 1 at one key and 0 elsewhere it minimises the weight of that key.

    Source: Brunner et al. 2020, section 3, for the null space; the linear program is standard.
    Taught in: chapter 16.
    Raises: ShapeError unless each key has one weight, one value and one cost.
    """
    if not len(weights) == len(values) == len(cost):
        raise mismatch(
            "Every key must have one weight, one value and one cost.",
            "Give a row of weights for one query, and the values of the keys it may see.",
            weights=weights,
            values=values,
            cost=cost,
        )
    from scipy.optimize import linprog  # slow to import, and rarely needed

    extended = np.concatenate([values, np.ones((len(values), 1))], axis=1)  # (key, d_v + 1)
    solution = linprog(
        cost, A_eq=extended.T, b_eq=weights @ extended, bounds=(0, None), method="highs"
    )
    # The given weights are feasible, so the solver can only fail by rounding.
    return solution.x if solution.success else weights
