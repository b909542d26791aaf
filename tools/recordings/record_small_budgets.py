"""Record what chapter 15 shows of two small budgets: models of several sizes, trained on stories.

    python tools/recordings/record_small_budgets.py 0    the first seed, about half an hour
    python tools/recordings/record_small_budgets.py 1    the second

writes lib/datasets/small_budgets.json, and trains only what is missing there. Every model of a
budget C takes as many steps as 6 P D = C allows, at two learning rates. The model and the loop are
chapters/gpt.py. A different processor trains slightly different weights.
"""

import argparse
import json
from datetime import date
from itertools import accumulate
from pathlib import Path

import torch

from chapters import gpt
from lib.datasets.stories import Story, split
from lib.seeds import threads

TARGET = Path(__file__).resolve().parents[2] / "lib" / "datasets" / "small_budgets.json"
# Budgets in operations, a second and ten at 10^11 a second: the components of a vector.
SIZES = {
    1e11: (8, 12, 16, 24, 32, 48, 64, 96, 128, 192),
    1e12: (16, 24, 32, 48, 64, 96, 128, 192),
}
RATES = 0.01, 0.03
CONTEXT, BATCH, ROWS = 64, 16, 1900


def in_words(stories: list[Story], number: dict[str, int]) -> tuple[torch.Tensor, torch.Tensor]:
    """The stories as ids, one for each word, and where each story starts."""
    ids = torch.tensor([number[token] for story in stories for token in story.tokens])
    starts = torch.tensor([0, *accumulate(len(story.tokens) for story in stories)])
    return ids, starts[starts < len(ids) - CONTEXT]


class Course:
    """The stories, the same for all models."""

    def __init__(self):
        training, held_out = split(60_000, 2_000)
        self.words = sorted({token for story in held_out for token in story.tokens})
        self.number = {word: i for i, word in enumerate(self.words)}
        self.ids, self.starts = in_words(training, self.number)
        self.new, starts = in_words(held_out, self.number)
        self.rows = gpt.windows(self.new, starts[:ROWS], CONTEXT)

    @torch.no_grad()
    def loss(self, model: gpt.GPT) -> float:
        """The loss on new stories, in nats per token."""
        parts = zip(*(rows.split(100) for rows in self.rows), strict=True)
        return sum(gpt.loss_on(model, *part).item() for part in parts) / (ROWS / 100)

    def run(self, budget: float, size: int, peak: float, seed: int) -> dict:
        """Train one model with a budget: its size, its loss, and what it writes."""
        torch.manual_seed(seed)
        model = gpt.GPT(gpt.Config(len(self.words), CONTEXT, size, heads=4, layers=2))
        gpt.initialise(model, 0.07)
        parameters = sum(each.numel() for each in model.parameters())
        steps = round(budget / (6 * parameters * BATCH * CONTEXT))
        for _ in gpt.train(model, self.ids, self.new, steps, BATCH, peak, steps + 1, self.starts):
            pass
        written = gpt.generate(model, torch.tensor([self.number["Mia"]]), 47, temperature=0)
        text = "".join(self.words[i] for i in written).split("\n")[0]
        made = {
            "budget": budget, "seed": seed, "d_model": size, "peak": peak, "steps": steps,
            "parameters": parameters, "loss": round(self.loss(model), 4), "text": text,
        }  # fmt: skip
        print(json.dumps(made), flush=True)
        return made


def main() -> None:
    """Record the models of one seed, and keep those of the others."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("seed", type=int)
    seed = parser.parse_args().seed
    threads(1)
    runs = json.loads(TARGET.read_text("utf8"))["runs"] if TARGET.exists() else []
    there = {(each["budget"], each["d_model"], each["peak"], each["seed"]) for each in runs}
    asked = [(budget, size, peak, seed) for budget, sizes in SIZES.items()
             for size in sizes[::-1] for peak in RATES]  # fmt: skip
    course = Course()
    runs += [course.run(*each) for each in asked if each not in there]
    kept = {"recorded": date.today().isoformat(), "runs": runs}
    TARGET.write_text(json.dumps(kept, indent=1) + "\n", "utf8")


if __name__ == "__main__":
    main()
