"""Twenty suspects: GPT-2 on one screen, each with one step broken."""

import math

import numpy as np

from lib.debugging.numpy_gpt2 import Model
from lib.functional import gelu, layer_norm, softmax


class Unscaled(Model):
    """With one head of width 4 each weight is the square of the right one, shared out again."""

    key, name = "M01", "no scaling"

    def scores(self, q, k):
        return q @ k.swapaxes(-1, -2)


class ScaledByModel(Model):
    """All is right with one head. With two, the weights are too even."""

    key, name = "M03", "scaled by d_model"

    def scores(self, q, k):
        return q @ k.swapaxes(-1, -2) / math.sqrt(self.parameters.heads * q.shape[-1])


class DownTheColumns(Model):
    """The columns of the weights sum to 1, and the rows do not."""

    key, name = "M11", "softmax down the columns"

    def weigh(self, scores, may):
        return softmax(scores, axis=-2, where=np.broadcast_to(may, scores.shape))


class ZeroScores(Model):
    """Every row sums to 1, and weight stands above the diagonal: the future leaks in."""

    key, name = "M20", "scores set to zero"

    def weigh(self, scores, may):
        return softmax(np.where(may, scores, 0.0))


class ZeroWeights(Model):
    """Nothing stands above the diagonal, and the rows sum to less than 1, except the last."""

    key, name = "M21", "weights set to zero"

    def weigh(self, scores, may):
        return np.where(may, softmax(scores), 0.0)


class NoDiagonal(Model):
    """No token weighs itself, and the first, with nobody left, has no output at all."""

    key, name = "M22", "diagonal masked"

    def allowed(self, real):
        return np.tri(real.shape[-1], k=-1, dtype=bool) & real[..., None, None, :]


class MaskTransposed(Model):
    """Below the diagonal stands nothing: each token sees the future and not the past."""

    key, name = "M23", "mask transposed"

    def allowed(self, real):
        return np.tri(real.shape[-1], dtype=bool).T & real[..., None, None, :]


class PadsAsQueries(Model):
    """All is right without pads. With pads on the left, every real token moves."""

    key, name = "M27", "padding masked on the query axis"

    def allowed(self, real):
        return np.tri(real.shape[-1], dtype=bool) & real[..., None, :, None]


class TwiceTheStream(Model):
    """A block that has nothing to add returns its input times 4: doubled, twice."""

    key, name = "M35", "residual added twice"

    def add(self, x, change):
        return x + x + change


class SplitWithoutTranspose(Model):
    """One head is right. With two, the first token has numbers of later ones in it."""

    key, name = "M37", "split without transpose"

    def split(self, x):
        *batch, n, d_model = x.shape
        heads = self.parameters.heads
        return x.reshape(*batch, heads, n, d_model // heads)


class MergedWithoutTranspose(Model):
    """One head is right. With two, the right numbers come out at the wrong tokens."""

    key, name = "M38", "merged without transpose"

    def merge(self, x):
        *batch, heads, n, d_k = x.shape
        return x.reshape(*batch, n, heads * d_k)


class NoOutputMatrix(Model):
    """Two heads find the right numbers, and nobody carries them to their features."""

    key, name = "M40", "output matrix missing"

    def project_out(self, x, layer):
        return x


class KeysFirst(Model):
    """The scores are those of the transposed table: 3 to 1 where it should be 2 to 1."""

    key, name = "M43", "q, k, v in the wrong order"

    def project(self, x, layer):
        k, q, v = np.split(layer.qkv(x), 3, axis=-1)
        return q, k, v


class PostNorm(Model):
    """A block that has nothing to add returns its input normalised."""

    key, name = "M50", "post-norm for pre-norm"

    def block(self, x, layer):
        x = self.normalise(x + self.attention(x, layer), layer.first)
        return self.normalise(x + self.feed_forward(x, layer), layer.second)


class UnbiasedVariance(Model):
    """With d_model = 4 every normalised number is too small by the factor .866."""

    key, name = "M51", "unbiased variance"

    def normalise(self, x, norm):
        d_model = x.shape[-1]
        return layer_norm(x, norm.gain * math.sqrt((d_model - 1) / d_model), norm.bias)


class NormOverTokens(Model):
    """The columns of what is normalised sum to 0, and the rows do not; so the future leaks."""

    key, name = "M53", "normalised over the tokens"

    def normalise(self, x, norm):
        return layer_norm(x.swapaxes(-1, -2)).swapaxes(-1, -2) * norm.gain + norm.bias


class ExactGelu(Model):
    """At 2.7 and at -2.7 the bend is off by .0005, and nowhere by more."""

    key, name = "M54", "exact GELU for the tanh form"

    def activate(self, x):
        return gelu(x, tanh=False)


class NoLastNorm(Model):
    """Without blocks the logits are the plain sums of word and position."""

    key, name = "M56", "final layer norm missing"

    def unembed(self, x):
        return x @ self.parameters.words.T


class PositionsFromOne(Model):
    """Without blocks, each row of logits is the one that belongs a row further down."""

    key, name = "M58", "positions off by one"

    def embed(self, ids):
        return self.parameters.words[ids] + self.parameters.positions[1 : ids.shape[-1] + 1]


class DropoutLeftOn(Model):
    """Two calls on the same tokens differ."""

    key, name = "M62", "dropout active in evaluation"

    def __init__(self, parameters):
        super().__init__(parameters)
        self.chance = np.random.default_rng(0)

    def add(self, x, change):
        return x + change * (self.chance.random(change.shape) >= 0.1) / 0.9


SUSPECTS = tuple(kind for kind in Model.__subclasses__() if kind.__module__ == __name__)
"""The twenty, in the order of the catalogue of misconceptions."""


def lineup(seed: int) -> list[int]:
    """Shuffle the twenty: the index in `SUSPECTS` of suspect 1, of suspect 2, and so on.

    Source: Fisher and Yates's shuffle, with the generator of Park, Miller and Stockmeyer 1993,
    whose products JavaScript computes exactly too.
    Taught in: chapter 17.
    Raises: ValueError if the seed is not between 1 and 2^31 - 2.
    """
    if not 0 < seed < 2**31 - 1:
        raise ValueError(f"A seed is a whole number from 1 to 2147483646, and this one is {seed}.")
    order, state = list(range(len(SUSPECTS))), seed
    for last in range(len(order) - 1, 0, -1):
        state = state * 48271 % (2**31 - 1)
        chosen = state % (last + 1)
        order[last], order[chosen] = order[chosen], order[last]
    return order


def suspect(number: int, seed: int = 17) -> type[Model]:
    """Bring in suspect 1 to 20 of the order that a seed gives: a model without its parameters.

    Source: the numbers of the live figure of chapter 17.
    Taught in: chapter 17.
    Raises: ValueError if there is no suspect of that number.
    """
    if not 1 <= number <= len(SUSPECTS):
        raise ValueError(f"The suspects are 1 to {len(SUSPECTS)}, and there is no {number}.")
    return SUSPECTS[lineup(seed)[number - 1]]
