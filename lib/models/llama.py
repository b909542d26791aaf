"""Llama: the block after GPT-2, with RMSNorm, SwiGLU, rotary positions and grouped KV heads."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from array_api_compat import array_namespace, device
from jaxtyping import Bool, Float, Int

from lib.attention import masks
from lib.attention.grouped import grouped
from lib.attention.heads import merge_heads, split_heads
from lib.attention.kv_cache import KeyValueCache
from lib.attention.positions import Rotation, rotate, rotations
from lib.functional import rms_norm, silu
from lib.models.config import LlamaConfig
from lib.shapes import Array, AttentionOutput, ShapeError

# Applied to the output of the heads of a layer, before the output projection.
Rule = Callable[[int, AttentionOutput], AttentionOutput]


class LlamaOutput(NamedTuple):
    """The logits of every position, and the attention weights if they were kept."""

    logits: Float[Array, "*batch n vocab"]
    weights: Float[Array, "*batch layer head n key"] | None


def linear(
    x: Float[Array, "*batch d_in"], matrix: Float[Array, "d_out d_in"]
) -> Float[Array, "*batch d_out"]:
    r"""Multiply each vector by a weight matrix, $x W^\top$, as `nn.Linear` without a bias.

    Source: the layout of `torch.nn.Linear`.
    Taught in: chapter 18.
    """
    xp = array_namespace(x)
    return xp.matmul(x, xp.matrix_transpose(matrix))


def swiglu(
    x: Float[Array, "*batch d_model"],
    gate: Float[Array, "d_ff d_model"],
    up: Float[Array, "d_ff d_model"],
    down: Float[Array, "d_model d_ff"],
) -> Float[Array, "*batch d_model"]:
    r"""Apply the gated feed-forward network: one projection decides how much of another passes.

    $(\mathrm{SiLU}(x W_g^\top) \odot x W_u^\top)\, W_d^\top$.

    Source: Shazeer 2020, equation 6.
    Taught in: chapter 18.
    """
    return linear(silu(linear(x, gate)) * linear(x, up), down)


class Llama:
    r"""Predict the next token at every position: GPT-2 with four changes, for NumPy and torch.

    $x_0 = E[\text{ids}]$, then in each layer $x \leftarrow x + \mathrm{attend}(\mathrm{rms}(x))$
    and $x \leftarrow x + \mathrm{swiglu}(\mathrm{rms}(x))$;
    $\text{logits} = \mathrm{rms}(x_N)\, H^\top$.
    Queries and keys are rotated by their positions, and there are no biases.
    The parameters are nested mappings of arrays; `parameter_shapes` lists their names.
    Without "head", the LM head H is tied to the token embedding E.

    Source: Touvron et al. 2023, section 2.2; grouped KV heads: Ainslie et al. 2023.
    Taught in: chapter 18.
    Raises: ValueError or ShapeError for parameters that do not fit the configuration.
    """

    training = False  # there is no dropout to switch off

    def __init__(self, config: LlamaConfig, parameters: Mapping[str, Any]):
        check_parameters(config, parameters)
        self.config, self.parameters = config, parameters

    @property
    def device(self) -> Any:
        """The device of the parameters, on which the ids must be."""
        return device(self.parameters["embedding"])

    def __call__(
        self,
        ids: Int[Array, "*batch n"],
        *,
        real: Bool[Array, "*batch key"] | None = None,
        caches: list[KeyValueCache] | None = None,
        last: bool = False,
        keep_weights: bool = False,
        rule: Rule | None = None,
    ) -> LlamaOutput:
        """Return the logits, for every position or only for the last; the weights on request.

        With caches (`self.caches()`), the ids continue the sequence of the earlier calls.
        `real` is False where a batch is padded, on either side; with caches it covers all tokens
        so far. `rule(layer, output)` may change the heads' output before the output projection.

        Raises: TypeError or ValueError for ids that are not tokens of this model.
        """
        start = caches[0].used if caches else 0
        check_inputs(self.config, ids, start, real)
        x = self.parameters["embedding"][ids]
        rotation, mask = self._rotation_and_mask(x, start, real)
        all_weights = []
        for i, layer in enumerate(self.parameters["layers"]):
            normal = rms_norm(x, layer["attention_norm"], self.config.eps)
            heads = self.attend(normal, layer, rotation, mask, caches[i] if caches else None)
            heads = rule(i, heads) if rule else heads
            x = x + linear(merge_heads(heads.output), layer["out"])
            normal = rms_norm(x, layer["feed_forward_norm"], self.config.eps)
            x = x + swiglu(normal, layer["gate"], layer["up"], layer["down"])
            all_weights += [heads.weights] if keep_weights else []
        logits = self.unembed(x[..., -1:, :] if last else x)
        stacked = array_namespace(x).stack(all_weights, axis=-4) if keep_weights else None
        return LlamaOutput(logits, stacked)

    def attend(
        self,
        x: Float[Array, "*batch n d_model"],
        layer: Mapping[str, Array],
        rotation: Rotation,
        mask: Bool[Array, "..."],
        cache: KeyValueCache | None = None,
    ) -> AttentionOutput:
        """Return the output and the weights of every head of one layer."""
        heads = {"query": self.config.heads, "key": self.config.kv_heads}
        q, k = (
            rotate(split_heads(linear(x, layer[name]), count), rotation, halves=True)
            for name, count in heads.items()
        )
        v = split_heads(linear(x, layer["value"]), self.config.kv_heads)
        if cache:
            k, v = cache.store(k, v)
        return grouped(q, k, v, mask)

    def unembed(self, x: Float[Array, "*batch n d_model"]) -> Float[Array, "*batch n vocab"]:
        """Apply the final norm and the LM head."""
        head = self.parameters.get("head", self.parameters["embedding"])
        return linear(rms_norm(x, self.parameters["norm"], self.config.eps), head)

    def caches(self) -> list[KeyValueCache]:
        """Return one empty KV cache per layer, each for `context_length` tokens."""
        return [KeyValueCache(self.config.context_length) for _ in range(self.config.layers)]

    def _rotation_and_mask(
        self, x: Float[Array, "*batch n d_model"], start: int, real: Array | None
    ) -> tuple[Rotation, Bool[Array, "..."]]:
        """Return what all layers share: the rotation of each position, and who may attend."""
        xp, n = array_namespace(x), x.shape[-2]
        mask = masks.causal(n, start + n, like=x)
        # Half precision cannot tell position 2,049 from 2,048, so positions have at least 32 bits.
        dtype = x.dtype if xp.finfo(x.dtype).bits > 32 else xp.float32
        positions = xp.arange(start, start + n, dtype=dtype, device=device(x))
        if real is not None:
            # Padding takes no position: the first real token has position 0, on whichever side.
            counted = xp.cumulative_sum(xp.astype(real, dtype), axis=-1) - 1
            positions = xp.clip(counted, 0, None)[..., None, -n:]
            mask = mask & real[..., None, None, :]
        rotation = rotations(positions, self.config.d_k, base=self.config.base)
        return Rotation(*(xp.astype(part, x.dtype) for part in rotation)), mask


def parameter_shapes(config: LlamaConfig) -> dict[str, Any]:
    """Return the name and shape of every parameter; each matrix is (output, input).

    Source: the parameters of Llama in `transformers`, under the names of this course.
    Taught in: chapter 18.
    """
    d, ff, kv = config.d_model, config.d_ff, config.kv_heads * config.d_k
    layer = {
        "attention_norm": (d,), "query": (d, d), "key": (kv, d), "value": (kv, d), "out": (d, d),
        "feed_forward_norm": (d,), "gate": (ff, d), "up": (ff, d), "down": (d, ff),
    }  # fmt: skip
    return {"embedding": (config.vocab_size, d), "layers": [layer] * config.layers, "norm": (d,)}


def check_parameters(config: LlamaConfig, parameters: Mapping[str, Any]) -> None:
    """Check that every parameter is there, with the shape that the configuration requires.

    Source: the parameters of Llama in `transformers`.
    Taught in: chapter 18.
    Raises: ValueError for a missing or unknown name, ShapeError for a wrong shape.
    """
    expected = parameter_shapes(config)
    if "head" in parameters:
        expected["head"] = expected["embedding"]
    if len(parameters.get("layers", ())) != config.layers:
        raise ValueError(
            f"The configuration has {config.layers} layers; got parameters of "
            f"{len(parameters.get('layers', ()))}."
        )
    _check_shapes(expected, parameters, "the model")
    for i, layer in enumerate(parameters["layers"]):
        _check_shapes(expected["layers"][i], layer, f"layer {i}")


def _check_shapes(expected: Mapping[str, Any], given: Mapping[str, Any], where: str) -> None:
    if expected.keys() != set(given.keys()):
        missing, unknown = expected.keys() - given.keys(), given.keys() - expected.keys()
        raise ValueError(
            f"The parameters of {where} must be {', '.join(expected)}; missing: "
            f"{sorted(missing) or 'none'}, unknown: {sorted(unknown) or 'none'}."
        )
    for name, shape in expected.items():
        if name != "layers" and tuple(given[name].shape) != shape:
            raise ShapeError(
                f"`{name}` of {where} must have the shape {shape}; got {tuple(given[name].shape)}. "
                "Do the configuration and the parameters belong together?"
            )


def check_inputs(config: LlamaConfig, ids: Array, start: int, real: Array | None) -> None:
    """Check the ids of one call, which continue a sequence of `start` tokens.

    Source: torch's embedding, which takes integers; NumPy would count negative ids from the end.
    Taught in: chapter 18.
    Raises: TypeError for what is not an array of integers, ValueError for no token, too many, or
    ids outside the vocabulary, ShapeError for a `real` of a different length.
    """
    xp = array_namespace(ids) if hasattr(ids, "dtype") else None
    if xp is None or not xp.isdtype(ids.dtype, "integral") or not ids.ndim:
        got = f"{ids.dtype} {tuple(ids.shape)}" if xp else f"a {type(ids).__name__}"
        raise TypeError(f"`ids` must be an integer array of shape (n) or (batch, n); got {got}.")
    if 0 in ids.shape:
        raise ValueError(f"`ids` must hold at least one token; got the shape {tuple(ids.shape)}.")
    total = start + ids.shape[-1]
    if total > config.context_length:
        raise ValueError(
            f"The model reads at most {config.context_length} tokens; got {total}. "
            "Give it only the end of the sequence."
        )
    low, high = int(xp.min(ids)), int(xp.max(ids))
    if low < 0 or high >= config.vocab_size:
        raise ValueError(
            f"Token ids must be from 0 to {config.vocab_size - 1}; got {low} to {high}. "
            "Encode the text with the model's own tokenizer."
        )
    if real is not None and tuple(real.shape) != (*ids.shape[:-1], total):
        raise ShapeError(
            f"`real` must have the shape {(*ids.shape[:-1], total)}, with all tokens so far; got "
            f"{tuple(real.shape)}."
        )
