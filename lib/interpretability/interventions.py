"""Record the outputs of heads during a forward pass, and intervene on them.

All functions use one hook: `intervene` applies a rule between the outputs of the heads and the
output projection, inside a `with` block. No state is left on a module.
The model of chapter 16 is in lib.models.attention_only, linear probes are in
lib.interpretability.linear_probes.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from lib.attention.dot_product import attend
from lib.attention.multi_head import MultiHeadAttention
from lib.interpretability.head_rules import Heads, Rule, check_heads, zeros
from lib.shapes import AttentionOutput, mismatch


@dataclass(frozen=True, eq=False)
class HeadOutputs:
    """The result of a forward pass, with the output and the weights of every head.

    outputs[layer] is (*batch, head, query, d_v), before the output projection;
    weights[layer] is (*batch, head, query, key), or None if a fused kernel keeps none, as in a
    GPT2 without `keep_weights=True`.

    Source: Elhage et al. 2021, section "Attention Heads are Independent and Additive".
    Taught in: chapter 16.
    """

    result: Any
    outputs: tuple[Float[Tensor, "*batch head query d_v"], ...]
    weights: tuple[Float[Tensor, "*batch head query key"] | None, ...]


def attentions(model: nn.Module) -> list[MultiHeadAttention]:
    """Return the attention layers of a model, in the order of its modules, counted from 0.

    Source: the order of `nn.Module.modules`, which is the order of registration.
    Taught in: chapter 16.
    Raises: ValueError if there is none.
    """
    layers = [module for module in model.modules() if isinstance(module, MultiHeadAttention)]
    if not layers:
        raise ValueError(
            f"A {type(model).__name__} holds no MultiHeadAttention. Use a GPT2, an Encoder, "
            "or a different model that is built on lib.attention.multi_head."
        )
    return layers


@contextmanager
def intervene(model: nn.Module, rule: Rule) -> Iterator[None]:
    r"""Apply a rule to the outputs of the heads of each layer, before the projection $W_o$.

    `rule(layer, output)` returns `output` itself, or a new `AttentionOutput` whose output has the
    same shape. After the `with` block, even after an error, the model is as before.

    Source: Vig et al. 2020, section 3 (interventions on a network's parts).
    Taught in: chapter 16.
    Raises: ValueError for a model without attention, ShapeError for a rule that changes a shape.
    """
    handles = []
    try:
        for layer, module in enumerate(attentions(model)):
            hook = partial(_through, rule, layer)
            handles.append(module.register_forward_pre_hook(hook, with_kwargs=True))
        yield
    finally:
        for handle in handles:
            handle.remove()


def _through(rule: Rule, layer: int, _module: nn.Module, args: tuple, options: dict) -> tuple:
    """Replace this layer's attention by the same attention followed by the rule."""
    attention = options.get("attention", attend)

    def ruled(*given: Any) -> AttentionOutput:
        result = attention(*given)
        changed = rule(layer, result)
        if changed.output.shape != result.output.shape:
            raise mismatch(
                f"A rule may change the values of layer {layer}, not their shape.",
                "Return an AttentionOutput whose output has the shape of the given output.",
                given=result.output,
                returned=changed.output,
            )
        return changed

    return args, options | {"attention": ruled}


@torch.no_grad()
def record_heads(model: nn.Module, *given: Any, **options: Any) -> HeadOutputs:
    """Run `model(*given, **options)` and record the output and weights of every head.

    Source: as `intervene`, with a rule that changes nothing.
    Taught in: chapter 16.
    Raises: ValueError for a model without attention.
    """
    recorded: dict[int, AttentionOutput] = {}

    def keep(layer: int, result: AttentionOutput) -> AttentionOutput:
        recorded[layer] = result
        return result

    with intervene(model, keep):
        result = model(*given, **options)
    layers = [recorded[layer] for layer in sorted(recorded)]
    return HeadOutputs(result, *(tuple(part) for part in zip(*layers, strict=True)))


@contextmanager
def ablate(model: nn.Module, heads: Heads, *, mean: HeadOutputs | None = None) -> Iterator[None]:
    r"""Ablate heads: replace the outputs of (layer, head), counted from 0, by zeros.

    This is the model with their slices of $W_o$ set to zero. With `mean`, the output of a head at
    every position is the mean of its outputs in that run, over all sequences and positions.

    Source: Michel et al. 2019, section 2.3 (zeros); Wang et al. 2023, section 2.1 (means).
    Taught in: chapter 16.
    Raises: ValueError for a head that does not exist.
    """
    heads = _checked(model, heads)
    rule = zeros(heads)
    if mean is not None:
        new = {(layer, head): mean.outputs[layer][..., head, :, :].flatten(0, -2).mean(0)
               for layer, head in heads}  # fmt: skip
        rule = partial(_replace_outputs, new, slice(None))
    with intervene(model, rule):
        yield


@contextmanager
def patch(
    model: nn.Module, donor: HeadOutputs, heads: Heads, places: slice | list[int] = slice(None)
) -> Iterator[None]:
    """Patch heads: at these positions use their outputs from a different run, the donor.

    Source: Vig et al. 2020, section 3; Wang et al. 2023, section 2; Meng et al. 2022, section 2.1.
    Taught in: chapter 16.
    Raises: ValueError for a head that does not exist, ShapeError if the runs differ in shape.
    """
    new = {(layer, head): donor.outputs[layer][..., head, :, :]
           for layer, head in _checked(model, heads)}  # fmt: skip
    with intervene(model, partial(_replace_outputs, new, places)):
        yield


def _checked(model: nn.Module, heads: Heads) -> list[tuple[int, int]]:
    heads = list(heads)
    check_heads(heads, [attention.heads for attention in attentions(model)])
    return heads


def _replace_outputs(
    new: dict, places: slice | list[int], layer: int, result: AttentionOutput
) -> AttentionOutput:
    """Replace the outputs of heads of this layer by the new ones, on a copy."""
    output = result.output
    for (_, head), value in (item for item in new.items() if item[0][0] == layer):
        own = output[..., head, :, :]
        if value.ndim > 1:
            if value.shape != own.shape:
                raise mismatch(
                    "The donor must be a run of the same shape.",
                    "Record the donor on the same number of sequences of the same length.",
                    donor=value,
                    here=own,
                )
            value = value[..., places, :]
        output = output.clone()
        output[..., head, places, :] = value
    return AttentionOutput(output, result.weights)
