"""Processes of the grader itself: one that dies, hangs, or grows harms only its own work."""

from __future__ import annotations

import ctypes
import multiprocessing
import multiprocessing.connection
import multiprocessing.forkserver
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import (
    BrokenExecutor,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
)
from concurrent.futures import wait as wait_for
from contextlib import contextmanager, suppress
from functools import cache
from multiprocessing.util import Finalize
from typing import Any

import numpy as np
import psutil

from classroom.memory_watch import MemoryWatch

PR_SET_PDEATHSIG = 1  # of prctl(2)
PRELOADED = "classroom.preloaded"
begun = threading.Event()  # set in a process that `begin_process` has made one of ours
STACK = 2**20  # bytes for each thread, all of which count as memory
LEFT_OVER = 2**25  # bytes that a process may keep of its last call; else a new one takes its place
WARM = 512  # rows of a matrix product large enough for every thread of BLAS


class ProcessStartError(RuntimeError):
    """A process of the grader cannot start, which is no student's fault."""


class SupervisedProcess:
    """One process that runs one call at a time; a new one replaces it when it ends.

    `prepare` runs in it once, before its memory is limited to `memory` bytes above what it holds.
    """

    def __init__(self, memory: int, prepare: Callable[[], Any] | None = None):
        self.prepare, self.memory = prepare, memory
        self.pool: ProcessPoolExecutor | None = None
        self.pid, self.busy, self.too_large = 0, False, False

    def run(self, seconds: float | None, call: Callable, *args: Any) -> Any:
        """Run the call there and return its result.

        Raises: TimeoutError after some seconds; BrokenExecutor if the process ended; MemoryError if
        it was ended for its memory.
        """
        pool = self.started()
        self.busy, self.too_large = True, False
        try:
            result = pool.submit(call, *args).result(seconds)
        except (BrokenExecutor, TimeoutError):
            self.end()
            if self.too_large:
                raise MemoryError from None
            raise
        finally:
            self.busy = False
        return result

    def started(self) -> ProcessPoolExecutor:
        """Return the pool of this one process, which starts at the first use."""
        if self.pool is None:
            begin = (self.prepare, self.memory)
            self.pool = ProcessPoolExecutor(1, process_context(), begin_process, begin)
            # At its end a process waits for its children, and this one is told to end before that.
            Finalize(self, SupervisedProcess.end, (self,), exitpriority=100)
            try:
                with children_allowed():
                    self.pid = self.pool.submit(os.getpid).result()
            except (BrokenExecutor, EOFError, ConnectionError):
                self.end()
                raise ProcessStartError("a process of the grader cannot start") from None
        return self.pool

    def end_for_memory(self) -> None:
        """End the process because of its memory; its call is told so."""
        self.too_large = True
        with suppress(psutil.Error):
            psutil.Process(self.pid).kill()

    def end(self) -> None:
        """End the process: by a word if it is idle, else whatever it does."""
        pool, self.pool = self.pool, None
        if pool is None:
            return
        if self.busy:
            with suppress(psutil.Error):
                psutil.Process(self.pid).kill()
        pool.shutdown(wait=True, cancel_futures=True)


class SupervisedPool(Executor):
    """Some of these processes side by side: a call that ends its process harms no other call.

    Each may hold `memory` bytes more than at its beginning, and all `together` bytes more.
    """

    def __init__(
        self,
        jobs: int,
        seconds: float,
        memory: int,
        prepare: Callable | None = None,
        preloaded: Sequence[str] = (),
        together: int = 0,
    ):
        process_context(preloaded)
        self.seconds = seconds
        self.threads = ThreadPoolExecutor(jobs)
        self.new_process = lambda: SupervisedProcess(memory, prepare)
        self.processes: list[SupervisedProcess] = []
        self.futures: list[Future] = []
        self.own = threading.local()
        self.watch = MemoryWatch(self.processes, together)
        if together and sys.platform == "linux":
            self.watch.start()

    def submit(self, call: Callable, /, *args: Any) -> Future:
        """Run a call as soon as a process is free."""
        future = self.threads.submit(self.run, call, *args)
        self.futures = [known for known in self.futures if not known.done()] + [future]
        return future

    def run(self, call: Callable, *args: Any) -> Any:
        """Run a call in the process of this thread."""
        if not hasattr(self.own, "process"):
            self.own.process = self.new_process()
            self.processes.append(self.own.process)
        self.own.process.started()
        self.watch.grown(self.own.process)  # what it holds now is where it begins
        result = self.own.process.run(self.seconds, call, *args)
        if sum(self.watch.grown(self.own.process).values()) > LEFT_OVER:
            self.own.process.end()
        return result

    def end_processes(self) -> None:
        """End the processes, with what they hold; each starts again with its next call."""
        for process in self.processes:
            process.end()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the processes, at once unless their results are waited for.

        A process dies with the thread that started it, so the threads end last.
        """
        if cancel_futures or not wait:
            for future in self.futures:
                future.cancel()
        if wait:
            wait_for(self.futures)
        self.watch.stop()
        self.end_processes()
        self.threads.shutdown(wait=False, cancel_futures=True)


def process_context(preloaded: Sequence[str] = ()) -> multiprocessing.context.BaseContext:
    """How a process starts: on Linux as a fork of one that has loaded everything, to share memory.

    A process of ours has no second thread that could hold a lock, so it forks itself.
    The others end with the thread that starts the first of them, for which more may be preloaded.
    """
    if sys.platform != "linux":
        return multiprocessing.get_context("spawn")
    if begun.is_set():
        return multiprocessing.get_context("fork")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([*preloaded, PRELOADED])
    multiprocessing.forkserver.ensure_running()
    return context


@contextmanager
def children_allowed() -> Iterator[None]:
    """Let a daemon of multiprocessing, such as a worker of dask, start a process of its own."""
    this = multiprocessing.current_process()
    daemon = this.daemon
    if daemon:
        this.daemon = False
    try:
        yield
    finally:
        if daemon:
            this.daemon = True


def begin_process(prepare: Callable[[], Any] | None, memory: int) -> None:
    """Tie this process to its parent, load what it needs, and limit the rest of its memory."""
    begun.set()
    threading.stack_size(STACK)
    exit_with_parent()
    if prepare:
        prepare()
    if sys.platform == "linux":
        limit_memory(memory)


def exit_with_parent() -> None:
    """End this process as soon as its parent is gone, however the parent ended.

    Where Linux does not see to it, a thread does, as soon as Python lets it run.
    """
    if sys.platform == "linux":
        end_with_parent()
    parent = multiprocessing.parent_process().sentinel

    def watch() -> None:
        multiprocessing.connection.wait([parent])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def end_with_parent() -> None:
    """Let Linux kill this process when the thread that started it has ended."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def limit_memory(more: int) -> None:
    """Let this process hold so many bytes of data more than it holds now; then MemoryError."""
    import resource

    warm_up()
    held = psutil.Process().memory_info().data
    # The hard limit stays, because a process that this one starts has a limit of its own.
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    resource.setrlimit(resource.RLIMIT_DATA, (held + more, hard))


@cache
def warm_up() -> None:
    """Let BLAS take its buffers now: without memory for them, later, it would end the process."""
    square = np.ones((WARM, WARM))
    np.matmul(square, square)
    if torch := sys.modules.get("torch"):
        torch.set_num_threads(1)  # a thread that cannot be started would end the process, too
        torch.ones(WARM, WARM) @ torch.ones(WARM, WARM)
