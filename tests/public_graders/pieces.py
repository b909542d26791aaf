"""What a learner of any of these courses writes, in parts that can be replaced one by one.

Masks are True where a query may attend. Whoever changes a part changes all that is built from it:
a bug in `attention` is in `multi_head` too, as it would be in the learner's file.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

FORBIDDEN = -math.inf


def scores(q: Tensor, k: Tensor) -> Tensor:
    """Scaled scores of every query against every key."""
    return q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])


def weigh(table: Tensor, mask: Tensor | None) -> Tensor:
    """Scores to weights; a query that may attend to nothing has none."""
    if mask is not None:
        table = table.masked_fill(~mask, FORBIDDEN)
    return torch.softmax(table, -1).nan_to_num(0.0)


def look_back(table: Tensor) -> Tensor:
    """The causal mask, laid on scores: the last query sees every key."""
    n, m = table.shape[-2:]
    future = torch.ones(n, m, dtype=torch.bool).triu(m - n + 1)
    return table.masked_fill(future, FORBIDDEN)


def split(x: Tensor, heads: int) -> Tensor:
    """(..., n, d_model) -> (..., heads, n, d_k)"""
    return x.unflatten(-1, (heads, -1)).transpose(-2, -3)


def merge(x: Tensor) -> Tensor:
    """(..., heads, n, d_k) -> (..., n, d_model)"""
    return x.transpose(-2, -3).flatten(-2)


def layer_norm(x: Tensor, gain: Tensor, bias: Tensor, eps: float) -> Tensor:
    """Layer norm over the last axis."""
    centred = x - x.mean(-1, keepdim=True)
    return centred / torch.sqrt(centred.square().mean(-1, keepdim=True) + eps) * gain + bias


def gelu(x: Tensor) -> Tensor:
    """The GELU of GPT-2, with a tanh."""
    return x / 2 * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def angles(n: int, d_model: int) -> Tensor:
    """(n, d_model): both features of a pair turn by the same angle."""
    pair = torch.arange(d_model, dtype=torch.float64) // 2
    return torch.arange(n, dtype=torch.float64)[:, None] / 10000 ** (2 * pair / d_model)


def waves(turned: Tensor) -> Tensor:
    """Sines in the even features, cosines in the odd ones."""
    return torch.stack([turned[:, 0::2].sin(), turned[:, 1::2].cos()], -1).flatten(-2)


@dataclass(frozen=True)
class Pieces:
    """Everything right, unless a part is replaced."""

    scores: Callable = scores
    weigh: Callable = weigh
    values: Callable = lambda weights, k, v: weights @ v
    look_back: Callable = look_back
    split: Callable = split
    merge: Callable = merge
    project: Callable = lambda joined, w_o, b_o: joined @ w_o + b_o
    layer_norm: Callable = layer_norm
    gelu: Callable = gelu
    angles: Callable = angles
    waves: Callable = waves

    def attention(
        self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """The output, and the weights."""
        weights = self.weigh(self.scores(q, k), mask)
        return self.values(weights, k, v), weights

    def multi_head(
        self, x: Tensor, other: Tensor, maps: Maps, heads: int, *,
        mask: Tensor | None = None, causal: bool = False,
    ) -> Tensor:  # fmt: skip
        """Queries from `x`, keys and values from `other`."""
        parts = zip((x, other, other), maps.w_qkv, maps.b_qkv, strict=True)
        q, k, v = (self.split(source @ w + b, heads) for source, w, b in parts)
        table = self.scores(q, k)
        weights = self.weigh(self.look_back(table) if causal else table, mask)
        return self.project(self.merge(self.values(weights, k, v)), maps.w_o, maps.b_o)

    def positions(self, n: int, d_model: int) -> Tensor:
        """The table of sines and cosines."""
        return self.waves(self.angles(n, d_model))


@dataclass(frozen=True)
class Maps:
    """The parameters of multi-head attention, applied as `x @ w + b`."""

    w_qkv: tuple[Tensor, Tensor, Tensor]
    b_qkv: tuple[Tensor, Tensor, Tensor]
    w_o: Tensor
    b_o: Tensor

    @classmethod
    def draw(cls, d_model: int, spread: float, *, bias: bool = True) -> Maps:
        """Normal numbers; the biases a tenth as large, or none."""
        shape, small = (d_model, d_model), spread / 10 if bias else 0.0
        weights = [torch.randn(shape) * spread for _ in range(4)]
        biases = [torch.randn(d_model) * small for _ in range(4)]
        return cls(tuple(weights[:3]), tuple(biases[:3]), weights[3], biases[3])

    def in_torch(self, heads: int) -> torch.nn.MultiheadAttention:
        """PyTorch's own module with these parameters: the oracle of every comparison here."""
        module = torch.nn.MultiheadAttention(len(self.w_o), heads, batch_first=True)
        with torch.no_grad():
            module.in_proj_weight.copy_(torch.cat([w.T for w in self.w_qkv]))
            module.in_proj_bias.copy_(torch.cat(self.b_qkv))
            module.out_proj.weight.copy_(self.w_o.T)
            module.out_proj.bias.copy_(self.b_o)
        return module.eval().requires_grad_(False)
