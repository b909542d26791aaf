"""A process of the grader that dies, hangs or grows takes its own work with it, and no other."""

from __future__ import annotations

import multiprocessing
import os
import re
import signal
import subprocess
import sys
import time
from concurrent.futures import BrokenExecutor
from pathlib import Path

import psutil
import pytest

from classroom.processes import SupervisedPool, SupervisedProcess
from classroom.sandbox.isolation import course_files

ROOT = Path(__file__).resolve().parents[2]
ROOM = 64 * 2**20


def square(number: int) -> int:
    return number * number


def end_this_process() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def search_without_end() -> None:
    """Hold the interpreter's lock, so that no thread of this process runs any more."""
    re.match("(a+)+$", "a" * 40 + "b")


def ask_for_memory(size: int) -> int:
    return len(bytearray(size))


def ask_another_process(number: int) -> int:
    another = SupervisedProcess(ROOM)
    return another.run(60.0, square, number)


def ends(process: psutil.Process) -> bool:
    """Whether a process ends while it is watched."""
    for _ in range(300):
        if not process.is_running() or process.status() == "zombie":
            return True
        time.sleep(0.1)
    return False


def test_a_call_that_ends_its_process_harms_no_other():
    with SupervisedPool(2, 60.0, ROOM) as pool:
        calls = [pool.submit(square, n) for n in range(5)]
        broken = pool.submit(end_this_process)
        calls += [pool.submit(square, n) for n in range(5, 11)]
        assert [call.result() for call in calls] == [n * n for n in range(11)]
        with pytest.raises(BrokenExecutor):
            broken.result()


def test_a_process_that_has_started_another_ends_with_it():
    pool = SupervisedPool(1, 60.0, ROOM)
    assert pool.submit(ask_another_process, 3).result() == 9
    family = psutil.Process(pool.processes[0].pid).children()
    pool.shutdown()
    assert family
    assert all(map(ends, family))


def test_a_daemon_as_a_worker_of_dask_is_may_start_one():
    spawn = multiprocessing.get_context("spawn")
    receives, sends = spawn.Pipe(duplex=False)
    daemon = spawn.Process(target=send_square, args=(sends,), daemon=True)
    daemon.start()
    assert receives.poll(60)
    assert receives.recv() == 25
    daemon.join(60)
    assert daemon.exitcode == 0


def send_square(sends) -> None:
    sends.send(ask_another_process(5))


def test_no_folder_of_a_sandbox_is_left_behind():
    with SupervisedPool(1, 60.0, ROOM) as pool:
        folder = pool.submit(course_files).result()
        assert folder.is_dir()
    assert not folder.exists()


def test_a_process_that_hangs_is_killed_in_time_and_another_takes_its_work():
    process = SupervisedProcess(ROOM)
    assert process.run(60.0, square, 3) == 9
    first = psutil.Process(process.pid)
    with pytest.raises(TimeoutError):
        process.run(0.5, search_without_end)
    assert process.run(60.0, square, 5) == 25
    assert process.pid != first.pid
    assert ends(first)
    process.end()


def test_more_memory_than_a_process_may_hold_is_an_error_and_the_process_goes_on():
    process = SupervisedProcess(ROOM)
    assert process.run(60.0, ask_for_memory, ROOM // 2) == ROOM // 2
    with pytest.raises(MemoryError):
        process.run(60.0, ask_for_memory, 2 * ROOM)
    assert process.run(60.0, square, 7) == 49
    process.end()


BUSY = """
from classroom.processes import SupervisedProcess
from tests.classroom.test_processes import search_without_end
if __name__ == "__main__":
    process = SupervisedProcess(2**26)
    process.started()
    print(process.pid, flush=True)
    process.run(None, search_without_end)
"""


def test_a_process_that_holds_the_lock_dies_with_its_parent(tmp_path):
    script = tmp_path / "busy.py"
    script.write_text(BUSY, "utf8")
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        [sys.executable, script], stdout=subprocess.PIPE, cwd=ROOT, env=environment
    ) as parent:
        busy = psutil.Process(int(parent.stdout.readline()))
        while busy.cpu_times().user < 0.3:
            time.sleep(0.05)
        os.kill(parent.pid, signal.SIGKILL)
    assert ends(busy)
