"""GPT-2: token and position embeddings, a stack of causal blocks, logits for the next token."""

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from lib.attention import masks
from lib.attention.dropout import attend_with_dropout
from lib.attention.fused import fused
from lib.attention.kv_cache import KeyValueCache
from lib.models.block import Block, LayerNorm
from lib.models.config import Config
from lib.shapes import AttentionOutput


class ModelOutput(NamedTuple):
    """The logits of every position, and the attention weights if they were kept."""

    logits: Float[Tensor, "*batch n vocab"]
    weights: Float[Tensor, "*batch layer head n n"] | None


class GPT2(nn.Module):
    r"""Predict the next token at every position from that token and the tokens before it.

    $x_0 = E[\text{ids}] + P$, then $x_l = \mathrm{block}_l(x_{l-1})$ for each layer, and
    $\text{logits} = \mathrm{norm}(x_N)\, E^\top$: the token embedding E is tied to the LM head.

    Source: Radford et al. 2019, section 2.3; weight tying: Press and Wolf 2017.
    Taught in: chapter 12.
    """

    def __init__(self, config: Config):
        super().__init__()
        self.config = config
        self.token_embedding = nn.Embedding(config.vocab_size, config.d_model)
        self.position_embedding = nn.Embedding(config.context_length, config.d_model)
        self.dropout = nn.Dropout(config.dropout)
        self.layers = nn.ModuleList(
            Block(config.d_model, config.heads, config.d_ff, eps=config.eps, dropout=config.dropout)
            for _ in range(config.layers)
        )
        self.norm = LayerNorm(config.d_model, config.eps)
        self.initialise()

    def initialise(self, std: float = 0.02) -> None:
        r"""Initialise every matrix from a normal distribution and every bias with 0.

        The two projections of each layer that write into the residual stream get
        $\text{std} / \sqrt{2N}$: their 2N outputs are added, and the sum then has about the
        variance of a single output.
        """
        for module in self.modules():
            if isinstance(module, nn.Linear | nn.Embedding):
                nn.init.normal_(module.weight, std=std)
            if isinstance(module, nn.Linear) and module.bias is not None:
                nn.init.zeros_(module.bias)
        for layer in self.layers:
            for projection in (layer.attention.out, layer.feed_forward.down):
                nn.init.normal_(projection.weight, std=std / math.sqrt(2 * len(self.layers)))

    @property
    def device(self) -> torch.device:
        """The device of the parameters, on which the ids must be."""
        return self.token_embedding.weight.device

    def embed(
        self, ids: Int[Tensor, "*batch n"], start: int = 0
    ) -> Float[Tensor, "*batch n d_model"]:
        """Add token embeddings and position embeddings; positions are counted from `start`.

        Raises: TypeError if ids is not a tensor of ids, ValueError beyond the learned positions.
        """
        check_ids(ids)
        end = start + ids.shape[-1]
        if start < 0:
            raise ValueError(f"`start` must be at least 0; got {start}.")
        if end > self.config.context_length:
            raise ValueError(
                f"The model has {self.config.context_length} learned positions; got {end} tokens. "
                "Give it only the end of the sequence."
            )
        return self.dropout(self.token_embedding(ids) + self.position_embedding.weight[start:end])

    def forward(
        self,
        ids: Int[Tensor, "*batch n"],
        *,
        caches: list[KeyValueCache] | None = None,
        last: bool = False,
        keep_weights: bool = False,
    ) -> ModelOutput:
        """Return the logits, for every position or only for the last; the weights on request.

        With caches (`self.caches()`), the ids continue the sequence of the earlier calls.

        Raises: ValueError for caches together with keep_weights or dropout; and as `embed` does.
        """
        attentions = self.attentions(caches, keep_weights)
        x = self.embed(ids, start=caches[0].used if caches else 0)
        mask = masks.causal(ids.shape[-1], like=ids) if keep_weights else None
        all_weights = []
        for block, attention in zip(self.layers, attentions, strict=True):
            x, weights = block(x, mask, attention=attention)
            all_weights.append(weights)
        logits = self.unembed(x[..., -1:, :] if last else x)
        return ModelOutput(logits, torch.stack(all_weights, dim=-4) if keep_weights else None)

    def attentions(
        self, caches: list[KeyValueCache] | None, keep_weights: bool
    ) -> Sequence[Callable[..., AttentionOutput]]:
        """Return how each layer attends: from its cache, with its weights kept, or fused.

        Raises: ValueError for caches together with keep_weights or dropout.
        """
        dropout = self.config.dropout if self.training else 0.0
        if caches and keep_weights:
            raise ValueError(
                "`caches` and `keep_weights` exclude each other: with a KV cache, a fused kernel "
                "reads only the new tokens. For the weights, give the whole sequence and no caches."
            )
        if caches and dropout:
            raise ValueError(
                "Caches are for generation, and this model is in training mode with dropout "
                f"{dropout}. Call model.eval() first, or give the whole sequence and no caches."
            )
        if caches:
            return caches
        attend = attend_with_dropout if keep_weights else partial(fused, causal=True)
        return [partial(attend, dropout=dropout)] * len(self.layers)

    def unembed(self, x: Float[Tensor, "*batch n d_model"]) -> Float[Tensor, "*batch n vocab"]:
        """Apply the final layer norm and the LM head, which is tied to the token embedding."""
        return F.linear(self.norm(x), self.token_embedding.weight)

    def caches(self) -> list[KeyValueCache]:
        """Return one empty KV cache per layer, each for `context_length` tokens."""
        return [KeyValueCache(self.config.context_length, attention=fused) for _ in self.layers]


def check_ids(ids: Int[Tensor, "*batch n"]) -> None:
    """Check that ids are a tensor of integers with at least one axis.

    Source: torch's embedding, which takes integers of 32 or 64 bits.
    Taught in: chapter 12.
    Raises: TypeError for a list, a floating-point tensor or a single number.
    """
    is_tensor = isinstance(ids, Tensor)
    if not (is_tensor and ids.dtype in (torch.int32, torch.int64) and ids.ndim):
        got = f"{ids.dtype} {tuple(ids.shape)}" if is_tensor else f"a {type(ids).__name__}"
        raise TypeError(
            "`ids` must be an integer tensor of shape (n) or (batch, n), such as "
            f"torch.tensor([464, 7185]); got {got}."
        )


def next_token_loss(
    logits: Float[Tensor, "*batch n vocab"], targets: Int[Tensor, "*batch n"]
) -> Float[Tensor, ""]:
    r"""Compute the mean cross-entropy, in nats per token, of the tokens that really came next.

    $-\frac{1}{n} \sum_i \log \mathrm{softmax}(\text{logits}_i)_{t_i}$, where target $t_i$ is the
    token after position i. The uniform baseline has the loss $\ln V$: 10.82 for GPT-2.

    Source: Radford et al. 2019, equation 1, as the mean of its negative logarithm.
    Taught in: chapter 12.
    """
    return F.cross_entropy(logits.flatten(0, -2), targets.flatten())
