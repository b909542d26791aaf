"""Tiled attention in NumPy against torch: the fused kernel, and the score matrix written out."""

import math
import tracemalloc

import numpy as np
import torch
from torch import Tensor

from benchmarks.measuring import Section, Setting, contest, gap
from lib.attention.fused import fused
from lib.attention.tiled import tiled

HEADS, D_K = 12, 64
OURS = "ours, tiled in NumPy"


def written_out(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Causal attention with its whole score matrix, as a first version writes it."""
    n = q.shape[-2]
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    later = torch.ones(n, n, dtype=torch.bool).triu(1)
    return scores.masked_fill(later, -torch.inf).softmax(-1) @ v


def sampled(n: int) -> list[np.ndarray]:
    """Random queries, keys and values."""
    noise = np.random.default_rng(0)
    return [noise.standard_normal((HEADS, n, D_K)).astype(np.float32) for _ in range(3)]


def extra_bytes(n: int) -> int:
    """What tiled attention holds at its peak, minus the output, as NumPy reports it."""
    arrays = sampled(n)
    tracemalloc.start()
    output = tiled(*arrays, causal=True)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak - output.nbytes


def measure(setting: Setting) -> Section:
    """At 4,096 tokens, where the score matrices of the 12 heads are 805 MB."""
    n = 256 if setting.small else 4096
    arrays = sampled(n)
    tensors = [torch.from_numpy(array)[None] for array in arrays]
    exact = fused(*tensors, causal=True).output[0]
    assert gap(torch.from_numpy(tiled(*arrays, causal=True)), exact) < 1e-6
    calls = {
        OURS: lambda: tiled(*arrays, causal=True),
        "torch, fused kernel": lambda: fused(*tensors, causal=True),
        "torch, score matrix written out": lambda: written_out(*tensors),
    }
    what = f"Causal attention, {HEADS} heads, {n:,} tokens"
    section = Section(contest(what, calls, setting, ours=OURS, budget=10))
    short, long = extra_bytes(n // 4), extra_bytes(n)
    # Between two lengths: 0 is constant, 1 grows with the length, 2 with its square.
    exponent = round(math.log(long / short, 4), 3) + 0.0
    section.rows[0] |= {"extra_bytes": long, "memory_exponent": exponent}
    return section
