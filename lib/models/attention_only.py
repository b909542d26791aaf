"""Texts that repeat themselves, and the smallest model that can notice: attention and no more."""

import torch
from jaxtyping import Int
from torch import Tensor, nn

from lib.attention import masks
from lib.attention.multi_head import MultiHeadAttention
from lib.models.gpt2 import Predicted, check_ids


class AttentionOnly(nn.Module):
    r"""A causal model of attention and nothing else: no norms, no feed-forward maps, no biases.

    $x_0 = E[\text{ids}] + P$, then $x_l = x_{l-1} + \mathrm{attend}_l(x_{l-1})$ for each layer, and
    $\text{logits} = x_N U$: every logit is a plain sum of what the token, the position and each
    head contribute.

    Source: Elhage et al. 2021, section "Model Simplifications".
    Taught in: chapter 16.
    """

    def __init__(self, vocab: int, longest: int, d_model: int, heads: int, layers: int):
        super().__init__()
        self.words = nn.Embedding(vocab, d_model)
        self.positions = nn.Embedding(longest, d_model)
        self.layers = nn.ModuleList(
            MultiHeadAttention(d_model, heads, bias=False) for _ in range(layers)
        )
        self.unembed = nn.Linear(d_model, vocab, bias=False)

    def forward(self, ids: Int[Tensor, "*batch n"]) -> Predicted:
        """Return the logits, and the weights of every layer and head.

        Raises: TypeError for what are no ids, ValueError for more tokens than positions.
        """
        check_ids(ids)
        n, longest = ids.shape[-1], self.positions.num_embeddings
        if n > longest:
            raise ValueError(f"{n} tokens, but the model has learned only {longest} positions")
        x = self.words(ids) + self.positions.weight[:n]
        past, tables = masks.causal(n, like=x), []
        for attention in self.layers:
            change, weights = attention(x, mask=past)
            x = x + change
            tables.append(weights)
        return Predicted(self.unembed(x), torch.stack(tables, dim=-4))
