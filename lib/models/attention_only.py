"""An attention-only transformer, small enough to read an induction circuit off its weights."""

import torch
from jaxtyping import Int
from torch import Tensor, nn

from lib.attention import masks
from lib.attention.multi_head import MultiHeadAttention
from lib.models.gpt2 import ModelOutput, check_ids


class AttentionOnly(nn.Module):
    r"""An attention-only causal model: no norms, no feed-forward networks, no biases.

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

        Raises: TypeError if ids is not a tensor of ids, ValueError for more tokens than positions.
        """
        check_ids(ids)
        n, context_length = ids.shape[-1], self.position_embedding.num_embeddings
        if n > context_length:
            raise ValueError(
                f"The model has {context_length} learned positions; got {n} tokens. "
                "Give a shorter sequence."
            )
        x = self.token_embedding(ids) + self.position_embedding.weight[:n]
        mask, all_weights = masks.causal(n, like=x), []
        for attention in self.layers:
            change, weights = attention(x, mask=mask)
            x = x + change
            all_weights.append(weights)
        return ModelOutput(self.unembed(x), torch.stack(all_weights, dim=-4))
