"""The same functions as explicit loops in NumPy: slow, and easy to check by hand."""

import math

import numpy as np
from jaxtyping import Bool, Float

from lib.shapes import AttentionOutput


def dot(a: Float[np.ndarray, " features"], b: Float[np.ndarray, " features"]) -> float:
    r"""Multiply two vectors component by component and add the products: $\sum_i a_i b_i$.

    Source: the definition.
    Taught in: chapter 02.
    """
    total = 0.0
    for i in range(len(a)):
        total += a[i] * b[i]
    return float(total)


def cosine(a: Float[np.ndarray, " features"], b: Float[np.ndarray, " features"]) -> float:
    r"""Divide the dot product by both lengths: $a \cdot b / (\lVert a \rVert \lVert b \rVert)$.

    Source: the law of cosines.
    Taught in: chapter 02.
    """
    return dot(a, b) / math.sqrt(dot(a, a) * dot(b, b))


def softmax(scores: Float[np.ndarray, " key"]) -> Float[np.ndarray, " key"]:
    r"""Exponentiate each score and divide by the sum: $e^{s_j} / \sum_k e^{s_k}$.

    Source: Bridle 1990.
    Taught in: chapter 06.
    """
    highest = max(float(score) for score in scores)
    exponentials = [math.exp(score - highest) for score in scores]
    total = sum(exponentials)
    return np.array([exponential / total for exponential in exponentials])


def scores(
    q: Float[np.ndarray, "query d_k"], k: Float[np.ndarray, "key d_k"]
) -> Float[np.ndarray, "query key"]:
    r"""Score each query against each key, one pair at a time: $q_i \cdot k_j / \sqrt{d_k}$.

    Source: Vaswani et al. 2017, equation 1.
    Taught in: chapter 04.
    """
    score_matrix = np.zeros((len(q), len(k)))
    for i in range(len(q)):
        for j in range(len(k)):
            score_matrix[i, j] = dot(q[i], k[j]) / math.sqrt(q.shape[1])
    return score_matrix


def attend(
    q: Float[np.ndarray, "query d_k"],
    k: Float[np.ndarray, "key d_k"],
    v: Float[np.ndarray, "key d_v"],
    mask: Bool[np.ndarray, "query key"] | None = None,
) -> AttentionOutput:
    r"""Average the values, one query at a time: $o_i = \sum_j w_{ij} v_j$ over allowed keys j.

    Source: Vaswani et al. 2017, equation 1.
    Taught in: chapter 07.
    """
    score_matrix = scores(q, k)
    weights, output = np.zeros(score_matrix.shape), np.zeros((len(q), v.shape[1]))
    for i in range(len(q)):
        allowed = [j for j in range(len(k)) if mask is None or mask[i, j]]
        if not allowed:
            continue
        for j, weight in zip(allowed, softmax(score_matrix[i, allowed]), strict=True):
            weights[i, j] = weight
            output[i] += weight * v[j]
    return AttentionOutput(output, weights)


def layer_norm(
    x: Float[np.ndarray, " d_model"], eps: float = 1e-5
) -> Float[np.ndarray, " d_model"]:
    r"""Subtract the mean of one vector and divide by its standard deviation.

    $(x - \mu)/\sqrt{\sigma^2 + \epsilon}$.

    Source: Ba, Kiros and Hinton 2016, equation 4.
    Taught in: chapter 11.
    """
    mean = sum(float(value) for value in x) / len(x)
    variance = sum((float(value) - mean) ** 2 for value in x) / len(x)
    return np.array([(value - mean) / math.sqrt(variance + eps) for value in x])
