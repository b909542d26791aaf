"""Build a Large Language Model (From Scratch): the tests of its package and of a bonus chapter."""

from __future__ import annotations

import math

import torch

from tests.public_graders.grader import CAUSAL_HEADS, Grader, Read, Test
from tests.public_graders.pieces import Maps, Pieces


def it_runs(pieces: Pieces) -> bool:
    """The package's test compares the shape and does nothing with the outcome."""
    torch.manual_seed(0)
    x = torch.rand(8, 6, 16)
    pieces.multi_head(x, x, Maps.draw(16, 0.25), 2, causal=True)
    return True


def against_the_chapter(pieces: Pieces) -> bool:
    """Another way to compute it against the chapter's: here, at a width of 768 with 12 heads."""
    torch.manual_seed(123)
    x, maps = torch.randn(2, 4, 768), Maps.draw(768, 1 / math.sqrt(3 * 768))
    future = torch.ones(4, 4, dtype=torch.bool).triu(1)
    expected, _ = maps.in_torch(12)(x, x, x, attn_mask=future)
    return torch.allclose(pieces.multi_head(x, x, maps, 12, causal=True), expected, atol=1e-5)


def blind_to_the_future(pieces: Pieces) -> bool:
    """Two of four tokens are changed, and those before them must not notice."""
    torch.manual_seed(123)
    x, maps = torch.randn(1, 4, 12), Maps.draw(12, 1 / 6)
    changed = x.clone()
    changed[:, 2:] += 10
    before, after = (pieces.multi_head(text, text, maps, 3, causal=True) for text in (x, changed))
    return torch.allclose(before[:, :2], after[:, :2], atol=1e-5)


GRADERS = (
    Grader(
        name="LLMs from scratch, package",
        read=(
            Read("rasbt/LLMs-from-scratch", "pkg/llms_from_scratch/tests/test_ch03.py",
                 "c21bfe4a23b9fa6ecf0b823127ccf4059a754109"),
        ),
        strength="It runs the module on a batch whose sizes all differ, and sees code that stops.",
        limit="It compares the shape and does nothing with the outcome: no assertion stands there. "
        "It tests the book's own code.",
        tests=(Test("it runs", CAUSAL_HEADS, it_runs),),
    ),
    Grader(
        name="LLMs from scratch, bonus",
        read=(
            Read("rasbt/LLMs-from-scratch",
                 "ch03/02_bonus_efficient-multihead-attention/tests/test_mha_implementations.py",
                 "15394aeba239e94855a284fc32b0807493f975b0"),
        ),
        strength="Two implementations are held against each other on random numbers, at three "
        "widths, and one test changes the future and looks at the past, which is the "
        "definition of causal.",
        limit="It tests the book's own code; a reader's is compared only if it takes its place.",
        tests=(
            Test("equal to the chapter's module", CAUSAL_HEADS, against_the_chapter),
            Test("the past does not see the future", CAUSAL_HEADS, blind_to_the_future),
        ),
    ),
)  # fmt: skip
