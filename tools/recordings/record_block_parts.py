"""Record what chapter 11 shows of longer runs, with the cells of its own two pages.

    python tools/recordings/record_block_parts.py rates     twenty minutes, or two on 16 cores
    python tools/recordings/record_block_parts.py deep      two hours, or seven minutes on 16 cores
    python tools/recordings/record_block_parts.py letters   about five minutes

writes lib/datasets/block_parts.json. `rates` trains the stacks of the core page, of four blocks,
with several learning rates, from several seeds, and `deep` those of 24 blocks; `letters` trains
the stacks of the deeper page. Each run of a stack has one thread, and all cores train at once. A
different processor trains slightly different weights, and the pages of this course, which the core
page reads, change.
"""

import argparse
import json
import os
from datetime import date
from multiprocessing import Pool
from pathlib import Path
from typing import Any

import jupytext
import numpy as np
import torch

from lib.attention.masks import causal
from lib.seeds import threads

ROOT = Path(__file__).resolve().parents[2]
TARGET = ROOT / "lib" / "datasets" / "block_parts.json"
SEEDS = (0, 1, 2)
STEPS, MOST = 600, 99.0  # a higher loss counts as 99
LETTER_STEPS, MEAN = 600, 20  # the losses of so many steps are recorded as their mean
STACKS = {
    "pre-norm": {"norm_first": True},
    "post-norm": {"norm_first": False},
    "pre-norm, smaller start": {"norm_first": True, "scaled": True},
    "post-norm, smaller start": {"norm_first": False, "scaled": True},
}


def names_of(page: str) -> dict[str, Any]:
    """Run the cells of a page that are tagged `recorded`, and return what they define."""
    names: dict[str, Any] = {"__name__": "page"}
    for cell in jupytext.read(ROOT / "chapters" / f"{page}.md").cells:
        if "recorded" in cell.metadata.get("tags", []):
            exec(cell.source, names)
    return names


def run(blocks: int, name: str, rate: float, seed: int) -> float:
    """Train one stack of the core page, in a process of its own: its loss."""
    threads(1)
    page = names_of("11_block")
    _, end = page["run"](page["stacks"](blocks)[name], seed, rate, STEPS)
    print(blocks, name, rate, seed, end, flush=True)
    return round(end, 3) if end < MOST else MOST


def record_stacks(blocks: int, rates: tuple[float, ...]) -> dict[str, Any]:
    """Train each stack of the core page with each learning rate: its losses."""
    page = names_of("11_block")
    jobs = [(blocks, name, rate, seed) for name in page["stacks"](blocks) for rate in rates
            for seed in SEEDS]  # fmt: skip
    with Pool(os.cpu_count()) as pool:
        ends = dict(zip(jobs, pool.starmap(run, jobs, chunksize=1), strict=True))
    losses = {name: {str(rate): [ends[blocks, name, rate, seed] for seed in SEEDS]
                     for rate in rates} for name in page["stacks"](blocks)}  # fmt: skip
    text = {str(rate): len(page["text"]) for rate in rates}  # bytes, to see if it was the same
    return {"steps": STEPS, "blocks": blocks, "bytes": text, "losses": losses}


def record_letters() -> dict[str, Any]:
    """Train each stack of the deeper page on both tasks: its losses, a list for each seed."""
    page = names_of("11_block_deeper")
    masks = {"letters": None, "causal letters": causal(15, like=torch.zeros(15, 32))}
    curves: dict[str, dict[str, list[list[float]]]] = {}
    for task, mask in masks.items():
        curves[task] = {}
        for name, options in STACKS.items():
            runs = [page["learn"](**options, mask=mask, seed=seed, steps=LETTER_STEPS)[0]
                    for seed in SEEDS]  # fmt: skip
            means = [np.reshape(run, (-1, MEAN)).mean(1).round(3).tolist() for run in runs]
            curves[task][name] = means
            print(task, name, [[run[i] for i in (4, 9, 19, -1)] for run in means], flush=True)
    return {"steps": LETTER_STEPS, "every": MEAN, "curves": curves}


def main() -> None:
    """Record one kind of training, and keep the others."""
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("kind", choices=["rates", "deep", "letters"])
    kind = asked.parse_args().kind
    threads(1)
    made = {
        "rates": lambda: record_stacks(4, (0.003, 0.01, 0.03)),
        "deep": lambda: record_stacks(24, (0.001, 0.003, 0.01)),
        "letters": record_letters,
    }[kind]()
    kept = json.loads(TARGET.read_text("utf8")) if TARGET.exists() else {}
    kept[kind] = {"recorded": date.today().isoformat(), "torch": torch.__version__, **made}
    TARGET.write_text(json.dumps(kept, indent=1) + "\n", "utf8")


if __name__ == "__main__":
    main()
