"""What tables and vectors can be made to say: other weights with one output, and linear probes."""

import numpy as np
from jaxtyping import Float, Shaped

from lib.shapes import mismatch


def unseen(values: Float[np.ndarray, "key d_v"]) -> Float[np.ndarray, "... key"]:
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


def twin(
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


def ridge(
    x: Float[np.ndarray, "n features"],
    y: Float[np.ndarray, "n ..."],
    new: Float[np.ndarray, "key features"],
    *,
    decay: float = 1.0,
) -> Float[np.ndarray, "key ..."]:
    r"""A linear probe: fit a straight map from vectors to targets, and apply it to new vectors.

    With both centred by their means over the examples, $W = X^\top (X X^\top + \lambda I)^{-1} Y$.
    A larger $\lambda$ (`decay`, in units of the mean squared length) fits less closely. A class is
    a row of zeros and a one, and the largest answer wins.

    Source: Hoerl and Kennard 1970, equation 2.1, in its dual form; Alain and Bengio 2017 (probes).
    Taught in: chapter 16.
    """
    centre, mean = x.mean(0), y.mean(0)
    vectors = x - centre
    products = vectors @ vectors.T  # (n, n)
    products += decay * max(products.trace() / len(x), 1e-12) * np.eye(len(x))
    fitted = np.linalg.solve(products, (y - mean).reshape(len(y), -1))
    answers = (new - centre) @ vectors.T @ fitted  # (key, columns of y)
    return answers.reshape(len(new), *y.shape[1:]) + mean


def held_out(
    x: Float[np.ndarray, "n features"],
    y: Float[np.ndarray, "n ..."],
    groups: Shaped[np.ndarray, " n"],
    *,
    decay: float = 1.0,
) -> Float[np.ndarray, "n ..."]:
    """What a probe answers for each example, fitted to the others that are not of its group.

    Source: leave-one-out cross-validation (Stone 1974), a group at a time.
    Taught in: chapter 16.
    """
    answers = np.empty(y.shape)
    for group in np.unique(groups):
        out = groups == group
        answers[out] = ridge(x[~out], y[~out], x[out], decay=decay)
    return answers
