"""Where standard attention spends its time, step by step: the table of chapter 14.

python -m benchmarks.attention_steps [--small]     writes lib/datasets/attention_steps.json

12 heads read 1,024 tokens, as in a layer of GPT-2. Each step that makes a matrix of scores is
measured twice: into new memory, as `attend` does, and into memory that the program already has.
The least of many rounds is kept, on one thread, of the time that it was at work. A minute.
"""

import argparse
import json
import math
from functools import partial
from pathlib import Path

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from benchmarks.growth import CLOCK, HEADS, WIDTH, drawn, least
from benchmarks.record import circumstances
from lib.attention.dot_product import attend
from lib.attention.fused import fused
from lib.attention.heads import split_heads
from lib.attention.masks import causal

RESULT = Path(__file__).parents[1] / "lib" / "datasets" / "attention_steps.json"
CACHE = Path("/sys/devices/system/cpu/cpu0/cache/index2/size")  # the second cache of one core
TOKENS = 1024


class NewMatrices(TorchDispatchMode):
    """Count the tensors of at least `size` numbers that are put into new memory inside."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.size, self.count = size, 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        parts = [*args, *(kwargs or {}).values()]  # `out` is among the latter
        given = {part.data_ptr() for part in parts if isinstance(part, torch.Tensor)}
        self.count += result.numel() >= self.size and result.data_ptr() not in given
        return result


def steps(budget: float) -> dict:
    """Milliseconds of the whole and of each step: of those that make a matrix, new and reused."""
    q = split_heads(drawn(1, TOKENS, WIDTH), HEADS)
    mask, s = causal(TOKENS, like=q), q @ q.mT / 8
    reused, weights, row = torch.empty_like(s), s.softmax(-1), s.amax(-1, keepdim=True)
    making = {
        "scores": partial(torch.matmul, q, q.mT),
        "scale": partial(torch.mul, s, 0.125),
        "mask": partial(torch.where, mask, s, torch.tensor(-math.inf)),
        "subtract the largest": partial(torch.sub, s, row),
        "divide by the temperature": partial(torch.div, s, 1.0),
        "exponentials": partial(torch.exp, s),
        "divide by the sum": partial(torch.div, s, row),
    }
    others = {
        "largest": partial(torch.amax, s, -1),
        "sum": partial(torch.sum, s, -1),
        "weighted sum": partial(torch.matmul, weights, q),
        "copy": partial(reused.copy_, s),
        "standard": partial(attend, q, q, q, mask),
        "fused, all scores": partial(fused, q, q, q),
        "fused, causal": partial(fused, q, q, q, causal=True),
    }
    calls = {("others", name): call for name, call in others.items()}
    for name, step in making.items():
        calls |= {("new", name): step, ("reused", name): partial(step, out=reused)}
    with NewMatrices(s.numel()) as new:
        attend(q, q, q, mask)
    assert new.count == len(making), new.count
    milliseconds = least(calls, budget)
    by_name = {"others": others, "new": making, "reused": making}
    return {kind: dict(zip(names, milliseconds[kind], strict=True))
            for kind, names in by_name.items()}  # fmt: skip


@torch.inference_mode()
def main() -> None:
    parser = argparse.ArgumentParser(description="Take standard attention apart.")
    parser.add_argument("--small", action="store_true", help="a rehearsal that writes nothing")
    small = parser.parse_args().small
    torch.set_num_threads(1)
    known = circumstances(CLOCK)
    machine = {name: known[name] for name in ("date", "processor", "flags", "threads", "torch")}
    milliseconds = steps(0 if small else 60)
    machine["second cache"] = CACHE.read_text("ascii").strip()
    result = {"machine": machine, "tokens": TOKENS, "milliseconds": milliseconds}
    print(json.dumps(result, indent=1))
    if not small:
        RESULT.write_text(json.dumps(result, indent=1) + "\n", "utf8")


if __name__ == "__main__":
    main()
