"""What a Llama does with a text: who attends to whom, the next words, and heads taken out."""

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from lib.interpretability.head_rules import Heads, heads_off
from lib.models.config import LlamaConfig
from lib.models.llama import Llama, LlamaOutput
from lib.text.tokenizers import BytePair

ROOM = 300  # tokens of a text whose weights, in all heads, fit well in memory
ROWS = 8
ENDS = "<|im_end|>", "<|endoftext|>"


class Reading(NamedTuple):
    """A text as the model read it; `whole` are the logits with all heads."""

    ids: list[int]
    weights: Float[Tensor, "layer head n key"]
    logits: Float[Tensor, "n vocab"]
    whole: Float[Tensor, "n vocab"]


class HeadsOut:
    """A Llama whose heads are taken out in every call, so that it generates without them."""

    training = False

    def __init__(self, model: Llama, heads: Heads):
        self.model, self.rule = model, heads_off(model, heads)
        self.config, self.caches, self.device = model.config, model.caches, model.device

    def __call__(self, ids: Tensor, **choices: Any) -> LlamaOutput:
        """Return the logits without the heads."""
        return self.model(ids, rule=self.rule, **choices)


def heads_of(text: str, config: LlamaConfig) -> list[tuple[int, int]]:
    """Parse heads such as "L26H0, L18H6", or "26.0, 18.6"; nothing means no head.

    Raises: ValueError with a sentence for the reader, for a different form or an unknown head.
    """
    names = [name for name in re.split(r"[,;\s]+", text) if name]
    heads = []
    for name in names:
        parts = re.fullmatch(r"L?([0-9]{1,4})[H.]([0-9]{1,4})", name, re.IGNORECASE)
        if not parts:
            raise ValueError(
                f"A head must be written as L26H0, head 0 of layer 26 (or as 26.0); got {name}."
            )
        layer, head = map(int, parts.groups())
        if layer >= config.layers or head >= config.heads:
            raise ValueError(
                f"There is no head {name}: layers are numbered from 0 to {config.layers - 1}, "
                f"and the heads of a layer from 0 to {config.heads - 1}."
            )
        heads.append((layer, head))
    return heads


def prompt_ids(
    tokenizer: BytePair, text: str, messages: Sequence[Mapping[str, str]], room: int
) -> list[int]:
    """Encode the messages of a chat, or a text if there are none; `room` is for this prompt.

    Raises: ValueError with a sentence for the reader, for an empty text or one that is too long.
    """
    if not (messages[-1]["content"] if messages else text).strip():
        raise ValueError("There is nothing to read; write at least one word.")
    ids = tokenizer.chat(messages) if messages else tokenizer.encode(text)
    if len(ids) > room:
        what, shorter = ("chat", "start a new chat") if messages else ("text", "a shorter text")
        raise ValueError(
            f"This {what} has {len(ids)} tokens, and there is room for {max(room, 0)} beside the "
            f"new ones. Ask for fewer new tokens, or {'' if messages else 'write '}{shorter}."
        )
    return ids


def stops(tokenizer: BytePair) -> list[int]:
    """Return the ids of the special tokens that end an answer."""
    return [tokenizer.special[end] for end in ENDS if end in tokenizer.special]


@torch.inference_mode()
def read_heads(model: Llama, ids: list[int], heads: Heads) -> Reading:
    """Read a text once without the heads, and once with all if some are taken out."""
    heads, prompt = list(heads), torch.tensor(ids, device=model.device)
    result = model(prompt, keep_weights=True, rule=heads_off(model, heads))
    whole = model(prompt).logits if heads else result.logits
    return Reading(ids, result.weights, result.logits, whole)


def visible_token(tokenizer: BytePair, i: int) -> str:
    """Return a token as a visible string: without its leading space, a line break as a sign."""
    text = tokenizer.decode([i])
    return text.strip() or {" ": "space", "\n": "line break"}.get(text, repr(text).strip("'"))


def quoted_token(tokenizer: BytePair, i: int) -> str:
    """Return a token as it stands in a sentence: a mark of punctuation in quotation marks."""
    text = visible_token(tokenizer, i)
    return text if any(map(str.isalnum, text)) else f"“{text}”"


def attended(reading: Reading, query: int, layer: int, head: int) -> list[tuple[int, float]]:
    """Return the keys with the largest weights of one query in one head, largest first."""
    weights = reading.weights[layer, head, query, : query + 1]
    best = weights.topk(min(ROWS, query + 1))
    return list(zip(best.indices.tolist(), best.values.tolist(), strict=True))


def next_words(reading: Reading, query: int) -> list[tuple[int, float, float]]:
    """Return the most likely tokens after one, with their probabilities now and with all heads."""
    now, whole = reading.logits[query].softmax(-1), reading.whole[query].softmax(-1)
    best = now.topk(min(ROWS, len(now))).indices
    return list(zip(best.tolist(), now[best].tolist(), whole[best].tolist(), strict=True))


def bar_table(caption: str, columns: Sequence[str], rows: Iterable[tuple]) -> str:
    """Draw a table whose rows are a name and shares, the first of them as a bar too."""
    heads = "".join(f'<th scope="col">{escape(column)}</th>' for column in columns)
    lines = []
    for name, *shares in rows:
        numbers = "".join(f"<td>{share:.3f}</td>" for share in shares)
        bar = (
            f'<div style="width:{8 * shares[0]:.2f}em;height:0.8em;'
            'background:var(--accent,currentColor)"></div>'
        )
        name = f'<th scope="row" style="text-align:left">{escape(name)}</th>'
        lines.append(f'<tr>{name}{numbers}<td aria-hidden="true" style="width:8em">{bar}</td></tr>')
    return (
        f'<table><caption style="text-align:left">{escape(caption)}</caption>'
        f"<thead><tr>{heads}<td></td></tr></thead><tbody>{''.join(lines)}</tbody></table>"
    )


def describe_attention(
    reading: Reading, tokenizer: BytePair, query: int, layer: int, head: int, out: bool = False
) -> str:
    """Draw to which tokens one token attends in one head, as a table with bars."""
    name = quoted_token(tokenizer, reading.ids[query])
    rows = [
        (f"{visible_token(tokenizer, reading.ids[key])} (token {key})", weight)
        for key, weight in attended(reading, query, layer, head)
    ]
    note = " This head is taken out: its weights are computed, and its output is not used."
    caption = f"Head L{layer}H{head}: token {query}, {name}, attends to these tokens."
    return bar_table(caption + (note if out else ""), ["key", "weight"], rows)


def describe_next(reading: Reading, tokenizer: BytePair, query: int, heads: Heads) -> str:
    """Draw the most likely next tokens after one token; with all heads too, if some are out."""
    heads = [f"L{layer}H{head}" for layer, head in heads]
    rows = [
        (visible_token(tokenizer, i), now, whole)[: 3 if heads else 2]
        for i, now, whole in next_words(reading, query)
    ]
    columns = ["next token", *([f"without {', '.join(heads)}", "all heads"] if heads else ["P"])]
    name = quoted_token(tokenizer, reading.ids[query])
    return bar_table(f"The most likely tokens after token {query}, {name}.", columns, rows)
