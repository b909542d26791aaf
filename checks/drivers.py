"""Ways of calling an answer that have to stand beside it, in its own process.

This file goes into the sandbox with the work that is graded: nothing in it knows what is right.
"""

from __future__ import annotations

import importlib
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
    if head is None:
        return None
    if not isinstance(head, nn.Linear):
        raise TypeError(f"return an nn.Linear; your answer is of the type {type(head).__name__}")
    parts = nn.ModuleList([words, head])
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
    if w_1.shape[:1] != (2,):
        raise ValueError(f"`w_1` must have the shape (2, d_hidden); yours has {w_1.shape}")
    if w_2.shape[:1] != w_1.shape[1:]:
        wanted = (*w_1.shape[1:], 1)
        raise ValueError(f"`w_2` must have the shape {wanted}; yours has {w_2.shape}")
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


@contextmanager
def one_thread() -> Iterator[None]:
    """Let torch use one thread: on arrays as small as these, several are many times slower."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def train_on_stories(answer: Any, count: int, seed: int) -> Any:
    """Let an answer train a small model on stories, and hand over what became of it.

    What the parameters are worth is measured elsewhere, by `checks.measures.trained_model`.
    """
    import torch

    stories, _ = known_and_new(tiny_stories, count, seed)
    model = small_model()
    start = {name: value.clone() for name, value in model.state_dict().items()}
    old, added = [False], []  # for each backward pass, whether its gradient is added to an old one
    first = next(model.parameters())
    asked = first.register_hook(lambda _: old.append(first.grad is not None and first.grad.any()))
    # `torch.autograd.grad` adds nothing: what it returns replaces an old gradient.
    kept = first.register_post_accumulate_grad_hook(lambda _: added.append(bool(old[-1])))
    # Which stories the model reads: their first words tell them apart.
    seen: set[tuple[int, ...]] = set()
    reading = model.register_forward_pre_hook(
        lambda _, given: seen.update(tuple(row) for row in given[0][:, :5].tolist())
    )
    with one_thread():
        trained = answer(model, stories)
    for hook in (asked, kept, reading):
        hook.remove()
    if not isinstance(trained, torch.nn.Module):
        if trained is None:
            return None
        raise TypeError(f"return the trained model; you returned a {type(trained).__name__}")
    before, after = (torch.cat([value.flatten() for value in state.values()])
                     for state in (start, trained.state_dict()))  # fmt: skip
    return {
        "old gradients": "kept" if len(added) > 4 and sum(added) > 0.9 * len(added) else "cleared",
        "parameters": "as they were" if torch.equal(before, after) else "changed",
        "stories": "a few" if len(seen) < len(stories[:, :5].unique(dim=0)) / 2 else "most",
        "start": start,
        "state": {name: value.float() for name, value in trained.state_dict().items()},
    }


def known_and_new(sample: Callable, count: int, seed: int) -> tuple[Any, Any]:
    """Sample the stories to train on, and 500 to measure with."""
    import torch

    rng = torch.Generator().manual_seed(seed)
    return sample(count, rng), sample(500, rng)


def tiny_stories(count: int, rng: Any) -> Any:
    """Sample stories (story, 11) such as: Mia has a red ball. The ball is red. -> ids below 22."""
    import torch

    name, colour, thing = (torch.randint(k, (count,), generator=rng) for k in (6, 5, 6))
    colour, thing = colour + 6, thing + 11
    has, a, stop, the, is_ = (torch.full((count,), k) for k in range(17, 22))
    return torch.stack([name, has, a, colour, thing, stop, the, thing, is_, colour, stop], dim=1)


def sampled_story(model: Any) -> list[int]:
    """Sample the ten tokens after token 0 from a model (1, n) -> logits (1, n, vocab)."""
    import torch

    rng = torch.Generator().manual_seed(0)
    ids = torch.zeros(1, 1, dtype=torch.int64)
    with torch.no_grad():
        for _ in range(10):
            weights = model(ids)[:, -1].softmax(-1).nan_to_num(1)  # NaN: any token
            ids = torch.cat((ids, torch.multinomial(weights, 1, generator=rng)), dim=1)
    return ids[0].tolist()


def small_model() -> Any:
    """Build a decoder of one layer for stories of 11 words out of 22.

    It has 16 small heads: with 4 large ones, a training in 12 ends where a word is never looked up.
    """
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
                layer(x).unflatten(-1, (16, 4)).transpose(1, 2)  # (batch, head, n, 4)
                for layer in (self.query, self.key, self.value)
            )
            scores = q @ k.mT / 4**0.5
            later = torch.ones_like(scores).triu(1) == 1
            output = scores.masked_fill(later, -torch.inf).softmax(-1) @ v
            return self.next_word(x + output.transpose(1, 2).flatten(2))

    return SmallModel()
