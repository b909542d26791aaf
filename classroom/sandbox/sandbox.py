"""Run a process that can only compute: no network, no file of the user's, bounded memory and time.

`classroom/sandbox/isolation.py` isolates it; this file exchanges messages with it, measures from
outside what all its processes use together, and ends it at a limit.
"""

from __future__ import annotations

import math
import os
import select
import subprocess
import time
from collections.abc import Callable
from concurrent.futures import BrokenExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from checks.wire.messages import GarbageError, packed, receive
from checks.wire.values import taken_apart
from classroom.processes import ProcessStartError
from classroom.sandbox.isolation import (
    FIRST_USER,
    Limits,
    sandboxed_command,
    unsandboxed_command,
    worker_environment,
)
from classroom.sandbox.lent_functions import (
    decode_arguments,
    decode_value,
    limited_memory,
    write_back,
)
from classroom.sandbox.shared_arguments import VARIABLE, shared_memory
from classroom.sandbox.system_calls import filter_file, join_new_session_keyring
from classroom.sandbox.usage import resource_usage
from classroom.status import GradeStatus

MOST_BROKEN = 3  # times that the process of the provided functions is replaced in one sandbox
POLL_SECONDS = 0.1  # between two measurements
OVER = "its time was over"
REQUESTS = ("provided", "borrowed")  # what the worker may ask for while it works
SPARE = 8  # processes more than the system allows them, so that it is always the first to refuse


class SandboxEndedError(Exception):
    """The process in the sandbox has ended; `status` becomes the status of the task.

    `cell` is the number of the cell that ended it, from 0, if it was one.
    """

    def __init__(self, status: GradeStatus, detail: str, cell: int | None = None):
        super().__init__(detail)
        self.status, self.cell = status, cell


@dataclass
class Sandbox:
    """One such process, which runs the worker; use it in a `with` statement.

    `until` is when the time of the whole submission is over, on the monotonic clock.
    """

    provided: dict[str, list[str]] = field(default_factory=dict)
    provide: Callable[[dict[str, Any], float], dict[str, Any]] | None = None
    limits: Limits = field(default_factory=Limits)
    user: int = FIRST_USER
    isolated: bool = True
    until: float = math.inf

    def __enter__(self) -> Sandbox:
        self.ended: SandboxEndedError | None = None
        self.arguments, self.most_held = shared_memory(), 0
        self.process = self._started()
        for pipe in (self.process.stdin, self.process.stdout):
            os.set_blocking(pipe.fileno(), False)
        self.last_look = time.monotonic()
        self.broken = 0
        self._allow(self.limits.start)
        try:
            self._receive()
            self._send({"provided": self.provided})
        except SandboxEndedError:
            self.__exit__()
            raise
        return self

    def _started(self) -> subprocess.Popen:
        """Start the worker, isolated by a filter of system calls among other things."""
        command = sandboxed_command if self.isolated else unsandboxed_command
        calls = filter_file() if self.isolated else os.open(os.devnull, os.O_RDONLY)
        try:
            return subprocess.Popen(
                command(self.limits, self.user, calls), pass_fds=[calls, self.arguments],
                preexec_fn=join_new_session_keyring if self.isolated else None,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                start_new_session=True, bufsize=0,
                env=worker_environment() | {VARIABLE: str(self.arguments)},
            )  # fmt: skip
        finally:
            os.close(calls)

    def __exit__(self, *_: Any) -> None:
        self.end(GradeStatus.CRASHED, "the sandbox was closed")
        with suppress(OSError):
            self.process.stdin.close()
        self.process.stdout.close()
        os.close(self.arguments)

    def end(self, status: GradeStatus, detail: str) -> SandboxEndedError:
        """Kill it and all its children; the first reason is kept."""
        self.ended = self.ended or SandboxEndedError(status, detail)
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, 9)
        self.process.wait()
        return self.ended

    def _allow(self, seconds: float) -> None:
        """Set the time at which the next reply must be there."""
        self.deadline = min(time.monotonic() + seconds, self.until)

    def ask(
        self,
        message: dict[str, Any],
        seconds: float,
        borrowed: Callable[[int, tuple, dict], Any] | None = None,
    ) -> dict[str, Any]:
        """Send one message and wait for its reply; serve the worker's own requests meanwhile."""
        if self.ended:
            raise self.ended
        self._allow(seconds)
        self._send(message)
        while True:
            reply = self._receive()
            if reply.get("do") not in REQUESTS:
                return reply
            self._send(self._served(reply, borrowed))

    def _served(self, request: dict[str, Any], borrowed: Callable | None) -> dict[str, Any]:
        """Run a function of the grader on arguments from the sandbox."""
        try:
            if request["do"] == "provided":
                return self._provided(request)
            given = decode_arguments(request, partial(self._call_back, borrowed))
            with limited_memory():
                return {"value": borrowed(request["number"], *given)}
        except (SandboxEndedError, ProcessStartError):
            raise
        except Exception as error:
            return {"error": type(error).__name__, "message": str(error)[:600]}

    def _call_back(self, borrowed: Callable | None, number: int) -> Callable:
        """Represent a function of the sandbox that was handed to a function of the grader."""

        def call(*args: Any, **kwargs: Any) -> Any:
            nodes = {"args": taken_apart(args), "kwargs": taken_apart(kwargs)}
            self._send({"do": "call back", "of": number, "driver": None} | nodes)
            while (reply := self._receive()).get("do") in REQUESTS:
                self._send(self._served(reply, borrowed))
            write_back(args, reply)
            return decode_value(reply)

        return call

    def _provided(self, request: dict[str, Any]) -> dict[str, Any]:
        """Let the process of the provided functions answer, within the time of the call."""
        try:
            return self.provide(request, max(0.0, self.deadline - time.monotonic()))
        except TimeoutError:
            raise self._timed_out() from None
        except BrokenExecutor:
            self.broken += 1
        if self.broken < MOST_BROKEN:
            raise MemoryError("a function of the exercise needs too much memory for this")
        detail = "it asked functions of the exercise for too much memory"
        raise self.end(GradeStatus.OUT_OF_MEMORY, detail)

    def _timed_out(self) -> SandboxEndedError:
        """End it because of its time, and say whose time it was."""
        whole = time.monotonic() > self.until
        seconds = f"{self.limits.submission:.0f} seconds"
        detail = f"the time of the whole submission was over ({seconds})" if whole else OVER
        return self.end(GradeStatus.TIMED_OUT, detail)

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

    def _read(self, count: int) -> bytearray:
        buffer, done = bytearray(count), 0  # the pages of which are taken as they are filled
        while done < count:
            ready = select.select([self.process.stdout], [], [], POLL_SECONDS)[0]
            if not ready or time.monotonic() > self.last_look + POLL_SECONDS:
                # A worker that sends without a pause is measured as well.
                self._enforce_limits()
            if not ready:
                continue
            end = min(done + 2**20, count)
            length = self.process.stdout.readinto(memoryview(buffer)[done:end])
            if not length:
                raise self._exit_status()
            done += length
        return buffer

    def _enforce_limits(self) -> None:
        """End it if its time is over, or if all its processes together use too much."""
        self.last_look = time.monotonic()
        if self.last_look > self.deadline:
            raise self._timed_out()
        count, held = resource_usage(self.process.pid, self.limits.memory)
        self.most_held = max(self.most_held, held)
        if held > self.limits.memory:
            raise self.end(
                GradeStatus.OUT_OF_MEMORY, f"it held more than {self.limits.memory >> 20} MiB"
            )
        if count > self.limits.processes + SPARE:
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
