"""The small functions under attention: pure, without parameters, for NumPy and torch alike."""

import math
from typing import NamedTuple

from array_api_compat import array_namespace
from jaxtyping import Bool, Float

from lib.shapes import Array, mismatch


def _finite_or_zero(xp, maximum: Array) -> Array:
    """Subtracting minus infinity from itself is NaN, so an empty row subtracts 0 instead."""
    return xp.where(xp.isfinite(maximum), maximum, xp.zeros_like(maximum))


def softmax(
    scores: Float[Array, "*batch key"],
    axis: int = -1,
    *,
    temperature: float = 1.0,
    where: Bool[Array, "..."] | None = None,
) -> Float[Array, "*batch key"]:
    r"""Turn scores into weights: positive, summing to 1, larger where the score is larger.

    $w_j = e^{s_j/T} / \sum_k e^{s_k/T}$, with the row's largest score subtracted first:
    that changes no weight, and keeps every exponential between 0 and 1.
    Where `where` is False the weight is exactly 0; a row that is False throughout is all zeros.

    Source: Bridle 1990; the subtraction is standard practice (Blanchard, Higham and Higham 2021).
    Taught in: chapter 06.
    Raises: ValueError if the temperature is not above 0 (use argmax for the limit).
    """
    if not temperature > 0:
        raise ValueError(
            f"softmax needs a temperature above 0 and got {temperature}. "
            "As it falls to 0 the weights become one-hot: use argmax for that limit."
        )
    xp = array_namespace(scores)
    scaled = scores / temperature
    if where is not None:
        scaled = xp.where(where, scaled, -xp.inf)
    highest = _finite_or_zero(xp, xp.max(scaled, axis=axis, keepdims=True))
    exponentials = xp.exp(scaled - highest)
    total = xp.sum(exponentials, axis=axis, keepdims=True)
    # An all-masked row is 0 / 0. One keeps it 0, and every other total is at least 1 already.
    return exponentials / (total if where is None else xp.where(total == 0, 1.0, total))


def logsumexp(scores: Float[Array, "*batch key"], axis: int = -1) -> Float[Array, "*batch"]:
    r"""Add up exponentials and take the logarithm, without ever holding a large number.

    $\log \sum_j e^{s_j} = m + \log \sum_j e^{s_j - m}$ with $m = \max_j s_j$.

    Source: Blanchard, Higham and Higham 2021, equation 1.4.
    Taught in: chapter 06.
    """
    xp = array_namespace(scores)
    highest = _finite_or_zero(xp, xp.max(scores, axis=axis, keepdims=True))
    total = xp.sum(xp.exp(scores - highest), axis=axis, keepdims=True)
    return xp.squeeze(highest + xp.log(total), axis=axis)


def log_softmax(scores: Float[Array, "*batch key"], axis: int = -1) -> Float[Array, "*batch key"]:
    r"""Give the logarithms of the softmax weights, exact even where a weight rounds to 0.

    $\log w_j = s_j - \log \sum_k e^{s_k}$.

    Source: Blanchard, Higham and Higham 2021, section 1.
    Taught in: chapter 06.
    """
    xp = array_namespace(scores)
    return scores - xp.expand_dims(logsumexp(scores, axis), axis=axis)


def softmax_jacobian(weights: Float[Array, "*batch key"]) -> Float[Array, "*batch key key"]:
    r"""Say how each weight answers to each score.

    $\partial w_i / \partial s_j = w_i (\delta_{ij} - w_j)$, that is $\mathrm{diag}(w) - w w^\top$.
    No entry exceeds 1/4 in size, and the matrix stretches no vector by more than 1/2.

    Source: differentiate the definition; the bound 1/2 is in Nair 2025, and derived in the chapter.
    Taught in: chapter 06.
    """
    xp = array_namespace(weights)
    column, row = weights[..., :, None], weights[..., None, :]
    identity = xp.eye(weights.shape[-1], dtype=weights.dtype, device=weights.device)
    return column * identity - column * row


def entropy(weights: Float[Array, "*batch key"], axis: int = -1) -> Float[Array, "*batch"]:
    r"""Measure in nats how spread out weights are: 0 for one-hot, $\ln n$ for uniform.

    $H = -\sum_j w_j \ln w_j$, where a weight of 0 adds 0.

    Source: Shannon 1948, section 6.
    Taught in: chapter 06.
    """
    xp = array_namespace(weights)
    logarithms = xp.log(xp.where(weights > 0, weights, xp.ones_like(weights)))
    # Subtracting from 0 rather than negating: a one-hot row then reads 0 and not -0.
    return 0.0 - xp.sum(weights * logarithms, axis=axis)


def cosine(
    a: Float[Array, "*#batch features"], b: Float[Array, "*#batch features"]
) -> Float[Array, "*batch"]:
    r"""Compare the directions of two vectors: 1 same, 0 at right angles, -1 opposite.

    $\cos(a, b) = a \cdot b / (\lVert a \rVert \lVert b \rVert)$, whatever the lengths.

    Source: the law of cosines; used for word vectors by Mikolov et al. 2013, section 4.
    Taught in: chapter 02.
    Raises: ShapeError if the vectors have different widths; ValueError for a vector of zeros.
    """
    xp = array_namespace(a, b)
    if a.shape[-1] != b.shape[-1]:
        raise mismatch(
            "A cosine compares vectors of equal width.", "Make the last axes equal.", a=a, b=b
        )
    norms = [xp.sqrt(xp.sum(vector * vector, axis=-1)) for vector in (a, b)]
    if any(bool(xp.any(norm == 0)) for norm in norms):
        raise ValueError(
            "A vector of zeros has no direction, so it has no cosine with anything. "
            "Leave it out, or compare by distance."
        )
    return xp.sum(a * b, axis=-1) / (norms[0] * norms[1])


def layer_norm(
    x: Float[Array, "*batch d_model"],
    gain: Float[Array, " d_model"] | None = None,
    bias: Float[Array, " d_model"] | None = None,
    eps: float = 1e-5,
) -> Float[Array, "*batch d_model"]:
    r"""Bring each vector to mean 0 and variance 1 over its own features, then scale and shift it.

    $y = g \odot (x - \mu) / \sqrt{\sigma^2 + \epsilon} + b$, with the biased variance
    (divided by d_model, not by d_model - 1) and $\epsilon$ inside the root.

    Source: Ba, Kiros and Hinton 2016, equation 4.
    Taught in: chapter 11.
    """
    xp = array_namespace(x)
    centred = x - xp.mean(x, axis=-1, keepdims=True)
    variance = xp.mean(centred * centred, axis=-1, keepdims=True)
    normal = centred / xp.sqrt(variance + eps)
    scaled = normal if gain is None else normal * gain
    return scaled if bias is None else scaled + bias


def gelu(x: Float[Array, "*batch"], *, tanh: bool = True) -> Float[Array, "*batch"]:
    r"""Let a number through in proportion to how often a normal variable lies below it.

    $x\,\Phi(x)$; by default in the tanh form that GPT-2 uses, which differs by up to 0.00047:
    $\tfrac{x}{2} (1 + \tanh(\sqrt{2/\pi}\,(x + 0.044715 x^3)))$. BERT uses the exact form.

    Source: Hendrycks and Gimpel 2016, section 2.
    Taught in: chapter 11.
    """
    xp = array_namespace(x)
    if tanh:
        return 0.5 * x * (1 + xp.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    # The array API standard has no erf. Torch has one; elsewhere the C library's is mapped.
    if hasattr(xp, "erf"):
        return 0.5 * x * (1 + xp.erf(x / math.sqrt(2)))
    values = [math.erf(value / math.sqrt(2)) for value in xp.reshape(x, (-1,)).tolist()]
    return 0.5 * x * (1 + xp.reshape(xp.asarray(values, dtype=x.dtype), x.shape))


class RunningSoftmax(NamedTuple):
    """All that a softmax needs to know of the scores so far: two numbers a row."""

    maximum: Float[Array, "*batch"]
    total: Float[Array, "*batch"]


def running_softmax(scores: Float[Array, "*batch key"]) -> RunningSoftmax:
    r"""Sum up a stretch of scores as its maximum $m$ and $\sum_j e^{s_j - m}$.

    Source: Milakov and Gimelshein 2018, algorithm 3.
    Taught in: chapter 06.
    """
    xp = array_namespace(scores)
    maximum = xp.max(scores, axis=-1)
    return RunningSoftmax(maximum, xp.sum(xp.exp(scores - maximum[..., None]), axis=-1))


def merge(a: RunningSoftmax, b: RunningSoftmax) -> RunningSoftmax:
    r"""Join the summaries of two stretches into the summary of both, in any order.

    $m = \max(m_a, m_b)$ and $\ell = \ell_a e^{m_a - m} + \ell_b e^{m_b - m}$.

    Source: Milakov and Gimelshein 2018, equation 4.
    Taught in: chapter 06.
    """
    xp = array_namespace(a.maximum, b.maximum)
    maximum = xp.maximum(a.maximum, b.maximum)
    total = a.total * xp.exp(a.maximum - maximum) + b.total * xp.exp(b.maximum - maximum)
    return RunningSoftmax(maximum, total)
