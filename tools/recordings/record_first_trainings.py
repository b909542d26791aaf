"""Record what chapter 13 shows of longer runs: each part of the model, and a real text.

    python tools/recordings/record_first_trainings.py parts     about four minutes
    python tools/recordings/record_first_trainings.py pages     about ten minutes
    python tools/recordings/record_first_trainings.py stories   a minute: SmolLM2 reads stories

writes lib/datasets/first_trainings.json. The model and the loop are chapters/gpt.py. A different
processor trains slightly different weights.
"""

import argparse
import json
from datetime import date
from itertools import accumulate
from pathlib import Path

import torch
from torch import nn

from chapters import gpt
from lib.datasets.stories import COLOURS, Story, split, surprisals
from lib.pretrained.smollm2 import load_smollm2
from lib.seeds import threads

TARGET = Path(__file__).resolve().parents[2] / "lib" / "datasets" / "first_trainings.json"
CONTEXT, ROWS, STD = 64, 150, 0.07
SMALL = {"context_length": CONTEXT, "d_model": 64, "heads": 4, "layers": 2}
PARTS = {  # what each model has; "leak" is the whole model without the causal mask
    "no attention": {"layers": 1, "attention": False, "positions": False},
    "one head": {"layers": 1, "heads": 1, "positions": False},
    "four heads": {"layers": 1, "positions": False},
    "two blocks": {"positions": False},
    "positions": {},
    "no mask": {"masked": False},
}


class Silent(nn.Module):
    """Add nothing to the residual stream."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return zeros."""
        return torch.zeros_like(x)


class Unmasked(gpt.CausalSelfAttention):
    """The attention of chapters/gpt.py without its causal mask."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Let every position read all positions."""
        q, k, v = self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x))
        weights = (q @ k.mT / k.shape[-1] ** 0.5).softmax(-1)
        return self.out((weights @ v).transpose(1, 2).reshape(x.shape))


def with_parts(vocab_size: int, *, attention=True, positions=True, masked=True, **sizes) -> gpt.GPT:
    """Build a GPT with some parts left out."""
    torch.manual_seed(0)
    config = gpt.Config(vocab_size=vocab_size, **{**SMALL, **sizes})
    model = gpt.GPT(config)
    for block in model.layers:
        if not attention:
            block.attention = Silent()
        elif not masked:
            block.attention = Unmasked(config)
    whole = gpt.GPT(config)
    gpt.initialise(whole, STD)
    model.load_state_dict({name: value for name, value in whole.state_dict().items()
                           if name in model.state_dict()})  # fmt: skip
    if not positions:
        nn.init.zeros_(model.position_embedding.weight).requires_grad_(False)
    return model


def in_words(stories: list[Story], number: dict[str, int]) -> tuple[torch.Tensor, torch.Tensor]:
    """The stories as ids, one for each word, and where each story starts."""
    ids = torch.tensor([number[token] for story in stories for token in story.tokens])
    starts = torch.tensor([0, *accumulate(len(story.tokens) for story in stories)])
    return ids, starts[starts < len(ids) - CONTEXT]


@torch.no_grad()
def colours_right(model: gpt.GPT, rows: tuple, fixed: torch.Tensor, stop: int) -> list[float]:
    """Which share of the fixed colours is right, before the second owner comes and after it."""
    inputs, labels = rows
    right = model(inputs).argmax(-1) == labels
    ends = labels == stop
    sentence = ends.cumsum(1) - ends.int()  # a question and its answer are one; 4: the second owner
    parts = (fixed & (sentence < 4), fixed & (sentence > 4))
    return [round(right[part].float().mean().item(), 4) for part in parts]


def record_part(name: str, steps: int = 600) -> dict:
    """Train one model on the stories: its losses on new stories, and what it writes."""
    training, held_out = split(4000, 200)
    words = sorted({token for story in training for token in story.tokens})
    number = {word: i for i, word in enumerate(words)}
    ids, starts = in_words(training, number)
    new, new_starts = in_words(held_out, number)
    rows = gpt.windows(new, new_starts[:ROWS], CONTEXT)
    colours = torch.tensor([number[f" {colour}"] for colour in COLOURS])
    certain = torch.from_numpy(surprisals(held_out, CONTEXT, ROWS)) == 0
    same_story = (rows[1] == number["\n"]).cumsum(1) == 0
    fixed = torch.isin(rows[1], colours) & certain & same_story
    model = with_parts(len(words), **PARTS[name])

    def measure() -> float:
        with torch.no_grad():
            return round(gpt.loss_on(model, *rows).item(), 4)

    losses = [(0, measure())]
    for step, _, _ in gpt.train(model, ids, ids, steps, 16, 1e-2, 50, starts):
        losses.append((step, measure()))
    torch.manual_seed(1)
    written = gpt.generate(model, torch.tensor([number["Mia"]]), CONTEXT - 1)
    text = "".join(words[i] for i in written)
    print(name, losses[-1], text, flush=True)
    right = colours_right(model, rows, fixed, number["."])
    return {"losses": losses, "text": text, "colours": right}


def record_pages(steps: int = 1500) -> dict:
    """Train the model of gpt.py on the pages of this course, and let it write at some steps."""
    torch.manual_seed(0)
    ids = gpt.encode(gpt.course_text())
    cut = len(ids) * 9 // 10
    model = gpt.GPT(gpt.Config())
    points = []
    for step, seen, new in gpt.train(model, ids[:cut], ids[cut:], steps, every=100):
        points.append({"step": step, "training": round(seen, 4), "validation": round(new, 4)})
        if step in (100, 300, steps):
            state = torch.get_rng_state()
            torch.manual_seed(1)
            written = gpt.generate(model, gpt.encode("\nAttention "), 240, 0.8, 0.95)
            points[-1]["text"] = gpt.decode(written)
            torch.set_rng_state(state)
            print(points[-1], flush=True)
    return {"bytes": len(ids), "points": points}


@torch.no_grad()
def record_stories(count: int = 24) -> dict:
    """What each of several stories costs SmolLM2, which has read the ones before it, in nats."""
    smollm2 = load_smollm2()
    pieces = [smollm2.tokenizer.encode(story.text) for story in split(4000, 200)[1][:count]]
    start = smollm2.tokenizer.encode("Stories:\n")
    ids = torch.tensor([*start, *(number for piece in pieces for number in piece)])
    log_p = smollm2.model(ids).logits[:-1].log_softmax(-1)  # (n - 1, vocab)
    losses = -log_p[range(len(ids) - 1), ids[1:]][len(start) - 1 :]
    nats = [round(part.sum().item(), 2) for part in losses.split([len(piece) for piece in pieces])]
    print(nats)
    return {"nats": nats, "tokens": [len(piece) for piece in pieces]}


def main() -> None:
    """Record one kind of training, and keep the others."""
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("kind", choices=["parts", "pages", "stories"])
    asked.add_argument("names", nargs="*", help="of the parts: only these")
    given = asked.parse_args()
    threads(1)
    kept = json.loads(TARGET.read_text("utf8")) if TARGET.exists() else {}
    if given.kind == "parts":
        new = {name: record_part(name) for name in given.names or PARTS}
        kept["parts"] = {**kept.get("parts", {}), **new}
    else:
        kept[given.kind] = {"pages": record_pages, "stories": record_stories}[given.kind]()
    kept["recorded"] = date.today().isoformat()
    TARGET.write_text(json.dumps(kept, indent=1) + "\n", "utf8")


if __name__ == "__main__":
    main()
