"""Bound the memory that the processes of the grader hold together, on Linux.

A limit on each process would have to be small, and would fail honest work; so each may grow, and if
all of them together have grown too much, the one that has grown most ends. What it was grading is
graded again when nothing else is; if it grows too much then, its largest process ends.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from classroom.processes import SupervisedProcess

PAGE = os.sysconf("SC_PAGE_SIZE") if sys.platform == "linux" else 0
BETWEEN = 0.01  # seconds between two looks; memory is filled at 1 to 2 GB a second


class MemoryWatch(threading.Thread):
    """Look at processes and their children, and end the largest while all hold too much."""

    def __init__(self, processes: Iterable[SupervisedProcess], most: int):
        super().__init__(daemon=True)
        self.processes, self.most = processes, most
        self.first: dict[int, int] = {}
        self.over = threading.Event()

    def run(self) -> None:
        """Look until `stop` is called."""
        while not self.over.wait(BETWEEN):
            grown = {process: self.grown(process) for process in list(self.processes)}
            if sum(sum(parts.values()) for parts in grown.values()) > self.most:
                end_largest(grown)

    def stop(self) -> None:
        """Look no more."""
        self.over.set()

    def grown(self, process: SupervisedProcess) -> dict[int, int]:
        """Return the bytes that a process and its children each hold more than when they began."""
        if process.pool is None or not process.pid:
            return {}
        held = {pid: private_bytes(pid) for pid in (process.pid, *children_of(process.pid))}
        return {pid: max(0, now - self.first.setdefault(pid, now)) for pid, now in held.items()}


def end_largest(grown: dict[SupervisedProcess, dict[int, int]]) -> None:
    """End the process that has grown most with its children; if it works alone, the largest."""
    process = max(grown, key=lambda each: sum(grown[each].values()))
    largest = max(grown[process], key=grown[process].get)
    if sum(each.busy for each in grown) > 1 or largest == process.pid:
        process.end_for_memory()
    else:
        with suppress(OSError):
            os.kill(largest, signal.SIGKILL)


def children_of(pid: int) -> list[int]:
    """List the children of the first thread of a process."""
    with suppress(OSError):
        return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return []


def private_bytes(pid: int) -> int:
    """Return the bytes of a process that are no file's; 0 if it has ended."""
    with suppress(OSError):
        _, resident, shared, *_ = Path(f"/proc/{pid}/statm").read_text().split()
        return PAGE * (int(resident) - int(shared))
    return 0
