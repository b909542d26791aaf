"""Multi-head attention with its learned projections, as a torch module."""

from collections.abc import Callable

import torch
from jaxtyping import Bool, Float
from torch import nn

from lib.attention.dot_product import attend
from lib.attention.heads import merge_heads, split_heads
from lib.shapes import AttentionOutput


class MultiHeadAttention(nn.Module):
    r"""Let several heads attend in parallel, each in its own subspace, and project their outputs.

    $\mathrm{concat}(o_1, \dots, o_h)\, W_o$ with
    $o_i = \mathrm{attend}(X W_{q,i}, S W_{k,i}, S W_{v,i})$.
    In self-attention the source $S$ is $X$ itself; in cross-attention it is another sequence.

    Source: Vaswani et al. 2017, section 3.2.2.
    Taught in: chapter 09 (self-attention), chapter 10 (cross-attention).
    Raises: ValueError if d_model is not divisible by heads.
    """

    def __init__(self, d_model: int, heads: int, *, d_source: int | None = None, bias: bool = True):
        super().__init__()
        if d_model % heads:
            raise ValueError(
                f"`d_model` must be divisible by `heads`; got {d_model} and {heads}. "
                f"Choose a number of heads that divides {d_model}."
            )
        self.heads = heads
        d_source = d_model if d_source is None else d_source
        self.query = nn.Linear(d_model, d_model, bias=bias)
        self.key = nn.Linear(d_source, d_model, bias=bias)
        self.value = nn.Linear(d_source, d_model, bias=bias)
        self.out = nn.Linear(d_model, d_model, bias=bias)

    def forward(
        self,
        x: Float[torch.Tensor, "*batch query d_model"],
        source: Float[torch.Tensor, "*batch key d_source"] | None = None,
        mask: Bool[torch.Tensor, "..."] | None = None,
        *,
        attention: Callable[..., AttentionOutput] = attend,
    ) -> AttentionOutput:
        """Return the output, and the weights with a head axis before (query, key).

        A mask that is the same for all heads needs a head axis of length 1: (batch, 1, query, key).
        `attention` may replace `attend` by another implementation, such as a KV cache.
        """
        source = x if source is None else source
        q = split_heads(self.query(x), self.heads)
        k = split_heads(self.key(source), self.heads)
        v = split_heads(self.value(source), self.heads)
        output, weights = attention(q, k, v, mask)
        return AttentionOutput(self.out(merge_heads(output)), weights)
