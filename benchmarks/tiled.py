"""Tiled attention in NumPy against torch: the fused kernel, and the table written out.

python benchmarks/tiled.py
"""

import math
import tracemalloc

import numpy as np
import torch
from measuring import gap, in_turn, rows, timed
from threadpoolctl import threadpool_limits
from torch import Tensor

from lib.attention.fused import fused
from lib.attention.tiled import tiled

HEADS, WIDTH = 12, 64


def written_out(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Causal attention with its whole table, as a first version writes it."""
    n = q.shape[-2]
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    later = torch.ones(n, n, dtype=torch.bool).triu(1)
    return scores.masked_fill(later, -torch.inf).softmax(-1) @ v


def drawn(n: int) -> list[np.ndarray]:
    noise = np.random.default_rng(0)
    return [noise.standard_normal((HEADS, n, WIDTH)).astype(np.float32) for _ in range(3)]


def extra_of_tiled(n: int) -> int:
    """Bytes at the peak less the output, as NumPy's allocations are traced."""
    arrays = drawn(n)
    tracemalloc.start()
    output = tiled(*arrays, causal=True)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak - output.nbytes


def extra_of_table(n: int) -> int:
    """The same for `written_out`, from torch's own record of allocations."""
    arrays = [torch.from_numpy(one) for one in drawn(n)]
    with torch.profiler.profile(profile_memory=True, activities=[torch.profiler.ProfilerActivity.CPU]) as record:  # fmt: skip # noqa: E501
        output = written_out(*arrays)
    held = peak = 0
    for event in sorted(record.profiler.kineto_results.events(), key=lambda one: one.start_ns()):
        if event.name() == "[memory]":
            held += event.nbytes()
            peak = max(peak, held)
    return peak - output.nbytes


def measure(small: bool = False) -> list[dict]:
    """One row for each way, at 4096 tokens."""
    n = 512 if small else 4096
    arrays = drawn(n)
    tensors = [torch.from_numpy(one) for one in arrays]
    truth = fused(*(one[None] for one in tensors), causal=True).output[0]
    assert gap(torch.from_numpy(tiled(*arrays, causal=True)), truth) < 1e-6
    calls = {
        "ours, NumPy": timed(lambda: tiled(*arrays, causal=True)),
        "torch, fused": timed(lambda: fused(*(one[None] for one in tensors), causal=True)),
        "torch, written out": timed(lambda: written_out(*tensors)),
    }
    taken = in_turn(calls, 0, least=5)
    table = rows(f"Causal attention, {HEADS} heads, {n} tokens", taken, "ours, NumPy")
    short, long = extra_of_tiled(n // 4), extra_of_tiled(n)
    table[0]["extra_bytes"] = long
    table[2]["extra_bytes"] = extra_of_table(n)
    # Between two lengths: 0 is constant, 1 grows with the text, 2 with its square.
    table[0]["memory_exponent"] = round(math.log(long / short, 4), 3)
    return table


if __name__ == "__main__":
    torch.set_num_threads(1)
    with threadpool_limits(1):
        for row in measure():
            print(row)
