"""ARENA, transformers from scratch: a triangle, an eps, and GPT-2's own layers."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from tests.public_graders.grader import CAUSAL_HEADS, Grader, Read, Test
from tests.public_graders.pieces import Maps, Pieces

D_MODEL, HEADS, N = 768, 12, 35  # GPT-2, and a sentence as long as theirs


def triangle(pieces: Pieces) -> bool:
    """Drawn scores, five by five; every number of the masked table is compared, NaN forbidden."""
    torch.manual_seed(0)
    table = torch.randn(1, 1, 5, 5)
    expected = table.masked_fill(torch.ones(5, 5).triu(1).bool(), -math.inf)
    got = pieces.look_back(table)
    return not got.softmax(-1).isnan().any() and torch.allclose(got, expected)


def large_eps(pieces: Pieces) -> bool:
    """A residual stream and an eps of 0.1, which shows where eps stands; gain 1 and bias 0."""
    torch.manual_seed(0)
    x, gain, bias = torch.randn(1, N, D_MODEL) * 10, torch.ones(D_MODEL), torch.zeros(D_MODEL)
    expected = nn.functional.layer_norm(x, (D_MODEL,), gain, bias, 0.1)
    return torch.allclose(pieces.layer_norm(x, gain, bias, 0.1), expected, 1.3e-6, 1e-5)


def nearly_all_close(got: Tensor, expected: Tensor) -> bool:
    """Their measure: all but one number in a hundred thousand, to 1e-4 and 1e-3 of its size."""
    close = torch.isclose(got, expected, atol=1e-4, rtol=1e-3)
    return 1 - close.float().mean().item() < 1e-5


def gpt2_attention(pieces: Pieces) -> bool:
    """The whole layer with loaded parameters. Ours are drawn: GPT-2's cannot be shipped."""
    torch.manual_seed(0)
    maps, x = Maps.draw(D_MODEL, 1 / math.sqrt(D_MODEL)), torch.randn(1, N, D_MODEL)
    future = torch.ones(N, N, dtype=torch.bool).triu(1)
    expected, _ = maps.in_torch(HEADS)(x, x, x, attn_mask=future)
    return nearly_all_close(pieces.multi_head(x, x, maps, HEADS, causal=True), expected)


def gpt2_norm(pieces: Pieces) -> bool:
    """A layer norm with loaded gain and bias, eps = 1e-5."""
    torch.manual_seed(0)
    x = torch.randn(1, N, D_MODEL) * 10
    gain, bias = 1 + torch.randn(D_MODEL) / 2, torch.randn(D_MODEL) / 2
    expected = nn.functional.layer_norm(x, (D_MODEL,), gain, bias, 1e-5)
    return nearly_all_close(pieces.layer_norm(x, gain, bias, 1e-5), expected)


def gpt2_mlp(pieces: Pieces) -> bool:
    """Up to four times the width, GELU, and down again."""
    torch.manual_seed(0)
    x, up = torch.randn(1, N, D_MODEL), torch.randn(D_MODEL, 4 * D_MODEL) / math.sqrt(D_MODEL)
    down = torch.randn(4 * D_MODEL, D_MODEL) / math.sqrt(4 * D_MODEL)
    expected = nn.functional.gelu(x @ up, approximate="tanh") @ down
    return nearly_all_close(pieces.gelu(x @ up) @ down, expected)


GRADER = Grader(
    name="ARENA",
    read=(
        Read("feifanl/ARENA",
             "chapter1_transformer_interp/exercises/part1_transformer_from_scratch/tests.py",
             "77228d4f07ddd20f670163ce5b978052a493dd95"),
        Read("callummcdougall/ARENA_2.0",
             "chapter1_transformers/exercises/part1_transformer_from_scratch/solutions.py",
             "334bada701ea198551783f3ec23d422958128b93"),
    ),
    strength="Each layer is compared with GPT-2's own on its own activations, and a further test "
    "asks where eps stands, with a sentence that says so.",
    limit="A layer counts as right to one part in a thousand, so a variance with n - 1 of 768 "
    "numbers is seen only by the test of eps; in the state that is cited the comparison prints "
    "a share of right numbers and fails nothing, as later copies do; here it is a test.",
    tests=(
        Test("causal mask on drawn scores, 5 x 5", frozenset({"causal mask"}), triangle),
        Test("layer norm with eps = 0.1", frozenset({"layer norm"}), large_eps),
        Test("attention layer against GPT-2's", CAUSAL_HEADS, gpt2_attention),
        Test("layer norm against GPT-2's", frozenset({"layer norm"}), gpt2_norm),
        Test("MLP against GPT-2's", frozenset({"GELU"}), gpt2_mlp),
    ),
)  # fmt: skip
