"""GPT-2 on one screen, in NumPy: each step a method, so that a subclass can change just one."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from lib.functional import gelu, layer_norm, softmax


@dataclass(frozen=True)
class Norm:
    """The gain and the bias of one layer norm."""

    gain: Float[np.ndarray, " d_model"]
    bias: Float[np.ndarray, " d_model"]


@dataclass(frozen=True)
class Linear:
    """A map x W + b."""

    weight: Float[np.ndarray, "features d_model"]
    bias: Float[np.ndarray, " d_model"]

    def __call__(self, x: Float[np.ndarray, "*batch features"]) -> Float[np.ndarray, "*batch d_v"]:
        """Multiply from the right, add the bias."""
        return x @ self.weight + self.bias


@dataclass(frozen=True)
class Layer:
    """The parameters of one block; `qkv` makes queries, keys and values side by side."""

    first: Norm
    qkv: Linear
    out: Linear
    second: Norm
    up: Linear
    down: Linear


@dataclass(frozen=True)
class Parameters:
    """All parameters of a small GPT-2, and the number of heads that share its width."""

    words: Float[np.ndarray, "vocab d_model"]
    positions: Float[np.ndarray, "n d_model"]
    layers: tuple[Layer, ...]
    last: Norm
    heads: int


class Model:
    r"""Predict the next token as GPT-2 does, in NumPy: one screen, and each step a method.

    A subclass that overrides one method has exactly one fault.
    `name` is what the fault is called, `key` its number in the catalogue of misconceptions,
    `sign` how it shows: the docstring of its class.
    The function is that of `lib.models.gpt2.GPT2`, up to rounding.

    Source: Radford et al. 2019, section 2.3.
    Taught in: chapter 17.
    """

    key, name, sign = "", "the right model", ""

    def __init_subclass__(cls) -> None:
        cls.sign = cls.__doc__ or ""

    def __init__(self, parameters: Parameters):
        self.parameters = parameters

    def __repr__(self) -> str:
        return "a model under suspicion"

    def __call__(self, ids: Int[np.ndarray, "*batch n"]) -> Float[np.ndarray, "*batch n vocab"]:
        """Score every word as the next one, at each position."""
        x = self.embed(ids)
        for layer in self.parameters.layers:
            x = self.block(x, layer)
        return self.unembed(x)

    def embed(self, ids: Int[np.ndarray, "*batch n"]) -> Float[np.ndarray, "*batch n d_model"]:
        """Add the row of each token to the row of its position."""
        return self.parameters.words[ids] + self.parameters.positions[: ids.shape[-1]]

    def block(self, x: Float[np.ndarray, "*batch n d_model"], layer: Layer):
        """Add two changes to the stream, each made from its normalised vectors."""
        x = self.add(x, self.attention(self.normalise(x, layer.first), layer))
        return self.add(x, self.feed_forward(self.normalise(x, layer.second), layer))

    def add(self, x, change):
        """Add a change to the stream."""
        return x + change

    def normalise(self, x: Float[np.ndarray, "*batch n d_model"], norm: Norm):
        """Bring each vector to mean 0 and variance 1, then scale and shift it."""
        return layer_norm(x, norm.gain, norm.bias)

    def attention(
        self,
        x: Float[np.ndarray, "*batch n d_model"],
        layer: Layer,
        real: Bool[np.ndarray, "*batch n"] | None = None,
    ) -> Float[np.ndarray, "*batch n d_model"]:
        """Let each token gather from itself and the past; `real` says which tokens are no pads."""
        real = np.ones(x.shape[:-1], dtype=bool) if real is None else real
        q, k, v = map(self.split, self.project(x, layer))
        weights = self.weigh(self.scores(q, k), self.allowed(real))
        return self.project_out(self.merge(weights @ v), layer)

    def project(self, x, layer):
        """Make queries, keys and values in one product, and cut it in three."""
        q, k, v = np.split(layer.qkv(x), 3, axis=-1)
        return q, k, v

    def split(self, x: Float[np.ndarray, "*batch n d_model"]):
        """Cut each vector into stretches, one for each head: (*batch, head, n, d_k)."""
        *batch, n, d_model = x.shape
        heads = self.parameters.heads
        return x.reshape(*batch, n, heads, d_model // heads).swapaxes(-2, -3)

    def merge(self, x: Float[np.ndarray, "*batch head n d_k"]):
        """Lay the heads' vectors end to end: (*batch, n, d_model)."""
        *batch, heads, n, d_k = x.shape
        return x.swapaxes(-2, -3).reshape(*batch, n, heads * d_k)

    def scores(self, q, k):
        """Compare every query with every key, and divide by the root of a head's width."""
        return q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1])

    def allowed(self, real: Bool[np.ndarray, "*batch n"]) -> Bool[np.ndarray, "*batch 1 n n"]:
        """Allow the token itself and the past, and no pad."""
        return np.tri(real.shape[-1], dtype=bool) & real[..., None, None, :]

    def weigh(self, scores: Float[np.ndarray, "*batch head n n"], may):
        """Share each query's attention out over the keys that it may attend to."""
        return softmax(scores, where=np.broadcast_to(may, scores.shape))

    def project_out(self, x, layer):
        """Mix what the heads found."""
        return layer.out(x)

    def feed_forward(self, x, layer):
        """Think about each token alone: widen, bend, narrow."""
        return layer.down(self.activate(layer.up(x)))

    def activate(self, x):
        """GELU, in its tanh form."""
        return gelu(x)

    def unembed(self, x: Float[np.ndarray, "*batch n d_model"]):
        """Normalise once more, and compare with the row of every word."""
        return self.normalise(x, self.parameters.last) @ self.parameters.words.T


def from_state(arrays: Mapping[str, np.ndarray], heads: int) -> Parameters:
    """Lay out the state of a `lib.models.gpt2.GPT2`, as NumPy arrays, for the model on one screen.

    Source: torch keeps a linear map as (out, in); here it is (in, out), as GPT-2's own file has it.
    Taught in: chapter 17.
    """

    def norm(path: str) -> Norm:
        return Norm(arrays[f"{path}.gain"], arrays[f"{path}.bias"])

    def linear(*paths: str) -> Linear:
        weights, biases = (
            [arrays[f"{path}.{kind}"] for path in paths] for kind in ("weight", "bias")
        )
        return Linear(np.concatenate(weights).T, np.concatenate(biases))

    def layer(path: str) -> Layer:
        attention, feed_forward = f"{path}.attention", f"{path}.feed_forward"
        return Layer(
            norm(f"{attention}_norm"),
            linear(*(f"{attention}.{part}" for part in ("query", "key", "value"))),
            linear(f"{attention}.out"),
            norm(f"{feed_forward}_norm"),
            linear(f"{feed_forward}.up"),
            linear(f"{feed_forward}.down"),
        )

    count = len({name.split(".")[1] for name in arrays if name.startswith("layers.")})
    layers = tuple(layer(f"layers.{i}") for i in range(count))
    words, positions = arrays["token_embedding.weight"], arrays["position_embedding.weight"]
    return Parameters(words, positions, layers, norm("norm"), heads)
