"""Our block equals PyTorch's in both orders, given its weights."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from lib import functional
from lib.models.block import Block, FeedForward, LayerNorm

D_MODEL, HEADS, D_FF = 15, 3, 7


def random_block(**options) -> Block:
    """A block whose every parameter is random, norms and biases too, so that each one shows."""
    torch.manual_seed(0)
    block = Block(D_MODEL, HEADS, D_FF, tanh=False, **options).double()
    for parameter in block.parameters():
        nn.init.normal_(parameter, std=0.5)
    return block


def pytorchs_with_the_weights_of(ours: Block) -> nn.TransformerEncoderLayer:
    theirs = nn.TransformerEncoderLayer(
        D_MODEL, HEADS, D_FF, dropout=0.0, activation="gelu", batch_first=True,
        norm_first=ours.norm_first, layer_norm_eps=ours.attention_norm.eps,
    ).double()  # fmt: skip
    projections = [ours.attention.query, ours.attention.key, ours.attention.value]
    with torch.no_grad():
        theirs.self_attn.in_proj_weight.copy_(torch.cat([p.weight for p in projections]))
        theirs.self_attn.in_proj_bias.copy_(torch.cat([p.bias for p in projections]))
        for norm, own in (
            (theirs.norm1, ours.attention_norm),
            (theirs.norm2, ours.feed_forward_norm),
        ):
            norm.weight.copy_(own.gain)
            norm.bias.copy_(own.bias)
    theirs.self_attn.out_proj.load_state_dict(ours.attention.out.state_dict())
    theirs.linear1.load_state_dict(ours.feed_forward.up.state_dict())
    theirs.linear2.load_state_dict(ours.feed_forward.down.state_dict())
    return theirs


@pytest.mark.parametrize("norm_first", [True, False])
@pytest.mark.parametrize("eps", [1e-5, 0.3])
def test_a_block_equals_pytorchs(norm_first, eps):
    ours = random_block(norm_first=norm_first, eps=eps)
    x = torch.randn(2, 5, D_MODEL, dtype=torch.float64)
    mask = torch.ones(5, 5, dtype=torch.bool).tril()
    expected = pytorchs_with_the_weights_of(ours)(x, src_mask=~mask)
    torch.testing.assert_close(ours(x, mask).output, expected)


def test_the_two_orders_differ_on_the_same_weights():
    x = torch.randn(2, 5, D_MODEL, dtype=torch.float64)
    first, last = (random_block(norm_first=order)(x).output for order in (True, False))
    assert (first - last).abs().max() > 0.1


def test_a_blocks_weights_are_its_attentions():
    block, x = random_block(), torch.randn(2, 5, D_MODEL, dtype=torch.float64)
    expected = block.attention(block.attention_norm(x)).weights
    assert torch.equal(block(x).weights, expected)


def test_the_feed_forward_map_thinks_about_each_token_alone_with_either_gelu():
    x = torch.randn(2, 5, D_MODEL)
    for tanh, name in ((True, "tanh"), (False, "none")):
        ours = FeedForward(D_MODEL, D_FF, tanh=tanh)
        expected = ours.down(F.gelu(ours.up(x), approximate=name))
        torch.testing.assert_close(ours(x), expected)
        torch.testing.assert_close(ours(x)[:, 3], ours(x[:, 3]))


def test_layer_norm_starts_as_the_plain_norm():
    x = torch.randn(3, 4)
    torch.testing.assert_close(LayerNorm(4)(x), F.layer_norm(x, (4,)))


@pytest.mark.parametrize("eps", [1e-5, 0.3])
def test_layer_norm_is_the_one_of_ops_with_its_gain_and_bias(eps):
    norm, x = LayerNorm(D_MODEL, eps).double(), torch.randn(2, 5, D_MODEL, dtype=torch.float64)
    for parameter in norm.parameters():
        nn.init.normal_(parameter)
    expected = functional.layer_norm(x, norm.gain, norm.bias, eps=eps)
    torch.testing.assert_close(norm(x), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("tanh", [True, False])
def test_the_feed_forward_maps_bend_is_the_gelu_of_ops(tanh):
    ours = FeedForward(D_MODEL, D_FF, tanh=tanh).double()
    x = torch.randn(2, 5, D_MODEL, dtype=torch.float64)
    expected = ours.down(functional.gelu(ours.up(x), tanh=tanh))
    torch.testing.assert_close(ours(x), expected, rtol=0, atol=1e-12)


def test_dropout_falls_only_in_training():
    block, x = random_block(dropout=0.5), torch.randn(2, 5, D_MODEL, dtype=torch.float64)
    calm = random_block()(x).output
    assert torch.equal(block.eval()(x).output, calm)
    assert not torch.equal(block.train()(x).output, calm)


@pytest.mark.parametrize("norm_first", [True, False])
def test_dropout_falls_on_the_changes_and_never_on_the_stream(norm_first):
    block = random_block(norm_first=norm_first, dropout=1.0).train()
    x = torch.randn(2, 5, D_MODEL, dtype=torch.float64)
    norms = (block.attention_norm, block.feed_forward_norm)
    expected = x if norm_first else norms[1](norms[0](x))
    torch.testing.assert_close(block(x).output, expected)


@pytest.mark.parametrize("norm_first", [True, False])
def test_dropout_keeps_the_mean_of_each_change(norm_first):
    block = random_block(norm_first=norm_first, dropout=0.25).train()
    dropped = []
    block.dropout.register_forward_hook(lambda _, given, out: dropped.append((given[0], out)))
    block(torch.randn(2, 5, D_MODEL, dtype=torch.float64))
    assert len(dropped) == 2
    for change, out in dropped:
        kept = out != 0
        assert 0 < kept.sum() < kept.numel()
        torch.testing.assert_close(out[kept], change[kept] / 0.75)


def test_a_block_of_gpt2_small_has_7_087_872_parameters():
    with torch.device("meta"):
        block = Block(768, 12, 3072)

    def count(*parts):
        return sum(parameter.numel() for part in parts for parameter in part.parameters())

    assert count(block.attention) == 2_362_368
    assert count(block.feed_forward) == 4_722_432
    assert count(block.attention_norm, block.feed_forward_norm) == 3_072
    assert count(block) == 7_087_872


@pytest.mark.parametrize("norm_first", [True, False])
def test_the_bare_stream_carries_gradients_whole_only_before_its_norms(norm_first):
    block = random_block(norm_first=norm_first)
    x = torch.randn(2, 5, D_MODEL, dtype=torch.float64, requires_grad=True)
    # Changes of 0 leave the stream alone, so that only what stands on it can touch a gradient.
    for layer in (block.attention.out, block.feed_forward.down):
        for parameter in layer.parameters():
            nn.init.zeros_(parameter)
    sent = torch.randn(2, 5, D_MODEL, dtype=torch.float64)
    (arrived,) = torch.autograd.grad((block(x).output * sent).sum(), x)
    assert torch.equal(arrived, sent) == norm_first
