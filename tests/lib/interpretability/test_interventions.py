"""Heads are recorded and changed as loops and hand-made models say they should be."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from lib.interpretability import interventions
from lib.models.attention_only import AttentionOnly
from lib.models.config import Config
from lib.models.gpt2 import GPT2
from lib.pretrained.minilm import load_minilm
from lib.shapes import AttentionOutput, ShapeError

SMALL = Config(vocab_size=61, context_length=23, d_model=35, heads=5, layers=3)


@pytest.fixture
def gpt2() -> GPT2:
    torch.manual_seed(0)
    model = GPT2(SMALL)
    model.initialise(0.3)  # so that the heads have something to say
    return model.eval().requires_grad_(False)


@pytest.fixture
def bare() -> AttentionOnly:
    torch.manual_seed(0)
    return AttentionOnly(61, 23, d_model=35, heads=5, layers=3).requires_grad_(False)


@pytest.fixture(scope="module")
def minilm():
    return load_minilm()


def ids(count: int = 2, n: int = 11, seed: int = 0) -> torch.Tensor:
    return torch.randint(61, (count, n), generator=torch.Generator().manual_seed(seed))


@torch.no_grad()
def logits_of(model, text) -> torch.Tensor:
    return model(text).logits


def hooks(model: nn.Module) -> int:
    return sum(
        len(module._forward_pre_hooks) + len(module._forward_hooks) for module in model.modules()
    )


MODELS = pytest.mark.parametrize("name", ["gpt2", "bare"])


@pytest.fixture
def model(name, request):
    return request.getfixturevalue(name)


# Recording.


@MODELS
def test_a_recording_holds_the_result_and_every_output_before_the_mixing(model):
    run = interventions.record_heads(model, ids())
    assert torch.equal(run.result.logits, logits_of(model, ids()))
    assert [output.shape for output in run.outputs] == [(2, 5, 11, 7)] * 3


def test_recorded_weights_are_those_that_the_model_returns(gpt2, bare):
    kept = interventions.record_heads(gpt2, ids(), keep_weights=True)
    assert torch.equal(torch.stack(kept.weights, dim=1), kept.result.weights)
    assert interventions.record_heads(gpt2, ids()).weights == (None, None, None)
    run = interventions.record_heads(bare, ids())
    assert torch.equal(torch.stack(run.weights, dim=1), run.result.weights)


def test_outputs_are_weights_times_values_as_a_loop_over_heads_makes_them(bare):
    run = interventions.record_heads(bare, ids())
    x = bare.token_embedding.weight[ids()] + bare.position_embedding.weight[:11]
    v = x @ bare.layers[0].value.weight.T  # (batch, n, d_model)
    for head in range(5):
        by_hand = run.weights[0][:, head] @ v[..., 7 * head : 7 * head + 7]
        torch.testing.assert_close(run.outputs[0][:, head], by_hand)


def test_the_encoder_is_recorded_too_and_with_the_same_weights(minilm):
    text = torch.tensor([minilm.tokenizer.encode("Take a biopsy of the mole").ids])
    run = interventions.record_heads(minilm, text)
    assert torch.equal(torch.stack(run.weights, dim=1), run.result[1])
    assert torch.equal(run.result[0][0], minilm.read("Take a biopsy of the mole").hidden)


# Switching off.


@MODELS
@pytest.mark.parametrize("heads", [[(1, 3)], [(0, 0), (0, 4), (2, 1)]])
def test_a_head_switched_off_is_its_slice_of_the_output_matrix_set_to_zero(model, heads):
    with interventions.ablate(model, heads):
        silent = logits_of(model, ids())
    for layer, head in heads:
        interventions.attentions(model)[layer].out.weight[:, 7 * head : 7 * head + 7] = 0
    torch.testing.assert_close(silent, logits_of(model, ids()))


@MODELS
def test_a_head_at_its_mean_says_one_vector_everywhere(model):
    run = interventions.record_heads(model, ids())
    with interventions.ablate(model, [(1, 2)], mean=run):
        dull = interventions.record_heads(model, ids(3, 5, seed=1))
    replaced = dull.outputs[1][:, 2]  # (batch, n, d_v)
    mean = np.mean([run.outputs[1][b, 2, i].numpy() for b in range(2) for i in range(11)], axis=0)
    assert replaced.shape == (3, 5, 7)
    assert np.abs(replaced.numpy() - mean).max() < 1e-6


def test_the_encoder_loses_a_head_as_chapter_9_takes_it_out(minilm):
    text = "The old clock on the kitchen wall stopped at noon."
    with interventions.ablate(minilm, [(5, 5)]):
        silent = minilm.read(text).hidden
    out = minilm.layers[5].attention.out.weight
    kept = out.clone()
    out[:, 160:192] = 0
    try:
        torch.testing.assert_close(silent, minilm.read(text).hidden)
    finally:
        out.copy_(kept)


# Patching.


@MODELS
def test_a_model_patched_with_its_own_outputs_is_the_same_to_the_last_bit(model):
    run = interventions.record_heads(model, ids())
    every = [(layer, head) for layer in range(3) for head in range(5)]
    with interventions.patch(model, run, every):
        assert torch.equal(logits_of(model, ids()), run.result.logits)


@MODELS
def test_a_patch_is_what_one_would_write_into_the_outputs_by_hand(model):
    donor = interventions.record_heads(model, ids(seed=1))
    with interventions.patch(model, donor, [(1, 0), (1, 4)], [3, 5]):
        run = interventions.record_heads(model, ids())
    whole = interventions.record_heads(model, ids())
    assert torch.equal(run.outputs[0], whole.outputs[0])
    expected = whole.outputs[1].clone()
    for head in (0, 4):
        for place in (3, 5):
            expected[:, head, place] = donor.outputs[1][:, head, place]

    def by_hand(layer: int, result: AttentionOutput) -> AttentionOutput:
        return AttentionOutput(expected, result.weights) if layer == 1 else result

    with interventions.intervene(model, by_hand):
        torch.testing.assert_close(run.result.logits, logits_of(model, ids()))
    assert not torch.allclose(run.result.logits, whole.result.logits)


@MODELS
def test_a_patch_leaves_the_donor_and_earlier_places_as_they_were(model):
    donor, before = interventions.record_heads(model, ids(seed=1)), logits_of(model, ids())
    kept = [output.clone() for output in donor.outputs]
    with interventions.patch(model, donor, [(0, 1)], slice(6, None)):
        after = logits_of(model, ids())
    assert torch.equal(after[:, :6], before[:, :6])
    assert not torch.allclose(after[:, 6:], before[:, 6:])
    assert all(torch.equal(a, b) for a, b in zip(kept, donor.outputs, strict=True))


# Nothing stays behind.


@MODELS
def test_after_the_with_and_after_an_error_the_model_is_as_before(model):
    before = logits_of(model, ids())
    state = set(model.__dict__)

    def stops() -> None:
        with interventions.ablate(model, [(1, 1)]):
            assert hooks(model) == 3
            raise RuntimeError("in the middle")

    with pytest.raises(RuntimeError, match="in the middle"):
        stops()
    assert hooks(model) == 0

    def fails(layer: int, result: AttentionOutput) -> AttentionOutput:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), interventions.intervene(model, fails):
        model(ids())
    assert hooks(model) == 0
    assert set(model.__dict__) == state
    assert torch.equal(logits_of(model, ids()), before)


@MODELS
def test_two_interventions_stand_inside_each_other(model):
    with interventions.ablate(model, [(0, 1)]), interventions.ablate(model, [(2, 3)]):
        nested = logits_of(model, ids())
    with interventions.ablate(model, [(0, 1), (2, 3)]):
        assert torch.equal(logits_of(model, ids()), nested)


def test_what_cannot_be_done_is_refused(bare, bare_calls):
    with pytest.raises(ValueError, match="A Linear holds no MultiHeadAttention"):
        interventions.record_heads(nn.Linear(2, 3), torch.zeros(2))
    for head in [(3, 0), (0, 5), (-1, 0), (0, -1)]:
        with (
            pytest.raises(ValueError, match=r"There is no head .* heads: 5, 5, 5"),
            interventions.ablate(bare, [head]),
        ):
            pass
    donor = interventions.record_heads(bare, ids(n=7))
    with (
        interventions.patch(bare, donor, [(0, 0)]),
        pytest.raises(ShapeError, match=r"a run of the same shape.*donor \(2, 7, 7\)"),
    ):
        bare(ids())

    def halves(layer: int, result: AttentionOutput) -> AttentionOutput:
        return AttentionOutput(result.output[..., :3], result.weights)

    with (
        interventions.intervene(bare, halves),
        pytest.raises(ShapeError, match=r"layer 0, not their shape.*returned \(2, 5, 11, 3\)"),
    ):
        bare(ids())


def test_a_gradient_flows_through_an_intervention(bare):
    bare.requires_grad_(True)
    with interventions.ablate(bare, [(0, 2)]):
        bare(ids()).logits.square().sum().backward()
    slope = bare.layers[0].value.weight.grad  # (d_model, d_model)
    assert slope[14:21].abs().max() == 0
    assert slope[:14].abs().min() > 0
