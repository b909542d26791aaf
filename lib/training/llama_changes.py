"""The four changes from GPT-2 to Llama, each alone, trained on the stories over several seeds."""

import math
from collections.abc import Collection
from pathlib import Path

from torch import nn

from lib.attention.grouped_query import GroupedQueryAttention
from lib.datasets.stories import split
from lib.models.block import RMSNorm, SwiGLU
from lib.models.config import Config
from lib.models.gpt2 import GPT2
from lib.seeds import set_seed
from lib.text.tokenizers import BytePair
from lib.training.loop import train
from lib.training.optimizers import Recipe
from lib.training.windows import Corpus, token_losses

CHANGES = ("RMSNorm", "SwiGLU", "rotary", "grouped")
"""The four changes. "no positions" is the control of "rotary"."""

VARIANTS = {
    "GPT-2": (),
    "RMSNorm": ("RMSNorm",),
    "SwiGLU": ("SwiGLU",),
    "no positions": ("no positions",),
    "rotary": ("rotary",),
    "grouped": ("grouped",),
    "all four": CHANGES,
}
TRAINED, READ, ROWS = 48, 96, 100  # the context in training, in the test, and its windows
STD = 0.02 * math.sqrt(768 / 64)
"""GPT-2's standard deviation, scaled so that hidden units begin at the same size for d_model 64."""
STORED = Path(__file__).with_suffix(".json")


def gpt2_with(
    changes: Collection[str],
    config: Config,
    *,
    kv_heads: int = 1,
    base: float = 10000.0,
    std: float = 0.02,
) -> GPT2:
    """Build a GPT-2 with some of Llama's changes: "RMSNorm", "SwiGLU", "rotary", "grouped".

    SwiGLU gets 2/3 of the d_ff, so that the parameters stay about the same. "rotary" and
    "no positions" set the position embedding to zero and exclude it from training.

    Source: Touvron et al. 2023, section 2.2, for the first three; Ainslie et al. 2023.
    Taught in: chapter 18.
    Raises: ValueError for an unknown change.
    """
    if unknown := set(changes) - {*CHANGES, "no positions"}:
        raise ValueError(
            f"A change must be one of {', '.join(CHANGES)} or no positions; got {sorted(unknown)}."
        )
    model, d = GPT2(config), config.d_model
    for layer in model.layers:
        if "RMSNorm" in changes:
            layer.attention_norm, layer.feed_forward_norm = RMSNorm(d), RMSNorm(d)
        if "SwiGLU" in changes:
            layer.feed_forward = SwiGLU(d, 2 * config.d_ff // 3)
        if {"rotary", "grouped"} & set(changes):
            layer.attention = GroupedQueryAttention(
                d,
                config.heads,
                kv_heads if "grouped" in changes else config.heads,
                base=base if "rotary" in changes else None,
            )
    model.norm = RMSNorm(d) if "RMSNorm" in changes else model.norm
    model.initialise(std)
    if {"rotary", "no positions"} & set(changes):
        nn.init.zeros_(model.position_embedding.weight).requires_grad_(False)
    return model


def story_corpora() -> tuple[Corpus, Corpus, BytePair]:
    """Return 4,000 stories for training, 200 for validation, and their tokenizer.

    Source: the stories of chapter 13.
    Taught in: chapter 13.
    """
    training, held_out = split(4000, 200)
    texts = ["".join(story.text for story in part) for part in (training, held_out)]
    tokenizer = BytePair.train(texts[0], 300)
    training, validation = (Corpus.read(text, tokenizer) for text in texts)
    return training, validation, tokenizer


def run(variant: str, seed: int, *, std: float = STD, steps: int = 240) -> dict:
    """Train one variant, and return its parameters and its loss by position.

    Source: the recipe of chapter 13.
    Taught in: chapter 18.
    """
    corpus, validation, tokenizer = story_corpora()
    recipe = Recipe(
        steps=steps, batch=8, context=TRAINED, learning_rate=0.01, muon_learning_rate=0.03,
        seed=seed,
    )  # fmt: skip
    set_seed(seed)
    config = Config(len(tokenizer), READ, d_model=64, heads=4, layers=2)
    model = gpt2_with(VARIANTS[variant], config, std=std)
    for _ in train(model, corpus, recipe):
        pass
    losses = token_losses(model, validation, READ, ROWS).mean(0)  # (n,)
    trained = sum(p.numel() for p in model.layers.parameters())
    return {
        "variant": variant, "seed": seed, "std": round(std, 4), "parameters": trained,
        "losses": [round(loss, 4) for loss in losses.tolist()],
    }  # fmt: skip
