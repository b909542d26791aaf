"""Random sequences with a repeated part, on which a model can learn induction."""

from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Int
from torch import Tensor


class Repeats(NamedTuple):
    """Input ids, target ids, and a mask of the targets that follow from the input.

    Source: the columns of a training example, as in chapter 8.
    """

    ids: Int[Tensor, "batch n"]
    targets: Int[Tensor, "batch n"]
    known: Bool[Tensor, "batch n"]


def repeats(
    rng: np.random.Generator,
    count: int,
    *,
    n: int = 32,
    vocab: int = 40,
    shortest: int = 5,
    longest: int = 16,
) -> Repeats:
    r"""Sample different tokens, then repeat the last p of them, with p sampled for each sequence.

    A sequence holds n + 1 tokens, of which n are inputs: $t_i = t_{i-p}$ for $i \ge n + 1 - p$, and
    so the targets at $i \ge n + 1 - p$ are known. As p varies, no fixed offset predicts them.

    Source: Olsson et al. 2022, section "Model Analysis Table" (repeated random sequences).
    Taught in: chapter 16.
    Raises: ValueError if two copies do not fit, or the vocabulary is too small.
    """
    if not 2 <= shortest <= longest <= (n + 1) // 2:
        raise ValueError(
            f"Two copies must fit into {n + 1} tokens: 2 <= `shortest` <= `longest` <= "
            f"{(n + 1) // 2}; got {shortest} and {longest}."
        )
    if vocab < n + 1 - shortest:
        raise ValueError(
            f"`vocab` must be at least {n + 1 - shortest} different tokens; got {vocab}."
        )
    period = rng.integers(shortest, longest + 1, size=(count, 1))  # (batch, 1)
    fresh = rng.permuted(np.tile(np.arange(vocab), (count, 1)), axis=1)  # (batch, vocab)
    position = np.arange(n + 1)  # (n + 1,)
    repeated = position >= n + 1 - period  # (batch, n + 1)
    tokens = np.take_along_axis(fresh, position - period * repeated, axis=1)
    ids = torch.from_numpy(tokens)
    return Repeats(ids[:, :-1], ids[:, 1:], torch.from_numpy(repeated[:, :-1]))
