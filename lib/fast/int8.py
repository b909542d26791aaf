"""GPT-2 in int8: generation reads every weight once a token, and here a weight is one byte."""

import inspect
import math
from collections.abc import Callable

import numpy as np
import torch
from jaxtyping import Float, Int, Int8
from numba import njit
from torch import Tensor

from lib.attention.kv_cache import KeyValueCache
from lib.models.block import Block, LayerNorm
from lib.models.gpt2 import GPT2, ModelOutput


def quantize_rows(
    weight: Float[Tensor, "..."],
) -> tuple[Int8[Tensor, "..."], Float[Tensor, "..."]]:
    r"""Round each row to integers from -127 to 127, and return them with the scale of each row.

    $\hat w_{ij} = \mathrm{round}(w_{ij} / s_i)$ with $s_i = \max_j |w_{ij}| / 127$, so
    $s_i \hat w_{ij}$ differs from $w_{ij}$ by at most $s_i / 2$.

    Source: Dettmers et al. 2022, section 2.1 (absmax quantization), with one scale for each row.
    Taught in: chapter 14.
    """
    scale = weight.abs().amax(dim=1).clamp(min=1e-30) / 127
    return (weight / scale[:, None]).round().to(torch.int8), scale


def compiled(loop: Callable) -> Callable:
    """Compile a Python loop over numbers to machine code, at its first call.

    Sums may be regrouped, so that a processor adds 8 or 16 products at once.

    Source: Lam, Pitrou and Seibert 2015.
    Taught in: chapter 14.
    """
    # The shape checks of the tests wrap a function, and numba compiles only the one inside.
    return njit(fastmath={"reassoc", "contract", "nsz"}, error_model="numpy")(inspect.unwrap(loop))


@compiled
def int8_product(
    weight: Int8[np.ndarray, "..."],
    scale: Float[np.ndarray, "..."],
    bias: Float[np.ndarray, "..."],
    x: Float[np.ndarray, " features"],
) -> Float[np.ndarray, "..."]:
    r"""Multiply a quantized matrix by one vector: $y_i = s_i \sum_j \hat w_{ij} x_j + b_i$.

    Source: Dettmers et al. 2022, section 2.1, with only the weights quantized.
    Taught in: chapter 14.
    """
    y = np.empty_like(bias)
    for i in range(len(y)):
        row, total = weight[i], np.float32(0)
        for j in range(x.size):
            total += np.float32(row[j]) * x[j]
        y[i] = scale[i] * total + bias[i]
    return y


@compiled
def normalize(
    x: Float[np.ndarray, " d_model"],
    gain: Float[np.ndarray, " d_model"],
    bias: Float[np.ndarray, " d_model"],
    eps: float,
) -> Float[np.ndarray, " d_model"]:
    """Normalise one vector: `lib.functional.layer_norm` for a single position.

    Source: Ba, Kiros and Hinton 2016, equation 4.
    Taught in: chapter 14.
    """
    centred = x - x.mean()
    return centred / np.sqrt((centred * centred).mean() + np.float32(eps)) * gain + bias


@compiled
def attend_last(
    q: Float[np.ndarray, "head d_k"],
    keys: Float[np.ndarray, "... key d_k"],
    values: Float[np.ndarray, "... key d_v"],
    used: int,
) -> Float[np.ndarray, "head d_v"]:
    """Let one query of each head attend to the first `used` keys: the last row of attention.

    With fewer KV heads than query heads, neighbouring query heads share a KV head.

    Source: Vaswani et al. 2017, equation 1.
    Taught in: chapter 14.
    """
    scale = np.float32(1 / math.sqrt(q.shape[1]))
    output = np.zeros((len(q), values.shape[2]), np.float32)
    weights = np.empty(used, np.float32)
    for h in range(len(q)):
        shared = h * len(keys) // len(q)
        for i in range(used):
            score = np.float32(0)
            for c in range(q.shape[1]):
                score += q[h, c] * keys[shared, i, c]
            weights[i] = scale * score
        weights = np.exp(weights - weights.max())
        weights /= weights.sum()
        for i in range(used):
            for c in range(values.shape[2]):
                output[h, c] += weights[i] * values[shared, i, c]
    return output


class Int8Linear:
    """A linear layer for one vector, with its weight matrix in int8.

    Source: Dettmers et al. 2022, section 2.1.
    Taught in: chapter 14.
    """

    def __init__(self, weight: Float[Tensor, "..."], bias: Tensor | None = None):
        quantized, scale = quantize_rows(weight.detach().float())
        bias = torch.zeros_like(scale) if bias is None else bias.detach().float()
        self.parts = quantized.numpy(), scale.numpy(), bias.numpy()

    def __call__(self, x: Float[np.ndarray, " features"]) -> Float[np.ndarray, "..."]:
        """Project one vector."""
        return int8_product(*self.parts, x)


class Int8Block:
    """The transformer block of `lib.models.block` for one new token.

    Source: Radford et al. 2019, section 2.3.
    Taught in: chapter 14.
    """

    def __init__(self, block: Block):
        attention, network = block.attention, block.feed_forward
        self.heads, self.gelu = attention.heads, network.gelu
        self.norms = _norm(block.attention_norm), _norm(block.feed_forward_norm)
        joint = (attention.query, attention.key, attention.value)
        self.qkv = Int8Linear(*(torch.cat([getattr(part, name) for part in joint])
                                for name in ("weight", "bias")))  # fmt: skip
        self.out, self.up, self.down = (
            Int8Linear(part.weight, part.bias) for part in (attention.out, network.up, network.down)
        )

    def __call__(
        self, x: Float[np.ndarray, " d_model"], cache: KeyValueCache
    ) -> Float[np.ndarray, " d_model"]:
        """Return the residual stream after this layer; its key and value go into the cache."""
        q, k, v = self.qkv(normalize(x, *self.norms[0])).reshape(3, self.heads, -1)
        cache.store(*(torch.from_numpy(part).view(1, self.heads, 1, -1) for part in (k, v)))
        x = x + self.out(attend_last(q, cache.keys[0].numpy(), cache.values[0].numpy(),
                                     cache.used).reshape(-1))  # fmt: skip
        hidden = torch.from_numpy(self.up(normalize(x, *self.norms[1])))
        return x + self.down(self.gelu(hidden).numpy())


class Int8GPT2:
    """GPT-2 that reads the prompt as it is and generates with int8 weights, on one CPU thread.

    It takes the place of the model in `lib.models.generation`. Each new token after the prompt
    reads a quarter of the bytes. The embeddings and the KV cache stay in float32.
    After a change of the model's weights, make a new one.

    Source: Radford et al. 2019, section 2.3, for the model; Dettmers et al. 2022 for int8.
    Taught in: chapter 14.
    Raises: ValueError for a model in training mode with dropout, or one that is not on the CPU.
    """

    training = False

    def __init__(self, model: GPT2):
        if model.training and model.config.dropout:
            raise ValueError(
                "Int8GPT2 is for inference, and this model is in training mode with dropout. "
                "Call model.eval() first."
            )
        if model.device.type != "cpu":
            raise ValueError(
                f"Int8GPT2 runs on a CPU, and this model is on {model.device}. "
                "Call model.cpu() first."
            )
        self.model, self.config, self.caches = model, model.config, model.caches
        self.layers, self.norm = [Int8Block(block) for block in model.layers], _norm(model.norm)
        self.lm_head = Int8Linear(model.token_embedding.weight)

    @torch.no_grad()
    def __call__(
        self,
        ids: Int[Tensor, "*batch n"],
        *,
        caches: list[KeyValueCache] | None = None,
        last: bool = False,
    ) -> ModelOutput:
        """Return the logits as GPT2 does: in int8 for one token of one text, with caches."""
        if ids.shape != (1, 1) or not caches:
            return self.model(ids, caches=caches, last=last)
        x = self.model.embed(ids, start=caches[0].used).flatten().float().numpy()
        for layer, cache in zip(self.layers, caches, strict=True):
            x = layer(x, cache)
        logits = self.lm_head(normalize(x, *self.norm))
        return ModelOutput(torch.from_numpy(logits).view(1, 1, -1), None)


def _norm(norm: LayerNorm) -> tuple[np.ndarray, np.ndarray, float]:
    return norm.gain.detach().float().numpy(), norm.bias.detach().float().numpy(), norm.eps
