"""Measure from outside what all processes of a sandbox use together, hidden memory included."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

import psutil

from classroom.sandbox.isolation import WRITABLE

KIB = 1024
INODE = 1024  # bytes of the kernel for a file without content
FIELD = re.compile(r"^(\w+):\s+(\d+) kB$", re.MULTILINE)
# Memory that processes share has no file; a range of it, its rights, and the number of its inode.
SHARED = re.compile(r"^(\w+)-(\w+) \S{3}s (\w+) \S+ (\d+) +/.*\(deleted\)$", re.MULTILINE)


def resource_usage(pid: int, limit: int) -> tuple[int, int]:
    """Count the descendants of a process, and the bytes that they hold."""
    family = []
    with suppress(psutil.Error):
        family = [child.pid for child in psutil.Process(pid).children(recursive=True)]
    fields = [memory_fields(child) for child in family]
    held = sum(of["RssAnon"] + of["RssFile"] + of["RssShmem"] + of["VmSwap"] for of in fields)
    held += INODE * max(map(files_in_memory, family), default=0)
    if sum(of["VmSize"] for of in fields) > limit:
        # A page that is shared may stay in memory while no process counts it as resident.
        held += max(0, shared_bytes(family) - sum(of["RssShmem"] for of in fields))
    if held > limit:
        # Pages of files were counted for each process; only now is the slow, true count worth it.
        held -= sum(of["RssAnon"] + of["RssFile"] + of["VmSwap"] for of in fields)
        held += sum(map(proportional_bytes, family))
    return len(family), held


def files_in_memory(pid: int) -> int:
    """Count the files in the folders that a process may write to: empty ones take memory, too.

    A sandbox that is just being set up still sees the system's own folders: they do not count.
    """
    count = 0
    for folder in WRITABLE:
        inside = f"/proc/{pid}/root{folder}"
        with suppress(OSError):
            if os.stat(inside).st_dev != os.stat(folder).st_dev:
                system = os.statvfs(inside)
                count += system.f_files - system.f_ffree
    return count


def memory_fields(pid: int) -> dict[str, int]:
    """Read the memory of one process from its status; 0 where it has none, or has ended."""
    names = ("RssAnon", "RssFile", "RssShmem", "VmSwap", "VmSize")
    text = proc_text(pid, "status")
    numbers = {name: KIB * int(size) for name, size in FIELD.findall(text)}
    return {name: numbers.get(name, 0) for name in names}


def shared_bytes(family: Iterable[int]) -> int:
    """The bytes of memory without a file that these processes share, each piece counted once."""
    ends: dict[str, int] = {}
    for pid in family:
        for start, end, offset, inode in shared_ranges(pid):
            ends[inode] = max(ends.get(inode, 0), offset + end - start)
    return sum(ends.values())


def shared_ranges(pid: int) -> Iterator[tuple[int, int, int, str]]:
    """The ranges of shared memory without a file in one process: start, end, offset, inode."""
    for start, end, offset, inode in SHARED.findall(proc_text(pid, "maps")):
        yield int(start, 16), int(end, 16), int(offset, 16), inode


def proportional_bytes(pid: int) -> int:
    """The private bytes of a process and its share of the pages of files, swapped ones included."""
    numbers = {
        name: KIB * int(size) for name, size in FIELD.findall(proc_text(pid, "smaps_rollup"))
    }
    if not numbers:
        return sum(memory_fields(pid)[name] for name in ("RssAnon", "RssFile", "VmSwap"))
    return numbers.get("Pss", 0) - numbers.get("Pss_Shmem", 0) + numbers.get("SwapPss", 0)


def proc_text(pid: int, name: str) -> str:
    """Read what the kernel says about a process; nothing if it has ended or may not be read."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/{name}").read_text("utf8", "replace")
    return ""
