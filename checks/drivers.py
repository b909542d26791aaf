"""Ways of calling an answer that have to stand beside it, in its own process.

This file goes into the sandbox with the work that is graded: nothing in it knows what is right.
"""

from __future__ import annotations

import importlib
import math
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy

MODULES = ("checks.drivers", "checks.capstone_drivers")


def driver_named(name: str) -> Callable:
    """The way of calling of this name, in one of the files that stand beside an answer."""
    modules = map(importlib.import_module, MODULES)
    return next(getattr(module, name) for module in modules if hasattr(module, name))


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


def through_relu(answer: Any, x: Any) -> Any:
    """Run pairs of numbers through the network whose four arrays the answer returns."""
    returned = answer()
    if returned is None:
        return None
    w_1, b_1, w_2, b_2 = (numpy.asarray(part, dtype=float) for part in returned)
    return numpy.maximum(numpy.asarray(x) @ w_1 + b_1, 0) @ w_2 + b_2


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


def train_on_stories(answer: Any, count: int, seed: int) -> Any:
    """Let an answer train a small model on stories, and say in words what became of it."""
    import torch

    rng = torch.Generator().manual_seed(seed)
    stories, new = tiny_stories(count, rng), tiny_stories(500, rng)
    model = small_model()
    before = torch.cat([p.detach().flatten().clone() for p in model.parameters()])
    added = []  # for each backward pass, whether its gradient is added to an old one
    first = next(model.parameters())
    hook = first.register_hook(
        lambda _: added.append(first.grad is not None and bool(first.grad.any()))
    )
    trained = answer(model, stories)
    hook.remove()
    if not isinstance(trained, torch.nn.Module):
        return None if trained is None else f"{type(trained).__name__}, not a model"
    after = torch.cat([p.detach().flatten() for p in trained.parameters()])
    return {
        "old gradients": "kept" if len(added) > 4 and sum(added) > 0.9 * len(added) else "cleared",
        "parameters": "as they were" if torch.equal(before, after) else "changed",
        **state_of(trained.eval(), stories, new, (math.log(5) + math.log(6)) / 10),
    }


def state_of(model: Any, stories: Any, new: Any, bound: float) -> dict[str, str]:
    """Say what a model predicts, and between which marks its losses lie."""
    import torch

    with torch.no_grad():
        known = losses_on(model, stories)[1].min().item()
        logits, losses = losses_on(model, new)
    copied = (logits.argmax(-1) == new[:, :-1]).double().mean() > 0.8
    loss = losses.mean().item()
    return {
        "predicts": "the word that it reads" if copied else "the next word",
        "loss on new stories": place_of(loss, math.log(logits.shape[-1]), bound),
        "by heart": "some stories" if known < bound / 2 and loss > bound + 0.1 else "none",
    }


def place_of(loss: float, uniform: float, bound: float) -> str:
    """Say between which marks a loss lies."""
    if loss > uniform - 0.01:
        return "not below the uniform baseline"
    if loss > bound + 0.1:
        return "more than 0.1 above the lower bound"
    return "within 0.1 of the lower bound" if loss > bound - 0.1 else "below the lower bound"


def losses_on(model: Any, stories: Any) -> tuple[Any, Any]:
    """The logits (story, n, vocab) and the mean loss of each story."""
    logits = model(stories[:, :-1])
    picked = logits.log_softmax(-1).gather(-1, stories[:, 1:, None])
    return logits, -picked.mean((1, 2))


def tiny_stories(count: int, rng: Any) -> Any:
    """Sample stories (story, 11) such as: Mia has a red ball. The ball is red. -> ids below 22."""
    import torch

    name, colour, thing = (torch.randint(k, (count,), generator=rng) for k in (6, 5, 6))
    colour, thing = colour + 6, thing + 11
    has, a, stop, the, is_ = (torch.full((count,), k) for k in range(17, 22))
    return torch.stack([name, has, a, colour, thing, stop, the, thing, is_, colour, stop], dim=1)


def small_model() -> Any:
    """Build a decoder of one layer with four heads, for stories of 11 words out of 22."""
    import torch
    from torch import nn

    class SmallModel(nn.Module):
        def __init__(self, vocab=22, n=10, d=64):
            super().__init__()
            self.word = nn.Embedding(vocab, d)
            self.position = nn.Embedding(n, d)
            self.query, self.key, self.value = (nn.Linear(d, d) for _ in range(3))
            self.next_word = nn.Linear(d, vocab)

        def forward(self, ids):  # (batch, n) -> logits (batch, n, vocab)
            x = self.word(ids) + self.position.weight[: ids.shape[1]]
            q, k, v = (
                layer(x).unflatten(-1, (4, 16)).transpose(1, 2)  # (batch, head, n, 16)
                for layer in (self.query, self.key, self.value)
            )
            scores = q @ k.mT / 16**0.5
            hidden = torch.ones_like(scores).triu(1) == 1
            output = scores.masked_fill(hidden, -torch.inf).softmax(-1) @ v
            return self.next_word(x + output.transpose(1, 2).flatten(2))

    return SmallModel()
