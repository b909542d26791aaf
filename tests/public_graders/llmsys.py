"""CMU 11-868, LLM systems, homework 3: minitorch's modules against PyTorch's."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from tests.public_graders.grader import CAUSAL_HEADS, Grader, Read, Test
from tests.public_graders.pieces import Maps, Pieces

EPS = 1e-5


def close(got: Tensor, expected: Tensor) -> bool:
    """Their tolerance."""
    return torch.allclose(got, expected, atol=1e-5, rtol=1e-5)


def heads_and_gradient(pieces: Pieces) -> bool:
    """Causal attention and the gradient of its sum. Theirs go to a batch of 64 and 256 tokens."""
    for batch, n, width, heads in ((1, 2, 64, 1), (8, 32, 64, 4), (2, 32, 256, 4)):
        torch.manual_seed(10)
        maps = Maps.draw(width, 1 / math.sqrt(2 * width), bias=False)
        mine, theirs = (
            x.requires_grad_() for x in torch.rand(1, batch, n, width).repeat(2, 1, 1, 1)
        )
        future = torch.ones(n, n, dtype=torch.bool).triu(1)
        got = pieces.multi_head(mine, mine, maps, heads, causal=True)
        expected, _ = maps.in_torch(heads)(theirs, theirs, theirs, attn_mask=future)
        got.sum().backward()
        expected.sum().backward()
        if not (close(got, expected) and close(mine.grad, theirs.grad)):
            return False
    return True


def whole_layer(pieces: Pieces) -> bool:
    """A pre-norm layer with a tanh GELU; gains are 1 and biases 0, as they are at the start."""
    torch.manual_seed(10)
    width, heads, x = 64, 4, torch.randn(2, 128, 64)
    theirs = nn.TransformerEncoderLayer(
        width, heads, 256, 0.0, lambda z: nn.functional.gelu(z, approximate="tanh"),
        batch_first=True, norm_first=True, bias=False,
    ).requires_grad_(False)  # fmt: skip
    attention = theirs.self_attn
    maps = Maps(tuple(w.T for w in attention.in_proj_weight.chunk(3)), (torch.zeros(width),) * 3,
                attention.out_proj.weight.T, torch.zeros(width))  # fmt: skip
    future = torch.ones(128, 128, dtype=torch.bool).triu(1)
    gain, bias = torch.ones(width), torch.zeros(width)
    first = pieces.layer_norm(x, gain, bias, EPS)
    stream = x + pieces.multi_head(first, first, maps, heads, causal=True)
    second = pieces.layer_norm(stream, gain, bias, EPS)
    inner = pieces.gelu(second @ theirs.linear1.weight.T)
    return close(stream + inner @ theirs.linear2.weight.T, theirs(x, future))


GRADER = Grader(
    name="CMU 11-868",
    read=(
        Read("llmsystem/llmsys_s24_hw3", "tests/test_modules_transformer.py",
             "67ebbe9bb61407ee777177e23329a2de871c8eec"),
    ),
    strength="Strict: PyTorch's own modules as oracles, many sizes, outputs and gradients to 1e-5, "
    "and a whole layer.",
    limit="Gains are 1 and biases 0, and eps is a hundred-thousandth of the variance, so where it "
    "stands cannot be seen. The tests need a graphics card and are skipped without one.",
    tests=(
        Test("causal multi-head attention and its gradient", CAUSAL_HEADS, heads_and_gradient),
        Test("a pre-norm layer", CAUSAL_HEADS | {"layer norm", "GELU"}, whole_layer),
    ),
)  # fmt: skip
