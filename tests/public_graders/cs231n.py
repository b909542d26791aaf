"""Stanford CS231n, assignment 3: relative errors against numbers with four digits."""

from __future__ import annotations

import torch
from torch import Tensor

from tests.public_graders.grader import HEADS, Grader, Read, Test
from tests.public_graders.pieces import Maps, Pieces

T, E, H = 3, 8, 2  # they chose sizes that are all different, and say why


def small_error(got: Tensor, expected: Tensor) -> bool:
    """What the learner is told to look for: a relative error below 1e-3 of what is printed."""
    shown = expected.round(decimals=4)
    error = (got - shown).abs() / (got.abs() + shown.abs()).clamp(min=1e-8)
    return error.max().item() < 1e-3


def numbers() -> tuple[Maps, Tensor, Tensor]:
    """Parameters, the data, and other data of the same length."""
    torch.manual_seed(3)
    return Maps.draw(E, 0.35), torch.randn(1, T, E), torch.randn(1, T, E)


def self_attention(pieces: Pieces) -> bool:
    """One sentence, three tokens."""
    maps, x, _ = numbers()
    expected, _ = maps.in_torch(H)(x, x, x)
    return small_error(pieces.multi_head(x, x, maps, H), expected)


def masked_self_attention(pieces: Pieces) -> bool:
    """The same under a random mask."""
    maps, x, _ = numbers()
    mask = torch.tensor([[True, False, True], [True, True, False], [False, True, True]])
    expected, _ = maps.in_torch(H)(x, x, x, attn_mask=~mask)
    return small_error(pieces.multi_head(x, x, maps, H, mask=mask), expected)


def cross_attention(pieces: Pieces) -> bool:
    """Keys and values from other data."""
    maps, x, other = numbers()
    expected, _ = maps.in_torch(H)(x, other, other)
    return small_error(pieces.multi_head(x, other, maps, H), expected)


def positions(pieces: Pieces) -> bool:
    """Two positions of six features, added to data."""
    torch.manual_seed(3)
    x = torch.randn(2, 6, dtype=torch.float64)
    return small_error(x + pieces.positions(2, 6), x + Pieces().positions(2, 6))


GRADER = Grader(
    name="CS231n",
    read=(
        Read("Na-moe/CS231n-2024", "assignment3/Transformer_Captioning.ipynb",
             "eb5f945c79809b4aab6e0a80b5bcd30736fe098a"),
    ),
    strength="Values of a reference for self-attention, masked self-attention and two inputs, "
    "with sizes chosen to be all different.",
    limit="It prints errors and leaves the judgement to the reader. The mask is no causal one. "
    "Dropout, which their numbers include, is left out here.",
    tests=(
        Test("self-attention", HEADS, self_attention),
        Test("self-attention under a random mask", HEADS | {"given mask"}, masked_self_attention),
        Test("attention from two inputs", HEADS, cross_attention),
        Test("positions added to data", frozenset({"positions"}), positions),
    ),
)  # fmt: skip
