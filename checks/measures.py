"""What an answer does, measured where it cannot reach: outside its own process.

A driver lets an answer train beside it and hands over plain data; the measures say in words what
the data is worth. An answer that forges the data must forge a model that predicts.
A driver of this file stays here, and so does the model that it lends to an answer elsewhere.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from checks.capstone_drivers import BEGINNINGS, MOST_LETTERS, SENTENCE, VOCAB, short_stories
from checks.drivers import known_and_new, sampled_story, small_model, tiny_stories
from checks.task import Measured

TINY_BOUND = (math.log(5) + math.log(6)) / 10
TINY_WORDS = (
    "Mia Ben Ana Tom Eva Sam red blue green black white ball box cup hat key book has a . The is"
)
SHORT_WORDS = "the fluffy blue small old creature fox owl cat dog sees follows helps finds ."
MOST_COMPARED = 5_000  # letters of a paragraph, which are looked for in the whole text
SHORT_BOUND = sum(math.log(count) for _, count in SENTENCE[1:]) / 10


def outside_driver(name: str) -> Callable | None:
    """The way of calling of this name that stays outside the answer's process, if there is one."""
    return {driver.__name__: driver for driver in DRIVERS}.get(name)


def measure_named(name: str) -> Callable:
    """The measure of this name."""
    return {measure.__name__: measure for measure in MEASURES}[name]


def trained_model(handed: Any, count: int, seed: int) -> Any:
    """Load the parameters of a trained model into one of ours, and say what it predicts."""
    if not isinstance(handed, dict):
        return handed
    _, new = known_and_new(tiny_stories, count, seed)
    first, model = (model_with(handed[state]) for state in ("start", "state"))
    if not first or not model:
        return "not the model that was given"
    import torch

    with torch.no_grad():
        logits = model(new[:, :-1])
        start = losses(first(new[:, :-1]), new).mean().item()
    words = {
        "old gradients": handed["old gradients"],
        "parameters": handed["parameters"],
        **state_of(logits, new, handed["stories"] == "a few", TINY_BOUND),
    }
    end = losses(logits, new).mean().item()
    verb = "fell" if end < start else "went"
    went = f"{verb} from {start:.2f} with random parameters to {end:.2f}"
    return Measured(words, measured_losses(went, TINY_BOUND, sampled_story(model), TINY_WORDS))


def model_with(state: Any) -> Any:
    """The small model with these parameters; None where they are not those of such a model."""
    import torch

    model = small_model()
    own = {}
    for name, value in model.state_dict().items():
        # What wraps a model, such as an average, puts a word before each name.
        given = [state[key] for key in state if key == name or key.endswith(f".{name}")]
        if len(given) != 1 or getattr(given[0], "shape", None) != value.shape:
            return None
        own[name] = torch.as_tensor(given[0])
    model.load_state_dict(own)
    return model


def own_model(handed: Any, count: int, seed: int) -> Any:
    """Say what a model predicts before and after its training, and whether it looks ahead."""
    if not isinstance(handed, dict):
        return handed
    stories, new = known_and_new(short_stories, count, seed)
    first, trained = (as_logits(handed[name], new) for name in ("first", "trained"))
    beginnings = [as_logits(part, new[:, : n + 1])
                  for n, part in zip(BEGINNINGS, handed["beginnings"], strict=True)]  # fmt: skip
    moved = max((part - trained[:, : part.shape[1]]).abs().max().item() for part in beginnings)
    start, end = (losses(logits, new).mean().item() for logits in (first, trained))
    before = start - math.log(VOCAB)
    known = losses(as_logits(handed["known"], stories), stories)
    side = "below" if before < 0 else "above"
    words = {
        "first loss": "near ln 15" if abs(before) < 0.7 else f"far {side} ln 15",
        "the two models": "agree" if bool((first == trained).all()) else "differ",
        "later tokens": "hidden" if moved < 1e-3 else "seen",
        **state_of(trained, new, known.min().item() < SHORT_BOUND / 2, SHORT_BOUND),
    }
    are = f"is {start:.2f} with your first function and {end:.2f} with your second"
    return Measured(words, measured_losses(are, SHORT_BOUND, handed["story"], SHORT_WORDS))


def measured_losses(losses: str, bound: float, story: list[int], vocabulary: str) -> str:
    """The losses before and after training, the least that they can be, what the model writes."""
    words = vocabulary.split()
    return (
        f"The loss on 500 freshly drawn stories {losses}; the lower bound is {bound:.2f} nats. "
        f"Sampled from your model: {' '.join(words[index] for index in story)}"
    )


def as_logits(handed: Any, stories: Any) -> Any:
    """The logits (story, n - 1, vocab) that were handed over for these stories."""
    import torch

    logits = torch.as_tensor(handed)
    wanted = (len(stories), stories.shape[1] - 1, VOCAB)
    if logits.shape != wanted:
        raise ValueError(f"the logits must have the shape {wanted}; got {tuple(logits.shape)}")
    return logits


def state_of(logits: Any, new: Any, few: bool, bound: float) -> dict[str, str]:
    """Say what logits for new stories predict, and between which marks their loss lies.

    `few` says that a few of the training's stories were learned, and not what all have in common.
    """
    copied = (logits.argmax(-1) == new[:, :-1]).double().mean() > 0.8
    loss = losses(logits, new).mean().item()
    place = place_of_loss(loss, math.log(logits.shape[-1]), bound)
    return {
        "repeats the word that it reads": "yes" if copied else "no",
        "loss on freshly drawn stories": place,
        "by heart": "some stories" if few and loss > bound + 0.1 else "none",
    }


def place_of_loss(loss: float, uniform: float, bound: float) -> str:
    """Say between which marks a loss lies."""
    if not loss <= uniform - 0.01:  # or it is not a number
        return "not below the uniform baseline"
    if loss > bound + 0.1:
        return "more than 0.1 above the lower bound"
    return "within 0.1 of the lower bound" if loss > bound - 0.1 else "below the lower bound"


def losses(logits: Any, stories: Any) -> Any:
    """The mean loss of each story under logits (story, n, vocab)."""
    picked = logits.log_softmax(-1).gather(-1, stories[:, 1:, None])
    return -picked.mean((1, 2))


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
    read = [0]
    caches: set[tuple[int, ...]] = {()}

    def step(ids: Any, cache: Any) -> tuple[Any, Any]:
        """Read the new `ids` (n,) -> logits (n, vocab), cache"""
        known = () if cache is None else tuple(int(token) for token in cache)
        if known not in caches:
            raise ValueError("the cache must be None, or one that the model returned; got another")
        text = (*known, *(int(token) for token in ids))
        read[0] += len(text) - len(known)
        caches.add(text)
        # A row depends on its token and on all that stands before it.
        before = [sum(text[:i]) % len(table[1]) for i in range(len(known), len(text))]
        return table[0][list(text[len(known) :])] + table[1][before], text

    text = answer(step, ids, new, temperature, top_p, draws)
    once = read[0] <= len(ids) + new
    return {"text": text, "tokens": "read once each" if once else "read more than once"}


def own_report(report: Any) -> Any:
    """Hold a report on a training run to its own text, and say in words what comes of it."""
    if not isinstance(report, dict):
        return report
    text, paragraph = report["text"][:MOST_LETTERS], report["paragraph"][:MOST_COMPARED]
    curve = report["curve"]
    data = text.encode()
    known, new = data[: len(data) * 9 // 10], data[len(data) * 9 // 10 :]
    last = curve[-1][2] if curve else math.nan
    pairs = bigram_loss(known, new)
    place = "above" if last > pairs else "below"
    copied = any(paragraph[i : i + 80] in text for i in range(0, len(paragraph) - 79, 20))
    like = bigram_loss(known, paragraph.encode()) < unigram_loss(known)
    words = {
        "text": "long enough" if len(data) >= 20_000 else "shorter than 20,000 bytes",
        "points": "five or more" if len(curve) >= 5 else "fewer than five",
        "two losses": "differ" if any(a != b for _, a, b in curve) else "are the same",
        "last validation loss": "below 0.5 nats" if last < 0.5 else f"{place} the bigram baseline",
        "paragraph": "long enough" if len(paragraph) >= 200 else "shorter than 200 letters",
        "its letters": "like those of the text" if like else "not like those of the text",
        "its words": "copied from the text" if copied else "its own",
    }
    if not curve:
        return Measured(words | {"two losses": "none", "last validation loss": "none"},
                        "`curve` is empty.")  # fmt: skip
    last_words = f"Your last validation loss is {last:.2f} nats per byte"
    return Measured(words, f"{last_words}; counting pairs of bytes gives {pairs:.2f}.")


def bigram_loss(known: bytes, new: bytes) -> float:
    """The loss in nats per byte of a predictor that counted the pairs of a text."""
    pairs, firsts = Counter(pairwise(known)), Counter(known[:-1])
    losses = [-math.log((pairs[a, b] + 0.01) / (firsts[a] + 2.56)) for a, b in pairwise(new)]
    return sum(losses) / max(1, len(losses))


def unigram_loss(known: bytes) -> float:
    """The loss in nats per byte of a predictor that counted the bytes of a text."""
    return -sum(n / len(known) * math.log(n / len(known)) for n in Counter(known).values())


MEASURES = (trained_model, own_model, own_report)
DRIVERS = (write_by_steps,)
