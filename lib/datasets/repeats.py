"""Random sequences that repeat themselves, on which induction can be learned."""

from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Int
from torch import Tensor


class Repeats(NamedTuple):
    """Texts as ids, the token that comes after each, and which of those a reader can know.

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
    r"""Random tokens, all different; then the last p of them once more, p drawn for each text.

    A text holds n + 1 tokens, of which n are read: $t_i = t_{i-p}$ for $i \ge n + 1 - p$, and
    so the targets at $i \ge n + 1 - p$ are known. As p varies, no fixed distance finds them.

    Source: Olsson et al. 2022, section "Model Analysis Table" (repeated random sequences).
    Taught in: chapter 16.
    Raises: ValueError if two copies do not fit, or the vocabulary is too small.
    """
    if not 2 <= shortest <= longest <= (n + 1) // 2:
        raise ValueError(
            f"Two copies of {shortest} to {longest} tokens do not fit into {n + 1}: "
            f"choose 2 <= shortest <= longest <= {(n + 1) // 2}."
        )
    if vocab < n + 1 - shortest:
        raise ValueError(
            f"{n + 1 - shortest} different tokens are needed, and the vocabulary has {vocab}."
        )
    period = rng.integers(shortest, longest + 1, size=(count, 1))  # (batch, 1)
    fresh = rng.permuted(np.tile(np.arange(vocab), (count, 1)), axis=1)  # (batch, vocab)
    place = np.arange(n + 1)  # (n + 1,)
    repeated = place >= n + 1 - period  # (batch, n + 1)
    text = np.take_along_axis(fresh, place - period * repeated, axis=1)
    ids = torch.from_numpy(text)
    return Repeats(ids[:, :-1], ids[:, 1:], torch.from_numpy(repeated[:, :-1]))
