"""Axis names, the result of attention, and the error for shapes that do not fit."""

from typing import Any, NamedTuple

from jaxtyping import Float

Array = Any
"""A NumPy array, a torch tensor, or an array of any library that follows the array API standard."""

AXES = {
    "batch": "independent examples; as *batch any number of leading axes",
    "head": "attention heads, computed in parallel",
    "query": "the positions that ask: rows of the score matrix and of the attention matrix",
    "key": "the positions that are asked: columns of the score and attention matrix",
    "n": "the tokens of one sequence, when queries and keys are the same tokens",
    "d_model": "the dimension of the residual stream",
    "d_k": "the dimension of a query and of a key, in one head",
    "d_v": "the dimension of a value, in one head",
    "d_source": "the dimension of the vectors from which keys and values are projected",
    "d_ff": "the dimension inside the feed-forward network",
    "d_in": "the components of each vector that a linear layer reads",
    "d_out": "the components of each vector that a linear layer writes",
    "pair": "the pairs of components that rotary positions rotate",
    "vocab": "the tokens of the vocabulary",
    "layer": "the layers of a model, from the embeddings up",
    "features": "the components of any vector",
}


class AttentionOutput(NamedTuple):
    """The result of attention: the output, and the attention weights if they were kept."""

    output: Float[Array, "*batch query d_v"]
    weights: Float[Array, "*batch query key"] | None


class ShapeError(ValueError):
    """The shapes of the given arrays do not fit together."""


def mismatch(problem: str, fix: str, **arrays: Array) -> ShapeError:
    """Build an error that states what is required, which shapes came and how to fix the call.

    Source: the convention of einops' errors (Rogozhnikov 2022), which print all that a fix needs.
    """
    shapes = ", ".join(f"{name} {tuple(array.shape)}" for name, array in arrays.items())
    return ShapeError(f"{problem} Got {shapes}. {fix}")
