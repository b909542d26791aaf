"""The small functions equal PyTorch's, keep their promises, and say how to fix a bad call."""

import itertools
import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from lib import functional
from lib.shapes import ShapeError

LIBRARIES = [np.asarray, torch.as_tensor]
rows = hnp.arrays(np.float64, hnp.array_shapes(max_dims=3), elements=st.floats(-60, 60))


@given(rows)
def test_softmax_equals_pytorchs_in_both_libraries(scores):
    expected = torch.softmax(torch.tensor(scores), -1).numpy()
    for library in LIBRARIES:
        np.testing.assert_allclose(
            np.asarray(functional.softmax(library(scores))), expected, atol=1e-12
        )


@given(rows, st.floats(-1e3, 1e3))
def test_softmax_ignores_a_constant_and_its_rows_sum_to_one(scores, shift):
    weights = functional.softmax(scores)
    np.testing.assert_allclose(weights.sum(-1), 1, atol=1e-12)
    np.testing.assert_allclose(weights, functional.softmax(scores + shift), atol=1e-9)


def test_softmax_works_along_any_axis():
    scores = np.random.default_rng(0).normal(size=(2, 3, 5))
    for axis in range(3):
        expected = torch.softmax(torch.tensor(scores), axis).numpy()
        np.testing.assert_allclose(functional.softmax(scores, axis), expected, atol=1e-14)


@pytest.mark.parametrize(
    ("dtype", "score"), [(np.float16, 12.0), (np.float32, 89.0), (np.float64, 710.0)]
)
def test_softmax_survives_scores_whose_exponential_overflows(dtype, score):
    with np.errstate(over="ignore"):
        assert np.isinf(np.exp(dtype(score)))
    np.testing.assert_array_equal(functional.softmax(np.array([score, score], dtype)), [0.5, 0.5])


def test_temperature_divides_the_scores():
    scores = np.array([2.0, 3.0, 5.0])
    np.testing.assert_allclose(
        functional.softmax(scores, temperature=7.0), functional.softmax(scores / 7.0)
    )
    with pytest.raises(ValueError, match="above 0; got 0"):
        functional.softmax(scores, temperature=0.0)


def test_a_low_temperature_makes_no_large_score_infinite():
    scores = np.array([700, 690, 1], dtype=np.float16)
    with np.errstate(over="ignore"):  # the others become -inf, and their exponentials 0
        weights = functional.softmax(scores, temperature=0.01)
    np.testing.assert_array_equal(weights, [1, 0, 0])


def test_masked_weights_are_exactly_zero_and_an_empty_row_is_zeros():
    allowed = np.array([[True, False, True], [False, False, False]])
    weights = functional.softmax(np.zeros((2, 3)), where=allowed)
    np.testing.assert_array_equal(weights, [[0.5, 0.0, 0.5], [0.0, 0.0, 0.0]])


@given(rows)
def test_logarithms_equal_pytorchs(scores):
    tensor = torch.tensor(scores)
    np.testing.assert_allclose(
        functional.logsumexp(scores), torch.logsumexp(tensor, -1), atol=1e-12
    )
    np.testing.assert_allclose(
        functional.log_softmax(scores), F.log_softmax(tensor, -1), atol=1e-12
    )


def test_the_jacobian_is_what_autograd_finds_and_keeps_its_bounds():
    for seed in range(7):
        scores = 3 * torch.randn(
            5, dtype=torch.float64, generator=torch.Generator().manual_seed(seed)
        )
        expected = torch.autograd.functional.jacobian(lambda s: torch.softmax(s, -1), scores)
        jacobian = functional.softmax_jacobian(torch.softmax(scores, -1))
        torch.testing.assert_close(jacobian, expected)
        assert jacobian.abs().max() <= 0.25
        assert torch.linalg.matrix_norm(jacobian, 2) <= 0.5
        torch.testing.assert_close(jacobian.sum(-1), torch.zeros(5, dtype=torch.float64))


def test_the_jacobians_bounds_are_reached_by_two_even_weights():
    jacobian = functional.softmax_jacobian(np.array([0.5, 0.5]))
    assert jacobian.max() == 0.25
    assert np.linalg.norm(jacobian, 2) == pytest.approx(0.5, abs=1e-15)


def test_entropy_runs_from_zero_to_the_logarithm_of_the_count():
    assert functional.entropy(np.array([0.0, 1.0, 0.0])) == 0
    assert functional.entropy(np.full(7, 1 / 7)) == pytest.approx(math.log(7))
    weights = np.array([[0.2, 0.3, 0.5], [0.1, 0.1, 0.8]])
    expected = torch.distributions.Categorical(torch.tensor(weights)).entropy()
    np.testing.assert_allclose(functional.entropy(weights), expected)


def test_cosine_equals_pytorchs_and_broadcasts():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 1, 5)), rng.normal(size=(3, 5))
    expected = F.cosine_similarity(torch.tensor(a), torch.tensor(b), dim=-1)
    np.testing.assert_allclose(functional.cosine(a, b), expected, atol=1e-12)


@pytest.mark.usefixtures("bare_calls")
def test_cosine_refuses_a_zero_vector_and_unequal_widths():
    with pytest.raises(ValueError, match="no direction"):
        functional.cosine(np.zeros(3), np.ones(3))
    with pytest.raises(ShapeError, match=r"Got a \(2,\), b \(3,\)"):
        functional.cosine(np.ones(2), np.ones(3))


@pytest.mark.parametrize("library", LIBRARIES)
def test_layer_norm_equals_pytorchs_where_an_unbiased_variance_would_show(library):
    rng = np.random.default_rng(0)
    x, gain, bias = rng.normal(size=(3, 4)), rng.normal(size=4), rng.normal(size=4)
    expected = F.layer_norm(*map(torch.tensor, (x,)), (4,), torch.tensor(gain), torch.tensor(bias))
    normal = functional.layer_norm(*map(library, (x, gain, bias)))
    np.testing.assert_allclose(np.asarray(normal), expected, atol=1e-12)


def test_layer_norm_of_one_to_four_is_the_worked_example():
    expected = [-1.3416, -0.4472, 0.4472, 1.3416]
    np.testing.assert_allclose(functional.layer_norm(np.array([1.0, 2, 3, 4])), expected, atol=1e-4)


@pytest.mark.parametrize("library", LIBRARIES)
def test_gelu_equals_pytorchs_in_both_forms(library):
    x = np.linspace(-5, 5, 101)
    for tanh, name in ((True, "tanh"), (False, "none")):
        expected = F.gelu(torch.tensor(x), approximate=name)
        np.testing.assert_allclose(
            np.asarray(functional.gelu(library(x), tanh=tanh)), expected, atol=1e-12
        )


def test_the_two_gelus_differ_most_by_the_documented_amount():
    x = np.linspace(-5, 5, 100_001)
    assert np.abs(functional.gelu(x) - functional.gelu(x, tanh=False)).max() == pytest.approx(
        4.73e-4, abs=1e-6
    )


def test_running_softmaxes_merge_in_every_order_to_the_whole():
    scores = 40 * np.random.default_rng(0).normal(size=(3, 11))
    parts = [functional.running_softmax(part) for part in np.split(scores, [2, 7], axis=-1)]
    for a, b, c in itertools.permutations(parts):
        whole = functional.merge(functional.merge(a, b), c)
        total = whole.maximum + np.log(whole.total)
        np.testing.assert_allclose(total, functional.logsumexp(scores), rtol=1e-14)


@pytest.mark.parametrize("library", LIBRARIES)
def test_rms_norm_equals_pytorchs_where_a_mean_or_an_eps_elsewhere_would_show(library):
    x, gain = np.random.default_rng(0).normal(3, 2, size=(2, 5, 7)), np.arange(1.0, 8)
    expected = F.rms_norm(torch.tensor(x), (7,), torch.tensor(gain), eps=0.5)
    given = functional.rms_norm(library(x), library(gain), eps=0.5)
    np.testing.assert_allclose(np.asarray(given), expected.numpy(), atol=1e-12)


def test_rms_norm_of_three_and_four_is_the_worked_example():
    np.testing.assert_allclose(
        functional.rms_norm(np.array([3.0, 4.0]), eps=0.0), np.array([3, 4]) / math.sqrt(12.5)
    )


@pytest.mark.parametrize("library", LIBRARIES)
def test_rms_norm_survives_what_half_precision_cannot_square(library):
    x = library(np.array([300.0, -400.0], np.float16))
    given = functional.rms_norm(x)
    assert given.dtype == x.dtype
    np.testing.assert_allclose(np.asarray(given), np.array([3, -4]) / math.sqrt(12.5), atol=1e-3)


@pytest.mark.parametrize("library", LIBRARIES)
def test_silu_equals_pytorchs_and_never_overflows(library):
    x = np.array([-1e4, -60.0, -1.5, 0.0, 0.25, 60.0, 1e4])
    expected = F.silu(torch.tensor(x)).numpy()
    with np.errstate(all="raise", under="ignore"):
        np.testing.assert_allclose(np.asarray(functional.silu(library(x))), expected, atol=1e-12)
