"""Several attentions side by side, with their learned projections, as a torch module."""

from collections.abc import Callable

import torch
from jaxtyping import Bool, Float
from torch import nn

from lib.attention.dot_product import attend
from lib.attention.heads import merge_heads, split_heads
from lib.onethread import Linear, linear
from lib.shapes import Attended


class MultiHeadAttention(nn.Module):
    r"""Let several heads attend at once, each in its own part of the space, and mix what they find.

    $\mathrm{concat}(o_1, \dots, o_h)\, W_o$ with
    $o_i = \mathrm{attend}(X W_{q,i}, S W_{k,i}, S W_{v,i})$.
    In self-attention the source $S$ is $X$ itself; in cross-attention it is another sequence.

    Source: Vaswani et al. 2017, section 3.2.2.
    Taught in: chapter 09 (self-attention), chapter 10 (cross-attention).
    Raises: ValueError if d_model is no multiple of heads.
    """

    def __init__(self, d_model: int, heads: int, *, d_source: int | None = None, bias: bool = True):
        super().__init__()
        if d_model % heads:
            raise ValueError(
                f"{heads} heads cannot share d_model = {d_model} equally. "
                f"Choose a number of heads that divides {d_model}."
            )
        self.heads = heads
        d_source = d_model if d_source is None else d_source
        self.query = Linear(d_model, d_model, bias=bias)
        self.key = Linear(d_source, d_model, bias=bias)
        self.value = Linear(d_source, d_model, bias=bias)
        self.out = Linear(d_model, d_model, bias=bias)

    def forward(
        self,
        x: Float[torch.Tensor, "*batch query d_model"],
        source: Float[torch.Tensor, "*batch key d_source"] | None = None,
        mask: Bool[torch.Tensor, "..."] | None = None,
        *,
        attention: Callable[..., Attended] = attend,
    ) -> Attended:
        """Return the output, and the weights with an axis of heads before (query, key).

        A mask without a head axis must say so with an axis of length 1: (batch, 1, query, key).
        Another way to attend, with the same output, may take the place of `attend`.
        """
        q, k, v = (split_heads(part, self.heads) for part in self.project(x, source))
        output, weights = attention(q, k, v, mask)
        return Attended(self.out(merge_heads(output)), weights)

    def project(
        self,
        x: Float[torch.Tensor, "*batch query d_model"],
        source: Float[torch.Tensor, "*batch key d_source"] | None = None,
    ) -> tuple[Float[torch.Tensor, "..."], ...]:
        """Return the queries of x, and the keys and values of the source, all heads in a row."""
        three = self.query, self.key, self.value
        if source is None and torch.is_grad_enabled() and not any(map(_is_watched, three)):
            # With their gradients it is nine products, and stacking makes three of them.
            return linear(x, *self.joint()).chunk(3, dim=-1)
        source = x if source is None else source
        return self.query(x), self.key(source), self.value(source)

    def joint(self) -> tuple[Float[torch.Tensor, "..."], Float[torch.Tensor, "..."] | None]:
        """Stack the maps to queries, keys and values: weight and bias of one map to all three."""
        three = (self.query, self.key, self.value)
        bias = None if self.query.bias is None else torch.cat([one.bias for one in three])
        return torch.cat([one.weight for one in three]), bias


def _is_watched(module: nn.Module) -> bool:
    """Whether it must be called as it is, because it was replaced or something hangs on to it."""
    hooks = module._forward_hooks, module._forward_pre_hooks, module._backward_hooks
    return type(module) is not Linear or any(hooks)
