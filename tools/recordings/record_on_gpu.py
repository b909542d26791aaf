"""Record what the optional GPU cells show, on a machine that has a GPU.

    python -m tools.recordings.record_on_gpu

writes lib/datasets/on_gpu.json in about two minutes: time and memory of causal attention, by the
cell that chapter 14's deeper page offers to readers with a GPU, and the losses of one training run
on the CPU in float32 and on the GPU with products in bfloat16.
"""

import json
import tempfile
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

import torch

from book.sizes import code_cells
from lib.attention import masks
from lib.attention.dot_product import attend
from lib.attention.fused import fused
from lib.training.__main__ import main

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "chapters" / "14_cost_deeper.md"
TARGET = ROOT / "lib" / "datasets" / "on_gpu.json"
RUN = ["--steps=200", "--every=200"]


def attention_by_length() -> list[list[Any]]:
    """Run the page's own cell: the length, the form, milliseconds and megabytes, or two nulls."""
    names = {"torch": torch, "attend": attend, "fused": fused, "masks": masks, "partial": partial}
    (cell,) = (code for tags, code in code_cells(PAGE.read_text("utf8")) if "gpu" in tags)
    exec(cell, names)
    rows = names["measured_here"]
    return [[n, form, *(x and round(x, 2) for x in numbers)] for n, form, *numbers in rows]


def losses(*options: str) -> list[float]:
    """The loss of each step of the training command."""
    with tempfile.TemporaryDirectory() as folder:
        records = Path(folder) / "records.jsonl"
        main([*RUN, "--records", str(records), *options])
        return [json.loads(line)["loss"] for line in records.read_text().splitlines()]


def record() -> dict[str, Any]:
    """All that is recorded, with the card's name and the date."""
    on_gpu, on_cpu = losses(), losses("--cpu")
    return {
        "card": torch.cuda.get_device_name(),
        "date": f"{date.today():%Y-%m-%d}",
        "torch": torch.__version__,
        "attention": attention_by_length(),
        "training": {
            "steps": len(on_gpu),
            "last on the GPU": round(on_gpu[-1], 4),
            "last on the CPU": round(on_cpu[-1], 4),
            "largest difference": round(
                max(abs(a - b) for a, b in zip(on_gpu, on_cpu, strict=True)), 4
            ),
        },
    }


if __name__ == "__main__":
    if not torch.cuda.is_available():
        raise SystemExit("A GPU is needed (torch.cuda.is_available() is False here).")
    TARGET.write_text(json.dumps(record(), indent=1) + "\n", "utf8")
