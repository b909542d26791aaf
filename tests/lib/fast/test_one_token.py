"""A single token, through compiled loops: the logits of the model, after any cache, in any form."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from lib.fast.one_token import PRECISIONS, OneTokenGPT2, VectorMap, rounded
from lib.models.gpt2 import GPT2
from lib.shapes import ShapeError
from tests.support.models import SMALL, ids, lively_gpt2, relative


@pytest.fixture(scope="module")
def model():
    return lively_gpt2()


@pytest.mark.parametrize("batch", [(), (1,), (1, 1)], ids=str)
@pytest.mark.parametrize("older", [0, 1, 13, 66])
@torch.no_grad()
def test_a_token_after_any_number_of_others_gets_the_logits_of_the_model(model, batch, older):
    text, caches = ids(*batch, older + 1), model.caches()
    if older:
        model(text[..., :-1], caches=caches)
    exact = model(text, last=True).logits
    logits = OneTokenGPT2(model, "float32")(text[..., -1:], caches)
    assert logits.shape == exact.shape
    assert relative(logits, exact) < 1e-5
    assert [cache.used for cache in caches] == 3 * [older + 1]


@torch.no_grad()
def test_what_it_stores_the_model_can_go_on_with(model):
    text, caches, ours = ids(2, 23)[:1], model.caches(), OneTokenGPT2(model, "float32")
    for i in range(11):
        ours(text[:, i : i + 1], caches)
    rest = model(text[:, 11:], caches=caches).logits
    assert relative(rest, model(text).logits[:, 11:]) < 1e-5


@torch.no_grad()
def test_in_double_precision_a_token_agrees_to_twelve_digits(model):
    double = GPT2(SMALL).eval().double()
    double.load_state_dict(model.state_dict())
    text, caches = ids(1, 29), double.caches()
    double(text[:, :-1], caches=caches)
    exact = double(text, last=True).logits
    assert relative(OneTokenGPT2(double, "float32")(text[:, -1:], caches), exact) < 1e-12


@torch.no_grad()
def test_the_other_form_of_gelu_is_followed(model):
    other = GPT2(SMALL).eval()
    other.load_state_dict(model.state_dict())
    for layer in other.layers:
        layer.feed_forward.gelu.approximate = "none"
    token = ids(1, 1)
    exact = other(token).logits
    assert relative(OneTokenGPT2(other, "float32")(token, other.caches()), exact) < 1e-5
    assert relative(OneTokenGPT2(model, "float32")(token, other.caches()), exact) > 1e-5


@torch.no_grad()
def test_caches_of_several_texts_or_without_room_are_refused(model):
    ours, caches = OneTokenGPT2(model, "float32"), model.caches()
    model(ids(2, 3), caches=caches)
    with pytest.raises(ShapeError, match="Start a new cache for other sequences"):
        ours(ids(1, 1), caches)
    full = model.caches()
    model(ids(1, 67), caches=full)
    with pytest.raises(ValueError, match="learned 67 positions and was asked for 68"):
        ours(ids(1, 1), full)


@given(d_in=st.integers(1, 70), d_out=st.integers(1, 150), bias=st.booleans(),
       precision=st.sampled_from(PRECISIONS), seed=st.integers(0, 99))  # fmt: skip
@settings(max_examples=100)
def test_a_map_of_one_vector_is_a_linear_map_of_any_size(d_in, d_out, bias, precision, seed):
    noise = torch.Generator().manual_seed(seed)
    x, weight = torch.randn(d_in, generator=noise), torch.randn(d_out, d_in, generator=noise)
    b = torch.randn(d_out, generator=noise) if bias else None
    result = torch.from_numpy(VectorMap(weight, b, precision)(x.numpy()))
    exact = weight.double() @ x.double() + (0 if b is None else b.double())
    # bfloat16 keeps 8 bits of a number, int8 half a step of 1/127 of the largest of its row.
    each = {"float32": torch.zeros(d_out, 1), "bfloat16": weight.abs() * 2**-8,
            "int8": weight.abs().amax(-1, keepdim=True) / 254}[precision]  # fmt: skip
    assert result.shape == (d_out,)
    assert ((result - exact).abs() <= (each * x.abs()).sum(-1) + 1e-4).all()
    if precision == "bfloat16":
        stored = weight.bfloat16().double() @ x.double() + (0 if b is None else b.double())
        assert (result - stored).abs().max() < 1e-4


def test_rounding_keeps_every_number_within_half_a_step():
    x = torch.randn(7, 11, generator=torch.Generator().manual_seed(0))
    whole, scale = rounded(x)
    assert whole.abs().max() == 127
    assert ((whole * scale - x).abs() <= scale / 2 * 1.0001).all()
    nothing, scale = rounded(torch.zeros(2, 3))
    assert (nothing == 0).all()
    assert (scale > 0).all(), "a row of zeros is divided by its scale too"
