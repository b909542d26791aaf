"""Patients of the atlas whose answers depend on what they should not."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor

from lib.attention.dot_product import attend
from lib.attention.heads import merge_heads, split_heads
from lib.models.block import Block
from tests.atlas.bodies import HEADS, VOCAB, D, Decoder, N, Names, Patients, but, draw, ids
from tests.atlas.tables import attention_with


def reading(model: Decoder) -> Names:
    return {"logits": model, "ids": ids(), "vocab": VOCAB, "k": 4}


def norm_over_tokens(self, block: Block, x: Tensor, mask: Tensor | None) -> Tensor:
    x = (x - x.mean(1, keepdim=True)) / x.std(1, keepdim=True)
    return block(x, mask).output


def layer(f: Callable[[Tensor], Tensor]) -> Names:
    return {"f": f, "x": draw(3, N, D)}


def healthy_block(x: Tensor, mask: Tensor | None = None) -> Tensor:
    return Decoder().layers[0](x, mask).output


def over_all_sentences(x: Tensor) -> Tensor:
    return F.layer_norm(x.transpose(0, 2), x.shape[:1]).transpose(0, 2)


def one_long_sentence(x: Tensor) -> Tensor:
    return healthy_block(x.reshape(1, -1, D)).reshape(x.shape)


def with_pads(f: Callable) -> Names:
    x = draw(2, 4, D)
    padded = torch.cat([x, 3 * draw(2, 3, D, seed=1)], dim=1)
    return {"f": f, "x": x, "padded": padded, "real": torch.arange(N) < 4}


def kernel(attend: Callable) -> Names:
    return {"attend": attend}


def splitting(split: Callable, merge: Callable) -> Names:
    return {"split": split, "merge": merge, "x": draw(2, N, D), "d_k": D // HEADS}


def split_by_reshape(x: Tensor) -> Tensor:
    return x.reshape(x.shape[0], HEADS, x.shape[1], -1)


def interleaved(x: Tensor) -> Tensor:
    return x.reshape(*x.shape[:2], -1, HEADS).permute(0, 3, 1, 2)


def repeatable(f: Callable) -> Names:
    return {"f": f, "x": draw(2, N, D)}


PATIENTS: dict[str, Patients] = {
    "a-loss-too-good-and-useless-samples": (
        lambda: reading(Decoder()),
        {
            "M24": lambda: reading(but(mask=lambda self, layer, n: None)()),
            "M31": lambda: reading(
                but(mask=lambda self, i, n: None if i else Decoder.mask(self, i, n))()
            ),
            "M53": lambda: reading(but(through=norm_over_tokens)()),
        },
    ),
    "batch-mates-matter": (
        lambda: layer(healthy_block),
        {"M96": lambda: layer(one_long_sentence), "M237": lambda: layer(over_all_sentences)},
    ),
    "longer-batch-mates-matter": (
        lambda: with_pads(healthy_block),
        {
            "M27": lambda: with_pads(
                lambda x, mask=None: healthy_block(x, None if mask is None else mask.mT)
            ),
            "M28": lambda: with_pads(lambda x, mask=None: healthy_block(x)),
        },
    ),
    "right-for-one-token-only": (
        lambda: kernel(attend),
        {
            "M01": lambda: kernel(partial(attend, scale=1.0)),
            "M11": lambda: kernel(attention_with(partial(torch.softmax, dim=-2))),
            "M16": lambda: kernel(
                attention_with(lambda table: (table == table.amax(-1, keepdim=True)).float())
            ),
            "M19": lambda: kernel(attention_with(lambda table: table.softmax(-1).softmax(-1))),
        },
    ),
    "the-order-of-words-is-ignored": (
        lambda: {"logits": Decoder()},
        {"M57": lambda: {"logits": but(place=lambda self, n: torch.zeros(n, D))()}},
    ),
    "heads-that-mix-tokens": (
        lambda: splitting(partial(split_heads, heads=HEADS), merge_heads),
        {
            "M37": lambda: splitting(split_by_reshape, lambda x: x.reshape(2, N, D)),
            "M38": lambda: splitting(
                partial(split_heads, heads=HEADS), lambda x: x.reshape(2, N, D)
            ),
            "M39": lambda: splitting(interleaved, merge_heads),
        },
    ),
    "another-answer-at-every-call": (
        lambda: repeatable(healthy_block),
        {
            "M62": lambda: repeatable(lambda x: F.dropout(healthy_block(x), 0.1)),
            "M64": lambda: repeatable(lambda x: attend(x @ torch.randn(D, 4), x[..., :4], x)[0]),
        },
    ),
}
