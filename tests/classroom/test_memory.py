"""The processes of the grader hold little memory together, whatever is handed in."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import time
import zipfile
from concurrent.futures import BrokenExecutor
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from classroom.grading import grader_pool
from classroom.grading.grader_pool import MEMORY_TOGETHER, MOST_MEMORY, memory_warning
from classroom.memory_watch import children_of, private_bytes
from classroom.processes import SupervisedPool
from classroom.sandbox.usage import files_in_memory
from tests.classroom.test_attacks import notebook

ROOT = Path(__file__).resolve().parents[2]
ROOM = 2**28
GIVEN = """
import numpy as np
from lib.attention.dot_product import attend
"""
# The function of the exercise takes 300 MB for each of them, and 24 MB come back.
HOARD = """
BIG = np.ones((4_400, 4))
def hoard(*args, **kwargs):
    try:
        attend(BIG, BIG, BIG)
    except BaseException:
        pass
    return [np.ones(10**6) for n in range(3)]
heads_by_loop = changes = hoard
def parameters(*args):
    return 0
"""


def hold(size: int, full: Path, until: Path) -> int:
    """Fill memory slowly enough to be seen, and keep it until a file is there."""
    kept = [b"x" * 2**20 for _ in range(size >> 20) if not time.sleep(0.02)]
    full.touch()
    wait_for(until)
    return len(kept)


def wait_for(path: Path) -> None:
    """Wait until a file is there, for a minute at most."""
    for _ in range(600):
        if path.exists():
            return
        time.sleep(0.1)


def fails(future) -> bool:
    """Whether a call ended for its memory."""
    try:
        future.result()
    except MemoryError:
        return True
    except BrokenExecutor:
        return False
    return False


def test_what_two_hold_together_ends_the_larger_and_not_the_other(tmp_path):
    full, until, other = (tmp_path / name for name in ("full", "until", "other"))
    with SupervisedPool(2, 60.0, ROOM, together=96 * 2**20) as pool:
        small = pool.submit(hold, 40 << 20, full, until)
        wait_for(full)
        assert fails(pool.submit(hold, 70 << 20, other, until))
        until.touch()
        assert not fails(small)
        assert pool.submit(hold, 70 << 20, other, until).result() == 70, "alone it may"


def test_a_process_that_keeps_much_of_a_call_is_replaced():
    with SupervisedPool(1, 60.0, ROOM, together=2**27) as pool:
        first = pool.submit(os.getpid).result()
        assert pool.submit(os.getpid).result() == first
        pool.submit(keep, 48 << 20).result()
        assert pool.submit(os.getpid).result() != first


def keep(size: int) -> None:
    """Leave something behind."""
    sys.kept = b"x" * size


def test_children_and_their_private_memory_are_read_from_the_system():
    command = [sys.executable, "-c", "print(flush=True); input()"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        child.stdout.readline()
        assert child.pid in children_of(os.getpid())
        assert 2**20 < private_bytes(child.pid) < 2**26
        child.communicate(b"\n\n")
    assert private_bytes(child.pid) == 0
    assert children_of(child.pid) == []


def test_sandboxes_that_may_hold_more_than_is_free_are_told(monkeypatch):
    free = type("Free", (), {"available": 7 * 2**30})
    monkeypatch.setattr(grader_pool.psutil, "virtual_memory", lambda: free)
    assert memory_warning(2, 3 * 2**30) == ""
    assert "3 sandboxes may hold 9 GiB, and 7.0 GiB are free" in memory_warning(3, 3 * 2**30)


def bomb() -> bytes:
    """Less than a megabyte of archive, a gigabyte once it is parsed."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        text = '{"cells": [], "metadata": [' + ",".join(['{"": 0}'] * 5_000_000) + "]}"
        archive.writestr("x.ipynb", text)
    return stream.getvalue()


def pictures() -> str:
    """Honest work with 20 MB of pictures."""
    output = {"output_type": "display_data", "data": {"image/png": "A" * 20_000_000}}
    cell = {"cell_type": "code", "metadata": {}, "outputs": [output], "source": "x = 1"}
    return json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def grader_processes(process: psutil.Process) -> list[psutil.Process]:
    """A process and its descendants, but those of a sandbox, which have a limit of their own."""
    with suppress(psutil.Error):
        if process.name() not in ("bwrap", "prlimit", "setpriv"):
            family = map(grader_processes, process.children())
            return [process, *(member for members in family for member in members)]
    return []


def proportional_memory(process: psutil.Process) -> int:
    """The memory of a process, with its share of what it shares."""
    with suppress(psutil.Error):
        return process.memory_full_info().pss
    return 0


@pytest.mark.nightly
def test_the_grader_and_its_processes_hold_less_than_600_mb_of_a_hostile_class(tmp_path):
    folder = tmp_path / "submissions"
    folder.mkdir()
    for name in ("ann", "ben"):
        (folder / f"{name}.ipynb").write_text(notebook(GIVEN, HOARD, "hoard()"), "utf8")
    (folder / "zoe.zip").write_bytes(bomb())
    (folder / "max.ipynb").write_text(pictures(), "utf8")
    out, peak = tmp_path / "grades.csv", 0
    command = [sys.executable, "-m", "classroom", "grade", folder, "--exercise", "09_multi_head",
               "--out", out, "--secret", tmp_path / "secret", "--jobs", "2"]  # fmt: skip
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL) as grader:
        while grader.poll() is None:
            family = grader_processes(psutil.Process(grader.pid))
            peak = max(peak, sum(map(proportional_memory, family)))
            time.sleep(0.05)
    assert grader.returncode == 0
    assert MEMORY_TOGETHER < peak < MOST_MEMORY, f"{peak >> 20} MB"
    rows = {line.split(",")[0]: line for line in out.read_text("utf8").splitlines()}
    assert "out of memory" in rows["ann"]
    assert "out of memory" in rows["ben"]
    assert "wrong" in rows["ann"], "its other tasks are graded"
    assert "not attempted" in rows["max"]


def test_the_files_of_the_system_do_not_count_for_a_sandbox_that_is_being_set_up():
    assert files_in_memory(os.getpid()) == 0
