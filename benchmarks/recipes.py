"""How many steps each recipe needs to a loss of 0.60, and where the recommended one ends.

python -m benchmarks.recipes steps     five seeds of three recipes: half an hour
python -m benchmarks.recipes whole     five seeds of the recommended recipe, to its end
"""

import argparse
import json
import time
from dataclasses import replace

import torch
from threadpoolctl import threadpool_limits

from lib.datasets.stories import split, surprisals
from lib.models.config import Config
from lib.models.gpt2 import GPT2
from lib.text.tokenizers import BytePair
from lib.training.loop import train
from lib.training.optimizers import Recipe
from lib.training.windows import Corpus, evaluate

THRESHOLD, ROWS = 0.60, 150  # on how many held-out windows
NEAR = 0.15  # above the threshold: from there on, look at every fifth step
PLAIN = Recipe(steps=1500, optimizer="adamw", learning_rate=1e-3, warmup_steps=0, min_lr_ratio=1.0)
RECIPES = {
    "AdamW, 1e-3": PLAIN,
    "AdamW, 3e-3, warm-up 20": replace(
        PLAIN, steps=700, learning_rate=3e-3, warmup_steps=20, min_lr_ratio=0.1
    ),
    "Muon": Recipe(),
}


def texts() -> tuple[Corpus, Corpus, int, float]:
    """The course's stories, the size of their vocabulary, and their entropy lower bound."""
    training, held_out = split(3000, 200)
    tokenizer = BytePair.train("".join(story.text for story in training), 400)
    corpora = [Corpus.read("".join(story.text for story in part), tokenizer)
               for part in (training, held_out)]  # fmt: skip
    return *corpora, len(tokenizer), float(surprisals(held_out, 64, ROWS).mean())


def fresh(recipe: Recipe, vocab_size: int) -> GPT2:
    """The model of 0.8 million parameters before its first step."""
    torch.manual_seed(recipe.seed)
    return GPT2(Config(vocab_size, recipe.context, d_model=128, heads=4, layers=4))


def steps_to_threshold(
    recipe: Recipe, corpus: Corpus, validation: Corpus, vocab_size: int
) -> int | None:
    """Train until the validation loss is at the threshold."""
    model = fresh(recipe, vocab_size)
    for record in train(model, corpus, recipe, every=recipe.steps):
        if record.step % 5 or record.loss > THRESHOLD + NEAR:
            continue
        if evaluate(model, validation, recipe.context, ROWS) <= THRESHOLD:
            return record.step
    return None


def steps(seeds: int) -> dict[str, object]:
    """Count the steps of each recipe to the threshold, for each seed."""
    corpus, validation, vocab_size, bound = texts()
    result = {"threshold": THRESHOLD, "lower bound": round(bound, 4)}
    for name, recipe in RECIPES.items():
        counts = [steps_to_threshold(replace(recipe, seed=seed), corpus, validation, vocab_size)
                  for seed in range(seeds)]  # fmt: skip
        middle = sorted(count or 10**6 for count in counts)[len(counts) // 2]
        print(f"{name:24} {counts}  median {middle}", flush=True)
        result[name] = {"steps": counts, "median": middle}
    return result


def whole(seeds: int) -> dict[str, object]:
    """Follow the recommended recipe to its end: the last loss and the seconds."""
    corpus, validation, vocab_size, bound = texts()
    result = {"lower bound": round(bound, 4), "runs": []}
    for seed in range(seeds):
        recipe = Recipe(seed=seed)
        model, start = fresh(recipe, vocab_size), time.perf_counter()
        for _ in train(model, corpus, recipe, every=recipe.steps):
            pass
        taken = time.perf_counter() - start
        loss = evaluate(model, validation, recipe.context, ROWS)
        print(f"seed {seed}: loss {loss:.3f}, {taken:.0f} s", flush=True)
        result["runs"].append([round(loss, 4), round(taken, 1)])
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description="Count steps to a loss, or follow a recipe.")
    parser.add_argument("what", choices=["steps", "whole"])
    parser.add_argument("--seeds", type=int, default=5)
    args = parser.parse_args()
    with threadpool_limits(torch.get_num_threads()):  # NumPy's threads are others than torch's
        print(json.dumps({"steps": steps, "whole": whole}[args.what](args.seeds)))


if __name__ == "__main__":
    main()
