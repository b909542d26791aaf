"""What a model spends its steps on, for one that learns on one thread of a CPU: torch's results.

There three things are dear that need not be: products of matrices, for which torch's library knows
some makers' processors better than others', attention in short texts, and the tanh of GELU. With
more threads torch shares its work out, and NumPy's own would be in their way: then it is torch's.
"""

import math

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from lib.compiled import bent, bent_back, causal_weights, causal_weights_back

SHORT = 128
"""Tokens of a short text: the weights of a head, 64 KB, stay in the cache."""


def linear(
    x: Float[Tensor, "*batch features"],
    weight: Float[Tensor, "..."],
    bias: Float[Tensor, "..."] | None = None,
) -> Float[Tensor, "..."]:
    r"""Map every vector: $Y = X W^\top + b$, as F.linear does.

    Source: Vaswani et al. 2017, section 3.2.2, for the maps of a transformer.
    Taught in: chapter 13.
    """
    return (Product.apply if _here(x, weight) else F.linear)(x, weight, bias)


class Linear(nn.Linear):
    """torch's linear map; where it learns on one thread of a CPU, with NumPy's products.

    Source: Rumelhart, Hinton and Williams 1986, equations 6 and 7.
    Taught in: chapter 13.
    """

    def forward(self, x: Float[Tensor, "*batch features"]) -> Float[Tensor, "..."]:
        """Map every vector."""
        return linear(x, self.weight, self.bias)


class GELU(nn.GELU):
    """torch's GELU; where it learns on one thread of a CPU, its tanh form takes one pass each way.

    Source: Hendrycks and Gimpel 2016, section 2.
    Taught in: chapter 13.
    """

    def forward(self, x: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
        """Bend every number."""
        return Bent.apply(x) if self.approximate == "tanh" and _here(x, x) else super().forward(x)


def attends_here(
    q: Float[Tensor, "*batch query d_k"],
    k: Float[Tensor, "*batch key d_k"],
    v: Float[Tensor, "*batch key d_v"],
) -> bool:
    """Whether these may attend by `ShortAttention`, causally.

    Source: measured by benchmarks/training.py.
    Taught in: chapter 13.
    """
    fits = q.ndim == 4 and q.shape == k.shape and q.shape[:-1] == v.shape[:-1]
    return fits and 1 < q.shape[-2] <= SHORT and _here(q, k) and _here(q, v)


def _here(x: Float[Tensor, "..."], learner: Float[Tensor, "..."]) -> bool:
    """Whether this is the place: float32 that learns, on one thread of a CPU."""
    return (
        learner.requires_grad and torch.is_grad_enabled() and torch.get_num_threads() == 1
        and x.dtype == learner.dtype == torch.float32 and x.is_cpu and learner.is_cpu
        and not (torch.compiler.is_compiling() or torch.is_autocast_enabled("cpu")
                 or torch._C._are_functorch_transforms_active())
    )  # fmt: skip


class Product(torch.autograd.Function):
    r"""A linear map, $Y = X W^\top + b$, by NumPy's products.

    On the way back $dX = dY\, W$, $dW = dY^\top X$, and $db$ is the sum of the rows of $dY$.

    Source: Rumelhart, Hinton and Williams 1986, equations 6 and 7.
    Taught in: chapter 13.
    """

    @staticmethod
    def forward(
        ctx,
        x: Float[Tensor, "*batch features"],
        weight: Float[Tensor, "..."],
        bias: Float[Tensor, "..."] | None,
    ) -> Float[Tensor, "..."]:
        """Map every vector."""
        ctx.save_for_backward(x, weight)
        outputs, features = weight.shape
        y = _product(x.reshape(-1, features), weight.T)
        return (y if bias is None else y.add_(bias)).view(*x.shape[:-1], outputs)

    @staticmethod
    def backward(ctx, gradient: Float[Tensor, "..."]) -> tuple[Tensor | None, ...]:
        """Return the gradients of x, of the weights and of the bias, those that are wanted."""
        x, weight = ctx.saved_tensors
        wants_x, wants_weight, wants_bias = ctx.needs_input_grad
        outputs, features = weight.shape
        dy = gradient.reshape(-1, outputs)
        dx = _product(dy, weight).view(x.shape) if wants_x else None
        dw = _product(dy.T, x.reshape(-1, features)) if wants_weight else None
        return dx, dw, dy.sum(0) if wants_bias else None


def _product(a: Float[Tensor, "..."], b: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
    if torch.is_grad_enabled():  # somebody wants a second derivative, which NumPy has not
        return a @ b
    return _multiply(a, b, torch.empty(a.shape[0], b.shape[1]))


def _multiply(
    a: Float[Tensor, "..."], b: Float[Tensor, "..."], product: Float[Tensor, "..."]
) -> Float[Tensor, "..."]:
    # Torch reserves memory from the border of a line of the cache, NumPy from anywhere.
    np.matmul(a.numpy(), b.numpy(), out=product.numpy())
    return product


class Bent(torch.autograd.Function):
    """The tanh form of GELU in one pass over memory, and one on the way back.

    Source: Hendrycks and Gimpel 2016, section 2.
    Taught in: chapter 13.
    """

    @staticmethod
    def forward(ctx, x: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
        """Bend every number."""
        ctx.save_for_backward(x)
        y = torch.empty(x.shape)
        bent(*(one.contiguous().view(-1).numpy() for one in (x, y)))
        return y

    @staticmethod
    def backward(ctx, gradient: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
        """Scale the gradient by the slopes."""
        (x,) = ctx.saved_tensors
        if torch.is_grad_enabled():  # somebody wants a second derivative, which torch has
            return torch.ops.aten.gelu_backward(gradient, x, approximate="tanh")
        dx = torch.empty(x.shape)
        bent_back(*(one.contiguous().view(-1).numpy() for one in (x, gradient, dx)))
        return dx


class ShortAttention(torch.autograd.Function):
    r"""Causal attention that keeps its weights $P$ for the way back, by NumPy's products.

    From $O = P V$ follow $dV = P^\top dO$ and $dP = dO\, V^\top$; through the softmax
    $dS_{ij} = P_{ij} (dP_{ij} - \sum_k P_{ik} dP_{ik})$;
    and from $S = Q K^\top / \sqrt{d_k}$ follow
    $dQ = dS\, K / \sqrt{d_k}$ and $dK = dS^\top Q / \sqrt{d_k}$.

    Source: Dao et al. 2022, appendix B.2.
    Taught in: chapter 13.
    """

    @staticmethod
    def forward(
        ctx,
        q: Float[Tensor, "batch head n d_k"],
        k: Float[Tensor, "batch head n d_k"],
        v: Float[Tensor, "batch head n d_v"],
    ) -> Float[Tensor, "batch head n d_v"]:
        """Return the output; the weights are kept for the way back."""
        weights = torch.empty(*q.shape[:-1], q.shape[-2])
        _multiply(q, k.mT, weights)
        causal_weights(weights.flatten(0, 1).numpy(), _scale(q))
        ctx.save_for_backward(q, k, v, weights)
        return _multiply(weights, v, _like_rows(v))

    @staticmethod
    @once_differentiable
    def backward(ctx, gradient: Float[Tensor, "batch head n d_v"]) -> tuple[Tensor, ...]:
        """Return the gradients of queries, keys and values."""
        q, k, v, weights = ctx.saved_tensors
        back = _multiply(gradient, v.mT, torch.empty(weights.shape))
        causal_weights_back(*(one.flatten(0, 1).numpy() for one in (weights, back)), _scale(q))
        return (
            _multiply(back, k, _like_rows(q)),
            _multiply(back.mT, q, _like_rows(k)),
            _multiply(weights.mT, gradient, _like_rows(v)),
        )


def _scale(q: Float[Tensor, "..."]) -> np.float32:
    return np.float32(1 / math.sqrt(q.shape[-1]))


def _like_rows(x: Float[Tensor, "batch head n features"]) -> Float[Tensor, "..."]:
    """Room for what is like x, with the heads of a token side by side, as it will be needed."""
    return torch.empty(x.transpose(1, 2).shape).transpose(1, 2)
