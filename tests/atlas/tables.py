"""Patients of the atlas whose numbers are none, or whose tables of weights are wrong."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from lib import functional
from lib.attention import masks
from lib.attention.dot_product import attend, scores
from tests.atlas.bodies import Decoder, N, Names, Patients, cross_entropy, draw, ids

SOFTMAX = partial(torch.softmax, dim=-1)
TRIANGLE = torch.ones(N, N, dtype=torch.bool).tril()


def no_maximum(table: Tensor, dim: int = -1) -> Tensor:
    return table.exp() / table.exp().sum(dim, keepdim=True)


def wrong_maximum(table: Tensor) -> Tensor:
    return no_maximum(table - table.amax(0))


def padded_on(side: str) -> Tensor:
    real = torch.arange(N) < 4 if side == "right" else torch.arange(N) >= 3
    return masks.causal(N, like=draw(1)) & real[None, :]


def attention_with(softmax: Callable, hidden: float = -torch.inf, **kwargs: Any) -> Callable:
    """Attention with another softmax, and another number for what is hidden."""

    def other(q, k, v, mask=None):
        table = scores(q, k, **kwargs)
        if mask is not None:
            table = table + torch.where(mask, 0.0, hidden).to(table.dtype)
        weights = softmax(table)
        return weights @ v, weights

    return other


def in_half(attend: Callable, stretch: float = 1.0) -> Names:
    qkv = [stretch * draw(N, 4, seed=1), draw(N, 4, seed=2), draw(N, 3, seed=3)]
    mask = padded_on("left")  # with a row that is empty
    return {"attend": attend, "qkv": qkv, "mask": mask}


def trained(rate: float) -> Names:
    model = Decoder()
    for _ in range(3):
        cross_entropy(model, ids()).backward()
        with torch.no_grad():
            for parameter in model.parameters():
                parameter -= rate * parameter.grad
    return {"model": model}


def weights_of(softmax: Callable) -> Names:
    return {"weights": softmax(draw(2, 3, 5))}


def zeroed(table: Tensor) -> Tensor:
    return table.softmax(-1) * (torch.arange(5) < 3)


def heads_of_random(low: float) -> Tensor:
    """Weights for tokens and parameters drawn from low to 1."""

    def uniform(*shape, seed):
        return low + (1 - low) * torch.rand(shape, generator=torch.Generator().manual_seed(seed))

    x, w_q, w_k = uniform(N, 64, seed=0), uniform(64, 16, seed=1), uniform(64, 16, seed=2)
    return (scores(x @ w_q, x @ w_k) / 8).softmax(-1)


def start(attend: Callable, variance: float = 1.0) -> Names:
    """An attention at the start of its training, on queries and keys of a given deviation."""
    q, k, v = (variance**0.5 * draw(64, 16, 64, seed=seed) for seed in range(3))
    return {"attend": attend, "entropy": functional.entropy, "q": q, "k": k, "v": v, "n": 16}


def causal_weights(make: Callable[[Tensor, Tensor], Tensor]) -> Names:
    return {"weights": make(draw(2, N, N), masks.causal(N, like=draw(1)))}


def hidden_with(mask: Tensor) -> Callable[[Tensor, Tensor], Tensor]:
    return lambda table, _: table.masked_fill(~mask, -torch.inf).softmax(-1)


def forbidden(make: Callable[[Tensor, Tensor], Tensor]) -> Names:
    """Weights of three sentences of three tokens, and the mask of their padding."""
    real = torch.arange(3) < torch.tensor([[3], [2], [1]])
    return {"weights": make(draw(3, 2, 3, 3), real), "mask": real[:, None, None, :]}


def with_mask(of: Callable[[Tensor], Tensor]) -> Callable[[Tensor, Tensor], Tensor]:
    return lambda table, real: functional.softmax(table, where=of(real).expand_as(table))


def empty_row(hidden: float, scale: float = 1.0) -> Names:
    mask = padded_on("left")
    table = draw(2, 1, N, N) + torch.where(mask, 0.0, hidden)
    return {"weights": (table * scale).softmax(-1), "mask": mask}


PATIENTS: dict[str, Patients] = {
    "nan-in-some-rows": (
        lambda: {"mask": padded_on("right")},
        {"M30": lambda: {"mask": padded_on("left")}},
    ),
    "nan-from-large-scores": (
        lambda: {"softmax": SOFTMAX},
        {"M13": lambda: {"softmax": no_maximum}, "M14": lambda: {"softmax": wrong_maximum}},
    ),
    "right-in-float32-only": (
        lambda: in_half(attend),
        {
            "M13": lambda: in_half(attention_with(no_maximum), stretch=12),
            "M29": lambda: in_half(attention_with(SOFTMAX, hidden=-1e9)),
        },
    ),
    "nan-in-the-loss": (lambda: trained(0.01), {"learning rate": lambda: trained(1e9)}),
    "rows-that-do-not-sum-to-1": (
        lambda: weights_of(SOFTMAX),
        {
            "M11": lambda: weights_of(partial(torch.softmax, dim=-2)),
            "M12": lambda: weights_of(
                lambda table: table.flatten(-2).softmax(-1).view(table.shape)
            ),
            "M18": lambda: weights_of(torch.sigmoid),
            "M21": lambda: weights_of(zeroed),
            "M62": lambda: weights_of(lambda table: F.dropout(table.softmax(-1), 0.5)),
        },
    ),
    "all-rows-alike": (
        lambda: {"weights": heads_of_random(-1)},
        {
            "M17": lambda: weights_of(torch.ones_like),
            "M86": lambda: {"weights": heads_of_random(0)},
        },
    ),
    "every-key-the-same": (
        lambda: start(attend),
        {
            "M02": lambda: start(partial(attend, scale=1 / 64)),
            "M03": lambda: start(partial(attend, scale=1 / 768**0.5)),
            "M17": lambda: start(partial(attend, scale=0.0)),
            "M19": lambda: start(attention_with(lambda table: table.softmax(-1).softmax(-1))),
        },
    ),
    "one-key-takes-all": (
        lambda: start(attend),
        {
            "M01": lambda: start(partial(attend, scale=1.0)),
            "M04": lambda: start(partial(attend, scale=8.0)),
            "M144": lambda: start(attend, variance=64.0),
        },
    ),
    "the-first-row-is-not-1-0-0": (
        lambda: causal_weights(
            lambda table, mask: functional.softmax(table, where=mask.expand_as(table))
        ),
        {
            "M20": lambda: causal_weights(lambda table, mask: (table * mask).softmax(-1)),
            "M21": lambda: causal_weights(lambda table, mask: table.softmax(-1) * mask),
            "M22": lambda: causal_weights(hidden_with(TRIANGLE.tril(-1))),
            "M23": lambda: causal_weights(hidden_with(TRIANGLE.T)),
            "M24": lambda: causal_weights(lambda table, mask: table.softmax(-1)),
            "M26": lambda: causal_weights(hidden_with(~TRIANGLE)),
        },
    ),
    "weight-on-what-is-hidden": (
        lambda: forbidden(with_mask(lambda real: real[:, None, None, :])),
        {
            "M25": lambda: empty_row(hidden=-50.0, scale=1 / 128**0.5),
            "M27": lambda: forbidden(with_mask(lambda real: real[:, None, :, None])),
            "M28": lambda: forbidden(with_mask(lambda real: TRIANGLE[:3, :3])),
            "M29": lambda: empty_row(hidden=-1e9),
            "M114": lambda: forbidden(with_mask(lambda real: real)),
        },
    ),
}
