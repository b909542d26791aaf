"""The Deep Learning Specialization, sequence models, week 4: a few vectors of zeros and ones."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from tests.public_graders.grader import ATTENTION, MASKED, Grader, Read, Test
from tests.public_graders.pieces import Pieces


def bits() -> tuple[Tensor, Tensor, Tensor]:
    """Three queries and four keys of width 4, and values of width 2, all zeros and ones."""
    q = torch.tensor([[0.0, 1, 1, 1], [1, 1, 0, 0], [1, 0, 1, 1]])
    k = torch.tensor([[1.0, 0, 1, 1], [0, 1, 1, 0], [1, 1, 1, 0], [0, 0, 1, 0]])
    v = torch.tensor([[0.0, 1], [0, 0], [1, 1], [1, 0]])
    return q, k, v


def equal(pieces: Pieces, mask: Tensor | None) -> bool:
    """Weights and output, to NumPy's usual tolerance."""
    q, k, v = bits()
    output, weights = pieces.attention(q, k, v, mask)
    wanted = [
        scaled_dot_product_attention(q, k, given_values, mask) for given_values in (v, torch.eye(4))
    ]
    pairs = zip((output, weights), wanted, strict=True)
    return all(
        got.shape == expected.shape and torch.allclose(got, expected) for got, expected in pairs
    )


def unmasked(pieces: Pieces) -> bool:
    """Without a mask."""
    return equal(pieces, None)


def masked(pieces: Pieces) -> bool:
    """The third key is hidden from every query."""
    return equal(pieces, torch.tensor([[True, True, False, True]] * 3))


def angles(pieces: Pieces) -> bool:
    """Four positions of width 16: two sums, pairs that agree, and the last number."""
    got = pieces.angles(4, 16)
    return (
        got.shape == (4, 16)
        and got[0].sum() == 0
        and torch.isclose(got[:, 0].sum(), torch.tensor(6.0, dtype=got.dtype))
        and bool((got[:, 0::2] == got[:, 1::2]).all())
        and torch.isclose(got[3, 15], torch.tensor(3 / 10000 ** (14 / 16), dtype=got.dtype))
    )


def waves(pieces: Pieces) -> bool:
    """Eight positions: squares of a pair sum to 1, and the pair turns by the learner's angle."""
    got, turned = pieces.positions(8, 16), pieces.angles(8, 16)[:, 0::2]
    sines, cosines = got[:, 0::2], got[:, 1::2]
    return bool(
        torch.allclose(sines**2 + cosines**2, torch.ones_like(sines))
        and torch.allclose(torch.atan2(sines, cosines) % (2 * torch.pi), turned % (2 * torch.pi))
    )


GRADER = Grader(
    name="DeepLearning.AI",
    read=(
        Read("umermjd11/DLC5M4A1", "public_tests.py", "aceea3deaf3f6b418942a5d8a2e156eee4df0ad0"),
    ),
    strength="Weights are compared as well as the output, so that two mistakes cannot cancel, and "
    "positions are tested by what they mean and not by a table.",
    limit="There are as many keys as features, one mask that is the same for every query, and no "
    "batch. Heads and layer norm come from Keras and are not asked for.",
    tests=(
        Test("attention without a mask", ATTENTION, unmasked),
        Test("attention with one key hidden", MASKED, masked),
        Test("angles of positions", frozenset({"positions"}), angles),
        Test("sines and cosines of positions", frozenset({"positions"}), waves),
    ),
)  # fmt: skip
