"""No submission gets points that it has not earned, loses others theirs, or harms the machine."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path

import psutil
import pytest

from classroom.grading.batch import MAX_USERS, grade_class
from classroom.grading.grader_pool import process_pool
from classroom.grading.submission_grader import GradingPlan
from classroom.sandbox.isolation import Limits
from tests.classroom.attacks import ATTACKS, FIRST, MIX, RIGHT

LIMITS = Limits(memory=2**30, cells=15.0, call=6.0)
SHORT = Limits(memory=2**30, cells=10.0, call=3.0)  # for what must use up its time
USERS = 40_000  # other tests have sandboxes of their own at the same time
SECRET = b"a secret of the tests alone"


def notebook(*cells: str) -> str:
    """A notebook with these cells."""
    listed = [
        {"cell_type": "code", "metadata": {}, "outputs": [], "source": source} for source in cells
    ]
    return json.dumps({"cells": listed, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def name_of(number: int, attack: str) -> str:
    """A file name that sorts in the order of the attacks."""
    return f"{number:03d} {attack}".replace("*", "x")


def write_attacks(folders: Path, words: dict[str, str]) -> None:
    """Write the attacks, with the words of this run, and honest work between them."""
    for speed in ("quick", "slow"):
        (folders / speed).mkdir()
    for number, (name, attack) in enumerate(ATTACKS.items()):
        cells = [FIRST, MIX, *attack.cells]
        for word, meant in words.items():
            cells = [cell.replace(word, meant) for cell in cells]
        folder = folders / ("slow" if attack.status == "timed out" else "quick")
        (folder / f"{name_of(number, name)}.ipynb").write_text(notebook(*cells), "utf8")
        if number % 10 == 5:
            honest = folders / "quick" / f"{number:03d} honest.ipynb"
            honest.write_text(notebook(FIRST, MIX, RIGHT), "utf8")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """All of them graded in one run, honest work between them: rows, and the host afterwards."""
    folders, marker = tmp_path_factory.mktemp("submissions"), tmp_path_factory.mktemp("marker")
    marker.chmod(0o777)
    out = tmp_path_factory.mktemp("grades")
    os.environ["GRADING_CANARY"] = "sings"
    with socket.create_server(("127.0.0.1", 0)) as server:
        write_attacks(folders, {"MARKER": str(marker), "PORT": str(server.getsockname()[1])})
        done, engine = [], process_pool(2, "07_self_attention")
        for speed, limits in (("quick", LIMITS), ("slow", SHORT)):
            plan = GradingPlan("07_self_attention", SECRET, ("7.1", "7.2"), limits,
                               first_user=USERS)  # fmt: skip
            done += grade_class(folders / speed, plan, out / f"{speed}.csv", engine=engine, jobs=2,
                                say=lambda line: None)  # fmt: skip
        engine.shutdown(wait=False, cancel_futures=True)
        server.setblocking(False)
        with pytest.raises(BlockingIOError):
            server.accept()
    del os.environ["GRADING_CANARY"]
    return {result.student: result for result in done}, marker


@pytest.mark.parametrize(("number", "attack"), list(enumerate(ATTACKS)), ids=list(ATTACKS))
def test_it_gets_what_it_earned_and_harms_nothing(run, number, attack):
    rows, marker = run
    marked = rows[name_of(number, attack)]
    status = {mark.task: mark.status for mark in marked.grades}
    wanted = ATTACKS[attack]
    assert status["7.2"] == wanted.status, marked.grades
    assert marked.score == 5 * (wanted.status == "passed") + 5 * wanted.mix, marked.grades
    assert not list(marker.iterdir())


def test_no_process_is_left(run):
    mine = range(USERS, USERS + MAX_USERS)
    left = [process.info for process in psutil.process_iter(["uids", "cmdline"])
            if process.info["uids"] and process.info["uids"].real in mine]  # fmt: skip
    assert not left


def test_the_rows_of_honest_students_are_whole(run):
    honest = [result for name, result in run[0].items() if name.endswith("honest")]
    assert len(honest) == len(range(5, len(ATTACKS), 10))
    assert {(result.status, result.score) for result in honest} == {("passed", 10)}
