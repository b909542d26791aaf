"""Look into a model while it runs, change what a head says, and read its habits off its tables.

There is one door: `intervene` puts a rule between what the heads of a layer found and the matrix
that mixes it, for as long as a `with` lasts. Nothing is left on a module.
The model and the texts of chapter 16 are in lib.models.attention_only, linear probes in
lib.interpretability.linear_probes.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from lib.attention.dot_product import attend
from lib.attention.multi_head import MultiHeadAttention
from lib.shapes import AttentionOutput, mismatch

Rule = Callable[[int, AttentionOutput], AttentionOutput]
Heads = Iterable[tuple[int, int]]


@dataclass(frozen=True, eq=False)
class HeadOutputs:
    """What a run gave, and on the way, of every layer, each head's output and weights.

    outputs[layer] is (*batch, head, query, d_v), before the matrix that mixes the heads;
    weights[layer] is (*batch, head, query, key), or None where the kernel kept none, as in a
    GPT2 that was not asked with `keep_weights=True`.

    Source: Elhage et al. 2021, section "Attention Heads are Independent and Additive".
    Taught in: chapter 16.
    """

    result: Any
    outputs: tuple[Float[Tensor, "*batch head query d_v"], ...]
    weights: tuple[Float[Tensor, "*batch head query key"] | None, ...]


def attentions(model: nn.Module) -> list[MultiHeadAttention]:
    """The layers of attention in a model, in the order in which it holds them, from 0.

    Source: the order of `nn.Module.modules`, which is that of their making.
    Taught in: chapter 16.
    Raises: ValueError if there is none.
    """
    found = [one for one in model.modules() if isinstance(one, MultiHeadAttention)]
    if not found:
        raise ValueError(
            f"A {type(model).__name__} holds no MultiHeadAttention. Probe a GPT2, an Encoder, "
            "or another model that is built on lib.attention.multi_head."
        )
    return found


@contextmanager
def intervene(model: nn.Module, rule: Rule) -> Iterator[None]:
    r"""Let a rule see, and change, what the heads of each layer found, before $W_o$ mixes it.

    `rule(layer, output)` returns what goes on: `output` itself, or another `AttentionOutput` whose
    output has the same shape. After the `with`, also after an error, the model is as before.

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
    """Send what this layer's attention finds through the rule."""
    attention = options.get("attention", attend)

    def ruled(*given: Any) -> AttentionOutput:
        found = attention(*given)
        changed = rule(layer, found)
        if changed.output.shape != found.output.shape:
            raise mismatch(
                f"A rule may change the numbers of layer {layer}, not their shape.",
                "Return an AttentionOutput whose output is as large as the one that came.",
                came=found.output,
                returned=changed.output,
            )
        return changed

    return args, options | {"attention": ruled}


@torch.no_grad()
def record_heads(model: nn.Module, *given: Any, **options: Any) -> HeadOutputs:
    """Run `model(*given, **options)` and keep what every head found on the way.

    Source: as `intervene`, with a rule that changes nothing.
    Taught in: chapter 16.
    Raises: ValueError for a model without attention.
    """
    seen: dict[int, AttentionOutput] = {}

    def keep(layer: int, found: AttentionOutput) -> AttentionOutput:
        seen[layer] = found
        return found

    with intervene(model, keep):
        result = model(*given, **options)
    layers = [seen[layer] for layer in sorted(seen)]
    return HeadOutputs(result, *(tuple(part) for part in zip(*layers, strict=True)))


@contextmanager
def ablate(model: nn.Module, heads: Heads, *, mean: HeadOutputs | None = None) -> Iterator[None]:
    r"""Switch heads off: (layer, head), counted from 0, give zeros instead of their outputs.

    That is the model with their slices of $W_o$ set to zero. With `mean`, a head gives at every
    place the mean of its outputs in that run, over all texts and places: it still speaks, and
    always says the same.

    Source: Michel et al. 2019, section 2.3 (zeros); Wang et al. 2023, section 2.1 (means).
    Taught in: chapter 16.
    Raises: ValueError for a head that is not there.
    """
    new = {}
    for layer, head in _checked(model, heads):
        said = None if mean is None else mean.outputs[layer][..., head, :, :]
        new[layer, head] = 0.0 if said is None else said.flatten(0, -2).mean(0)
    with intervene(model, partial(_exchange, new, slice(None))):
        yield


@contextmanager
def patch(
    model: nn.Module, donor: HeadOutputs, heads: Heads, places: slice | list[int] = slice(None)
) -> Iterator[None]:
    """Let heads say, at these places, what they said in another run; all else is computed anew.

    Source: Vig et al. 2020, section 3; Wang et al. 2023, section 2; Meng et al. 2022, section 2.1.
    Taught in: chapter 16.
    Raises: ValueError for a head that is not there, ShapeError if the runs differ in shape.
    """
    new = {(layer, head): donor.outputs[layer][..., head, :, :]
           for layer, head in _checked(model, heads)}  # fmt: skip
    with intervene(model, partial(_exchange, new, places)):
        yield


def _checked(model: nn.Module, heads: Heads) -> list[tuple[int, int]]:
    layers, heads = attentions(model), list(heads)
    for layer, head in heads:
        if not (0 <= layer < len(layers) and 0 <= head < layers[layer].heads):
            sizes = ", ".join(str(one.heads) for one in layers)
            raise ValueError(
                f"There is no head ({layer}, {head}): the layers, counted from 0, have these "
                f"numbers of heads: {sizes}."
            )
    return heads


def _exchange(
    new: dict, places: slice | list[int], layer: int, found: AttentionOutput
) -> AttentionOutput:
    """Put the new numbers where the heads of this layer had theirs, on a copy."""
    output = found.output
    for (_, head), said in ((at, said) for at, said in new.items() if at[0] == layer):
        own = output[..., head, :, :]
        if isinstance(said, Tensor) and said.ndim > 1:
            if said.shape != own.shape:
                raise mismatch(
                    "An output is patched from a run of the same shape.",
                    "Record the donor on as many texts of the same length.",
                    donor=said,
                    here=own,
                )
            said = said[..., places, :]
        output = output.clone()
        output[..., head, places, :] = said
    return AttentionOutput(output, found.weights)
