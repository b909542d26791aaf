"""GPT-2 in int8 is GPT-2 with rounded weights: held to the plain model that has the same ones."""

import numpy as np
import pytest
import torch
from torch import nn

from lib.attention.dot_product import attend
from lib.fast.int8 import Int8GPT2, Int8Linear, attend_last, normalize, quantize_rows
from lib.functional import layer_norm
from lib.models.generation import generate
from lib.models.gpt2 import GPT2
from tests.support.models import ids, lively_gpt2, relative


@pytest.fixture
def model():
    return lively_gpt2()


def token_by_token(fast, tokens, prompt):
    """The logits after each token behind the prompt, read one at a time."""
    caches, logits = fast.caches(), []
    fast(tokens[:, :prompt], caches=caches, last=True)
    for i in range(prompt, tokens.shape[1]):
        logits.append(fast(tokens[:, i : i + 1], caches=caches, last=True).logits)
    return torch.cat(logits, dim=1)


def test_rows_are_rounded_to_within_half_a_step():
    weight = torch.randn(13, 29, generator=torch.manual_seed(0))
    whole, scale = quantize_rows(weight)
    assert whole.dtype == torch.int8
    assert (whole.abs().amax(1) == 127).all()
    assert ((whole * scale[:, None] - weight).abs() <= scale[:, None] / 2 + 1e-6).all()


def test_a_row_of_zeros_stays_zero():
    whole, scale = quantize_rows(torch.zeros(3, 5))
    assert not (whole * scale[:, None]).any()


@pytest.mark.parametrize(("d_out", "d_in"), [(1, 1), (7, 3), (37, 41), (130, 257)])
def test_a_product_is_that_of_the_rounded_matrix(d_out, d_in):
    noise = torch.manual_seed(d_out)
    weight, bias = torch.randn(d_out, d_in, generator=noise), torch.randn(d_out, generator=noise)
    x = torch.randn(d_in, generator=noise)
    whole, scale = quantize_rows(weight)
    exact = (whole.double() * scale[:, None].double()) @ x.double()
    y = Int8Linear(weight, bias)(x.numpy())
    assert relative(torch.from_numpy(y), exact + bias) < 1e-5
    assert relative(torch.from_numpy(Int8Linear(weight)(x.numpy())), exact) < 1e-5


def test_one_vector_is_normalised_as_the_course_defines_it():
    x, gain, bias = np.random.default_rng(0).standard_normal((3, 61)).astype(np.float32)
    assert np.abs(normalize(x, gain, bias, 1e-5) - layer_norm(x, gain, bias)).max() < 1e-5


def test_one_query_attends_as_the_last_row_does():
    noise = torch.manual_seed(0)
    q, k, v = (torch.randn(5, n, d, generator=noise) for n, d in ((1, 7), (23, 7), (23, 11)))
    room = [torch.full((5, 31, part.shape[-1]), torch.nan) for part in (k, v)]
    for whole, part in zip(room, (k, v), strict=True):
        whole[:, :23] = part
    output = attend_last(q[:, 0].numpy(), *(part.numpy() for part in room), 23)
    assert np.abs(output - attend(q, k, v).output[:, 0].numpy()).max() < 1e-5


def test_a_large_score_does_not_overflow():
    q = np.full((1, 3), 100, np.float32)
    keys = np.stack([np.full((2, 3), 100, np.float32)])
    keys[0, 1] = -100
    output = attend_last(q, keys, np.array([[[2.0], [5.0]]], np.float32), 2)
    assert output.tolist() == [[2.0]]


@torch.no_grad()
def test_rounding_the_weights_changes_the_logits_a_little(model):
    tokens = ids(1, 29)
    exact = model(tokens).logits
    assert 1e-3 < relative(token_by_token(Int8GPT2(model), tokens, 11), exact[:, 11:]) < 0.1


@torch.no_grad()
def test_with_nothing_to_round_the_logits_are_the_models_own(model):
    for module in model.modules():
        if isinstance(module, nn.Linear | nn.Embedding):
            whole, scale = quantize_rows(module.weight)
            module.weight.copy_(whole * scale[:, None])
    tokens = ids(1, 29)
    exact = model(tokens).logits
    assert relative(token_by_token(Int8GPT2(model), tokens, 11), exact[:, 11:]) < 1e-5


@torch.no_grad()
def test_the_prompt_and_every_batch_are_read_by_the_model_itself(model):
    fast = Int8GPT2(model)
    for shape in ((1, 7), (3, 1), (2, 5), (11,)):
        assert torch.equal(fast(ids(*shape)).logits, model(ids(*shape)).logits)


def test_it_takes_the_models_place_in_generation(model):
    text = generate(Int8GPT2(model), ids(1, 5), 60)
    assert text.shape == (1, 65)
    again = generate(Int8GPT2(model), ids(1, 5), 60)
    assert torch.equal(text, again)


def test_the_model_stays_as_it_was(model):
    before = {name: part.clone() for name, part in model.state_dict().items()}
    generate(Int8GPT2(model), ids(1, 3), 2)
    assert all(torch.equal(part, before[name]) for name, part in model.state_dict().items())


def test_a_model_that_drops_numbers_is_refused_with_what_to_do(model):
    dropping = GPT2(model.config.__class__(**{**vars(model.config), "dropout": 0.1}))
    with pytest.raises(ValueError, match=r"model\.eval\(\)"):
        Int8GPT2(dropping)
    assert Int8GPT2(dropping.eval()).config.dropout == 0.1


def test_a_model_elsewhere_is_refused_with_what_to_do(model):
    with pytest.raises(ValueError, match=r"model\.cpu\(\)"):
        Int8GPT2(model.to("meta"))
