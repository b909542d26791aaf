"""Faster decoding for a Llama: joined projections, and weights in float32 or in 4 bits."""

from collections.abc import Callable, Mapping

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from lib.attention.kv_cache import KeyValueCache
from lib.attention.positions import rotate, rotations
from lib.fast.int8 import attend_last, compiled
from lib.models.llama import Llama, LlamaOutput

Linear = Callable[[Float[Tensor, " d_in"]], Float[Tensor, " d_out"]]
BLOCK = 32  # weights that share a scale and a minimum


def float32_linear(weight: Float[Tensor, "d_out d_in"]) -> Linear:
    """Return the product with this matrix: torch reads each weight once, at memory speed.

    Source: `torch.mv`.
    Taught in: chapter 18.
    """
    return weight.contiguous().mv


def int4_linear(weight: Float[Tensor, "d_out d_in"]) -> Linear:
    r"""Return the product with this matrix rounded to 4 bits, by a kernel of torch.

    Each block of 32 weights becomes integers from 0 to 15, $\hat w = m + s q$ with
    $m = \min w$ and $s = (\max w - \min w) / 15$. Weights that were stored so (llama.cpp's Q4_1)
    get their own integers back. The kernel wants x, s and m in bfloat16, which is exact to 0.4%.

    Source: the format Q4_1 of llama.cpp; the kernel is `torch._weight_int4pack_mm_for_cpu`.
    Taught in: chapter 18.
    Raises: ValueError if the number of inputs is not a multiple of 32.
    """
    d_out, d_in = weight.shape
    if d_in % BLOCK:
        raise ValueError(f"`d_in` must be a multiple of {BLOCK}; got {d_in}.")
    blocks = weight.float().reshape(d_out, -1, BLOCK)
    least, most = blocks.aminmax(dim=-1)
    scale = ((most - least) / 15).clamp(min=1e-30)
    whole = ((blocks - least[..., None]) / scale[..., None]).round().int().reshape(d_out, d_in)
    packed = torch._convert_weight_to_int4pack_for_cpu(whole, 1)
    # The kernel computes (q - 8) * scale + zero.
    scales = torch.stack([scale, least + 8 * scale], dim=-1).transpose(0, 1)
    scales = scales.to(torch.bfloat16).contiguous()

    def product(x: Float[Tensor, " d_in"]) -> Float[Tensor, " d_out"]:
        row = x.to(torch.bfloat16)[None]
        return torch._weight_int4pack_mm_for_cpu(row, packed, BLOCK, scales)[0].float()

    return product


@compiled
def gated(both: Float[np.ndarray, " d_ff"]) -> Float[np.ndarray, " d_ff"]:
    """Multiply the second half of a vector by the SiLU of its first half.

    Source: Shazeer 2020, equation 6.
    Taught in: chapter 18.
    """
    middle = len(both) // 2
    output = np.empty(middle, np.float32)
    for i in range(middle):
        output[i] = both[i] / (np.float32(1) + np.exp(-both[i])) * both[middle + i]
    return output


class FastLayer:
    """One layer of `lib.models.llama` for one new token, with projections of one input joined.

    Source: Touvron et al. 2023, section 2.2.
    Taught in: chapter 18.
    """

    def __init__(self, layer: Mapping[str, Tensor], linear: Callable[[Tensor], Linear]):
        self.norms = layer["attention_norm"], layer["feed_forward_norm"]
        self.qkv = linear(torch.cat([layer[name] for name in ("query", "key", "value")]))
        self.gate_up = linear(torch.cat([layer["gate"], layer["up"]]))
        self.out, self.down = linear(layer["out"]), linear(layer["down"])

    def __call__(
        self, x: Float[Tensor, " d_model"], cache: KeyValueCache, config, rotation
    ) -> Float[Tensor, " d_model"]:
        """Return the residual stream after this layer; its key and value go into the cache."""
        heads, groups = config.heads, config.kv_heads
        joint = self.qkv(rms(x, self.norms[0], config.eps)).view(-1, 1, config.d_k)
        turned = rotate(joint[: heads + groups], rotation, halves=True)
        new = (*cache.keys.shape[:-2], 1, config.d_k)  # with the batch axis, if there is one
        cache.store(turned[heads:].view(new), joint[heads + groups :].view(new))
        stored = (part.view(groups, -1, config.d_k) for part in (cache.keys, cache.values))
        keys, values = (part.numpy() for part in stored)
        mixed = attend_last(turned[:heads, 0].numpy(), keys, values, cache.used)
        x = x + self.out(torch.from_numpy(mixed).view(-1))
        hidden = gated(self.gate_up(rms(x, self.norms[1], config.eps)).numpy())
        return x + self.down(torch.from_numpy(hidden))


class FastLlama:
    """A Llama that reads the prompt as it is and generates faster, on one CPU thread.

    It takes the place of the model in `lib.models.generation`. `linear` chooses the weights of the
    new tokens: `float32_linear` (the same logits) or `int4_linear` (rounded). The
    LM head stays in float32.

    Source: Touvron et al. 2023, section 2.2, for the model.
    Taught in: chapter 18.
    Raises: ValueError for a model that is not torch tensors on the CPU in float32.
    """

    training = False

    def __init__(self, model: Llama, linear: Callable[[Tensor], Linear] = float32_linear):
        embedding = model.parameters["embedding"]
        if not isinstance(embedding, Tensor) or embedding.device.type != "cpu":
            raise ValueError("FastLlama needs a model of torch tensors on the CPU.")
        if embedding.dtype != torch.float32:
            raise ValueError(f"FastLlama needs a model in float32; got {embedding.dtype}.")
        self.model, self.config, self.caches = model, model.config, model.caches
        self.device = model.device
        self.layers = [FastLayer(layer, linear) for layer in model.parameters["layers"]]
        self.head = model.parameters.get("head", embedding).mv

    @torch.inference_mode()
    def __call__(
        self,
        ids: Int[Tensor, "*batch n"],
        *,
        caches: list[KeyValueCache] | None = None,
        last: bool = False,
    ) -> LlamaOutput:
        """Return the logits as Llama does; fast for one token of one text, with caches."""
        if ids.numel() != 1 or not caches or not caches[0].used:
            return self.model(ids, caches=caches, last=last)
        config, parameters = self.config, self.model.parameters
        position = torch.tensor([float(caches[0].used)])
        rotation = rotations(position, config.d_k, base=config.base)
        x = parameters["embedding"][ids.item()]
        for layer, cache in zip(self.layers, caches, strict=True):
            x = layer(x, cache, config, rotation)
        logits = self.head(rms(x, parameters["norm"], config.eps))
        return LlamaOutput(logits.view(*ids.shape, -1), None)


def rms(
    x: Float[Tensor, " d_model"], gain: Float[Tensor, " d_model"], eps: float
) -> Float[Tensor, " d_model"]:
    """Normalise one vector: `lib.functional.rms_norm` in one kernel of torch.

    Source: Zhang and Sennrich 2019, equation 4.
    Taught in: chapter 18.
    """
    return torch.nn.functional.rms_norm(x, x.shape, gain, eps)
