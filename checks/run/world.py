"""What surrounds the calls of an answer: fixed seeds and silent warnings."""

from __future__ import annotations

import random
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np


@contextmanager
def kept_generators() -> Iterator[None]:
    """Put the states of the global generators back afterwards.

    To read and write NumPy's takes longer than a small call: it is done once for a whole check.
    """
    torch = sys.modules.get("torch")
    kept = (random.getstate(), np.random.get_state())
    kept_torch = torch.get_rng_state() if torch else None
    try:
        yield
    finally:
        random.setstate(kept[0])
        np.random.set_state(kept[1])
        if kept_torch is not None:
            torch.set_rng_state(kept_torch)


SEED = ContextVar("seed", default=0)  # of the global generators


@contextmanager
def other_luck() -> Iterator[None]:
    """Begin the global generators elsewhere: what was right by luck is then wrong."""
    before = SEED.set(SEED.get() + 1)
    try:
        yield
    finally:
        SEED.reset(before)


@contextmanager
def quiet_world() -> Iterator[None]:
    """Seed the global generators, and silence warnings."""
    random.seed(SEED.get())
    np.random.seed(SEED.get())
    if torch := sys.modules.get("torch"):
        torch.default_generator.manual_seed(SEED.get())
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield
