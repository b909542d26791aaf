"""Linear probes: predict a property of a token from its vector."""

import numpy as np
from jaxtyping import Float, Shaped


def ridge(
    x: Float[np.ndarray, "n features"],
    y: Float[np.ndarray, "n ..."],
    new: Float[np.ndarray, "key features"],
    *,
    decay: float = 1.0,
) -> Float[np.ndarray, "key ..."]:
    r"""Fit a linear probe by ridge regression, and apply it to new vectors.

    With x and y centred over the examples, $W = X^\top (X X^\top + \lambda I)^{-1} Y$.
    A larger $\lambda$ (`decay`, in units of the mean squared length) regularises more. Encode a
    class as a one-hot row; the largest answer is the predicted class.

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


def predict_held_out(
    x: Float[np.ndarray, "n features"],
    y: Float[np.ndarray, "n ..."],
    groups: Shaped[np.ndarray, " n"],
    *,
    decay: float = 1.0,
) -> Float[np.ndarray, "n ..."]:
    """Predict each example by a probe that is fitted to all examples of the other groups.

    Source: leave-one-out cross-validation (Stone 1974), a group at a time.
    Taught in: chapter 16.
    """
    answers = np.empty(y.shape)
    for group in np.unique(groups):
        held_out = groups == group
        answers[held_out] = ridge(x[~held_out], y[~held_out], x[held_out], decay=decay)
    return answers
