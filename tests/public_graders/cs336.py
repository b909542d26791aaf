"""Stanford CS336, assignment 1: every answer against a stored array of the reference."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from tests.public_graders.grader import CAUSAL_HEADS, MASKED, Grader, Read, Test
from tests.public_graders.pieces import Maps, Pieces

BATCH, QUERIES, KEYS, HEADS, D_MODEL = 4, 12, 16, 4, 64


def as_stored(got: Tensor, expected: Tensor) -> bool:
    """Their tolerance: 1e-6, and a ten-thousandth of the number."""
    return torch.allclose(got, expected, rtol=1e-4, atol=1e-6, equal_nan=True)


def drawn(seed: int, n: int) -> Tensor:
    """Normal numbers, each array from its own seed, as they do."""
    torch.manual_seed(seed)
    return torch.randn(BATCH, n, D_MODEL)


def given() -> tuple[Tensor, ...]:
    """12 queries, 16 keys and a mask that is True for three pairs in ten."""
    q, k, v = drawn(1, QUERIES), drawn(2, KEYS), drawn(3, KEYS)
    torch.manual_seed(5)
    return q, k, v, torch.randn(BATCH, QUERIES, KEYS) > 0.5


def three_axes(pieces: Pieces) -> bool:
    """Batch, tokens, features."""
    q, k, v, mask = given()
    expected = scaled_dot_product_attention(q, k, v, mask)
    return as_stored(pieces.attention(q, k, v, mask)[0], expected)


def four_axes(pieces: Pieces) -> bool:
    """The same with two heads in front."""
    q, k, v, mask = (tensor.unflatten(0, (2, 2)) for tensor in given())
    expected = scaled_dot_product_attention(q, k, v, mask)
    return as_stored(pieces.attention(q, k, v, mask)[0], expected)


def all_heads(pieces: Pieces) -> bool:
    """Causal multi-head self-attention without biases. Their weights are those of a small model."""
    x = drawn(4, QUERIES)
    maps = Maps.draw(D_MODEL, 1 / 8, bias=False)
    future = torch.ones(QUERIES, QUERIES, dtype=torch.bool).triu(1)
    expected, _ = maps.in_torch(HEADS)(x, x, x, attn_mask=future)
    return as_stored(pieces.multi_head(x, x, maps, HEADS, causal=True), expected)


GRADER = Grader(
    name="CS336",
    read=(
        Read("roeehendel/cs336-assignment1-basics", "tests/test_model.py",
             "ffe24f116ebd6b184fbdf6e9dd4bf61579dc62bb"),
        Read("llylly/assignment1-basics", "tests/conftest.py",
             "878f61e01b41828c40a277e60c452c88d5b31919"),
    ),
    strength="Strict and general: random numbers, more keys than queries, a random mask, a batch "
    "with and without heads, and a tolerance of 1e-6.",
    limit="The width of the values is that of the keys, and what fails says only that numbers "
    "differ. Layer norm, GELU and sinusoids are no part of that course.",
    tests=(
        Test("attention with three axes and a random mask", MASKED, three_axes),
        Test("attention with four axes and a random mask", MASKED, four_axes),
        Test("causal multi-head self-attention", CAUSAL_HEADS, all_heads),
    ),
)  # fmt: skip
