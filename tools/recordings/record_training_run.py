"""Record the training of chapter 13 once more, for the figure that plays it in the page.

    python tools/recordings/record_training_run.py            the run: a minute
    python tools/recordings/record_training_run.py --races    and the optimisers: ten more

writes figures/widgets/training_run.json: at some steps the losses, what the model writes, and every
head's weights on one story that is held out; and how many steps each optimiser needs, over five
seeds. Another processor trains slightly other weights.
"""

import argparse
import base64
import json
from pathlib import Path
from statistics import mean, median

import numpy as np
import torch

from lib.datasets.stories import Story, split, surprisals
from lib.models.config import Config
from lib.models.generation import generate
from lib.models.gpt2 import GPT2
from lib.seeds import set_seed, threads
from lib.text.tokenizers import BytePair
from lib.training.loop import train
from lib.training.optimizers import Recipe
from lib.training.windows import Corpus, evaluate

TARGET = Path(__file__).resolve().parents[2] / "figures" / "widgets" / "training_run.json"
RECIPE = Recipe(steps=300, batch=16, learning_rate=1e-2, muon_learning_rate=0.03)
SHOWN = [0, 10, 30, 50, 60, 70, 80, 90, 100, 150, 200, 300]
ROWS, CONTEXT = 150, 64
RACED = 0.60
RACES = {  # each at a constant rate after its warm-up
    "AdamW, 0.001": {"optimizer": "adamw", "rate": 1e-3, "warmup": 10},
    "AdamW, 0.006": {"optimizer": "adamw", "rate": 6e-3, "warmup": 20},
    "Muon, 0.03": {"optimizer": "muon", "rate": 1e-2, "muon_learning_rate": 0.03, "warmup": 10},
}


def fresh(vocab: int, seed: int) -> GPT2:
    """The model of the chapter before its first step."""
    set_seed(seed)
    return GPT2(Config(vocab_size=vocab, context_length=CONTEXT, d_model=96, heads=4, layers=2))


def packed(weights: torch.Tensor) -> str:
    """All heads' tables as bytes: only what lies on or below the diagonal."""
    tables = weights.flatten(0, 1).numpy()  # (head, n, n)
    lower = tables[:, *np.tril_indices(tables.shape[-1])]
    return base64.b64encode(np.round(255 * lower).astype(np.uint8).tobytes()).decode()


def printable(text: str) -> str:
    """What an untrained model writes holds bytes that no page can show."""
    return "".join(c if c.isprintable() or c == "\n" else "\N{REPLACEMENT CHARACTER}" for c in text)


def is_shown(story: Story) -> bool:
    """Say whether a story fits into the figure and asks who did something."""
    return 44 <= len(story.tokens) <= 46 and "Who" in story.text


def recorded(train_stories: list, held_out: list) -> dict:
    """Train once, and look at the steps that are shown."""
    text = "".join(story.text for story in train_stories)
    tokenizer = BytePair.train(text, 300)
    corpus = Corpus.read(text, tokenizer)
    validation = Corpus.read("".join(story.text for story in held_out), tokenizer)
    story = next(candidate for candidate in held_out if is_shown(candidate))
    ids = torch.tensor(tokenizer.encode(story.text))
    prompt = torch.tensor(tokenizer.encode("Mia"))
    model = fresh(len(tokenizer), RECIPE.seed)

    def look(step: int, losses: list[float]) -> dict:
        with torch.no_grad():
            weights = model.eval()(ids, keep_weights=True).weights
        return {
            "step": step,
            "training": round(mean(losses), 4),
            "validation": round(evaluate(model, validation, CONTEXT, ROWS), 4),
            "sample": printable(tokenizer.decode(generate(model, prompt, 48).tolist())),
            "weights": packed(weights),
        }

    run = train(model, corpus, RECIPE)
    points, losses = [look(0, [evaluate(model, corpus, CONTEXT, ROWS)])], []
    for record in run:
        losses.append(record.loss)
        if record.step in SHOWN:
            points.append(look(record.step, losses))
            losses = []
    query = next(i for i, token in enumerate(story.tokens) if token == "?")
    return {
        "tokens": story.tokens,
        "layers": 2,
        "heads": 4,
        "blind": round(float(np.log(len(tokenizer))), 4),
        "floor": round(float(surprisals(held_out, CONTEXT, ROWS).mean()), 4),
        "query": query,
        "points": points,
    }


def raced(train_stories: list, held_out: list, seeds: int = 5, most: int = 2000) -> dict:
    """How many steps each optimiser needs to the validation loss RACED, for each seed."""
    text = "".join(story.text for story in train_stories)
    tokenizer = BytePair.train(text, 300)
    corpus = Corpus.read(text, tokenizer)
    validation = Corpus.read("".join(story.text for story in held_out), tokenizer)
    needed = {}
    for name, changes in RACES.items():
        needed[name] = []
        for seed in range(seeds):
            recipe = Recipe(steps=most, batch=16, min_lr_ratio=1.0, seed=seed, **changes)
            model = fresh(len(tokenizer), seed)
            for record in train(model, corpus, recipe, validation=validation, every=5):
                if record.validation and record.validation < RACED:
                    break
            needed[name].append(record.step)
        print(f"{name}: {needed[name]}, median {median(needed[name])}", flush=True)
    return {"loss": RACED, "steps": needed}


def main() -> None:
    """Record the run, race if asked, and write the file."""
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("--races", action="store_true", help="race the optimisers too")
    races = asked.parse_args().races
    threads(1)
    train_stories, held_out = split(4000, 200)
    before = json.loads(TARGET.read_text("utf8")) if TARGET.exists() else {}
    run = recorded(train_stories, held_out)
    head = strongest_head(run)
    result = {"run": {**run, "head": head}, "races": before.get("races", {})}
    if races:
        result["races"] = raced(train_stories, held_out)
    TARGET.write_text(json.dumps(result) + "\n", "utf8")
    last = run["points"][-1]
    print(f"validation {last['validation']:.3f}, floor {run['floor']:.3f}; head {head}")
    print(f"{TARGET.name}: {TARGET.stat().st_size / 1000:.0f} kB")


def strongest_head(run: dict) -> int:
    """The head that looks most from the question mark to the name that answers it."""
    n, count = len(run["tokens"]), run["layers"] * run["heads"]
    stored = np.frombuffer(base64.b64decode(run["points"][-1]["weights"]), np.uint8)
    tables = np.zeros((count, n, n))
    tables[:, *np.tril_indices(n)] = stored.reshape(count, -1)
    answer = run["tokens"][run["query"] + 1].strip()
    places = [i for i in range(run["query"]) if run["tokens"][i].strip() == answer]
    return int(tables[:, run["query"], places].sum(-1).argmax())


if __name__ == "__main__":
    main()
