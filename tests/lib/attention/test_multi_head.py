"""Our multi-head attention equals PyTorch's, given its weights."""

import pytest
import torch
from torch import nn

from lib.attention.multi_head import MultiHeadAttention


def pytorchs_with_the_weights_of(ours: MultiHeadAttention, d_model: int, d_source: int):
    theirs = nn.MultiheadAttention(
        d_model, ours.heads, batch_first=True, kdim=d_source, vdim=d_source
    ).double()
    projections = (ours.query, ours.key, ours.value)
    with torch.no_grad():
        if d_source == d_model:
            theirs.in_proj_weight.copy_(torch.cat([p.weight for p in projections]))
        else:
            theirs.q_proj_weight.copy_(ours.query.weight)
            theirs.k_proj_weight.copy_(ours.key.weight)
            theirs.v_proj_weight.copy_(ours.value.weight)
        theirs.in_proj_bias.copy_(torch.cat([p.bias for p in projections]))
        theirs.out_proj.load_state_dict(ours.out.state_dict())
    return theirs


@pytest.mark.parametrize("d_source", [15, 13])
def test_it_equals_pytorchs_in_self_and_in_cross_attention(d_source):
    noise = torch.manual_seed(0)
    ours = MultiHeadAttention(15, 3, d_source=d_source).double()
    theirs = pytorchs_with_the_weights_of(ours, 15, d_source)
    x = torch.randn(2, 7, 15, dtype=torch.float64, generator=noise)
    source = torch.randn(2, 11, d_source, dtype=torch.float64, generator=noise)
    mask = torch.rand(7, 11, generator=noise) < 0.7
    mask[:, 0] = True
    output, weights = theirs(x, source, source, attn_mask=~mask, average_attn_weights=False)
    attended = ours(x, source, mask)
    torch.testing.assert_close(attended.output, output)
    torch.testing.assert_close(attended.weights, weights)


def test_without_a_source_a_sequence_attends_to_itself():
    torch.manual_seed(0)
    ours = MultiHeadAttention(15, 3)
    x = torch.randn(2, 7, 15)
    torch.testing.assert_close(ours(x).output, ours(x, x).output)
    assert ours(x).weights.shape == (2, 3, 7, 7)


@pytest.mark.parametrize("bias", [True, False])
def test_attending_to_itself_as_a_source_is_self_attention_and_learns_the_same(bias):
    torch.manual_seed(0)
    ours, x = MultiHeadAttention(15, 3, bias=bias).double(), torch.randn(2, 7, 15).double()
    results = []
    for source in (None, x):
        output, _ = ours(x, source)
        output.square().sum().backward()
        results.append([output, *(parameter.grad for parameter in ours.parameters())])
        ours.zero_grad()
    torch.testing.assert_close(*results)


def test_a_map_that_is_watched_or_replaced_is_called():
    torch.manual_seed(0)
    ours, x, seen = MultiHeadAttention(15, 3), torch.randn(7, 15), []
    before = ours(x).output
    hook = ours.key.register_forward_hook(lambda module, given, result: seen.append(result))
    torch.testing.assert_close(ours(x).output, before)
    assert len(seen) == 1
    hook.remove()
    ours.value = nn.Sequential(ours.value, nn.Tanh())
    assert not torch.allclose(ours(x).output, before)
