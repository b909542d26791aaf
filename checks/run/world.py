"""What surrounds a call of an answer: fixed seeds, silent warnings, and a limit of time."""

from __future__ import annotations

import random
import signal
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np


class TooSlow(BaseException):
    """The time of a call is over."""


@contextmanager
def quiet_world() -> Iterator[None]:
    """Seed the global generators, silence warnings, and put everything back afterwards."""
    torch = sys.modules.get("torch")
    kept = (random.getstate(), np.random.get_state())
    kept_torch = torch.get_rng_state() if torch else None
    random.seed(0)
    np.random.seed(0)
    if torch:
        torch.default_generator.manual_seed(0)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            yield
    finally:
        random.setstate(kept[0])
        np.random.set_state(kept[1])
        if kept_torch is not None:
            torch.set_rng_state(kept_torch)


def _ring(*_: Any) -> None:
    raise TooSlow


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise TooSlow in the block after some seconds, where the platform has such a timer."""
    main = threading.current_thread() is threading.main_thread()
    if not main or not hasattr(signal, "setitimer"):
        yield
        return

    before = signal.signal(signal.SIGALRM, _ring)
    # It rings again and again, because an answer may swallow the first exception.
    signal.setitimer(signal.ITIMER_REAL, seconds, 0.5)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
