"""GPT-2 as fast as this processor allows: the same numbers, laid out once as it reads them."""

from collections.abc import Callable
from functools import cache, cached_property, partial

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int, Num
from torch import Tensor

from lib.attention.fused import fused
from lib.attention.kv_cache import KeyValueCache
from lib.fast.one_token import PRECISIONS, OneTokenGPT2, joint, rounded
from lib.models.block import Block
from lib.models.gpt2 import GPT2, ModelOutput
from lib.shapes import AttentionOutput

ONEDNN = torch.ops.mkldnn
"""Where torch keeps oneDNN's operators. Those used are private: a later torch may drop them."""


def private_operators() -> bool:
    """Say whether this torch can pack weights; where it cannot, F.linear gives the same numbers.

    Source: torch's own compiler uses these two operators for linear layers on a CPU.
    Taught in: chapter 14.
    """
    here = ("_reorder_linear_weight", "_linear_pointwise")
    return torch.backends.mkldnn.is_available() and all(hasattr(ONEDNN, name) for name in here)


def bytes_product(
    whole: Num[Tensor, "..."], packed: Tensor, scale: Float[Tensor, "..."]
) -> Float[Tensor, "..."]:
    """Multiply whole numbers from -127 to 127 by packed ones, and scale each output.

    Source: torch's own compiler uses this operator for int8 linear layers on a CPU.
    Taught in: chapter 14.
    """
    # The CPU multiplies bytes from 0 to 255 by bytes from -128 to 127, so the numbers move up.
    return torch.ops.onednn.qlinear_pointwise(
        (whole.short() + 128).to(torch.uint8), 1.0, 128, packed, scale,
        torch.zeros_like(scale, dtype=torch.int32), None, 1.0, 0, torch.float32, "none", [], "",
    )  # fmt: skip


@cache
def multiplies(dtype: torch.dtype) -> bool:
    """Say whether oneDNN multiplies weights of this type correctly on this CPU, by trying it.

    bfloat16 needs AVX-512. int8 needs VNNI: AVX2 adds two products in 16 bits, where 2 x 255 x 127
    does not fit, and cuts off the sum without an error.

    Source: oneDNN's developer guide, "Nuances of int8 Computations".
    Taught in: chapter 14.
    """
    ones = torch.ones(8, 64, dtype=dtype)
    try:
        if dtype == torch.int8:
            packed = torch.ops.onednn.qlinear_prepack(127 * ones, None)
            product = bytes_product(127 * ones, packed, torch.ones(8)) / 127**2
        else:
            packed = ONEDNN._reorder_linear_weight(ones)
            product = ONEDNN._linear_pointwise(ones, packed, None, "none", [], "")
    except RuntimeError:
        return False
    return bool((product == 64).all())


class PackedLinear:
    r"""Compute $x W^\top + b$ from weights that were laid out once, in the order they are read.

    oneDNN wants $W$ in blocks that fill its registers, and bends the result (`gelu`) or adds it
    to the stream (`added`) before it leaves the cache.

    Source: Goto and van de Geijn 2008, section 4, for the blocks.
    Taught in: chapter 14.
    """

    def __init__(
        self,
        weight: Float[Tensor, "..."],
        bias: Float[Tensor, "..."] | None,
        dtype: torch.dtype | None = None,
    ):
        weight = weight.detach().to(dtype)
        self.dtype, self.bias = weight.dtype, None if bias is None else bias.detach().to(dtype)
        here = weight.device.type == "cpu"
        self.private = here and private_operators() and multiplies(self.dtype)
        self.weight = ONEDNN._reorder_linear_weight(weight) if self.private else weight

    def __call__(
        self,
        x: Float[Tensor, "..."],
        *,
        gelu: str | None = None,
        added: Float[Tensor, "..."] | None = None,
    ) -> Float[Tensor, "..."]:
        """Map every vector of x; then bend it by GELU of that form, or add it to `added`."""
        x = x.to(self.dtype)
        if not self.private:
            y = F.linear(x, self.weight, self.bias)
        elif added is not None and added.dtype == self.dtype:
            return ONEDNN._linear_pointwise.binary(x, added, self.weight, self.bias, "add")
        else:
            form = ("gelu", [], gelu) if gelu else ("none", [], "")
            y, gelu = ONEDNN._linear_pointwise(x, self.weight, self.bias, *form), None
        y = F.gelu(y, approximate=gelu) if gelu else y
        return y if added is None else added + y


class Int8Linear:
    r"""Compute $x W^\top + b$ in whole numbers from -127 to 127, each row with a scale of its own.

    $y_{ij} = s_i\, t_j \sum_k \hat x_{ik} \hat w_{jk} + b_j$ with
    $s_i = \max_k |x_{ik}| / 127$, $\hat x = \mathrm{round}(x / s)$, and the same for the weights.
    A quarter of the bytes are read. The sum itself is exact; the rounding of x and W is the error.

    Source: Dettmers et al. 2022, section 3.1 (vector-wise quantisation).
    Taught in: chapter 14.
    """

    def __init__(self, weight: Float[Tensor, "..."], bias: Float[Tensor, "..."] | None):
        weight, scale = rounded(weight.detach())
        self.scale, self.bias = scale.squeeze(-1), None if bias is None else bias.detach()
        here = private_operators() and hasattr(torch.ops.onednn, "qlinear_pointwise")
        self.private = here and multiplies(torch.int8)
        self.weight = torch.ops.onednn.qlinear_prepack(weight, None) if self.private else weight

    def __call__(
        self,
        x: Float[Tensor, "..."],
        *,
        gelu: str | None = None,
        added: Float[Tensor, "..."] | None = None,
    ) -> Float[Tensor, "..."]:
        """Map every vector of x; then bend it by GELU of that form, or add it to `added`."""
        whole, scale = rounded(x)
        if self.private:
            y = bytes_product(whole, self.weight, self.scale)
        else:
            y = F.linear(whole.float(), self.weight.float()) * self.scale
        y = y * scale if self.bias is None else torch.addcmul(self.bias, y, scale)
        y = F.gelu(y, approximate=gelu) if gelu else y
        return y if added is None else added + y


class PackedBlock:
    """Do what `lib.models.block.Block` does, with one product for queries, keys and values.

    Source: Radford et al. 2019, section 2.3; GPT-2's own weights store the three as one matrix.
    Taught in: chapter 14.
    """

    def __init__(self, block: Block, pack: Callable[..., PackedLinear | Int8Linear]):
        after = [block.attention.out, block.feed_forward.up, block.feed_forward.down]
        self.heads, self.gelu = block.attention.heads, block.feed_forward.gelu.approximate
        self.project = pack(*joint(block.attention))
        self.out, self.up, self.down = (pack(map_.weight, map_.bias) for map_ in after)
        self.before, self.between = block.attention_norm, block.feed_forward_norm

    def __call__(
        self, x: Float[Tensor, "*batch n d_model"], attention: Callable[..., AttentionOutput]
    ) -> Float[Tensor, "*batch n d_model"]:
        """Return the changed stream."""
        three = self.project(self.before(x)).to(x.dtype)
        heads = three.unflatten(-1, (3 * self.heads, -1)).transpose(-3, -2)
        output, _ = attention(*heads.chunk(3, dim=-3))
        x = self.out(output.transpose(-3, -2).flatten(-2), added=x)
        return self.down(self.up(self.between(x), gelu=self.gelu), added=x)


class PackedGPT2:
    """Predict what `lib.models.gpt2.GPT2` predicts, faster; not for training.

    It stands in for the model in `lib.models.generation`. Pack again when the weights have changed.
    In float32 the logits agree to 1e-5 of the largest; "bfloat16" reads half of the bytes and
    "int8" a quarter, and `error` says what that costs. The stream and the norms stay in float32.

    Source: Radford et al. 2019, section 2.3, for the model.
    Taught in: chapter 14.
    Raises: ValueError for another precision, or a model that still drops out numbers.
    """

    training = False

    def __init__(self, model: GPT2, precision: str = "float32"):
        if precision not in PRECISIONS:
            raise ValueError(f"The precision is one of {PRECISIONS}, not {precision!r}.")
        if model.training and model.config.dropout:
            raise ValueError("This model is in training and drops numbers: call model.eval().")
        self.model, self.config, self.caches = model, model.config, model.caches
        dtype = torch.bfloat16 if precision == "bfloat16" else None
        pack = Int8Linear if precision == "int8" else partial(PackedLinear, dtype=dtype)
        self.layers = [PackedBlock(block, pack) for block in model.layers]
        self.norm, self.vocabulary = model.norm, pack(model.token_embedding.weight, None)
        here = model.device.type == "cpu"
        self.one_token = OneTokenGPT2(model, precision) if here else None

    @torch.no_grad()
    def __call__(
        self,
        ids: Int[Tensor, "*batch n"],
        *,
        caches: list[KeyValueCache] | None = None,
        last: bool = False,
    ) -> ModelOutput:
        """Return the logits, for every position or only for the last, as GPT2 does."""
        if self.one_token and ids.numel() == 1:
            return ModelOutput(self.one_token(ids, caches or self.caches()), None)
        x = self.model.embed(ids, start=caches[0].used if caches else 0)
        for i, layer in enumerate(self.layers):
            x = layer(x, caches[i] if caches else partial(fused, causal=True))
        x = x[..., -1:, :] if last else x
        return ModelOutput(self.vocabulary(self.norm(x)).to(x.dtype), None)

    @cached_property
    def error(self) -> float:
        """The largest difference of a logit from the model's, as a share of its largest logit."""
        n = min(64, self.config.context_length)
        ids = torch.randint(
            self.config.vocab_size, (n,), generator=torch.Generator().manual_seed(0)
        )
        with torch.no_grad():
            exact = self.model(ids).logits
        return float((self(ids).logits - exact).abs().max() / exact.abs().max())
