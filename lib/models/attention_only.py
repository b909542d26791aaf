"""Texts that repeat themselves, and the smallest model that can notice: attention and no more."""

import torch
from jaxtyping import Int
from torch import Tensor, nn

from lib.attention import masks
from lib.attention.multi_head import MultiHeadAttention
from lib.models.gpt2 import ModelOutput, check_ids


class AttentionOnly(nn.Module):
    r"""A causal model of attention and nothing else: no norms, no feed-forward maps, no biases.

    $x_0 = E[\text{ids}] + P$, then $x_l = x_{l-1} + \mathrm{attend}_l(x_{l-1})$ for each layer, and
    $\text{logits} = x_N U$: every logit is a plain sum of what the token, the position and each
    head contribute.

    Source: Elhage et al. 2021, section "Model Simplifications".
    Taught in: chapter 16.
    """

    def __init__(self, vocab_size: int, context_length: int, d_model: int, heads: int, layers: int):
        super().__init__()
        self.token_embedding = nn.Embedding(vocab_size, d_model)
        self.position_embedding = nn.Embedding(context_length, d_model)
        self.layers = nn.ModuleList(
            MultiHeadAttention(d_model, heads, bias=False) for _ in range(layers)
        )
        self.unembed = nn.Linear(d_model, vocab_size, bias=False)

    def forward(self, ids: Int[Tensor, "*batch n"]) -> ModelOutput:
        """Return the logits, and the weights of every layer and head.

        Raises: TypeError for what are no ids, ValueError for more tokens than positions.
        """
        check_ids(ids)
        n, context_length = ids.shape[-1], self.position_embedding.num_embeddings
        if n > context_length:
            raise ValueError(
                f"{n} tokens, but the model has learned only {context_length} positions"
            )
        x = self.token_embedding(ids) + self.position_embedding.weight[:n]
        past, tables = masks.causal(n, like=x), []
        for attention in self.layers:
            change, weights = attention(x, mask=past)
            x = x + change
            tables.append(weights)
        return ModelOutput(self.unembed(x), torch.stack(tables, dim=-4))
