"""Make a run repeatable: seeds, generators and threads."""

import os
import random
import sys
import zlib

import numpy as np


def generator(*seed: int | str) -> np.random.Generator:
    """Create a random generator whose numbers depend only on the given words and integers.

    Source: NumPy's SeedSequence, which mixes several integers into one well-spread state.
    """
    return np.random.default_rng(
        [zlib.crc32(part.encode()) if isinstance(part, str) else part for part in seed]
    )


def set_seed(seed: int) -> None:
    """Seed Python, NumPy and, if it is imported, torch.

    Source: the reproducibility notes of NumPy and PyTorch, which keep three separate states.
    """
    random.seed(seed)
    np.random.seed(seed)
    if torch := sys.modules.get("torch"):
        torch.manual_seed(seed)


def threads(count: int) -> None:
    """Set the number of CPU threads, so that sums are added in a fixed order.

    Source: floating-point addition is not associative: a different split changes the last
    digits.
    """
    os.environ["OMP_NUM_THREADS"] = str(count)
    if torch := sys.modules.get("torch"):
        torch.set_num_threads(count)
