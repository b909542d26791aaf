"""The figures' arithmetic is lib's arithmetic, in another language."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lib import functional
from lib.attention import dot_product, masks
from tests.figures.widgets.node import call, draws

JS = "arithmetic.js"
RNG = np.random.default_rng(0)
Q, K, V = (RNG.normal(size=shape) for shape in ((3, 5), (7, 5), (7, 2)))
SCORES = [
    [2.0, 1.0, 0.0, -1.0],
    [-1000.0, -1001.0, -1002.0],
    [800.0, 799.0, 0.0],
    [0.0],
    [5.0, 5.0, 5.0, 5.0, 5.0],
]


def same(shown: object, expected: object) -> None:
    np.testing.assert_allclose(shown, expected, rtol=1e-12, atol=1e-12)


def test_products_lengths_and_angles_are_numpys():
    a, b = Q[0], Q[1]
    same(call(JS, "dot", a.tolist(), b.tolist()), a @ b)
    same(call(JS, "norm", a.tolist()), np.linalg.norm(a))
    same(call(JS, "add", a.tolist(), b.tolist()), a + b)
    same(call(JS, "subtract", a.tolist(), b.tolist()), a - b)
    same(call(JS, "transpose", Q.tolist()), Q.T)
    same(call(JS, "matmul", Q.tolist(), K.T.tolist()), Q @ K.T)
    same(call(JS, "cosine", a.tolist(), b.tolist()), functional.cosine(a, b))


@pytest.mark.parametrize("scores", SCORES)
@pytest.mark.parametrize("temperature", [0.1, 1.0, 7.0])
def test_softmax_is_libs_at_every_temperature(scores, temperature):
    expected = functional.softmax(np.array(scores), temperature=temperature)
    same(call(JS, "softmax", scores, temperature), expected)


@pytest.mark.parametrize("scores", SCORES)
def test_what_follows_from_weights_is_libs(scores):
    weights = functional.softmax(np.array(scores))
    same(call(JS, "logSumExp", scores), functional.logsumexp(np.array(scores)))
    same(call(JS, "entropy", weights.tolist()), functional.entropy(weights))
    same(call(JS, "jacobian", weights.tolist()), functional.softmax_jacobian(weights))


@settings(max_examples=15, deadline=None)
@given(st.lists(st.tuples(st.floats(-50, 50), st.booleans()), min_size=1, max_size=11))
def test_a_masked_key_has_the_weight_zero_and_so_has_every_key_of_an_empty_row(pairs):
    scores, allowed = (list(part) for part in zip(*pairs, strict=True))
    shown = call(JS, "softmax", scores, 1, allowed)
    same(shown, functional.softmax(np.array(scores), where=np.array(allowed)))
    assert all(weight == 0 for weight, may in zip(shown, allowed, strict=True) if not may)


@pytest.mark.parametrize(
    "mask", [None, masks.causal(3, 7), np.array([[True] * 7] * 2 + [[False] * 7])]
)
@pytest.mark.parametrize("scale", [None, 1.0])
def test_attend_is_libs(mask, scale):
    options = {"mask": None if mask is None else mask.tolist(), "scale": scale}
    chosen = {name: value for name, value in options.items() if value is not None}
    shown = call(JS, "attend", Q.tolist(), K.tolist(), V.tolist(), chosen)
    expected = dot_product.attend(Q, K, V, mask, scale=scale)
    same(shown["scores"], dot_product.scores(Q, K, scale=scale))
    same(shown["weights"], expected.weights)
    same(shown["output"], expected.output)


@pytest.mark.parametrize(
    ("number", "digits", "text"),
    [(1.005, 1, "1.0"), (-2.5, 2, "−2.50"), (-0.004, 2, "0.00"), (0, 3, "0.000"), (-12, 0, "−12")],
)
def test_numbers_are_written_with_a_true_minus_and_no_negative_zero(number, digits, text):
    assert call(JS, "fmt", number, digits) == text


def test_random_numbers_repeat_with_their_seed_and_are_normal():
    numbers = np.array(draws("normal", 7, 20_000))
    assert draws("normal", 7, 5) == numbers[:5].tolist()
    assert draws("normal", 8, 5) != numbers[:5].tolist()
    # Five standard errors of the mean, of the variance, and of the share beyond 1.96.
    assert abs(numbers.mean()) < 5 / math.sqrt(20_000)
    assert abs(numbers.var() - 1) < 5 * math.sqrt(2 / 20_000)
    assert abs((np.abs(numbers) > 1.96).mean() - 0.05) < 5 * math.sqrt(0.05 * 0.95 / 20_000)
    even = np.array(draws("uniform", 7, 20_000))
    assert ((even >= 0) & (even < 1)).all()
    assert abs(even.mean() - 0.5) < 5 / math.sqrt(12 * 20_000)
