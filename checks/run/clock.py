"""A limit on the time of a call: by a signal, or, where there is none, by looking at the clock.

A browser and Windows have no timer that interrupts Python. There, from Python 3.12 on, Python tells
us whenever a loop of the learner's turns or a function of the learner's begins, and we look at the
clock. What spends its time inside one call of C is interrupted by neither way.
"""

from __future__ import annotations

import re
import signal
import sys
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import Any


class TooSlow(BaseException):
    """The time of a call is over."""


# The cells of a page and of a notebook, and the text of an answer that is graded.
WRITTEN_BY_THE_LEARNER = re.compile(r"<cell|<answer>|.*[\\/]ipykernel_\d")
# An exception in an import would leave half a library behind, for good; in the callback of a weak
# reference it would be printed, and lost.
SHIELDED = {
    "<frozen importlib._bootstrap>",
    weakref.WeakKeyDictionary.__init__.__code__.co_filename,
    weakref.WeakSet.__init__.__code__.co_filename,
}
LONGEST_IMPORT = 60.0  # seconds for which a limit waits
TOOL = 4  # of the six numbers for tools, one that debuggers, coverage and profilers leave free


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise TooSlow in the block after some seconds, where the platform has a way to do so."""
    main = threading.current_thread() is threading.main_thread()
    if main and hasattr(signal, "setitimer"):
        with _limit_by_signal(seconds):
            yield
    elif main and hasattr(sys, "monitoring"):
        with _limit_by_monitoring(seconds):
            yield
    else:
        yield


def _shields(frame: FrameType | None) -> int:
    """In how many imports and callbacks of weak references a frame is."""
    count = 0
    while frame:
        count += frame.f_code.co_filename in SHIELDED
        frame = frame.f_back
    return count


@contextmanager
def _limit_by_signal(seconds: float) -> Iterator[None]:
    outside, last = _shields(sys._getframe()), time.monotonic() + seconds + LONGEST_IMPORT

    def ring(_: int, frame: FrameType | None) -> None:
        """Raise, but not where it would do harm or be lost: there, it rings once more."""
        if _shields(frame) <= outside or time.monotonic() > last:
            raise TooSlow

    before = signal.signal(signal.SIGALRM, ring)
    # It rings again and again, because an answer may swallow the first exception.
    signal.setitimer(signal.ITIMER_REAL, seconds, 0.5)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


_ends: list[float] = []  # when the time is over, of the limits that hold: the innermost is last


@contextmanager
def _limit_by_monitoring(seconds: float) -> Iterator[None]:
    watch = sys.monitoring
    if watch.get_tool(TOOL) is None:
        watch.use_tool_id(TOOL, "time limit")
        for event in (watch.events.JUMP, watch.events.PY_START):
            watch.register_callback(TOOL, event, _look_at_the_clock)
    _ends.append(time.monotonic() + seconds)
    watch.set_events(TOOL, watch.events.JUMP | watch.events.PY_START)
    try:
        yield
    finally:
        _ends.pop()
        if not _ends:
            watch.set_events(TOOL, 0)


def _look_at_the_clock(code: CodeType, *_: Any) -> Any:
    """Raise TooSlow in the learner's code; in any other, ask never to be called again.

    Raised elsewhere, in the middle of an import or of our own `finally`, it would break Python.
    """
    if not WRITTEN_BY_THE_LEARNER.match(code.co_filename):
        return sys.monitoring.DISABLE
    if _ends and time.monotonic() > min(_ends):
        raise TooSlow
    return None
