"""Ways of calling the answers to the capstone, which stand beside them in their own process.

This file goes into the sandbox with the work that is graded: nothing in it knows what is right.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from checks.drivers import known_and_new, one_thread, sampled_story

# Kinds of words in a story: the id of the first, and how many there are; the last two repeat.
# The grammar of lib.training.story_model, which a sandbox lacks; a test holds the two equal.
SENTENCE = ((0, 1), (1, 4), (5, 5), (10, 4), (0, 1), (1, 4), (5, 5), (14, 1), (0, 1))
VOCAB = max(first + count for first, count in SENTENCE)
BEGINNINGS = (2, 5, 9)  # lengths at which a model is asked again, with nothing after them
MOST_LETTERS = 300_000  # of a text, which is sent


def train_from_nothing(answer: Any, count: int, seed: int) -> Any:
    """Let an answer initialise and train a model, and hand over what both models predict.

    What the predictions are worth is measured elsewhere, by `checks.measures.own_model`.
    """
    import torch

    stories, new = known_and_new(short_stories, count, seed)
    with one_thread():
        models = answer(stories)
    if models is None:
        return None
    if not isinstance(models, (tuple, list)) or len(models) != 2 or not all(map(callable, models)):
        raise TypeError("return two functions: the model before training, and the trained one")
    first, trained = models
    ids = new[:, :-1]
    with torch.no_grad():
        return {
            "first": first(ids), "trained": trained(ids), "known": trained(stories[:, :-1]),
            "beginnings": [trained(ids[:, :n]) for n in BEGINNINGS],
            "story": sampled_story(trained),
        }  # fmt: skip


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


def check_point(point: Any) -> None:
    """Refuse a point of a curve that is no row of three."""
    try:
        count = None if isinstance(point, (dict, str)) else len(point)
    except TypeError:  # a number has no length
        count = None
    if count != 3:
        came = f"a {type(point).__name__}" if count is None else f"a row of {count}"
        raise TypeError(
            "each point of `curve` has three numbers, (step, training loss, validation loss); "
            f"one of yours is {came}"
        )


def hand_over_report(answer: Any) -> Any:
    """Let an answer report on a training run; `checks.measures.own_report` examines the report."""
    report = answer()
    if report is None:
        return None
    if not isinstance(report, dict) or not {"text", "curve", "paragraph"} <= set(report):
        raise TypeError("return a dictionary with text, curve and paragraph")
    for point in report["curve"]:
        check_point(point)
    return {
        "text": report["text"][:MOST_LETTERS], "paragraph": report["paragraph"][:MOST_LETTERS],
        "curve": [[float(number) for number in point] for point in report["curve"]],
    }  # fmt: skip
