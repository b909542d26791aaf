"""Rules that change what heads hand over: for a `Llama`, and for `intervene` in other models."""

from collections.abc import Iterable, Sequence

from array_api_compat import array_namespace, device

from lib.models.llama import Llama, Rule
from lib.shapes import AttentionOutput

Heads = Iterable[tuple[int, int]]


def heads_off(model: Llama, heads: Heads) -> Rule:
    """Make the rule that replaces the outputs of (layer, head), counted from 0, by zeros.

    `model(ids, rule=heads_off(model, [(26, 0)]))` runs the model without this head; the model
    itself does not change.

    Source: Michel et al. 2019, section 2.3.
    Taught in: chapter 16.
    Raises: ValueError for a head that does not exist.
    """
    heads = list(heads)
    check_heads(heads, [model.config.heads] * model.config.layers)
    return zeros(heads)


def zeros(heads: Heads) -> Rule:
    """Make the rule that replaces the outputs of heads by zeros, in a model of any size.

    Source: Michel et al. 2019, section 2.3.
    Taught in: chapter 16.
    """
    heads = frozenset(heads)

    def rule(layer: int, result: AttentionOutput) -> AttentionOutput:
        output = result.output
        xp, count = array_namespace(output), output.shape[-3]
        kept = [float((layer, head) not in heads) for head in range(count)]
        if all(kept):
            return result
        factors = xp.asarray(kept, dtype=output.dtype, device=device(output))
        return AttentionOutput(output * factors[:, None, None], result.weights)

    return rule


def check_heads(heads: Heads, sizes: Sequence[int]) -> None:
    """Check that each (layer, head) exists in a model whose layers have these numbers of heads.

    Source: the convention of this course: layers and heads are counted from 0.
    Taught in: chapter 16.
    Raises: ValueError for a head that does not exist.
    """
    for layer, head in heads:
        if not (0 <= layer < len(sizes) and 0 <= head < sizes[layer]):
            raise ValueError(
                f"There is no head ({layer}, {head}). Layers and heads are counted from 0; the "
                f"layers have these numbers of heads: {', '.join(map(str, sizes))}."
            )
