"""Batches of texts of different lengths for a model that predicts the next token."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import torch
from jaxtyping import Bool, Int
from torch import Tensor


class Batch(NamedTuple):
    """The ids of padded rows, and True where an id is real."""

    ids: Int[Tensor, "batch n"]
    real: Bool[Tensor, "batch n"]


def pad_left(rows: Iterable[Sequence[int]], *, padding: int = 0) -> Batch:
    """Pad rows of ids on the left, so that the last position of each row is its last token.

    A decoder predicts the next token at the last position: `model(ids, real=real, last=True)`.

    Source: the common practice for batched generation, `padding_side="left"` in `transformers`.
    Taught in: chapter 8.
    Raises: ValueError if there is no row, or a row is empty.
    """
    rows = [list(row) for row in rows]
    if not rows or not all(rows):
        raise ValueError(f"`rows` must hold one or more rows, none of them empty; got {rows}.")
    length = max(map(len, rows))
    gaps = [length - len(row) for row in rows]
    ids = [[padding] * gap + row for gap, row in zip(gaps, rows, strict=True)]
    real = torch.arange(length) >= torch.tensor(gaps)[:, None]
    return Batch(torch.tensor(ids), real)
