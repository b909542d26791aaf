"""Training against the peers: the time of one step, and the steps to a loss of 0.60.

    python benchmarks/training.py step      a step of a 0.8 M model, ours and theirs in turn
    python benchmarks/training.py recipe    five seeds of three recipes: half an hour
    python benchmarks/training.py whole     five seeds of the recommended recipe to its end

A step is draw, forward, loss, backward, clipping and AdamW: ours is
`lib.training.loop.train` itself, theirs the loop that their users write. All begin with the same
parameters, and their losses are
compared before their times. Ratios of neighbouring runs hold where single times do not.
"""

import argparse
import json
import platform
import time
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace
from functools import partial
from unittest.mock import patch

import torch
import torch.nn.functional as F
from measuring import in_turn, rows, timed
from threadpoolctl import threadpool_limits
from torch import nn
from torch.optim import AdamW
from training_peers import contestants

from lib.datasets.stories import split, surprisals
from lib.models.config import Config
from lib.models.gpt2 import GPT2
from lib.text.tokenizers import BytePair
from lib.training.loop import StepRecord, train
from lib.training.optimizers import Recipe, param_groups, set_learning_rates
from lib.training.windows import Corpus, evaluate

THRESHOLD, ROWS = 0.60, 150  # on how many held-out windows
PLAIN = Recipe(steps=1500, optimizer="adamw", learning_rate=1e-3, warmup_steps=0, min_lr_ratio=1.0)
RECIPES = {
    "AdamW, 1e-3": PLAIN,
    "AdamW, 3e-3, warm-up 20": replace(
        PLAIN, steps=700, learning_rate=3e-3, warmup_steps=20, min_lr_ratio=0.1
    ),
    "Muon": Recipe(),
}
WARM = 5  # steps that are not counted


def taking_steps(model: nn.Module, fused: bool, corpus: Corpus, recipe: Recipe) -> Iterator[float]:
    """Train a peer as its users do, on the same windows; after each step give its loss."""
    groups = param_groups(list(model.parameters()), recipe.weight_decay)
    adamw = AdamW(groups, lr=recipe.learning_rate, betas=recipe.betas, fused=fused)
    for step in range(recipe.steps):
        ids, targets = corpus.draw(recipe, step)
        loss = F.cross_entropy(model(ids).flatten(0, 1), targets.flatten())
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), recipe.grad_clip)
        set_learning_rates([adamw], recipe, step)
        adamw.step()
        adamw.zero_grad()
        yield loss.item()


def steps(rounds: int) -> dict[str, object]:
    """Time one step of each in turn, in an order that changes; print the ratios' medians."""
    recipe = replace(PLAIN, steps=10_000)
    corpus, _, vocab, _ = texts()
    ours, peers = contestants(Config(vocab, 64, d_model=128, heads=4, layers=4))
    alone = by_torch_alone(train(deepcopy(ours), corpus, recipe, every=10**9))
    running = {
        "ours": (one.loss for one in train(ours, corpus, recipe, every=10**9)),
        "ours, torch alone": (one.loss for one in alone),
    } | {name: taking_steps(model, fused, corpus, recipe) for name, (model, fused) in peers.items()}
    for _ in range(WARM):
        agree({name: next(losses) for name, losses in running.items()})
    calls = {name: timed(partial(next, losses)) for name, losses in running.items()}
    table = rows("a step", in_turn(calls, budget=0, least=rounds), "ours")
    result = {"milliseconds": {row["name"]: row["milliseconds"] for row in table}}
    for row in table[1:]:
        low, middle, high = row["ratio"]
        print(f"ours / {row['name']:30} {middle:5.2f}  ({low:.2f} to {high:.2f})")
        result[f"ours / {row['name']}"] = middle
    return result


def by_torch_alone(records: Iterator[StepRecord]) -> Iterator[StepRecord]:
    """Take the same steps without the ways of `lib.onethread`."""
    while True:
        with patch("lib.onethread._here", lambda *_: False):
            record = next(records)
        yield record


def agree(losses: dict[str, float]) -> None:
    """Refuse to time what does not take the same steps."""
    for name, theirs in losses.items():
        assert abs(theirs - losses["ours"]) < 1e-4, f"{name} has a loss of {theirs}: {losses}"


def texts() -> tuple[Corpus, Corpus, int, BytePair]:
    """The course's stories, and their grammar's own loss."""
    told, held_out = split(3000, 200)
    tokenizer = BytePair.train("".join(story.text for story in told), 400)
    corpora = [Corpus.read("".join(one.text for one in part), tokenizer)
               for part in (told, held_out)]  # fmt: skip
    return *corpora, len(tokenizer), surprisals(held_out, 64, ROWS).mean()


def fresh(recipe: Recipe, vocab: int) -> GPT2:
    """The 0.8 M model before its first step."""
    torch.manual_seed(recipe.seed)
    return GPT2(Config(vocab, recipe.context, d_model=128, heads=4, layers=4))


def steps_to_threshold(
    recipe: Recipe, corpus: Corpus, validation: Corpus, vocab: int
) -> int | None:
    """Train until the validation loss is at the threshold; look every fifth step near it."""
    model = fresh(recipe, vocab)
    for record in train(model, corpus, recipe, every=10**9):
        if record.step % 5 or record.loss > THRESHOLD + 0.15:
            continue
        if evaluate(model, validation, recipe.context, ROWS) <= THRESHOLD:
            return record.step
    return None


def recipes(seeds: int) -> dict[str, object]:
    """Count the steps of each recipe to the threshold, for each seed."""
    corpus, validation, vocab, floor = texts()
    print(f"validation loss {THRESHOLD}; the grammar's own is {floor:.3f}")
    result = {"threshold": THRESHOLD, "floor": round(float(floor), 4)}
    for name, recipe in RECIPES.items():
        counts = [steps_to_threshold(replace(recipe, seed=seed), corpus, validation, vocab)
                  for seed in range(seeds)]  # fmt: skip
        middle = sorted(count or 10**6 for count in counts)[len(counts) // 2]
        print(f"{name:24} {counts}  median {middle}", flush=True)
        result[name] = {"steps": counts, "median": middle}
    return result


def whole(seeds: int) -> dict[str, object]:
    """Follow the recommended recipe to its end: the last loss, the seconds, those of the CPU."""
    corpus, validation, vocab, floor = texts()
    result = {"floor": round(float(floor), 4), "runs": []}
    for seed in range(seeds):
        recipe = Recipe(seed=seed)
        model = fresh(recipe, vocab)
        wall, processor = time.perf_counter(), time.process_time()
        for _ in train(model, corpus, recipe, every=10**9):
            pass
        seconds = time.perf_counter() - wall, time.process_time() - processor
        loss = evaluate(model, validation, recipe.context, ROWS)
        print(f"seed {seed}: loss {loss:.3f}, {seconds[0]:.0f} s, {seconds[1]:.0f} s of the CPU",
              flush=True)  # fmt: skip
        result["runs"].append([round(loss, 4), *(round(one, 1) for one in seconds)])
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description="Time a training step, or count steps to a loss.")
    parser.add_argument("what", choices=["step", "recipe", "whole"])
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--seeds", type=int, default=5)
    said = parser.parse_args()
    print(f"torch {torch.__version__}, {torch.get_num_threads()} threads, {platform.machine()}")
    what = {"step": lambda: steps(said.rounds), "recipe": lambda: recipes(said.seeds),
            "whole": lambda: whole(said.seeds)}  # fmt: skip
    with threadpool_limits(torch.get_num_threads()):  # NumPy's products have threads of their own
        print(json.dumps(what[said.what]()))


if __name__ == "__main__":
    main()
