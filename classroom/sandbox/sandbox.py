"""Run a process that can only compute: no network, no files, little memory, little time.

`classroom/sandbox/isolation.py` isolates it; this file exchanges messages with it, measures from
outside what all its processes use together, and ends it at a limit.
"""

from __future__ import annotations

import os
import resource
import select
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import psutil

from checks.run.wire import GarbageError, packed, put_together, receive
from classroom.sandbox.isolation import (
    FIRST_USER,
    Limits,
    sandboxed_command,
    unsandboxed_command,
    worker_environment,
)
from classroom.status import GradeStatus

PROVIDED_MEMORY = 2**30  # bytes that a provided function may use
POLL_SECONDS = 0.1  # between two measurements


class SandboxEndedError(Exception):
    """The process in the sandbox has ended; `status` becomes the status of the task."""

    def __init__(self, status: GradeStatus, detail: str):
        super().__init__(detail)
        self.status = status


@dataclass
class Sandbox:
    """One such process, which runs the worker; use it in a `with` statement."""

    provided: dict[str, list[str]] = field(default_factory=dict)
    provide: Callable[[str, tuple, dict], Any] | None = None
    limits: Limits = field(default_factory=Limits)
    user: int = FIRST_USER
    isolated: bool = True

    def __enter__(self) -> Sandbox:
        self.ended: SandboxEndedError | None = None
        command = (sandboxed_command if self.isolated else unsandboxed_command)(
            self.limits, self.user
        )
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            start_new_session=True, env=worker_environment(), bufsize=0,
        )  # fmt: skip
        for pipe in (self.process.stdin, self.process.stdout):
            os.set_blocking(pipe.fileno(), False)
        self.last_look = time.monotonic()
        self.deadline = self.last_look + self.limits.start
        try:
            self._receive()
            self._send({"provided": self.provided})
        except SandboxEndedError:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: Any) -> None:
        self.end(GradeStatus.CRASHED, "the sandbox was closed")
        with suppress(OSError):
            self.process.stdin.close()
        self.process.stdout.close()

    def end(self, status: GradeStatus, detail: str) -> SandboxEndedError:
        """Kill it and all its children; the first reason is kept."""
        self.ended = self.ended or SandboxEndedError(status, detail)
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
        """Send one message and wait for its reply; serve the worker's own requests meanwhile."""
        if self.ended:
            raise self.ended
        self.deadline = time.monotonic() + seconds
        self._send(message)
        while True:
            reply = self._receive()
            if reply.get("do") not in ("provided", "borrowed"):
                return reply
            self._send(self._served(reply, borrowed))

    def _served(self, request: dict[str, Any], borrowed: Callable | None) -> dict[str, Any]:
        """Run a function of the grader on arguments from the sandbox."""
        try:
            with limited_memory():
                args, kwargs = decode_arguments(request)
                if request["do"] == "borrowed":
                    return {"value": borrowed(request["number"], args, kwargs)}
                return {"value": self.provide(request["name"], args, kwargs)}
        except Exception as error:
            return {"error": type(error).__name__, "message": str(error)[:600]}

    def _send(self, message: dict[str, Any]) -> None:
        left = memoryview(packed(message))
        while left:
            if not select.select([], [self.process.stdin], [], POLL_SECONDS)[1]:
                self._enforce_limits()
                continue
            try:
                left = left[self.process.stdin.write(left[: 2**16]) :]
            except OSError:
                raise self._exit_status() from None

    def _receive(self) -> dict[str, Any]:
        try:
            reply = receive(self._read)
        except GarbageError as error:
            raise self.end(GradeStatus.CRASHED, f"it sent {error}") from None
        if not isinstance(reply, dict):
            raise self.end(GradeStatus.CRASHED, "it sent something that is no reply")
        return reply

    def _read(self, count: int) -> bytes:
        parts, left = [], count
        while left:
            ready = select.select([self.process.stdout], [], [], POLL_SECONDS)[0]
            if not ready or time.monotonic() > self.last_look + POLL_SECONDS:
                # A worker that sends without a pause is measured as well.
                self._enforce_limits()
            if not ready:
                continue
            part = self.process.stdout.read(min(left, 2**20))
            if not part:
                raise self._exit_status()
            parts.append(part)
            left -= len(part)
        return b"".join(parts)

    def _enforce_limits(self) -> None:
        """End it if its time is over, or if all its processes together use too much."""
        self.last_look = time.monotonic()
        if self.last_look > self.deadline:
            raise self.end(GradeStatus.TIMED_OUT, "its time was over")
        count, held = resource_usage(self.process.pid, self.limits.memory)
        if held > self.limits.memory:
            raise self.end(
                GradeStatus.OUT_OF_MEMORY, f"it held more than {self.limits.memory >> 20} MiB"
            )
        if count > self.limits.processes:
            raise self.end(
                GradeStatus.CRASHED, f"it started more than {self.limits.processes} processes"
            )

    def _exit_status(self) -> SandboxEndedError:
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(1)
        code = self.process.returncode
        killed = code is not None and (code < 0 or code > 128)
        signal = -code if killed and code < 0 else (code or 0) - 128
        detail = f"its process was killed by signal {signal}" if killed else "its process ended"
        return self.end(GradeStatus.CRASHED, detail)


def decode_arguments(request: dict[str, Any]) -> tuple[tuple, dict]:
    """Decode the arguments in a message from the sandbox."""
    return tuple(put_together(request["args"])), dict(put_together(request["kwargs"]))


@contextmanager
def limited_memory() -> Iterator[None]:
    """Bound the memory of this process while it serves a student's request (on Linux)."""
    if sys.platform != "linux":
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(
        resource.RLIMIT_AS, (psutil.Process().memory_info().vms + PROVIDED_MEMORY, hard)
    )
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def resource_usage(pid: int, limit: int) -> tuple[int, int]:
    """Count the descendants of a process, and the bytes that they hold."""
    family = []
    with suppress(psutil.Error):
        family = psutil.Process(pid).children(recursive=True)
    held = sum(_bytes(child, "rss") for child in family)
    if held > limit:
        # Shared pages are counted once for each process; only now is the slow, true count worth it.
        held = sum(_bytes(child, "pss") for child in family)
    return len(family), held


def _bytes(process: psutil.Process, kind: str) -> int:
    with suppress(psutil.Error):
        memory = process.memory_full_info() if kind == "pss" else process.memory_info()
        return getattr(memory, kind, memory.rss)  # Linux alone knows the proportional size
    return 0
