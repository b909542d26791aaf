"""GPT-2 in NumPy, with each step a method, so that a subclass can change a single step."""

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
    """A linear layer x W + b."""

    weight: Float[np.ndarray, "features d_model"]
    bias: Float[np.ndarray, " d_model"]

    def __call__(self, x: Float[np.ndarray, "*batch features"]) -> Float[np.ndarray, "*batch d_v"]:
        """Multiply from the right, add the bias."""
        return x @ self.weight + self.bias


@dataclass(frozen=True)
class Layer:
    """The parameters of one block; `qkv` projects to queries, keys and values concatenated."""

    first: Norm
    qkv: Linear
    out: Linear
    second: Norm
    up: Linear
    down: Linear


@dataclass(frozen=True)
class Parameters:
    """All parameters of a small GPT-2, and its number of heads."""

    words: Float[np.ndarray, "vocab d_model"]
    positions: Float[np.ndarray, "n d_model"]
    layers: tuple[Layer, ...]
    last: Norm
    heads: int


class Model:
    r"""Predict the next token as GPT-2 does, in NumPy, with each step a method.

    A subclass that overrides one method has exactly one fault.
    `name` is the name of the fault, `key` its number in the catalogue of misconceptions,
    `sign` its symptom: the docstring of the class.
    The logits equal those of `lib.models.gpt2.GPT2`, up to rounding.

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
        """Return the logits of the next token at each position."""
        x = self.embed(ids)
        for layer in self.parameters.layers:
            x = self.block(x, layer)
        return self.unembed(x)

    def embed(self, ids: Int[np.ndarray, "*batch n"]) -> Float[np.ndarray, "*batch n d_model"]:
        """Add token embeddings and position embeddings."""
        return self.parameters.words[ids] + self.parameters.positions[: ids.shape[-1]]

    def block(self, x: Float[np.ndarray, "*batch n d_model"], layer: Layer):
        """Add the outputs of attention and feed-forward network to the residual stream."""
        x = self.add(x, self.attention(self.normalise(x, layer.first), layer))
        return self.add(x, self.feed_forward(self.normalise(x, layer.second), layer))

    def add(self, x, change):
        """Add the output of a sublayer to the residual stream."""
        return x + change

    def normalise(self, x: Float[np.ndarray, "*batch n d_model"], norm: Norm):
        """Apply layer norm: mean 0 and variance 1, then scale and shift."""
        return layer_norm(x, norm.gain, norm.bias)

    def attention(
        self,
        x: Float[np.ndarray, "*batch n d_model"],
        layer: Layer,
        real: Bool[np.ndarray, "*batch n"] | None = None,
    ) -> Float[np.ndarray, "*batch n d_model"]:
        """Apply causal multi-head attention; `real` is False for padding."""
        real = np.ones(x.shape[:-1], dtype=bool) if real is None else real
        q, k, v = map(self.split, self.project(x, layer))
        weights = self.weigh(self.scores(q, k), self.allowed(real))
        return self.project_out(self.merge(weights @ v), layer)

    def project(self, x, layer):
        """Project to queries, keys and values in one product, and split it in three."""
        q, k, v = np.split(layer.qkv(x), 3, axis=-1)
        return q, k, v

    def split(self, x: Float[np.ndarray, "*batch n d_model"]):
        """Split each vector into one slice per head: (*batch, head, n, d_k)."""
        *batch, n, d_model = x.shape
        heads = self.parameters.heads
        return x.reshape(*batch, n, heads, d_model // heads).swapaxes(-2, -3)

    def merge(self, x: Float[np.ndarray, "*batch head n d_k"]):
        """Concatenate the vectors of the heads: (*batch, n, d_model)."""
        *batch, heads, n, d_k = x.shape
        return x.swapaxes(-2, -3).reshape(*batch, n, heads * d_k)

    def scores(self, q, k):
        """Compute the score matrix: dot products of queries and keys, divided by root d_k."""
        return q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1])

    def allowed(self, real: Bool[np.ndarray, "*batch n"]) -> Bool[np.ndarray, "*batch 1 n n"]:
        """Build the mask: each token may attend to itself and the past, but not to padding."""
        return np.tri(real.shape[-1], dtype=bool) & real[..., None, None, :]

    def weigh(self, scores: Float[np.ndarray, "*batch head n n"], may):
        """Compute the attention weights by a softmax over the allowed keys."""
        return softmax(scores, where=np.broadcast_to(may, scores.shape))

    def project_out(self, x, layer):
        """Apply the output projection."""
        return layer.out(x)

    def feed_forward(self, x, layer):
        """Apply the feed-forward network to each token: up, GELU, down."""
        return layer.down(self.activate(layer.up(x)))

    def activate(self, x):
        """Apply GELU in its tanh form."""
        return gelu(x)

    def unembed(self, x: Float[np.ndarray, "*batch n d_model"]):
        """Apply the final layer norm and the LM head."""
        return self.normalise(x, self.parameters.last) @ self.parameters.words.T


def from_state(arrays: Mapping[str, np.ndarray], heads: int) -> Parameters:
    """Convert the state of a `lib.models.gpt2.GPT2`, as NumPy arrays, to `Parameters`.

    Source: torch stores a linear layer as (out, in); here it is (in, out), as in GPT-2's file.
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
