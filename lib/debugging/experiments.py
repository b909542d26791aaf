"""Eleven experiments on a model of which nothing is seen but its outputs.

Each experiment chooses the parameters and the input, so that one step can be told from the rest.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from lib.debugging.numpy_gpt2 import Layer, Linear, Model, Norm, Parameters

Table = Float[np.ndarray, "n features"]
Kind = type[Model]

DIGITS = 8
"""What the tables are rounded to: far finer than any difference, coarser than any machine's."""


@dataclass(frozen=True)
class Experiment:
    """What is done, what a right model shows, and the table that a suspect makes of it."""

    key: str
    name: str
    does: str
    right: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    run: Callable[[Kind], Table]
    fractions: bool = False

    def __call__(self, kind: Kind) -> Table:
        """Run it on a kind of model; minus zero becomes zero."""
        return np.round(self.run(kind), DIGITS) + 0.0


def silent(d_model: int, heads: int = 1) -> tuple[Parameters, Layer]:
    """Make a model without blocks, and a block that adds nothing: all of its maps are zero.

    Source: a fault is told apart by silencing all parts but one.
    Taught in: chapter 17.
    """
    plain = Norm(np.ones(d_model), np.zeros(d_model))

    def zero(wide: int) -> Linear:
        return Linear(np.zeros((d_model, wide)), np.zeros(wide))

    layer = Layer(plain, zero(3 * d_model), zero(d_model), plain, zero(d_model), zero(d_model))
    rows = np.array([[0, 2, 4, 6], [3, 1, 1, 3], [0, 0, 4, 0], [5, 1, 0, 2]])
    words, positions = np.eye(d_model), np.zeros((4, d_model))
    positions[:, :4] = rows
    return Parameters(words, positions, (), plain, heads), layer


def random(seed: int = 4, d_model: int = 4, heads: int = 2, layers: int = 2) -> Parameters:
    """Draw every parameter of a small model at random, so that each one shows.

    Source: parameters of 0 or 1 hide the step that they belong to.
    Taught in: chapter 17.
    """
    rng = np.random.default_rng(seed)

    def norm() -> Norm:
        return Norm(rng.normal(1, 0.3, d_model), rng.normal(0, 0.3, d_model))

    def linear(wide: int, out: int) -> Linear:
        return Linear(rng.normal(0, 1 / math.sqrt(wide), (wide, out)), rng.normal(0, 0.3, out))

    def layer() -> Layer:
        qkv, out = linear(d_model, 3 * d_model), linear(d_model, d_model)
        return Layer(norm(), qkv, out, norm(), linear(d_model, 8), linear(8, d_model))

    words, positions = rng.normal(size=(5, d_model)), rng.normal(size=(7, d_model))
    return Parameters(words, positions, tuple(layer() for _ in range(layers)), norm(), heads)


def _attention(kind: Kind, q, k, v, out, heads: int = 1) -> Table:
    """Tokens that are rows of the identity make the rows of the maps the queries, keys, values."""
    d_model = len(out)
    parameters, layer = silent(d_model, heads)
    maps = [np.zeros((d_model, d_model)) for _ in range(3)]
    for square, rows in zip(maps, (q, k, v), strict=True):
        square[: len(rows), : len(rows[0])] = rows
    zero = np.zeros(3 * d_model)
    layer = replace(
        layer, qkv=Linear(np.hstack(maps), zero), out=Linear(np.array(out, float), zero[:d_model])
    )
    return kind(parameters).attention(np.eye(d_model)[: len(q)], layer)


def _three_tokens(kind: Kind) -> Table:
    q = 2 * np.log([[1, 2, 3], [1, 1, 2], [3, 2, 1]])
    values = [[6, 0], [0, 6], [6, 6]]
    return _attention(kind, q, np.eye(3), values, np.eye(4))[:, :2]


def _weights(kind: Kind) -> Table:
    q = 2 * np.log([[1, 3, 2, 4], [2, 1, 3, 1], [1, 3, 2, 5], [3, 1, 2, 4]])
    weights = _attention(kind, q, np.eye(4), np.eye(4), np.eye(4))
    return np.hstack([weights, weights.sum(-1, keepdims=True)])


def _two_heads(kind: Kind) -> Table:
    # Keys (1, 0), (0, 1), (1, 1) and a query root 2 (ln a, ln b): the weights are as a : b : ab.
    q = math.sqrt(2) * np.log([[1, 1, 1, 1], [1, 2, 1, 3], [3, 2, 2, 1]])
    k = [[1, 0, 1, 0], [0, 1, 0, 1], [1, 1, 1, 1]]
    v = [[6, 0, 60, 0], [0, 6, 0, 60], [6, 6, 60, 60]]
    return _attention(kind, q, k, v, np.eye(4)[::-1], heads=2)


def _moved(one, other) -> Float[np.ndarray, "n 1"]:
    return np.linalg.norm(one - other, axis=-1, keepdims=True)


def _whole(kind: Kind) -> Table:
    return kind(random())(np.array([3, 1, 4, 1, 0, 2]))


def _future(kind: Kind) -> Table:
    model, ids = kind(random()), np.array([3, 1, 4, 2])
    before = model(ids)
    last, first = (model(np.where(np.arange(4) == place, 0, ids)) for place in (3, 0))
    return np.hstack([_moved(last, before), _moved(first, before)])


def _swap(kind: Kind) -> Table:
    parameters, order = random(), [1, 0, 2, 3]
    x, layer = parameters.words[:4], parameters.layers[0]
    model = kind(parameters)
    return _moved(model.attention(x[order], layer)[order], model.attention(x, layer))


def _batch(kind: Kind) -> Table:
    parameters = replace(random(), heads=1)
    x, pad, layer = parameters.words[:3], parameters.words[3:], parameters.layers[0]
    other = parameters.positions[:5]
    model, whole = kind(parameters), np.ones(5, dtype=bool)
    alone, moved = model.attention(x, layer), []
    for rows, real in (([pad, x], [0, 0, 1, 1, 1]), ([x, pad], [1, 1, 1, 0, 0])):
        real = np.array(real, dtype=bool)
        batch = np.stack([np.vstack(rows), other])
        found = model.attention(batch, layer, np.stack([real, whole]))
        moved.append(_moved(found[0, real], alone))
    return np.hstack(moved)


def _twice(kind: Kind) -> Table:
    model, ids = kind(random()), np.array([3, 1, 4, 2])
    return _moved(model(ids), model(ids))


def _silent_block(kind: Kind) -> Table:
    parameters, layer = silent(4)
    return kind(parameters).block(np.array([[1.0, 2, 3, 4], [4, 0, 0, 0]]), layer)


def _no_blocks(kind: Kind) -> Table:
    return kind(silent(4)[0])(np.array([0, 0, 0]))


def _bend(kind: Kind) -> Table:
    parameters, layer = silent(4)
    bends = Linear(np.zeros((4, 4)), np.array([-2.699, -0.5, 0.5, 2.699]))
    passes = Linear(np.eye(4), np.zeros(4))
    return kind(parameters).block(np.zeros((1, 4)), replace(layer, up=bends, down=passes))


def _tokens(n: int) -> tuple[str, ...]:
    return tuple(f"token {i + 1}" for i in range(n))


def _features(n: int, kind: str = "feature") -> tuple[str, ...]:
    return tuple(f"{kind} {i + 1}" for i in range(n))


EXPERIMENTS = {
    one.key: one
    for one in (
        Experiment(
            "exact", "three exact tokens",
            "The example of chapter 7 under a causal mask, one head of width 4.",
            "The outputs are the whole numbers that you can compute by hand.",
            _tokens(3), _features(2), _three_tokens, fractions=True,
        ),
        Experiment(
            "weights", "the identity as values",
            "One head, and value j is 1 in feature j alone: the output is the table of weights.",
            "Every row sums to 1, and nothing stands above the diagonal.",
            _tokens(4), ("on 1", "on 2", "on 3", "on 4", "sum"), _weights, fractions=True,
        ),
        Experiment(
            "heads", "two heads",
            "Head 1 mixes sixes, head 2 sixties; the output matrix reverses the four features.",
            "The sixties come first, as exact fractions, and token 1 has only its own.",
            _tokens(3), _features(4), _two_heads, fractions=True,
        ),
        Experiment(
            "future", "change one token",
            "How far each row of logits moves if the last token is changed, and if the first is.",
            "The last token moves its own row alone; the first moves them all.",
            _tokens(4), ("last changed", "first changed"), _future,
        ),
        Experiment(
            "swap", "swap two tokens",
            "Attention without positions, two heads: how far the outputs move when tokens 1 and 2 "
            "change places, each followed to its new one.",
            "Tokens 3 and 4 do not move: they cannot see in which order the past came.",
            _tokens(4), ("moved by",), _swap,
        ),
        Experiment(
            "batch", "alone and in a batch",
            "A sentence of three, alone and beside one of five: how far its outputs move when it "
            "is padded on the left, and on the right. One head.",
            "Nothing moves: pads are never attended to, and sentences do not meet.",
            _tokens(3), ("pads left", "pads right"), _batch,
        ),
        Experiment(
            "twice", "the same again",
            "The same tokens, called twice: how far the logits move.",
            "Nothing moves.",
            _tokens(4), ("moved by",), _twice,
        ),
        Experiment(
            "block", "a silent block",
            "A block whose maps are all zero, on the rows (1, 2, 3, 4) and (4, 0, 0, 0).",
            "What went in comes out.",
            _tokens(2), _features(4), _silent_block,
        ),
        Experiment(
            "ends", "no blocks at all",
            "The same word three times, the word rows an identity, the positions (0, 2, 4, 6), "
            "(3, 1, 1, 3), (0, 0, 4, 0), (5, 1, 0, 2): the logits are the normalised sums.",
            "Each row has mean 0 and variance 1, and belongs to its own position.",
            _tokens(3), _features(4, "word"), _no_blocks,
        ),
        Experiment(
            "bend", "the bend alone",
            "A block whose attention is silent and whose feed-forward map only bends four numbers.",
            "GELU in its tanh form.",
            ("output",), ("\N{MINUS SIGN}2.699", "\N{MINUS SIGN}0.5", "0.5", "2.699"), _bend,
        ),
        Experiment(
            "whole", "the whole model",
            "All logits of six tokens: two layers, two heads, d_model = 4, every parameter random.",
            "These numbers; they say that something is wrong, and hardly ever what.",
            _tokens(6), _features(5, "word"), _whole,
        ),
    )
}  # fmt: skip
"""The experiments by key, from the most exact to the most general."""
