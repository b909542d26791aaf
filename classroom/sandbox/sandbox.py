"""A process that may do nothing but compute: no network, no files, little memory, little time.

`classroom/sandbox/isolation.py` builds the walls around it; this file talks with it, watches
from outside what all its processes use together, and ends what goes too far.
"""

from __future__ import annotations

import os
import resource
import select
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import psutil

from checks.run.wire import GarbageError, packed, put_together, receive
from classroom.sandbox.isolation import FIRST_USER, Limits, bare, environment, wrapped

WISHES = 2**30  # bytes that a definition of ours may take to serve what is inside
LOOK = 0.1  # seconds between two looks at what a sandbox uses


class EndedError(Exception):
    """The process in the sandbox is gone; `why` says in one of our words how."""

    def __init__(self, why: str, detail: str = ""):
        super().__init__(detail or why)
        self.why = why


@dataclass
class Sandbox:
    """One such process with the worker in it; use it in a `with`."""

    provided: dict[str, list[str]] = field(default_factory=dict)
    provide: Callable[[str, tuple, dict], Any] | None = None
    limits: Limits = field(default_factory=Limits)
    user: int = FIRST_USER
    isolated: bool = True

    def __enter__(self) -> Sandbox:
        self.ended: EndedError | None = None
        command = (wrapped if self.isolated else bare)(self.limits, self.user)
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            start_new_session=True, env=environment(), bufsize=0,
        )  # fmt: skip
        for pipe in (self.process.stdin, self.process.stdout):
            os.set_blocking(pipe.fileno(), False)
        self.looked = time.monotonic()
        self.deadline = self.looked + self.limits.start
        try:
            self._receive()
            self._send({"provided": self.provided})
        except EndedError:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: Any) -> None:
        self.end("over")
        with suppress(OSError):
            self.process.stdin.close()
        self.process.stdout.close()

    def end(self, why: str, detail: str = "") -> EndedError:
        """Kill it and all its children; the first reason stays."""
        self.ended = self.ended or EndedError(why, detail)
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, 9)
        self.process.wait()
        return self.ended

    def ask(
        self,
        message: dict[str, Any],
        seconds: float,
        borrowed: Callable[[int, tuple, dict], Any] | None = None,
    ) -> dict[str, Any]:
        """Send one message and wait for its reply, answering what is asked in between."""
        if self.ended:
            raise self.ended
        self.deadline = time.monotonic() + seconds
        self._send(message)
        while True:
            reply = self._receive()
            if reply.get("do") not in ("provided", "borrowed"):
                return reply
            self._send(self._served(reply, borrowed))

    def _served(self, asked: dict[str, Any], borrowed: Callable | None) -> dict[str, Any]:
        """What a definition of ours says to the arguments that came from inside."""
        try:
            with modest():
                args, kwargs = arguments(asked)
                if asked["do"] == "borrowed":
                    return {"value": borrowed(asked["number"], args, kwargs)}
                return {"value": self.provide(asked["name"], args, kwargs)}
        except Exception as error:
            return {"error": type(error).__name__, "message": str(error)[:600]}

    def _send(self, message: dict[str, Any]) -> None:
        left = memoryview(packed(message))
        while left:
            if not select.select([], [self.process.stdin], [], LOOK)[1]:
                self._look()
                continue
            try:
                left = left[self.process.stdin.write(left[: 2**16]) :]
            except OSError:
                raise self._gone() from None

    def _receive(self) -> dict[str, Any]:
        try:
            reply = receive(self._read)
        except GarbageError as error:
            raise self.end("crashed", f"it sent {error}") from None
        if not isinstance(reply, dict):
            raise self.end("crashed", "it sent something that is no reply")
        return reply

    def _read(self, count: int) -> bytes:
        parts, left = [], count
        while left:
            ready = select.select([self.process.stdout], [], [], LOOK)[0]
            if not ready or time.monotonic() > self.looked + LOOK:
                # Whoever talks without a pause is watched all the same.
                self._look()
            if not ready:
                continue
            part = self.process.stdout.read(min(left, 2**20))
            if not part:
                raise self._gone()
            parts.append(part)
            left -= len(part)
        return b"".join(parts)

    def _look(self) -> None:
        """End it if its time is over, or if all its processes together use too much."""
        self.looked = time.monotonic()
        if self.looked > self.deadline:
            raise self.end("too slow", "its time was over")
        count, held = usage(self.process.pid, self.limits.memory)
        if held > self.limits.memory:
            raise self.end("out of memory", f"it held more than {self.limits.memory >> 20} MiB")
        if count > self.limits.processes:
            raise self.end("crashed", f"it started more than {self.limits.processes} processes")

    def _gone(self) -> EndedError:
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(1)
        code = self.process.returncode
        killed = code is not None and (code < 0 or code > 128)
        signal = -code if killed and code < 0 else (code or 0) - 128
        detail = f"its process was killed by signal {signal}" if killed else "its process ended"
        return self.end("crashed", detail)


def arguments(asked: dict[str, Any]) -> tuple[tuple, dict]:
    """The arguments in a message from inside, as values."""
    return tuple(put_together(asked["args"])), dict(put_together(asked["kwargs"]))


@contextmanager
def modest() -> Iterator[None]:
    """Let this process take little more memory than it has: what it does is a student's wish."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (psutil.Process().memory_info().vms + WISHES, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def usage(pid: int, limit: int) -> tuple[int, int]:
    """How many processes stand below one, and the bytes that they hold."""
    family = []
    with suppress(psutil.Error):
        family = psutil.Process(pid).children(recursive=True)
    held = sum(_bytes(one, "rss") for one in family)
    if held > limit:
        # Shared pages are counted once for each process; only now is the slow, true count worth it.
        held = sum(_bytes(one, "pss") for one in family)
    return len(family), held


def _bytes(process: psutil.Process, kind: str) -> int:
    with suppress(psutil.Error):
        return getattr(process.memory_full_info() if kind == "pss" else process.memory_info(), kind)
    return 0
