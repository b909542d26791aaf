"""Attention in one fused kernel, which moves less data through memory."""

import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor

from lib.attention import masks
from lib.shapes import AttentionOutput


def fused(
    q: Float[Tensor, "*batch query d_k"],
    k: Float[Tensor, "... key d_k"],
    v: Float[Tensor, "... key d_v"],
    mask: Bool[Tensor, "..."] | None = None,
    *,
    causal: bool = False,
    dropout: float = 0.0,
) -> AttentionOutput:
    r"""Attend in one fused kernel, which never stores the attention matrix.

    The output equals that of `lib.attention.dot_product.attend`, or of `grouped` where k and v have
    fewer heads than q; the weights are None.
    With `causal`, each query sees the keys up to its own, the last query aligned with the last key.
    PyTorch chooses the kernel; if no fused kernel fits, it stores the attention matrix after all.
    On a CPU this happens with dropout, with $d_v \ne d_k$, and with more than one axis before head.

    Source: Dao et al. 2022, algorithm 1, as PyTorch's scaled_dot_product_attention implements it.
    Taught in: chapter 14.
    Raises: ValueError if causal and there are more queries than keys.
    """
    queries, keys = q.shape[-2], k.shape[-2]
    # The kernel's causal mask aligns the first query with the first key; ours aligns the last.
    if causal and (mask is not None or 1 < queries != keys):
        past = masks.causal(queries, keys, like=q)
        mask, causal = past if mask is None else mask & past, False
    q4, k4, v4 = map(_with_four_axes, (q, k, v))
    output = F.scaled_dot_product_attention(
        q4,
        k4,
        v4,
        None if mask is None else _with_four_axes(mask),
        dropout_p=dropout,
        is_causal=causal and queries > 1,  # a single query is the last and attends to all keys
        enable_gqa=k4.shape[-3] not in (1, q4.shape[-3]),
    )
    return AttentionOutput(output.reshape(*q.shape[:-1], v.shape[-1]), None)


def _with_four_axes(x: Tensor) -> Tensor:
    """Prepend axes of length 1: with fewer than four axes PyTorch stores the attention matrix."""
    return x[(None,) * (4 - x.ndim)]
