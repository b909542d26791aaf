"""Deep-ML, problems 53, 94 and 107: printed outputs for small integers."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from tests.public_graders.grader import ATTENTION, MASKED, Grader, Read, Test
from tests.public_graders.pieces import Pieces

FAR = frozenset({"large scores"})


def printed(got: Tensor, expected: Tensor) -> bool:
    """Equal to the digits that are shown: six."""
    return got.shape == expected.shape and torch.allclose(got, expected, rtol=1e-6, atol=1e-6)


SMALL = [
    ([[1, 0], [0, 1]], [[2, 5], [3, 1]]),
    ([[1, 0], [1, 1]], [[3, 1], [2, 6]]),
    ([[1, 2, 1], [2, 1, 1], [1, 1, 2]], [[1, 2, 3], [6, 5, 4], [7, 9, 8]]),
]


def single_head(pieces: Pieces) -> bool:
    """Two and three tokens; queries and keys are equal, and hold zeros, ones and twos."""
    for same, values in SMALL:
        q, v = (torch.tensor(array, dtype=torch.float64) for array in (same, values))
        if not printed(pieces.attention(q, q, v)[0], scaled_dot_product_attention(q, q, v)):
            return False
    return True


def integers(n: int, width: int) -> tuple[Tensor, Tensor, Tensor]:
    """Their recipe and seed, for what passes depends on them: the numbers below n times width,
    shuffled, times matrices of small integers.
    """
    rng = np.random.RandomState(42)
    x = rng.permutation(n * width).reshape(n, width)
    maps = [rng.randint(0, high, size=(width, width)) for high in (4, 5, 6)]
    q, k, v = (torch.from_numpy(x @ matrix).double() for matrix in maps)
    return q, k, v


def several_heads(pieces: Pieces) -> bool:
    """Three sizes. Their heads end in no output matrix."""
    for n, width, heads in ((4, 4, 2), (6, 8, 4), (6, 8, 2)):
        q, k, v = integers(n, width)
        parts = [pieces.split(array, heads) for array in (q, k, v)]
        true = [array.unflatten(-1, (heads, -1)).transpose(0, 1) for array in (q, k, v)]
        expected = scaled_dot_product_attention(*true).transpose(0, 1).flatten(-2)
        if not printed(pieces.merge(pieces.attention(*parts)[0]), expected):
            return False
    return True


def masked(pieces: Pieces) -> bool:
    """The same numbers under a causal mask that is handed over."""
    for n, width in ((6, 8), (4, 4)):
        q, k, v = integers(n, width)
        mask = torch.ones(n, n, dtype=torch.bool).tril()
        expected = scaled_dot_product_attention(q, k, v, mask)
        if not printed(pieces.attention(q, k, v, mask)[0], expected):
            return False
    return True


COMMIT = "10115b4d191dc31c749989893ebc60ffb614d460"
SATURATED = (
    "Its scores are in the thousands, so every weight is 0 or 1 and only the largest score of a "
)
SATURATED += "row counts: dividing it by anything changes nothing."


def problem(number: int, strength: str, limit: str, test: Test) -> Grader:
    """One problem, which is handed in and judged by itself."""
    read = Read("Open-Deep-ML/DML-OpenProblem", f"build/{number}.json", COMMIT)
    return Grader(f"Deep-ML {number}", (read,), strength, limit, (test,))


GRADERS = (
    problem(
        53, "Answers at once, to six digits, on numbers that can be followed with a pencil.",
        "Queries and keys are equal in all three cases, so exchanging them changes nothing.",
        Test("self-attention on two and three tokens", ATTENTION, single_head),
    ),
    problem(
        94, "Three sizes, and scores so large that a softmax without its maximum overflows.",
        SATURATED, Test("several heads", ATTENTION | {"heads"} | FAR, several_heads),
    ),
    problem(
        107, "A mask, and scores so large that a softmax without its maximum overflows.",
        SATURATED, Test("attention under a causal mask", MASKED | FAR, masked),
    ),
)  # fmt: skip
