"""Attention equals PyTorch's own, in both libraries, and every promise of its docstring holds."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from lib import by_hand
from lib.attention.dot_product import attend, scores
from lib.shapes import ShapeError

TOLERANCE = {torch.float32: 1e-6, torch.float64: 1e-12}
axis = st.integers(1, 8)


def random_qkv(batch=(2,), query=3, key=5, d_k=7, d_v=11, dtype=torch.float64, seed=0):
    noise = torch.Generator().manual_seed(seed)
    shapes = ((query, d_k), (key, d_k), (key, d_v))
    return [torch.randn(*batch, *shape, dtype=dtype, generator=noise) for shape in shapes]


@given(
    st.lists(axis, max_size=2), axis, axis, axis, axis, st.sampled_from(list(TOLERANCE)),
    st.booleans(), st.integers(0, 999),
)  # fmt: skip
def test_attend_equals_pytorchs_over_random_shapes(b, query, key, d_k, d_v, dtype, masked, seed):
    q, k, v = random_qkv(tuple(b), query, key, d_k, d_v, dtype, seed)
    mask = None
    if masked:
        mask = torch.rand(query, key, generator=torch.Generator().manual_seed(seed)) < 0.6
    expected = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    output, weights = attend(q, k, v, mask)
    tolerance = TOLERANCE[dtype]
    torch.testing.assert_close(output, expected, atol=tolerance, rtol=tolerance)
    arrays = [None if array is None else array.numpy() for array in (q, k, v, mask)]
    np.testing.assert_allclose(attend(*arrays).output, expected, atol=tolerance, rtol=tolerance)
    allowed = torch.ones(query, key, dtype=torch.bool) if mask is None else mask
    sums = weights.sum(-1)
    torch.testing.assert_close(sums, allowed.any(-1).to(dtype).expand(sums.shape))


def test_attend_equals_the_loops_that_a_pencil_would_follow():
    q, k, v = (array[0].numpy() for array in random_qkv())
    mask = np.array([[True] * 5, [False] * 5, [True, False, True, True, False]])
    for allowed in (None, mask):
        slow, fast = by_hand.attend(q, k, v, allowed), attend(q, k, v, allowed)
        np.testing.assert_allclose(fast.weights, slow.weights, atol=1e-12)
        np.testing.assert_allclose(fast.output, slow.output, atol=1e-12)


def test_the_worked_example_comes_out_in_its_exact_fractions():
    ln1, ln2, ln3 = np.log([1, 2, 3])
    q = 2 * np.array([[ln1, ln2, ln3, 0], [ln1, ln1, ln2, 0], [ln3, ln2, ln1, 0]])
    v = np.array([[6.0, 0.0], [0.0, 6.0], [6.0, 6.0]])
    output, weights = attend(q, np.eye(4)[:3], v)
    np.testing.assert_allclose(weights * 12, [[2, 4, 6], [3, 3, 6], [6, 4, 2]], atol=1e-12)
    np.testing.assert_allclose(output, [[4, 5], [4.5, 4.5], [4, 3]], atol=1e-12)


def test_gradients_are_right_with_masked_and_with_empty_rows():
    q, k, v = (array.requires_grad_() for array in random_qkv())
    mask = torch.rand(3, 5, generator=torch.Generator().manual_seed(1)) < 0.6
    mask[1] = False
    assert torch.autograd.gradcheck(lambda *qkv: attend(*qkv, mask), (q, k, v))


def test_a_query_that_may_attend_to_nothing_gets_zeros_and_finite_gradients():
    q, k, v = (array.requires_grad_() for array in random_qkv())
    output, weights = attend(q, k, v, torch.zeros(3, 5, dtype=torch.bool))
    assert not output.any()
    assert not weights.any()
    output.sum().backward()
    assert all(torch.isfinite(array.grad).all() for array in (q, k, v))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_the_dtype_is_kept(dtype):
    output, weights = attend(*random_qkv(dtype=dtype), torch.ones(3, 5, dtype=torch.bool))
    assert output.dtype == weights.dtype == dtype


def test_attend_runs_on_another_device_and_brings_a_numpy_mask_there():
    q, k, v = (array.to("meta") for array in random_qkv())
    output, weights = attend(q, k, v, np.tri(3, 5, dtype=bool))
    assert output.device.type == weights.device.type == "meta"
    assert output.shape == (2, 3, 11)


def test_a_given_scale_replaces_one_over_the_root_of_d_k():
    q, k, v = random_qkv()
    torch.testing.assert_close(scores(q, k, scale=1.0), scores(q, k) * 7**0.5)
    expected = F.scaled_dot_product_attention(q, k, v, scale=0.3)
    torch.testing.assert_close(attend(q, k, v, scale=0.3).output, expected)


def test_inputs_are_left_as_they_were():
    arrays = random_qkv()
    before = [array.clone() for array in arrays]
    attend(*arrays, torch.ones(3, 5, dtype=torch.bool))
    assert all(map(torch.equal, arrays, before))


@pytest.mark.usefixtures("bare_calls")
def test_errors_say_what_came_and_how_to_mend_the_call():
    q, k, v = (array.numpy() for array in random_qkv())
    with pytest.raises(ShapeError, match=r"Got q \(2, 3, 7\), k \(2, 5, 6\)\. Make the last axes"):
        attend(q, k[..., :6], v)
    with pytest.raises(ShapeError, match=r"Every key must have one value.*v \(2, 4, 11\)"):
        attend(q, k, v[:, :4])
    with pytest.raises(TypeError, match=r"boolean, True = may attend; got int64"):
        attend(q, k, v, np.ones((3, 5), dtype=int))
    with pytest.raises(ShapeError, match=r"must broadcast.*mask \(5, 3\)"):
        attend(q, k, v, np.ones((5, 3), dtype=bool))
