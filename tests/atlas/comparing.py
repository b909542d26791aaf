"""Patients of the atlas that differ from another implementation, write slowly, or fill memory."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from lib import functional
from lib.attention.dot_product import attend
from lib.attention.fused import fused
from lib.models.config import Config
from lib.models.generation import generate
from lib.models.gpt2 import GPT2
from lib.models.sampling import keep_top_p
from tests.atlas.bodies import HEADS, VOCAB, D, Decoder, N, Names, Patients, but, draw, ids
from tests.atlas.tables import TRIANGLE


def normed(
    *, dim: int = -1, unbiased: bool = False, eps: float = 1e-5, outside: bool = False
) -> Names:
    def norm(x: Tensor) -> Tensor:
        centred, variance = x - x.mean(dim, keepdim=True), x.var(dim, unbiased, keepdim=True)
        return centred / (variance.sqrt() + eps if outside else (variance + eps).sqrt())

    return {"norm": norm}


def compared(ours: Decoder) -> Names:
    return {"ours": ours.states(ids()), "theirs": Decoder().states(ids())}


def transposed(model: Decoder) -> Decoder:
    out = model.layers[1].attention.out
    out.weight.data = out.weight.data.T.clone()
    return model


def exchanged(model: Decoder) -> Decoder:
    attention = model.layers[0].attention
    attention.query, attention.key = attention.key, attention.query
    return model


def whole_gpt2(change: Callable[[GPT2], None] = lambda model: None) -> Names:
    with torch.device("meta"):
        model = GPT2(Config())
        change(model)
    return {"model": model}


def untied(model: GPT2) -> None:
    model.out = nn.Linear(768, 50_257, bias=False)


def without_biases(model: GPT2) -> None:
    for block in model.layers:
        block.attention.query.bias = None


class Restarting(GPT2):
    """A GPT-2 that counts every new token as the first."""

    def embed(self, ids: Tensor, start: int = 0) -> Tensor:
        return super().embed(ids)


def tiny(kind: type[GPT2] = GPT2) -> GPT2:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = kind(Config(VOCAB, 2 * N, D, HEADS, 2)).eval()
        for parameter in model.parameters():
            nn.init.normal_(parameter, std=0.3)
    return model


def cached(model: GPT2, wrap: Callable = lambda cache: cache) -> Names:
    @torch.no_grad()
    def by_steps(tokens: Tensor) -> Tensor:
        caches = model.caches()
        wrapped = [wrap(cache) for cache in caches]
        logits = []
        for i in range(tokens.shape[-1]):
            token = tokens[:, i : i + 1]
            x = model.embed(token, start=i)
            for block, cache in zip(model.layers, wrapped, strict=True):
                x, _ = block(x, attention=cache)
            logits.append(model.unembed(x))
        return torch.cat(logits, dim=1)

    return {"by_steps": by_steps, "logits": lambda tokens: model(tokens).logits, "ids": ids()}


def aligned_with_the_first_key(cache: Any) -> Callable:
    """A cache whose causal mask counts from the first key, as the kernel's own does."""

    def other(q, k, v, mask=None):
        cache(q, k, v)
        keys, values = (x[..., : cache.used, :] for x in (cache.keys, cache.values))
        return F.scaled_dot_product_attention(q, keys, values, is_causal=True), None

    return other


def writing(**choices: Any) -> Names:
    return {"model": tiny(), "ids": ids(1, 3), "generate": partial(generate, **choices)}


def holding(attention: Callable) -> Names:
    q, k, v = (draw(1, 2, 64, 8, seed=seed).requires_grad_() for seed in range(3))
    return {"attention": attention, "q": q, "k": k, "v": v, "n": 64}


def keeping_mass(keep: Callable[[Tensor, float], Tensor]) -> Names:
    return {"keep_top_p": keep, "logits": draw(5, VOCAB), "p": 0.7}


def one_short(logits: Tensor, p: float) -> Tensor:
    ordered, places = logits.softmax(-1).sort(descending=True)
    drop = ordered.cumsum(-1) > p
    return logits.masked_fill(torch.zeros_like(drop).scatter(-1, places, drop), -torch.inf)


class WithMask(nn.Module):
    """A layer with a mask: as a buffer, which moves with it, or as a plain attribute."""

    def __init__(self, buffer: bool):
        super().__init__()
        self.map = nn.Linear(3, 3)
        if buffer:
            self.register_buffer("mask", TRIANGLE)
        else:
            self.mask = TRIANGLE


PATIENTS: dict[str, Patients] = {
    "off-by-less-than-a-thousandth": (
        lambda: {"gelu": functional.gelu},
        {"M54": lambda: {"gelu": F.gelu}, "M55": lambda: {"gelu": F.relu}},
    ),
    "off-a-little-everywhere": (
        normed,
        {
            "M51": lambda: normed(unbiased=True),
            "M52": lambda: normed(outside=True),
            "M53": lambda: normed(dim=-2),
            "M226": lambda: normed(eps=1e-12),
        },
    ),
    "wholly-different": (
        lambda: compared(Decoder()),
        {
            "M43": lambda: compared(exchanged(Decoder())),
            "M50": lambda: compared(Decoder(norm_first=False)),
            "M56": lambda: compared(but(last=lambda self, x: x)()),
            "M58": lambda: compared(but(place=lambda self, n: self.places.weight[1 : n + 1])()),
            "M63": lambda: compared(transposed(Decoder())),
        },
    ),
    "another-number-of-parameters": (
        whole_gpt2,
        {"M44": lambda: whole_gpt2(without_biases), "M59": lambda: whole_gpt2(untied)},
    ),
    "the-cache-changes-the-text": (
        lambda: cached(tiny()),
        {
            "M32": lambda: cached(tiny(), aligned_with_the_first_key),
            "M250": lambda: cached(tiny(Restarting)),
        },
    ),
    "every-token-slower-than-the-last": (
        writing,
        {"no cache": lambda: writing(cached=False)},
    ),
    "memory-grows-with-the-square": (
        lambda: holding(fused),
        {"the table kept": lambda: holding(attend)},
    ),
    "samples-duller-than-promised": (
        lambda: keeping_mass(keep_top_p),
        {"M258": lambda: keeping_mass(one_short)},
    ),
    "tensors-on-two-devices": (
        lambda: {"model": WithMask(buffer=True)},
        {"M65": lambda: {"model": WithMask(buffer=False)}},
    ),
}
