"""Dropout on the attention weights, for training."""

import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor

from lib.attention.dot_product import attend
from lib.shapes import AttentionOutput


def attend_with_dropout(
    q: Float[Tensor, "*#batch query d_k"],
    k: Float[Tensor, "*#batch key d_k"],
    v: Float[Tensor, "*#batch key d_v"],
    mask: Bool[Tensor, "..."] | None = None,
    *,
    dropout: float = 0.0,
) -> AttentionOutput:
    r"""Attend with each weight set to 0 with probability `dropout`, and else divided by $1 - p$.

    $\mathrm{dropout}(\mathrm{softmax}(Q K^\top / \sqrt{d_k}))\, V$, where p is `dropout`.
    The weights that are returned are those that multiplied the values.

    Source: Srivastava et al. 2014, section 10; the place is that of GPT-2's published code.
    Taught in: chapter 11.
    Raises: as `attend` does.
    """
    output, weights = attend(q, k, v, mask)
    if not dropout:
        return AttentionOutput(output, weights)
    weights = F.dropout(weights, dropout)
    return AttentionOutput(weights @ v, weights)
