"""Ways of calling the answers to the capstone, which stand beside them in their own process.

This file goes into the sandbox with the work that is graded: nothing in it knows what is right.
"""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise
from typing import Any

from checks.drivers import losses_on, state_of

# Kinds of words in a story: the id of the first, and how many there are; the last two repeat.
SENTENCE = ((0, 1), (1, 4), (5, 5), (10, 4), (0, 1), (1, 4), (5, 5), (14, 1), (0, 1))
VOCAB, BOUND = 15, (3 * math.log(4) + 2 * math.log(5)) / 10


def train_from_nothing(answer: Any, count: int, seed: int) -> Any:
    """Let an answer initialise and train a model, and say in words what became of it."""
    import torch

    rng = torch.Generator().manual_seed(seed)
    stories, new = short_stories(count, rng), short_stories(500, rng)
    models = answer(stories)
    if not isinstance(models, (tuple, list)) or len(models) != 2 or not all(map(callable, models)):
        return None if models is None else "not a pair of functions"
    first, trained = models
    ids, other = new[:, :-1], new[:, :-1] + 0
    other[:, -1] = (other[:, -1] + 1) % VOCAB
    with torch.no_grad():
        before = losses_on(first, new)[1].mean().item() - math.log(VOCAB)
        moved = (trained(ids)[:, :-1] - trained(other)[:, :-1]).abs().max().item()
        learned = not torch.equal(first(ids), trained(ids))
    side = "below" if before < 0 else "above"
    return {
        "first loss": "near ln 15" if abs(before) < 0.7 else f"far {side} ln 15",
        "training": "changed the model" if learned else "changed nothing",
        "later tokens": "hidden" if moved < 1e-3 else "seen",
        **state_of(trained, stories, new, BOUND),
    }


def short_stories(count: int, rng: Any) -> Any:
    """Sample stories (story, 11): the blue fox sees the old owl . the old owl."""
    import torch

    columns = [torch.randint(k, (count,), generator=rng) + first for first, k in SENTENCE]
    return torch.stack([*columns, *columns[5:7]], dim=1)


def read_in_parts(
    answer: Any, ids: Any, parameters: Any, heads: int, cuts: tuple[int, ...]
) -> list[Any]:
    """Let an answer read a text in parts, with the cache that it returned.

    The position embeddings of what was read are changed after each part: what a KV cache holds
    does not depend on them any more, and what is computed again does.
    """
    logits, cache, p = [], None, dict(parameters)
    for start, end in pairwise([0, *cuts, len(ids)]):
        part, cache = answer(ids[start:end], p, heads, cache)
        logits.append(part)
        changed = p["wpe.weight"] + 0
        changed[:end] = changed[:end] * -2
        p["wpe.weight"] = changed
    return logits


def write_by_steps(
    answer: Any,
    table: Any,
    ids: Any,
    new: int,
    temperature: float | int,
    top_p: float | int,
    draws: Any,
) -> dict[str, Any]:
    """Give an answer a model with a cache to write with, and count the tokens that it reads."""
    read = []

    def step(ids: Any, cache: Any) -> tuple[Any, Any]:
        """Read the new `ids` (n,) -> logits (n, vocab), cache"""
        known = () if cache is None else cache
        text = [*known, *(int(token) for token in ids)]
        read.append(len(text) - len(known))
        # A row depends on its token and on all that stands before it.
        before = [sum(text[:i]) % len(table[1]) for i in range(len(known), len(text))]
        return table[0][text[len(known) :]] + table[1][before], tuple(text)

    text = answer(step, ids, new, temperature, top_p, draws)
    once = sum(read) <= len(ids) + new
    return {"text": text, "tokens": "read once each" if once else "read more than once"}


def examine_report(answer: Any) -> Any:
    """Hold a report on a training run to its own text, and say in words what comes of it."""
    report = answer()
    if not isinstance(report, dict) or not {"text", "curve", "paragraph"} <= set(report):
        return None if report is None else "not a dictionary with text, curve and paragraph"
    text, paragraph = report["text"], report["paragraph"]
    curve = [[float(number) for number in point] for point in report["curve"]]
    data = text.encode()
    known, new = data[: len(data) * 9 // 10], data[len(data) * 9 // 10 :]
    last = curve[-1][2]
    place = "above" if last > bigram_loss(known, new) else "below"
    copied = any(paragraph[i : i + 80] in text for i in range(0, len(paragraph) - 79, 20))
    like = bigram_loss(known, paragraph.encode()) < unigram_loss(known)
    return {
        "text": "long enough" if len(data) >= 20_000 else "shorter than 20,000 bytes",
        "points": "five or more" if len(curve) >= 5 else "fewer than five",
        "two losses": "differ" if any(a != b for _, a, b in curve) else "are the same",
        "last validation loss": "below 0.5 nats" if last < 0.5 else f"{place} the bigram baseline",
        "paragraph": "long enough" if len(paragraph) >= 200 else "shorter than 200 letters",
        "its letters": "like those of the text" if like else "not like those of the text",
        "its words": "copied from the text" if copied else "its own",
    }


def bigram_loss(known: bytes, new: bytes) -> float:
    """The loss in nats per byte of a predictor that counted the pairs of a text."""
    pairs, firsts = Counter(pairwise(known)), Counter(known[:-1])
    losses = [-math.log((pairs[a, b] + 0.01) / (firsts[a] + 2.56)) for a, b in pairwise(new)]
    return sum(losses) / max(1, len(losses))


def unigram_loss(known: bytes) -> float:
    """The loss in nats per byte of a predictor that counted the bytes of a text."""
    return -sum(n / len(known) * math.log(n / len(known)) for n in Counter(known).values())
