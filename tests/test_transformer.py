"""Our block equals PyTorch's in both orders, given its weights."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from lib.transformer import Block, FeedForward, LayerNorm

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
    theirs.linear1.load_state_dict(ours.feed_forward.expand.state_dict())
    theirs.linear2.load_state_dict(ours.feed_forward.contract.state_dict())
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
        expected = ours.contract(F.gelu(ours.expand(x), approximate=name))
        torch.testing.assert_close(ours(x), expected)
        torch.testing.assert_close(ours(x)[:, 3], ours(x[:, 3]))


def test_layer_norm_starts_as_the_plain_norm():
    x = torch.randn(3, 4)
    torch.testing.assert_close(LayerNorm(4)(x), F.layer_norm(x, (4,)))
