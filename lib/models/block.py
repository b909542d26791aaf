"""The transformer block: attention across tokens, then a feed-forward network on each token."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn

from lib.attention.dot_product import attend
from lib.attention.multi_head import MultiHeadAttention
from lib.functional import rms_norm, silu
from lib.shapes import AttentionOutput


class LayerNorm(nn.Module):
    r"""Layer normalisation with learned gain and bias: `lib.functional.layer_norm`, fused.

    Source: Ba, Kiros and Hinton 2016, equation 4.
    Taught in: chapter 11.
    """

    def __init__(self, d_model: int, eps: float = 1e-5):
        super().__init__()
        self.eps = eps
        self.gain = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x: Float[Tensor, "*batch d_model"]) -> Float[Tensor, "*batch d_model"]:
        """Normalise each vector over its own features."""
        return F.layer_norm(x, self.gain.shape, self.gain, self.bias, self.eps)


class RMSNorm(nn.Module):
    r"""RMS normalisation with a learned gain: `lib.functional.rms_norm` as a module.

    Source: Zhang and Sennrich 2019, equation 4.
    Taught in: chapter 18.
    """

    def __init__(self, d_model: int, eps: float = 1e-5):
        super().__init__()
        self.eps = eps
        self.gain = nn.Parameter(torch.ones(d_model))

    def forward(self, x: Float[Tensor, "*batch d_model"]) -> Float[Tensor, "*batch d_model"]:
        """Divide each vector by the root mean square of its own features."""
        return rms_norm(x, self.gain, self.eps)


class FeedForward(nn.Module):
    r"""The feed-forward network: two linear layers with a GELU between, for each token separately.

    $\mathrm{GELU}(x W_1 + b_1)\, W_2 + b_2$.

    Source: Vaswani et al. 2017, section 3.3, with the GELU of Hendrycks and Gimpel 2016.
    Taught in: chapter 11.
    """

    def __init__(self, d_model: int, d_ff: int, *, tanh: bool = True):
        super().__init__()
        self.gelu = nn.GELU("tanh" if tanh else "none")
        self.up = nn.Linear(d_model, d_ff)
        self.down = nn.Linear(d_ff, d_model)

    def forward(self, x: Float[Tensor, "*batch d_model"]) -> Float[Tensor, "*batch d_model"]:
        """Return the update that each vector adds to the residual stream."""
        return self.down(self.gelu(self.up(x)))


class SwiGLU(nn.Module):
    r"""The gated feed-forward network: three linear layers without biases.

    $(\mathrm{SiLU}(x W_g) \odot x W_u)\, W_d$. With $d_{ff} = \tfrac83 d$ its three matrices have
    as many parameters as the two of `FeedForward` with $d_{ff} = 4 d$.

    Source: Shazeer 2020, equation 6.
    Taught in: chapter 18.
    """

    def __init__(self, d_model: int, d_ff: int):
        super().__init__()
        self.gate = nn.Linear(d_model, d_ff, bias=False)
        self.up = nn.Linear(d_model, d_ff, bias=False)
        self.down = nn.Linear(d_ff, d_model, bias=False)

    def forward(self, x: Float[Tensor, "*batch d_model"]) -> Float[Tensor, "*batch d_model"]:
        """Return the update that each vector adds to the residual stream."""
        return self.down(silu(self.gate(x)) * self.up(x))


class Block(nn.Module):
    r"""One layer of a transformer: two sublayers, each added to the residual stream.

    Pre-norm, as in GPT-2: $x \leftarrow x + \mathrm{attend}(\mathrm{norm}(x))$, then
    $x \leftarrow x + \mathrm{ff}(\mathrm{norm}(x))$.
    Post-norm, as in the first transformer and BERT, normalises each sum instead:
    $x \leftarrow \mathrm{norm}(x + \mathrm{attend}(x))$, then the same for the feed-forward
    network. In training, each component of a sublayer's output is dropped with probability
    `dropout`; dropout on the attention weights belongs to `attention`, as in `GPT2`.

    Source: Vaswani et al. 2017, section 3.1 (post-norm); Xiong et al. 2020, figure 1 (both).
    Taught in: chapter 11.
    """

    def __init__(
        self,
        d_model: int,
        heads: int,
        d_ff: int,
        *,
        norm_first: bool = True,
        tanh: bool = True,
        eps: float = 1e-5,
        dropout: float = 0.0,
    ):
        super().__init__()
        self.norm_first = norm_first
        self.dropout = nn.Dropout(dropout)
        self.attention = MultiHeadAttention(d_model, heads)
        self.attention_norm = LayerNorm(d_model, eps)
        self.feed_forward = FeedForward(d_model, d_ff, tanh=tanh)
        self.feed_forward_norm = LayerNorm(d_model, eps)

    def forward(
        self,
        x: Float[Tensor, "*batch n d_model"],
        mask: Bool[Tensor, "..."] | None = None,
        *,
        attention: Callable[..., AttentionOutput] = attend,
    ) -> AttentionOutput:
        """Return the updated residual stream, and the attention weights."""
        if self.norm_first:
            change, weights = self.attention(self.attention_norm(x), mask=mask, attention=attention)
            x = x + self.dropout(change)
            change = self.feed_forward(self.feed_forward_norm(x))
            return AttentionOutput(x + self.dropout(change), weights)
        change, weights = self.attention(x, mask=mask, attention=attention)
        x = self.attention_norm(x + self.dropout(change))
        change = self.feed_forward(x)
        return AttentionOutput(self.feed_forward_norm(x + self.dropout(change)), weights)
