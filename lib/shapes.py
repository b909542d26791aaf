"""The words for axes, the pair that attention returns, the error for shapes that disagree."""

from typing import Any, NamedTuple

from jaxtyping import Float

Array = Any
"""A NumPy array, a torch tensor, or an array of any library that follows the array API standard."""

AXES = {
    "batch": "independent examples; as *batch any number of leading axes",
    "head": "attention heads, side by side",
    "query": "the positions that ask: rows of a table of scores or weights",
    "key": "the positions that are asked: columns of a table of scores or weights",
    "n": "the tokens of one sequence, when queries and keys are the same tokens",
    "d_model": "the width of the vectors between the layers",
    "d_k": "the width of a query and of a key, in one head",
    "d_v": "the width of a value, in one head",
    "d_source": "the width of the vectors that keys and values are made from",
    "d_ff": "the width inside the feed-forward layer",
    "vocab": "the words of the vocabulary",
    "layer": "the layers of a model, from the embeddings up",
    "features": "the numbers of one vector, whatever it is",
}


class AttentionOutput(NamedTuple):
    """What attention returns: the mixed values, and the weights that mixed them, if kept."""

    output: Float[Array, "*batch query d_v"]
    weights: Float[Array, "*batch query key"] | None


class ShapeError(ValueError):
    """Arrays were given whose shapes do not fit together."""


def mismatch(problem: str, mend: str, **arrays: Array) -> ShapeError:
    """Make the error that says what was expected, what came, and how to mend the call.

    Source: the convention of einops' errors (Rogozhnikov 2022), which print all that a mend needs.
    """
    came = ", ".join(f"{name} {tuple(array.shape)}" for name, array in arrays.items())
    return ShapeError(f"{problem} Got {came}. {mend}")
