"""Eleven black-box experiments on a model, which use its outputs only.

Each experiment chooses the parameters and the input so that it isolates one step.
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
"""The digits kept in results: finer than any fault, coarser than rounding errors."""


@dataclass(frozen=True)
class Experiment:
    """A description of the experiment, the result of a right model, and the function to run."""

    key: str
    name: str
    does: str
    right: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    run: Callable[[Kind], Table]
    fractions: bool = False

    def __call__(self, kind: Kind) -> Table:
        """Run the experiment on a kind of model; minus zero becomes zero."""
        return np.round(self.run(kind), DIGITS) + 0.0


def silent(d_model: int, heads: int = 1) -> tuple[Parameters, Layer]:
    """Make a model without blocks, and a block with all weights 0, which adds nothing.

    Source: a fault is isolated by switching off all parts but one.
    Taught in: chapter 17.
    """
    plain = Norm(np.ones(d_model), np.zeros(d_model))

    def zero(d_out: int) -> Linear:
        return Linear(np.zeros((d_model, d_out)), np.zeros(d_out))

    layer = Layer(plain, zero(3 * d_model), zero(d_model), plain, zero(d_model), zero(d_model))
    rows = np.array([[0, 2, 4, 6], [3, 1, 1, 3], [0, 0, 4, 0], [5, 1, 0, 2]])
    words, positions = np.eye(d_model), np.zeros((4, d_model))
    positions[:, :4] = rows
    return Parameters(words, positions, (), plain, heads), layer


def random(seed: int = 4, d_model: int = 4, heads: int = 2, layers: int = 2) -> Parameters:
    """Initialise every parameter of a small model at random, so that each one has an effect.

    Source: parameters of 0 or 1 hide the step that uses them.
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
    """Run attention on one-hot tokens, for which the rows of the weights are q, k and v."""
    d_model = len(out)
    parameters, layer = silent(d_model, heads)
    weights = [np.zeros((d_model, d_model)) for _ in range(3)]
    for weight, rows in zip(weights, (q, k, v), strict=True):
        weight[: len(rows), : len(rows[0])] = rows
    zero = np.zeros(3 * d_model)
    layer = replace(
        layer,
        qkv=Linear(np.hstack(weights), zero),
        out=Linear(np.array(out, float), zero[:d_model]),
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


def _moved(changed, reference) -> Float[np.ndarray, "n 1"]:
    return np.linalg.norm(changed - reference, axis=-1, keepdims=True)


def _whole(kind: Kind) -> Table:
    return kind(random())(np.array([3, 1, 4, 1, 0, 2]))


def _future(kind: Kind) -> Table:
    model, ids = kind(random()), np.array([3, 1, 4, 2])
    before = model(ids)
    last, first = (model(np.where(np.arange(4) == position, 0, ids)) for position in (3, 0))
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
        output = model.attention(batch, layer, np.stack([real, whole]))
        moved.append(_moved(output[0, real], alone))
    return np.hstack(moved)


def _twice(kind: Kind) -> Table:
    model, ids = kind(random()), np.array([3, 1, 4, 2])
    return _moved(model(ids), model(ids))


def _silent_block(kind: Kind) -> Table:
    parameters, layer = silent(4)
    return kind(parameters).block(np.array([[1.0, 2, 3, 4], [4, 0, 0, 0]]), layer)


def _no_blocks(kind: Kind) -> Table:
    return kind(silent(4)[0])(np.array([0, 0, 0]))


def _gelu_alone(kind: Kind) -> Table:
    parameters, layer = silent(4)
    up = Linear(np.zeros((4, 4)), np.array([-2.699, -0.5, 0.5, 2.699]))
    down = Linear(np.eye(4), np.zeros(4))
    return kind(parameters).block(np.zeros((1, 4)), replace(layer, up=up, down=down))


def _tokens(n: int) -> tuple[str, ...]:
    return tuple(f"token {i + 1}" for i in range(n))


def _features(n: int, kind: str = "feature") -> tuple[str, ...]:
    return tuple(f"{kind} {i + 1}" for i in range(n))


EXPERIMENTS = {
    experiment.key: experiment
    for experiment in (
        Experiment(
            "exact", "three exact tokens",
            "The example of chapter 7 under a causal mask, one head with d_k = 4.",
            "The outputs are the integers that you can compute by hand.",
            _tokens(3), _features(2), _three_tokens, fractions=True,
        ),
        Experiment(
            "weights", "the identity as values",
            "One head, and value j is 1 in feature j only: the output is the attention matrix.",
            "Every row sums to 1, and all weights above the diagonal are 0.",
            _tokens(4), ("on 1", "on 2", "on 3", "on 4", "sum"), _weights, fractions=True,
        ),
        Experiment(
            "heads", "two heads",
            "Head 1 averages sixes, head 2 sixties; the output projection reverses the features.",
            "The sixties come first, as exact fractions, and token 1 has only its own.",
            _tokens(3), _features(4), _two_heads, fractions=True,
        ),
        Experiment(
            "future", "change one token",
            "How far each row of logits moves if the last token is changed, and if the first is.",
            "The last token moves only its own row; the first moves all rows.",
            _tokens(4), ("last changed", "first changed"), _future,
        ),
        Experiment(
            "swap", "swap two tokens",
            "Attention without positions, two heads: how far the outputs move when tokens 1 and 2 "
            "are swapped, each compared at its new position.",
            "Tokens 3 and 4 do not move: they cannot see the order of the past.",
            _tokens(4), ("moved by",), _swap,
        ),
        Experiment(
            "batch", "alone and in a batch",
            "Three tokens, alone and in a batch with five: how far their outputs move with "
            "padding on the left, and on the right. One head.",
            "Nothing moves: padding gets no weight, and sequences do not interact.",
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
            "A block whose weights are all 0, on the rows (1, 2, 3, 4) and (4, 0, 0, 0).",
            "The output equals the input.",
            _tokens(2), _features(4), _silent_block,
        ),
        Experiment(
            "ends", "no blocks at all",
            "The same word three times, the word rows an identity, the positions (0, 2, 4, 6), "
            "(3, 1, 1, 3), (0, 0, 4, 0), (5, 1, 0, 2): the logits are the normalised sums.",
            "Each row has mean 0 and variance 1, and matches its own position.",
            _tokens(3), _features(4, "word"), _no_blocks,
        ),
        Experiment(
            "gelu", "GELU alone",
            "A block without attention, whose feed-forward network applies GELU to four numbers.",
            "GELU in its tanh form.",
            ("output",), ("\N{MINUS SIGN}2.699", "\N{MINUS SIGN}0.5", "0.5", "2.699"), _gelu_alone,
        ),
        Experiment(
            "whole", "the whole model",
            "All logits of six tokens: two layers, two heads, d_model = 4, every parameter random.",
            "These numbers; they show that something is wrong, but rarely what.",
            _tokens(6), _features(5, "word"), _whole,
        ),
    )
}  # fmt: skip
"""The experiments by key, from the most specific to the most general."""
