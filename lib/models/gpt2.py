"""GPT-2: tokens and positions in, a stack of causal blocks, a score for every next token out."""

import math
from functools import partial
from typing import NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from lib.attention import masks
from lib.attention.fused import fused
from lib.attention.kv_cache import KeyValueCache
from lib.models.block import Block, LayerNorm
from lib.models.config import Config


class ModelOutput(NamedTuple):
    """A score for each word of the vocabulary at each position, and the weights, if kept."""

    logits: Float[Tensor, "*batch n vocab"]
    weights: Float[Tensor, "*batch layer head n n"] | None


class GPT2(nn.Module):
    r"""Predict the next token at every position, each from what stands at or before it.

    $x_0 = E[\text{ids}] + P$, then $x_l = \mathrm{block}_l(x_{l-1})$ for each layer, and
    $\text{logits} = \mathrm{norm}(x_N)\, E^\top$: one table E embeds and scores, tied.

    Source: Radford et al. 2019, section 2.3; the tied table from Press and Wolf 2017.
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
        r"""Draw every matrix from a normal distribution, and start every bias at 0.

        The two maps of each layer that write into the stream get $\text{std} / \sqrt{2N}$:
        their 2N changes add up, so that the sum of them all has about the variance of one.
        """
        for module in self.modules():
            if isinstance(module, nn.Linear | nn.Embedding):
                nn.init.normal_(module.weight, std=std)
            if isinstance(module, nn.Linear):
                nn.init.zeros_(module.bias)
        for layer in self.layers:
            for into_the_stream in (layer.attention.out, layer.feed_forward.down):
                nn.init.normal_(into_the_stream.weight, std=std / math.sqrt(2 * len(self.layers)))

    @property
    def device(self) -> torch.device:
        """Where the parameters are, and the ids must be."""
        return self.token_embedding.weight.device

    def embed(
        self, ids: Int[Tensor, "*batch n"], start: int = 0
    ) -> Float[Tensor, "*batch n d_model"]:
        """Add the row of each token to the row of its position, counted from `start`.

        Raises: TypeError for what are no ids, ValueError for positions that were not learned.
        """
        check_ids(ids)
        end = start + ids.shape[-1]
        if start < 0:
            raise ValueError(f"Positions are counted from 0, and start is {start}.")
        if end > self.config.context_length:
            raise ValueError(
                f"This model has learned {self.config.context_length} positions; got {end} tokens. "
                "Give it only the end of the text."
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

        With caches (`self.caches()`), the ids follow those that were given with them before.

        Raises: ValueError if caches are given and weights asked for; and as `embed` does.
        """
        if caches and keep_weights:
            raise ValueError(
                "With caches only the new tokens are read, by a kernel that keeps no weights. "
                "For the weights give the whole text, and no caches."
            )
        x = self.embed(ids, start=caches[0].used if caches else 0)
        tables = []
        for i, block in enumerate(self.layers):
            if keep_weights:
                x, weights = block(x, masks.causal(x.shape[-2], like=x))
                tables.append(weights)
            elif caches:
                x, _ = block(x, attention=caches[i])
            else:
                dropout = self.config.dropout if self.training else 0.0
                x, _ = block(x, attention=partial(fused, causal=True, dropout=dropout))
        logits = self.unembed(x[..., -1:, :] if last else x)
        return ModelOutput(logits, torch.stack(tables, dim=-4) if tables else None)

    def unembed(self, x: Float[Tensor, "*batch n d_model"]) -> Float[Tensor, "*batch n vocab"]:
        """Normalise the stream and compare it with the row of every word."""
        return F.linear(self.norm(x), self.token_embedding.weight)

    def caches(self) -> list[KeyValueCache]:
        """One empty cache for each layer, with room for as many tokens as the model can read."""
        return [KeyValueCache(self.config.context_length) for _ in self.layers]


def check_ids(ids: Int[Tensor, "*batch n"]) -> None:
    """Refuse what torch cannot look up, and say what it can.

    Source: torch's embedding, which takes whole numbers of 32 or 64 bits.
    Taught in: chapter 12.
    Raises: TypeError for a list, for numbers with a point, for a single number.
    """
    is_tensor = isinstance(ids, Tensor)
    if not (is_tensor and ids.dtype in (torch.int32, torch.int64) and ids.ndim):
        came = f"{ids.dtype} {tuple(ids.shape)}" if is_tensor else f"a {type(ids).__name__}"
        raise TypeError(
            "Ids are a tensor of whole numbers, (n) or (batch, n), such as "
            f"torch.tensor([464, 7185]); got {came}."
        )


def next_token_loss(
    logits: Float[Tensor, "*batch n vocab"], targets: Int[Tensor, "*batch n"]
) -> Float[Tensor, ""]:
    r"""Average, in nats, how surprised the model is by each token that really came next.

    $-\frac{1}{n} \sum_i \log \mathrm{softmax}(\text{logits}_i)_{t_i}$, where target $t_i$ is the
    token after position i. Knowing nothing costs $\ln V$: 10.82 for GPT-2's vocabulary.

    Source: Radford et al. 2019, equation 1, as the mean of its negative logarithm.
    Taught in: chapter 12.
    """
    return F.cross_entropy(logits.flatten(0, -2), targets.flatten())
