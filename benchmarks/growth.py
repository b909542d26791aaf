"""How time and memory grow with the length of the text: the curves of chapter 14.

python -m benchmarks.growth [--small]        writes lib/datasets/growth.json

Every curve goes round by round over its lengths, and the least of the rounds is kept: what else
the machine does can only add to a time. One thread, and the time that it was at work: so a
neighbour who takes the processor away in between does not count. About four minutes.
"""

import argparse
import json
import math
import time
import tracemalloc
from functools import partial
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

from benchmarks.measuring import Setting, in_turn
from benchmarks.record import circumstances
from lib.attention.dot_product import attend
from lib.attention.fused import fused
from lib.attention.heads import split_heads
from lib.attention.masks import causal
from lib.attention.tiled import tiled
from lib.models.block import FeedForward
from lib.models.config import SIZES
from lib.models.gpt2 import GPT2

CLOCK = Setting(clock="thread")
RESULT = Path(__file__).parents[1] / "lib" / "datasets" / "growth.json"
WIDTH, HEADS = 768, 12
LAYER = [64, 128, 256, 512, 1024, 2048]
TABLE = [512, 1024, 2048, 4096, 8192]
LOOP = [64, 128, 256, 512, 1024, 2048]
ROWS = [1, 2, 4, 8, 16, 32, 64, 128]
WRITING = [64, 128, 256, 512, 1024]


def least(calls: dict, budget: float) -> dict[str, list[float]]:
    """The least milliseconds of each call, as {name: [one for each length]}; keys (name, n)."""
    for call in calls.values():
        call()
    # The seconds that the thread was at work: others on the machine do not count.
    working = {key: CLOCK.timed(call) for key, call in calls.items()}
    taken = in_turn(working, budget, least=2)
    milliseconds: dict[str, list[float]] = {}
    for (name, _), seconds in taken.items():
        milliseconds.setdefault(name, []).append(round(1e3 * min(seconds), 3))
    return milliseconds


def drawn(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0))


def layer(budget: float) -> dict:
    """The parts of one layer of GPT-2's size on a whole text, without cache."""
    projections = torch.nn.ModuleList(torch.nn.Linear(WIDTH, WIDTH) for _ in range(4))
    feed_forward = FeedForward(WIDTH, 4 * WIDTH)
    calls = {}
    for n in LAYER:
        x = drawn(1, n, WIDTH)
        heads, mask = split_heads(x, HEADS), causal(n, like=x)
        calls |= {
            ("projections", n): lambda x=x: [linear(x) for linear in projections],
            ("feed-forward", n): partial(feed_forward, x),
            ("scores and mixing, with the table", n): partial(attend, heads, heads, heads, mask),
            ("scores and mixing, fused", n): partial(fused, heads, heads, heads, causal=True),
        }
    return {"lengths": LAYER, "milliseconds": least(calls, budget)}


def with_table(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Causal attention with its table, made once and changed in place: as sparing as it can be."""
    scores = q @ k.T
    scores /= math.sqrt(q.shape[-1])
    for row in range(len(q)):
        scores[row, row + 1 :] = -np.inf
    scores -= scores.max(axis=-1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=-1, keepdims=True)
    return scores @ v


def peak(call) -> int:
    """Bytes that a call holds at its peak, beside its arguments and its result."""
    tracemalloc.start()
    output = call()
    held = tracemalloc.get_traced_memory()[1] - output.nbytes
    tracemalloc.stop()
    return held


def one_head(budget: float) -> dict:
    """One head of width 64 in NumPy, causal: the table against tiles, in time and in memory."""
    forms = {"with the table": with_table, "in tiles": partial(tiled, causal=True)}
    calls = {}
    for n in TABLE:
        q, k, v = (part.numpy() for part in drawn(3, n, WIDTH // HEADS))
        calls |= {(name, n): partial(form, q, k, v) for name, form in forms.items()}
        gap = np.abs(forms["in tiles"](q, k, v) - with_table(q, k, v)).max()
        assert gap < 1e-6, f"{gap} at {n} tokens"
    bytes_of: dict[str, list[int]] = {}
    for (name, _), call in calls.items():
        bytes_of.setdefault(name, []).append(peak(call))
    return {"lengths": TABLE, "milliseconds": least(calls, budget), "bytes": bytes_of}


def copying(budget: float) -> dict:
    """Copying the scores of 12 heads at 1,024 tokens: into memory in use, into new memory."""
    scores = drawn(HEADS, 1024, 1024)
    used = torch.empty_like(scores)
    calls = {("in use", 1024): partial(used.copy_, scores), ("new", 1024): scores.clone}
    return {"bytes": scores.nbytes, "milliseconds": least(calls, budget)}


def recurrent(x: torch.Tensor, inner: torch.Tensor, outer: torch.Tensor) -> torch.Tensor:
    """h = tanh(x W + h U), the product with W for all tokens at once: the rest has to wait."""
    state, given, states = x.new_zeros(WIDTH), x @ outer, []
    for row in given:
        state = torch.tanh(row + state @ inner)
        states.append(state)
    return torch.stack(states)


def loop(budget: float) -> dict:
    """Reading a text with a recurrent layer and with attention, both of width 768."""
    maps = drawn(4, WIDTH, WIDTH) / math.sqrt(WIDTH)

    def attention(x: torch.Tensor) -> torch.Tensor:
        q, k, v = (split_heads(x @ matrix, HEADS) for matrix in maps[:3])
        return fused(q, k, v, causal=True).output.transpose(-2, -3).flatten(-2) @ maps[3]

    calls = {}
    for n in LOOP:
        x = drawn(n, WIDTH)
        calls["a recurrent layer", n] = partial(recurrent, x, maps[0], maps[1])
        calls["attention", n] = partial(attention, x[None])
    return {"lengths": LOOP, "milliseconds": least(calls, budget)}


def rows(budget: float) -> dict:
    """The logits of several tokens at once, for which the table of 154 MB is read once."""
    table = drawn(50_257, WIDTH)
    calls = {("logits", n): partial(F.linear, drawn(n, WIDTH), table) for n in ROWS}
    return {"lengths": ROWS, "milliseconds": least(calls, budget)}


def writing(budget: float) -> dict:
    """The next token of an untrained GPT-2 after n tokens: recomputed, and cached."""
    model = GPT2(SIZES["gpt2"]).eval()
    ids = torch.arange(1024)[None]
    calls = {}
    for n in WRITING:
        caches = model.caches()
        model(ids[:, : n - 1], caches=caches, last=True)

        def step(n=n, caches=caches):
            for cache in caches:
                cache.used = n - 1
            model(ids[:, n - 1 : n], caches=caches, last=True)

        calls["without a cache", n] = partial(model, ids[:, :n], last=True)
        calls["with a cache", n] = step
    return {"lengths": WRITING, "milliseconds": least(calls, budget)}


@torch.inference_mode()
def main() -> None:
    parser = argparse.ArgumentParser(description="Measure how attention grows.")
    parser.add_argument("--small", action="store_true", help="a rehearsal that writes nothing")
    small = parser.parse_args().small
    torch.set_num_threads(1)
    if small:
        for lengths in (LAYER, TABLE, LOOP, ROWS, WRITING):
            del lengths[2:]
    start = time.perf_counter()
    parts = {
        "layer": layer, "copying": copying, "one head": one_head, "loop": loop, "rows": rows,
        "writing": writing,
    }  # fmt: skip
    curves = {name: measure(0 if small else 40) for name, measure in parts.items()}
    result = {"machine": circumstances(CLOCK), **curves}
    print(json.dumps(result, indent=1))
    if not small:
        RESULT.write_text(json.dumps(result, indent=1) + "\n", "utf8")
    print(f"{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
