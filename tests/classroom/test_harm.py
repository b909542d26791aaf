"""One submission harms nobody: not the others, not the grader, and not its own right answers."""

from __future__ import annotations

import ctypes
import subprocess
from concurrent.futures import BrokenExecutor, Executor, Future
from dataclasses import replace

import numpy as np
import pytest

from checks.notebook import defines
from checks.wire.values import taken_apart
from classroom.__main__ import main
from classroom.grading import batch
from classroom.grading.batch import grade_class
from classroom.grading.grades import SubmissionGrade, TaskGrade
from classroom.grading.submission_grader import GradingPlan, SubmissionGrader, grade_submission
from classroom.processes import SupervisedPool
from classroom.provided import make_provider, provider_process
from classroom.report.statistics import in_statistics
from classroom.sandbox import isolation
from classroom.sandbox.doctor import examine_sandbox
from classroom.sandbox.isolation import Limits, control_group
from classroom.sandbox.remote_answer import answer_named, run_cells
from classroom.sandbox.sandbox import Sandbox, SandboxEndedError
from classroom.status import GradeStatus
from classroom.submissions import Submission
from tests.classroom.attacks import FIRST, MIX, RIGHT
from tests.classroom.test_attacks import LIMITS, notebook

PLAN = GradingPlan("07_self_attention", b"a secret of the tests alone", ("7.1", "7.2"), LIMITS)


def graded(*cells: str, plan: GradingPlan = PLAN) -> SubmissionGrade:
    return grade_submission(Submission("anna", "anna.ipynb", (FIRST, *cells)), plan, 7)


def statuses(result: SubmissionGrade) -> list[str]:
    return [grade.status for grade in result.grades]


@pytest.mark.parametrize(
    ("cell", "reason"),
    [("while True: pass", "its time was over"), ("x = bytearray(2**31)\nx[::4096] = x[1::4096]",
     "it held more than 1024 MiB"), ("import os\nos._exit(0)", "its process ended")],
    ids=["a loop", "2 GiB", "an exit"],
)  # fmt: skip
def test_a_cell_that_ends_the_sandbox_is_left_out_and_the_answers_count(cell, reason):
    plan = replace(PLAN, limits=replace(LIMITS, cells=10.0))
    result = graded(cell, MIX, RIGHT, plan=plan)
    assert statuses(result) == ["passed", "passed"]
    assert f"cell 2 was left out: {reason}" in result.summary


@pytest.mark.nightly
def test_the_cell_that_took_most_of_the_time_is_left_out_not_the_one_at_its_end():
    plan = replace(PLAN, limits=replace(LIMITS, cells=12.0))
    slow, short = "import time\ntime.sleep(9)", "import time\ntime.sleep(4)"
    result = graded(slow, f"{short}\n{MIX}", RIGHT, plan=plan)
    assert statuses(result) == ["passed", "passed"]
    assert "cell 2 was left out" in result.summary


@pytest.mark.nightly
def test_an_answer_whose_cell_never_ends_is_timed_out_and_the_cell_named():
    plan = replace(PLAN, limits=replace(LIMITS, cells=10.0))
    result = graded(MIX, f"{RIGHT}\nwhile True: pass", plan=plan)
    assert statuses(result) == ["passed", "timed out"]
    assert "(cell 3) was left out: its time was over" in result.grades[1].sentences[0]


def test_whatever_number_of_answers_end_their_process_a_right_one_counts():
    plan = replace(PLAN, tasks=("7.1", "7.2", "7.3", "7.5", "7.7", "7.4"))
    names = [task.name for task in plan.selected_tasks()[:5]]
    ends = [f"def {name}(*_, **__):\n    import os\n    os._exit(0)" for name in names]
    right = "def add_change(x, weights, values, w_o):\n    return x + weights @ values @ w_o"
    assert statuses(graded(*ends, right, plan=plan)) == ["crashed"] * 5 + ["passed"]


@pytest.mark.nightly
def test_the_time_of_a_whole_submission_ends():
    limits = Limits(call=5.0, submission=7.0)
    plan = replace(PLAN, limits=limits, tasks=())
    slow = "import time\ndef {}(*_, **__):\n    time.sleep(4.5)"
    result = graded(*(slow.format(task.name) for task in plan.selected_tasks()), plan=plan)
    assert set(statuses(result)) <= {"timed out", "wrong", "not attempted"}
    assert statuses(result)[-1] == "timed out"
    assert "the time of the whole submission was over (7 seconds)" in result.summary
    assert result.seconds < 60


FORKS = """
import os
while True:
    os.fork()
"""


def test_a_cell_that_forks_without_end_costs_nothing_but_itself_at_every_run():
    results = [graded(FORKS, MIX, RIGHT) for _ in range(3)]
    assert [statuses(result) for result in results] == [["passed", "passed"]] * 3


def test_no_process_of_one_task_lives_on_into_the_next():
    leaves = """
import os, time
def mix(weights, values):
    if os.fork() == 0:
        time.sleep(600)
    return weights @ values
def others():
    return sum(name.isdigit() for name in os.listdir("/proc"))
"""
    with Sandbox() as sandbox:
        run_cells(sandbox, [leaves])
        before = answer_named(sandbox, "others")()
        answer_named(sandbox, "mix")(np.eye(2), np.eye(2))
        assert answer_named(sandbox, "others")() == before


def test_a_million_empty_lines_and_names_of_a_million_letters_are_searched_at_once():
    source = "\n" * 2_000_000 + "mix = 1"
    assert defines(source, "mix")
    assert not defines(source, "attention")
    long = tuple(f"def {'m' * 60_000}{n}(): pass" for n in range(20))
    grader = SubmissionGrader(Submission("a", "a", long), PLAN, PLAN.selected_tasks(), 0)
    assert grader.grade_missing(grader.tasks[0]).status == "not attempted"


@pytest.mark.parametrize("rows", [5_310, 11_450, 60_000])
def test_what_the_exercise_gives_cannot_be_made_to_end_the_grader(rows):
    provide, x = make_provider("09_multi_head"), np.ones((rows, 4))
    request = {"name": "lib.attention.dot_product.attend", "args": taken_apart((x, x, x)),
               "kwargs": taken_apart({})}  # fmt: skip
    assert provide(request, 60.0)["error"] == "MemoryError"
    pid = provider_process("09_multi_head").pid
    small = request | {"args": taken_apart((np.eye(3),) * 3)}
    assert "value" in provide(small, 60.0)
    assert provider_process("09_multi_head").pid == pid, "and its process goes on"


class EndsOnce(Executor):
    """An engine whose process dies at the first try of each submission but the first."""

    def __init__(self):
        self.tried = set()

    def submit(self, call, submission, plan, user):
        done = Future()
        if submission.student != "anna" and submission.student not in self.tried:
            self.tried.add(submission.student)
            done.set_exception(BrokenExecutor("a process was killed"))
        else:
            done.set_result(call(submission, plan, user))
        return done


@pytest.fixture
def folder(tmp_path):
    """Three students, all of them right."""
    made = tmp_path / "submissions"
    made.mkdir()
    for name in ("anna", "bert", "carl"):
        (made / f"{name}.ipynb").write_text(notebook(FIRST, MIX, RIGHT), "utf8")
    return made


def test_who_was_graded_while_a_process_died_is_graded_again_alone(folder, tmp_path):
    out = tmp_path / "grades.csv"
    done = grade_class(folder, PLAN, out, engine=EndsOnce(), jobs=2, say=lambda line: None)
    assert {result.student: result.score for result in done} == {"anna": 10, "bert": 10, "carl": 10}


class Ends(Executor):
    """An engine that has lost all its processes."""

    def submit(self, *_):
        raise BrokenExecutor("they were killed")

    def shutdown(self, **_):
        pass


def test_rows_on_which_the_grader_failed_are_loud_and_count_nowhere(
    folder, tmp_path, capsys, monkeypatch
):
    monkeypatch.setattr(batch, "process_pool", lambda *_: Ends())
    out = tmp_path / "grades.csv"
    asked = ["grade", str(folder), "--exercise", PLAN.exercise, "--out", str(out), "--secret",
             str(tmp_path / "secret"), "--tasks", "7.1", "--i-trust-these-students"]  # fmt: skip
    assert main(asked) == 3
    errors = capsys.readouterr().err
    assert "NOT GRADED: anna" in errors
    assert "failed on 3 of 3 rows" in errors
    results = grade_class(folder, PLAN, out, engine=Ends(), say=lambda line: None)
    assert not any(map(in_statistics, results))


@pytest.mark.nightly
def test_a_submission_that_ends_its_process_of_the_grader_twice_is_the_only_row_lost(
    folder, tmp_path, monkeypatch
):
    monkeypatch.setattr(batch, "grade_submission", dies_on_bert)
    pool = SupervisedPool(2, 60.0, 2**28)
    done = grade_class(folder, PLAN, tmp_path / "g.csv", engine=pool, jobs=2, say=lambda line: None)
    pool.shutdown()
    assert [result.status for result in done] == ["passed", "not graded", "passed"]


def dies_on_bert(submission, plan, user):
    """Stand for the grading of a submission that ends the process."""
    if submission.student == "bert":
        ctypes.string_at(0)
    tasks = plan.selected_tasks()

    grades = tuple(TaskGrade(task.id, GradeStatus.PASSED, 5, 5) for task in tasks)
    return SubmissionGrade(submission.student, submission.file, plan.exercise, None,
                           grades).with_status()  # fmt: skip


def test_every_trial_of_the_doctor_holds_here():
    findings = examine_sandbox()
    assert not [str(finding) for finding in findings if not finding.sound]
    tried = " ".join(finding.what for finding in findings)
    for trial in ("keyctl", "memfd_create", "io_uring_setup", "unshare", "ptrace", "out of sight",
                  "writes outside", "stores more"):  # fmt: skip
        assert trial in tried


HOARDS = {
    "mapped and not resident": (
        "import mmap\nkept = mmap.mmap(-1, 2**29)\nkept[::4096] = bytes(2**17)\n"
        "kept.madvise(mmap.MADV_DONTNEED)\nwhile True: pass"
    ),
    "empty files": (
        "import os\nfor n in range(10**6):\n    os.close(os.open(f'/tmp/{n}', os.O_CREAT))"
    ),
}


@pytest.mark.parametrize("cell", HOARDS.values(), ids=HOARDS)
def test_memory_that_no_process_counts_as_its_own_is_counted(cell):
    with Sandbox(limits=Limits(memory=2**28)) as sandbox:
        with pytest.raises(SandboxEndedError) as ended:
            run_cells(sandbox, [cell])
        assert ended.value.status == "out of memory"


def test_where_systemd_runs_it_limits_the_memory_of_all_processes(monkeypatch):
    asked = []

    def runs(command, **_):
        asked.append(command)
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(isolation.subprocess, "run", runs)
    limits = Limits(memory=3 * 2**20)
    group = control_group(limits)
    assert list(group) == asked[0][:-1]
    assert f"MemoryMax={limits.memory + isolation.SPARE_MEMORY}" in group
    command = isolation.sandboxed_command(limits, 30_007, 3)
    assert command[: len(group)] == list(group)
    assert command.index("systemd-run") < command.index("prlimit") < command.index("bwrap")
    control_group.cache_clear()


def test_a_result_too_large_to_send_is_a_wrong_answer_and_the_sandbox_goes_on():
    from checks.task import Case

    cell = "import numpy as np\ndef many(x):\n    return [np.zeros(4 * 10**6)] * 8"
    with Sandbox() as sandbox:
        run_cells(sandbox, [cell])
        outcome = answer_named(sandbox, "many").observe(Case((1,)), "numpy", None, 9.0)
        assert "more numbers or text" in outcome.value.words
        assert sandbox.ended is None
