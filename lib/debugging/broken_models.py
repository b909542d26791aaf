"""Twenty suspects: the NumPy GPT-2, each with one broken step."""

import math

import numpy as np

from lib.debugging.numpy_gpt2 import Model
from lib.functional import gelu, layer_norm, softmax


class Unscaled(Model):
    """With one head of d_k = 4, each weight is the square of the right one, normalised again."""

    key, name = "M01", "no scaling"

    def scores(self, q, k):
        return q @ k.swapaxes(-1, -2)


class ScaledByModel(Model):
    """One head is right. With two heads, the weights are too uniform."""

    key, name = "M03", "scaled by d_model"

    def scores(self, q, k):
        return q @ k.swapaxes(-1, -2) / math.sqrt(self.parameters.heads * q.shape[-1])


class DownTheColumns(Model):
    """The columns of the attention matrix sum to 1, and the rows do not."""

    key, name = "M11", "softmax down the columns"

    def weigh(self, scores, may):
        return softmax(scores, axis=-2, where=np.broadcast_to(may, scores.shape))


class ZeroScores(Model):
    """Every row sums to 1, but weights above the diagonal are not 0: the future leaks in."""

    key, name = "M20", "scores set to zero"

    def weigh(self, scores, may):
        return softmax(np.where(may, scores, 0.0))


class ZeroWeights(Model):
    """Weights above the diagonal are 0, but all rows except the last sum to less than 1."""

    key, name = "M21", "weights set to zero"

    def weigh(self, scores, may):
        return np.where(may, softmax(scores), 0.0)


class NoDiagonal(Model):
    """No token attends to itself, and the first, which has no other key, has output 0."""

    key, name = "M22", "diagonal masked"

    def allowed(self, real):
        return np.tri(real.shape[-1], k=-1, dtype=bool) & real[..., None, None, :]


class MaskTransposed(Model):
    """Weights below the diagonal are 0: each token sees the future and not the past."""

    key, name = "M23", "mask transposed"

    def allowed(self, real):
        return np.tri(real.shape[-1], dtype=bool).T & real[..., None, None, :]


class PadsAsQueries(Model):
    """Without padding all is right. With padding on the left, every real token changes."""

    key, name = "M27", "padding masked on the query axis"

    def allowed(self, real):
        return np.tri(real.shape[-1], dtype=bool) & real[..., None, :, None]


class TwiceTheStream(Model):
    """A block whose sublayers output 0 returns its input times 4: doubled twice."""

    key, name = "M35", "residual added twice"

    def add(self, x, change):
        return x + x + change


class SplitWithoutTranspose(Model):
    """One head is right. With two, the first token mixes components of later tokens."""

    key, name = "M37", "split without transpose"

    def split(self, x):
        *batch, n, d_model = x.shape
        heads = self.parameters.heads
        return x.reshape(*batch, heads, n, d_model // heads)


class MergedWithoutTranspose(Model):
    """One head is right. With two, the right components are at the wrong tokens."""

    key, name = "M38", "merged without transpose"

    def merge(self, x):
        *batch, heads, n, d_k = x.shape
        return x.reshape(*batch, n, heads * d_k)


class NoOutputMatrix(Model):
    """Two heads compute the right outputs, but nothing projects them to their features."""

    key, name = "M40", "output matrix missing"

    def project_out(self, x, layer):
        return x


class KeysFirst(Model):
    """The score matrix is transposed: the weights are 3 to 1 instead of 2 to 1."""

    key, name = "M43", "q, k, v in the wrong order"

    def project(self, x, layer):
        k, q, v = np.split(layer.qkv(x), 3, axis=-1)
        return q, k, v


class PostNorm(Model):
    """A block whose sublayers output 0 returns its input normalised."""

    key, name = "M50", "post-norm for pre-norm"

    def block(self, x, layer):
        x = self.normalise(x + self.attention(x, layer), layer.first)
        return self.normalise(x + self.feed_forward(x, layer), layer.second)


class UnbiasedVariance(Model):
    """With d_model = 4 every normalised component is too small by the factor 0.866."""

    key, name = "M51", "unbiased variance"

    def normalise(self, x, norm):
        d_model = x.shape[-1]
        return layer_norm(x, norm.gain * math.sqrt((d_model - 1) / d_model), norm.bias)


class NormOverTokens(Model):
    """The columns of the normalised matrix sum to 0, the rows do not, and the future leaks."""

    key, name = "M53", "normalised over the tokens"

    def normalise(self, x, norm):
        return layer_norm(x.swapaxes(-1, -2)).swapaxes(-1, -2) * norm.gain + norm.bias


class ExactGelu(Model):
    """At 2.7 and at -2.7 the GELU is off by 0.0005, and nowhere by more."""

    key, name = "M54", "exact GELU for the tanh form"

    def activate(self, x):
        return gelu(x, tanh=False)


class NoLastNorm(Model):
    """Without blocks the logits are the sums of word and position, not normalised."""

    key, name = "M56", "final layer norm missing"

    def unembed(self, x):
        return x @ self.parameters.words.T


class PositionsFromOne(Model):
    """Without blocks, each row of logits is the right one of the next row."""

    key, name = "M58", "positions off by one"

    def embed(self, ids):
        return self.parameters.words[ids] + self.parameters.positions[1 : ids.shape[-1] + 1]


class DropoutLeftOn(Model):
    """Two calls on the same tokens give different logits."""

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
    Raises: ValueError unless the seed is from 1 to 2^31 - 2.
    """
    if not 0 < seed < 2**31 - 1:
        raise ValueError(f"`seed` must be an integer from 1 to 2147483646; got {seed}.")
    order, state = list(range(len(SUSPECTS))), seed
    for last in range(len(order) - 1, 0, -1):
        state = state * 48271 % (2**31 - 1)
        chosen = state % (last + 1)
        order[last], order[chosen] = order[chosen], order[last]
    return order


def suspect(number: int, seed: int = 17) -> type[Model]:
    """Return suspect 1 to 20 in the order of a seed: a model class without its parameters.

    Source: the numbers of the live figure of chapter 17.
    Taught in: chapter 17.
    Raises: ValueError if number is not from 1 to 20.
    """
    if not 1 <= number <= len(SUSPECTS):
        raise ValueError(f"`number` must be from 1 to {len(SUSPECTS)}; got {number}.")
    return SUSPECTS[lineup(seed)[number - 1]]
