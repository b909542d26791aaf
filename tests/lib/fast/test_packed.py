"""The fast GPT-2 is GPT-2: the same logits and texts, with torch's private operators or without."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from lib.fast import packed
from lib.fast.packed import Int8Linear, PackedGPT2, PackedLinear, private_operators
from lib.models.config import Config
from lib.models.gpt2 import GPT2
from tests.support.models import SMALL, ids, lively_gpt2, relative


@pytest.fixture(params=["private operators", "F.linear"])
def either(request, monkeypatch):
    """Run the test twice: as this torch is, and as if the private operators had gone."""
    if request.param == "F.linear":
        monkeypatch.setattr(packed, "private_operators", lambda: False)


@pytest.fixture
def model():
    return lively_gpt2()


def greedy(model, prompt, count, cached=True):
    """Continue by the likeliest token, written out here so that no other room is needed."""
    tokens, caches = prompt, model.caches() if cached else None
    new = prompt
    for _ in range(count):
        with torch.no_grad():
            logits = model(new if cached else tokens, caches=caches, last=True).logits
        new = logits[..., -1, :].argmax(-1, keepdim=True)
        tokens = torch.cat([tokens, new], dim=-1)
    return tokens


def test_torch_still_has_the_private_operators_that_packing_needs():
    assert private_operators(), (
        "torch no longer offers mkldnn._reorder_linear_weight and _linear_pointwise. Nothing is "
        "broken: lib.fast.packed falls back to F.linear. Remove the private paths."
    )
    assert hasattr(torch.ops.onednn, "qlinear_pointwise"), "the same, for int8"


@pytest.mark.parametrize("shape", [(67,), (1, 41), (3, 29), (2, 3, 7), (1, 1), (1,)], ids=str)
@pytest.mark.usefixtures("either")
def test_the_logits_are_those_of_the_model(model, shape):
    exact, ours = model(ids(*shape)), PackedGPT2(model)(ids(*shape))
    assert ours.weights is None
    assert ours.logits.dtype == exact.logits.dtype
    assert ours.logits.shape == exact.logits.shape
    assert relative(ours.logits, exact.logits) < 1e-5


@pytest.mark.usefixtures("either")
def test_in_double_precision_the_logits_agree_to_twelve_digits(model):
    model = model.double()
    for shape in ((2, 31), (1, 1)):
        assert relative(PackedGPT2(model)(ids(*shape)).logits, model(ids(*shape)).logits) < 1e-12


@pytest.mark.usefixtures("either")
def test_the_last_logits_alone_are_the_last_of_all(model):
    ours = PackedGPT2(model)
    last = ours(ids(2, 31), last=True).logits
    assert last.shape == (2, 1, SMALL.vocab_size)
    assert relative(last, ours(ids(2, 31)).logits[:, -1:]) < 1e-5


@pytest.mark.usefixtures("either")
def test_token_by_token_with_caches_is_all_at_once(model):
    ours, text = PackedGPT2(model), ids(2, 23)
    caches = ours.caches()
    pieces = [ours(part, caches=caches).logits for part in text.split([11, 1, 1, 7, 1, 2], dim=1)]
    assert relative(torch.cat(pieces, dim=1), model(text).logits) < 1e-5


@pytest.mark.parametrize("prompt", [(1, 13), (3, 7)], ids=str)
@pytest.mark.usefixtures("either")
def test_greedy_text_is_identical(model, prompt):
    exact = greedy(model, ids(*prompt), 37, cached=False)
    assert torch.equal(greedy(PackedGPT2(model), ids(*prompt), 37), exact)


@pytest.mark.parametrize(("precision", "worst"), [("bfloat16", 0.05), ("int8", 0.05)])
@pytest.mark.usefixtures("either")
def test_a_coarser_precision_states_its_error(model, precision, worst):
    ours = PackedGPT2(model, precision)
    text = torch.randint(SMALL.vocab_size, (64,), generator=torch.Generator().manual_seed(0))
    logits = ours(text).logits
    assert logits.dtype == torch.float32
    assert 1e-4 < ours.error < worst
    assert ours.error == pytest.approx(relative(logits, model(text).logits), rel=0.05)
    caches = ours.caches()
    steps = [ours(part, caches=caches).logits for part in text.split([40] + 24 * [1])]
    assert relative(torch.cat(steps), model(text).logits) < 2 * worst
    assert PackedGPT2(model).error < 1e-5


def test_int8_is_the_same_with_and_without_the_private_operators(model, monkeypatch):
    ours = PackedGPT2(model, "int8")(ids(19)).logits
    monkeypatch.setattr(packed, "private_operators", lambda: False)
    assert relative(ours, PackedGPT2(model, "int8")(ids(19)).logits) < 1e-2


@given(rows=st.integers(1, 9), d_in=st.integers(1, 70), d_out=st.integers(1, 70),
       bias=st.booleans(), added=st.booleans(), gelu=st.sampled_from([None, "tanh", "none"]),
       seed=st.integers(0, 99))  # fmt: skip
@settings(max_examples=60, deadline=None)
def test_a_packed_map_is_a_linear_map_of_any_size(rows, d_in, d_out, bias, added, gelu, seed):
    noise = torch.Generator().manual_seed(seed)
    x, weight = torch.randn(rows, d_in, generator=noise), torch.randn(d_out, d_in, generator=noise)
    b = torch.randn(d_out, generator=noise) if bias else None
    stream = torch.randn(rows, d_out, generator=noise) if added and gelu is None else None
    truth = x.double() @ weight.double().T + (0 if b is None else b.double())
    truth = torch.nn.functional.gelu(truth, approximate=gelu) if gelu else truth
    truth = truth if stream is None else stream.double() + truth
    before = None if stream is None else stream.clone()
    result = PackedLinear(weight, b)(x, gelu=gelu, added=stream)
    assert (result - truth).abs().max() < 1e-4
    assert stream is None or torch.equal(stream, before), "the stream that was given is not written"
    coarse = Int8Linear(weight, b)(x, gelu=gelu, added=stream)
    # Each factor is off by at most half a step of 1/127 of the largest of its row.
    x, weight = x.abs(), weight.abs()
    steps = x.sum(-1, keepdim=True) * weight.amax(-1) + x.amax(-1, keepdim=True) * weight.sum(-1)
    assert ((coarse - truth).abs() <= 1.2 * (steps / 254 * 1.1 + 1e-3)).all()


def test_what_cannot_be_packed_is_refused(model):
    with pytest.raises(ValueError, match="float16"):
        PackedGPT2(model, "float16")
    with pytest.raises(ValueError, match=r"model\.eval\(\)"):
        PackedGPT2(GPT2(Config(vocab_size=11, d_model=4, heads=2, layers=1, dropout=0.1)))
    with pytest.raises(ValueError, match="learned 67 positions"):
        PackedGPT2(model)(ids(68))
