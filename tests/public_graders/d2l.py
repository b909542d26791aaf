"""Dive into Deep Learning: the shapes that its chapters assert."""

from __future__ import annotations

import torch
from torch import Tensor

from tests.public_graders.grader import HEADS, MASKED, Grader, Read, Test
from tests.public_graders.pieces import Maps, Pieces

FOLDER = "chapter_attention-mechanisms-and-transformers"


def within(lengths: list[int], keys: int) -> Tensor:
    """(batch, 1, keys): the first keys of each sentence, as many as it has."""
    return (torch.arange(keys) < torch.tensor(lengths)[:, None])[:, None]


def one_query(pieces: Pieces) -> bool:
    """Two sentences, one query each, ten keys, of which two and six count."""
    torch.manual_seed(0)
    q, k, v = torch.randn(2, 1, 2), torch.randn(2, 10, 2), torch.randn(2, 10, 4)
    return pieces.attention(q, k, v, within([2, 6], 10))[0].shape == (2, 1, 4)


def heads_on_ones(pieces: Pieces) -> bool:
    """Five heads of width 20; every number that goes in is 1."""
    torch.manual_seed(0)
    maps, x, other = Maps.draw(100, 0.1, bias=False), torch.ones(2, 4, 100), torch.ones(2, 6, 100)
    got = pieces.multi_head(x, other, maps, 5, mask=within([3, 2], 6)[:, None])
    return got.shape == (2, 4, 100)


GRADER = Grader(
    name="d2l",
    read=(
        Read("d2l-ai/d2l-en", f"{FOLDER}/attention-scoring-functions.md",
             "003f46d8d6bbe6311a235ca107b93f1b4e897953"),
        Read("d2l-ai/d2l-en", f"{FOLDER}/multihead-attention.md",
             "04488e8cf7d1b2b6812136e3172d8db57cf4406c"),
    ),
    strength="The sizes of queries, keys and values all differ, so a missing transpose is an "
    "error; a map of the weights is drawn for the reader to look at.",
    limit="A textbook and no grader: what it asserts are shapes, which a wrong number never "
    "changes, and in the test of the heads all inputs are equal.",
    tests=(
        Test("shape of attention for one query", MASKED, one_query),
        Test("shape of multi-head attention on ones", HEADS | {"given mask"}, heads_on_ones),
    ),
)  # fmt: skip
