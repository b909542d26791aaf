"""What all patients are made of: numbers, ids, and a small causal model in the open."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from lib.attention import masks
from lib.models.block import Block, LayerNorm

VOCAB, N, D, HEADS = 23, 7, 16, 4
Names = dict[str, Any]
Patients = tuple[Callable[[], Names], dict[str, Callable[[], Names]]]
"""A healthy namespace, and one for each cause; those with a misconception are called by its id."""


def draw(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def ids(rows: int = 2, n: int = N) -> Tensor:
    return torch.randint(VOCAB, (rows, n), generator=torch.Generator().manual_seed(1))


class Decoder(nn.Module):
    """A small causal model in the open; the sick ones override one of its methods."""

    def __init__(self, layers: int = 3, std: float = 0.2, norm_first: bool = True):
        super().__init__()
        with torch.random.fork_rng():
            torch.manual_seed(0)
            self.words, self.places = nn.Embedding(VOCAB, D), nn.Embedding(2 * N, D)
            self.layers = nn.ModuleList(
                Block(D, HEADS, 4 * D, norm_first=norm_first) for _ in range(layers)
            )
            self.norm = LayerNorm(D)
            for parameter in self.parameters():
                if parameter.ndim == 2:
                    nn.init.normal_(parameter, std=std)

    def place(self, n: int) -> Tensor:
        return self.places.weight[:n]

    def mask(self, layer: int, n: int) -> Tensor | None:
        return masks.causal(n, like=self.words.weight)

    def through(self, block: Block, x: Tensor, mask: Tensor | None) -> Tensor:
        return block(x, mask).output

    def last(self, x: Tensor) -> Tensor:
        return self.norm(x)

    def states(self, tokens: Tensor) -> list[Tensor]:
        n = tokens.shape[-1]
        states = [self.words(tokens) + self.place(n)]
        for i, block in enumerate(self.layers):
            states.append(self.through(block, states[-1], self.mask(i, n)))
        return [*states, self.last(states[-1])]

    def forward(self, tokens: Tensor) -> Tensor:
        return self.states(tokens)[-1] @ self.words.weight.T


def but(base: type[Decoder] = Decoder, **methods: Callable) -> type[Decoder]:
    """A decoder with other methods."""
    return type("Sick", (base,), methods)


def cross_entropy(model: nn.Module, tokens: Tensor) -> Tensor:
    return F.cross_entropy(model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())
