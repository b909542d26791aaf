"""GPT-2 for one token at a time: the pace at which memory gives the weights, and little more."""

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

from lib.attention.kv_cache import KeyValueCache
from lib.attention.multi_head import MultiHeadAttention
from lib.fast.loops import add_product, attend_one, in_blocks, normalised
from lib.models.block import Block, LayerNorm
from lib.models.gpt2 import GPT2

PRECISIONS = ("float32", "bfloat16", "int8")


def rounded(
    x: Float[Tensor, "*batch features"],
) -> tuple[Int[Tensor, "*batch features"], Float[Tensor, "*batch 1"]]:
    r"""Round each row to whole numbers from -127 to 127; the second part scales them back.

    $\hat x = \mathrm{round}(x / s)$ with $s = \max_k |x_k| / 127$, so that no error exceeds $s/2$.

    Source: Dettmers et al. 2022, section 3.1.
    Taught in: chapter 14.
    """
    scale = x.abs().amax(dim=-1, keepdim=True).clamp(min=1e-30) / 127
    return (x / scale).round().to(torch.int8), scale


def joint(
    attention: MultiHeadAttention,
) -> tuple[Float[Tensor, "..."], Float[Tensor, "..."] | None]:
    """Stack the query, key and value projections: weight and bias of one projection to all three.

    Source: Radford et al. 2019; GPT-2's own weights store the three as one matrix.
    Taught in: chapter 14.
    """
    three = (attention.query, attention.key, attention.value)
    bias = None if attention.query.bias is None else torch.cat([part.bias for part in three])
    return torch.cat([part.weight for part in three]), bias


class VectorMap:
    r"""Compute $x W^\top + b$ for a single vector, from weights that lie as they are read.

    bfloat16 keeps half of the bits of a weight, int8 a quarter, and then each row has a scale.

    Source: Goto and van de Geijn 2008, section 4, for the layout; Dettmers et al. 2022 for int8.
    Taught in: chapter 14.
    """

    def __init__(
        self, weight: Float[Tensor, "..."], bias: Float[Tensor, "..."] | None, precision: str
    ):
        weight, scale = weight.detach(), None
        if precision == "int8":
            weight, scale = rounded(weight)
        elif precision == "bfloat16":  # NumPy has no such numbers, and keeps their bits
            weight = weight.bfloat16().view(torch.uint16)
        self.d_out, self.blocks = len(weight), in_blocks(weight.numpy())
        self.bias = None if bias is None else bias.detach().numpy()
        self.scale = None if scale is None else scale.squeeze(-1).numpy()

    def __call__(self, x: Float[np.ndarray, "..."]) -> Float[np.ndarray, "..."]:
        """Map one vector."""
        blocks, _, rows = self.blocks.shape
        y = np.zeros(blocks * rows, x.dtype)
        add_product(self.blocks, x, y)
        y = y[: self.d_out]
        if self.scale is not None:
            y *= self.scale
        if self.bias is not None:
            y += self.bias
        return y


class VectorNorm:
    """Normalise a single vector, as `lib.models.block.LayerNorm` does.

    Source: Ba, Kiros and Hinton 2016, equation 4.
    Taught in: chapter 14.
    """

    def __init__(self, norm: LayerNorm):
        self.gain, self.bias = norm.gain.detach().numpy(), norm.bias.detach().numpy()
        self.eps = norm.eps

    def __call__(self, x: Float[np.ndarray, "..."]) -> Float[np.ndarray, "..."]:
        """Normalise one vector over its features."""
        return normalised(x, self.gain, self.bias, self.eps)


class VectorBlock:
    """Do for a single vector what `lib.models.block.Block` does, after those in a cache.

    Source: Radford et al. 2019, section 2.3.
    Taught in: chapter 14.
    """

    def __init__(self, block: Block, precision: str):
        attention, network = block.attention, block.feed_forward
        self.heads, self.gelu = attention.heads, network.gelu.approximate
        self.before, self.between = map(VectorNorm, (block.attention_norm, block.feed_forward_norm))
        self.project = VectorMap(*joint(attention), precision)
        self.out, self.up, self.down = (
            VectorMap(linear.weight, linear.bias, precision)
            for linear in (attention.out, network.up, network.down)
        )

    def __call__(
        self, x: Float[np.ndarray, " d_model"], cache: KeyValueCache, batch: tuple[int, ...]
    ) -> Float[np.ndarray, " d_model"]:
        """Return the changed stream; its key and value are in the cache from now on."""
        q, k, v = self.project(self.before(x)).reshape(3, self.heads, -1)
        shape = (*batch, self.heads, 1, -1)
        cache.store(torch.from_numpy(k).view(shape), torch.from_numpy(v).view(shape))
        room = (self.heads, cache.context_length, -1)
        stored = (whole.view(room).numpy() for whole in (cache.keys, cache.values))
        x = x + self.out(attend_one(q, *stored, cache.used).reshape(-1))
        wide = torch.from_numpy(self.up(self.between(x)))
        return x + self.down(F.gelu(wide, approximate=self.gelu).numpy())


class OneTokenGPT2:
    """Predict from a single token, after those in the caches, what `lib.models.gpt2.GPT2` predicts.

    Source: Radford et al. 2019, section 2.3, for the model.
    Taught in: chapter 14.
    """

    def __init__(self, model: GPT2, precision: str):
        self.embed, self.norm = model.embed, VectorNorm(model.norm)
        self.layers = [VectorBlock(block, precision) for block in model.layers]
        self.vocabulary = VectorMap(model.token_embedding.weight, None, precision)

    def __call__(
        self, ids: Int[Tensor, "*batch n"], caches: list[KeyValueCache]
    ) -> Float[Tensor, "*batch n vocab"]:
        """Return its logits."""
        x = self.embed(ids, start=caches[0].used).flatten().numpy()
        for layer, cache in zip(self.layers, caches, strict=True):
            x = layer(x, cache, ids.shape[:-1])
        return torch.from_numpy(self.vocabulary(self.norm(x))).view(*ids.shape, -1)
