"""Ways of calling an answer that have to stand beside it, in its own process.

This file goes into the sandbox with the work that is graded: nothing in it knows what is right.
"""

from __future__ import annotations

import sys
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


def ask_cosine(answer: Any, a: Any, b: Any) -> Any:
    """Ask for a cosine; to a vector of zeros the right answer is a ValueError."""
    if (a == 0).all() or (b == 0).all():
        try:
            returned = answer(a, b)
        except ValueError:
            return "a ValueError"
        return "an error returned, not raised" if isinstance(returned, Exception) else returned
    return answer(a, b)


def first_output(answer: Any, d_model: int, d_k: int, x: Any) -> Any:
    """Make a head and let it read."""
    return answer(d_model, d_k, 0)(x)


def one_step(answer: Any, table: Any, ids: Any, targets: Any) -> dict[str, Any]:
    """Train one step with what the answer made, and see what became of both ends."""
    import torch
    import torch.nn.functional as F
    from torch import nn

    words = nn.Embedding.from_pretrained(table.clone(), freeze=False)
    head = answer(words)
    parts = nn.ModuleList(part for part in (words, head) if isinstance(part, nn.Module))
    optimizer = torch.optim.SGD(parts.parameters(), lr=0.5)
    F.cross_entropy(head(words(ids)), targets).backward()
    optimizer.step()
    rows = torch.arange(len(table))
    scores = head(torch.eye(table.shape[1], dtype=table.dtype)).detach().T
    return {
        "parameters": sum(parameter.numel() for parameter in parts.parameters()),
        "rows that embed": words(rows).detach(),
        "rows that score": scores,
    }


def without_values(answer: Any, d_model: int, d_k: int, x: Any) -> Any:
    """Make a head, set its value projection to 0 in place, and let it read."""
    head = answer(d_model, d_k, 0)
    kept = head.W_v.detach() if hasattr(head.W_v, "detach") else head.W_v
    kept[...] = 0
    return head(x)


def most_bytes(answer: Any, *args: Any) -> int:
    """The most that an answer holds at once while it works, in bytes of float64."""
    answer(*(array[:4] if hasattr(array, "shape") else array for array in args))
    tracemalloc.start()
    try:
        with largest_tensor() as largest:
            answer(*args)
        return max(tracemalloc.get_traced_memory()[1], 8 * largest[0])
    finally:
        tracemalloc.stop()


@contextmanager
def largest_tensor() -> Iterator[list[int]]:
    """Remember how many numbers the largest tensor held that torch has made; 0 without torch."""
    largest = [0]
    if "torch" not in sys.modules:
        yield largest
        return
    import torch
    from torch.overrides import TorchFunctionMode

    class Watch(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            made = func(*args, **(kwargs or {}))
            if isinstance(made, torch.Tensor):
                largest[0] = max(largest[0], made.numel())
            return made

    with Watch():
        yield largest
