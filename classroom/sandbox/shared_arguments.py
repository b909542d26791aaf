"""Arguments in memory that the grader reads too: what an answer changes is seen from outside.

The worker copies the arrays of a call into it, one after the other; the grader knows where each
begins, and compares after the call. An answer can hide a change only by changing a copy, which is
what it should do.
"""

from __future__ import annotations

import mmap
import os
import sys
import tempfile
from collections.abc import Callable

import numpy as np

from checks.run.call import convert
from checks.task import Case

SIZE = 16 * 2**20
STEP = 64  # bytes to which the beginning of each array is rounded up
VARIABLE = "COURSE_ARGUMENTS"


def shared_memory() -> int:
    """Open memory of this size for a child; nobody can make it larger or smaller (on Linux)."""
    if sys.platform != "linux":
        with tempfile.TemporaryFile() as file:
            file.truncate(SIZE)
            return os.dup(file.fileno())
    import fcntl

    memory = os.memfd_create("arguments", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.ftruncate(memory, SIZE)
    seals = fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL
    fcntl.fcntl(memory, fcntl.F_ADD_SEALS, seals)
    return memory


class Placed:
    """The arrays of one call, in the order in which the worker copies them into the memory."""

    def __init__(self, memory: int, case: Case, library: str) -> None:
        self.memory, self.end = memory, 0
        self.kept: dict[str, list[tuple[int, bytes]]] = {}
        named = {f"argument {n}": value for n, value in enumerate(case.args, 1)} | case.kwargs
        for name, value in named.items():
            self.noted = self.kept.setdefault(name, [])
            convert(value, library, self._note)

    def _note(self, array: np.ndarray) -> np.ndarray:
        begin = room_for(array, self.end)
        if begin is not None:
            self.noted.append((begin, np.ascontiguousarray(array).tobytes()))
            self.end = begin + array.nbytes
        return np.array(array)

    def changed_arguments(self) -> tuple[str, ...]:
        """Name the arguments that do not hold what they held."""
        return tuple(name for name, arrays in self.kept.items() if any(map(self._differs, arrays)))

    def _differs(self, kept: tuple[int, bytes]) -> bool:
        begin, held = kept
        return os.pread(self.memory, len(held), begin) != held


def placer(memory: mmap.mmap) -> Callable[[np.ndarray], np.ndarray]:
    """Return a function that copies the arrays of one call into the memory (in the worker)."""
    end = 0

    def place(array: np.ndarray) -> np.ndarray:
        nonlocal end
        begin = room_for(array, end)
        if begin is None:
            return np.array(array)
        end = begin + array.nbytes
        placed = np.frombuffer(memory, array.dtype, array.size, begin).reshape(array.shape)
        placed[...] = array
        return placed

    return place


def room_for(array: np.ndarray, end: int) -> int | None:
    """Where an array begins behind the last one; None where it does not fit."""
    begin = -(-end // STEP) * STEP
    return begin if array.size and begin + array.nbytes <= SIZE else None
