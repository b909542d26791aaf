"""Random queries, keys and values for the tests of attention, every axis of another length."""

import torch
from torch.utils._python_dispatch import TorchDispatchMode

BATCH, HEADS, D_K, D_V = 2, 3, 5, 7


def random(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, dtype=torch.float64)


def projected(queries: int, keys: int) -> tuple[torch.Tensor, ...]:
    torch.manual_seed(queries + keys)
    return (random(BATCH, HEADS, queries, D_K), random(BATCH, HEADS, keys, D_K),
            random(BATCH, HEADS, keys, D_V))  # fmt: skip


def numbers_held(call) -> int:
    """How many numbers the largest tensor held that an operator made inside the call."""

    class Largest(TorchDispatchMode):
        size = 0

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            made = func(*args, **(kwargs or {}))
            for tensor in made if isinstance(made, tuple) else (made,):
                if isinstance(tensor, torch.Tensor):
                    self.size = max(self.size, tensor.numel())
            return made

    with Largest() as largest:
        call()
    return largest.size
