"""A folder becomes a table: one row each, the same when run again, killed, or out of disk."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import subprocess
import sys
from concurrent.futures import BrokenExecutor, Executor, Future
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import psutil
import pytest

from classroom.__main__ import main
from classroom.feedback_pages import feedback_page
from classroom.gradebook.deadlines import LatePolicy
from classroom.gradebook.tables import UnwritableError, escape_cell, write_whole
from classroom.grading import batch, submission_grader
from classroom.grading.batch import grade_class
from classroom.grading.class_table import refuse_inside
from classroom.grading.grades import SubmissionGrade, TaskGrade, from_json
from classroom.grading.grades_table import grades_csv, read_grades
from classroom.grading.hidden_cases import hidden_task
from classroom.grading.results_log import ResultsLog
from classroom.grading.secret_rounds import read_secret
from classroom.grading.submission_grader import GradingPlan
from classroom.provided import exercise_named, provided_functions
from classroom.status import GradeStatus
from tests.classroom.attacks import FIRST, MIX, RIGHT, WRONG
from tests.classroom.test_attacks import LIMITS, notebook

ROOT = Path(__file__).resolve().parents[2]
PLAN = GradingPlan("07_self_attention", b"a secret of the tests alone", ("7.1", "7.2"), LIMITS)


class Noting(Executor):
    """An engine that runs at once and notes which tasks it was asked for."""

    def __init__(self, asked):
        self.asked = asked

    def submit(self, call, submission, plan, user):
        self.asked.append(plan.tasks)
        done = Future()
        done.set_result(call(submission, plan, user))
        return done

    def shutdown(self, **_):
        pass


@pytest.fixture(autouse=True)
def graded_here(monkeypatch):
    """Grade in this process; the commands, the attacks and the cluster start some of their own."""
    monkeypatch.setattr(batch, "process_pool", lambda *_: Noting([]))


@pytest.fixture
def folder(tmp_path):
    """Three students: right, wrong, and one whose file is cut off."""
    made = tmp_path / "submissions"
    made.mkdir()
    (made / "anna.ipynb").write_text(notebook(FIRST, MIX, RIGHT), "utf8")
    (made / "bert.ipynb").write_text(notebook(FIRST, MIX, WRONG), "utf8")
    (made / "carl.ipynb").write_text(notebook(FIRST, MIX, RIGHT)[:-9], "utf8")
    return made


def rows(path: Path) -> list[dict]:
    return list(csv.DictReader(io.StringIO(path.read_text("utf8"))))


def without_seconds(path: Path) -> list[dict]:
    return [{key: value for key, value in row.items() if key != "seconds"} for row in rows(path)]


def test_the_table_says_for_each_student_what_and_why(folder, tmp_path):
    lines = []
    grade_class(folder, PLAN, tmp_path / "grades.csv", say=lines.append)
    anna, bert, carl = rows(tmp_path / "grades.csv")
    assert [row["status"] for row in (anna, bert, carl)] == ["passed", "wrong", "unreadable"]
    assert [row["score"] for row in (anna, bert, carl)] == ["10", "5", "0"]
    assert {row["max"] for row in (anna, bert, carl)} == {"10"}
    assert (bert["7.1"], bert["7.2"], bert["7.2 status"]) == ("5", "0", "wrong")
    assert "No scaling." in bert["message"]
    assert "not a notebook" in carl["message"]
    assert anna["seed"] == PLAN.fingerprint
    assert len(anna["sha256"]) == 64
    assert len(lines) == 3
    assert lines[-1].startswith("3/3")


def test_run_twice_it_grades_nothing_again_and_writes_the_same(folder, tmp_path, monkeypatch):
    out = tmp_path / "grades.csv"
    grade_class(folder, PLAN, out, say=lambda line: None)
    first = out.read_bytes()
    monkeypatch.setattr(batch, "process_pool", None)
    with pytest.raises(TypeError):
        grade_class(folder, replace(PLAN, secret=b"another secret of the tests"), out)
    monkeypatch.setattr(batch, "process_pool", lambda *_: Refusing())
    grade_class(folder, PLAN, out, say=lambda line: None)
    assert out.read_bytes() == first


class Refusing(Executor):
    """An engine that must not be used."""

    def submit(self, *_):
        raise AssertionError("it was graded again")

    def shutdown(self, **_):
        pass


def test_one_task_is_graded_again_without_the_others(folder, tmp_path, monkeypatch):
    out = tmp_path / "grades.csv"
    grade_class(folder, PLAN, out, say=lambda line: None)
    before = rows(out)
    asked = []
    real = submission_grader.grade_submission
    monkeypatch.setattr(batch, "checks_version", lambda: "another")
    monkeypatch.setattr(batch, "grade_submission", lambda *given: real(*given))
    monkeypatch.setattr(batch, "process_pool", lambda *_: Noting(asked))
    grade_class(folder, replace(PLAN, tasks=("7.2",)), out, say=lambda line: None)
    assert asked == [("7.2",)] * 3
    assert [row["7.1"] for row in rows(out)] == [row["7.1"] for row in before]


class Broken(Executor):
    """An engine whose processes are all gone."""

    def submit(self, *_):
        raise BrokenExecutor("they were killed")


def test_a_grader_that_breaks_says_so_in_every_row_and_the_next_run_grades_them(folder, tmp_path):
    out = tmp_path / "grades.csv"
    done = grade_class(folder, PLAN, out, engine=Broken(), say=lambda line: None)
    assert {result.status for result in done} == {"not graded"}
    assert all("the grader itself failed" in row["message"] for row in rows(out))
    grade_class(folder, PLAN, out, say=lambda line: None)
    assert [row["status"] for row in rows(out)] == ["passed", "wrong", "unreadable"]


def test_a_new_file_of_a_student_is_graded_and_the_old_marks_do_not_count(folder, tmp_path):
    out = tmp_path / "grades.csv"
    grade_class(folder, PLAN, out, say=lambda line: None)
    (folder / "bert.ipynb").write_text(notebook(FIRST, MIX, RIGHT), "utf8")
    grade_class(folder, PLAN, out, say=lambda line: None)
    assert [row["status"] for row in rows(out)] == ["passed", "passed", "unreadable"]


def command(folder: Path, out: Path) -> list[str]:
    return [sys.executable, "-m", "classroom", "grade", str(folder), "--exercise",
            PLAN.exercise, "--tasks", "7.1", "7.2", "--out", str(out), "--secret",
            str(out.parent / "secret"), "--jobs", "2"]  # fmt: skip


def test_killed_in_the_middle_and_run_again_it_ends_with_the_same_table(tmp_path):
    made = tmp_path / "submissions"
    made.mkdir()
    for n in range(4):
        cell = RIGHT if n % 2 else WRONG
        (made / f"student {n}.ipynb").write_text(notebook(FIRST, MIX, cell), "utf8")
    whole, broken = tmp_path / "whole" / "grades.csv", tmp_path / "broken" / "grades.csv"
    whole.parent.mkdir()
    broken.parent.mkdir()
    subprocess.run(command(made, whole), check=True, capture_output=True, cwd=ROOT)
    (broken.parent / "secret").write_bytes((whole.parent / "secret").read_bytes())
    asked = command(made, broken)
    with subprocess.Popen(asked, stdout=subprocess.PIPE, cwd=ROOT, text=True) as running:
        for line in running.stdout:
            if line.startswith("1/4"):
                break
        family = psutil.Process(running.pid).children(recursive=True)
        os.kill(running.pid, signal.SIGKILL)
    assert not broken.exists()
    _, alive = psutil.wait_procs(family, timeout=30)
    assert not alive, "its processes ended with it"
    log = broken.with_suffix(".jsonl")
    with open(log, "ab") as file:
        file.write(b'{"key": "half a li')
    kept = len(log.read_bytes().splitlines()) - 1
    again = subprocess.run(command(made, broken), check=True, capture_output=True, cwd=ROOT)
    assert kept >= 1
    assert b"4 rows" in again.stdout
    assert without_seconds(broken) == without_seconds(whole)


def test_what_a_late_submission_loses_is_said(folder, tmp_path):
    dates = tmp_path / "dates.csv"
    dates.write_text("student,date\nanna,2026-12-03T01:00\nbert,2026-12-01T10:00\n", "utf8")
    late = LatePolicy.from_csv(dates, "2026-12-01T23:59", 0.1)
    assert late.factor("anna") == pytest.approx(0.8), "two days have begun"
    assert late.factor("bert") == late.factor("carl") == 1
    grade_class(folder, PLAN, tmp_path / "grades.csv", late=late, say=lambda line: None)
    anna, bert, _ = rows(tmp_path / "grades.csv")
    assert (anna["score"], anna["7.2"], anna["late factor"]) == ("8", "5", "0.8")
    assert (bert["score"], bert["late factor"]) == ("5", "1")
    assert LatePolicy(datetime(2026, 1, 1), 0.5, {"x": datetime(2026, 2, 1)}).factor("x") == 0


SQUARE = """
def attention(q, k, v):
    scores = q @ k.T / np.sqrt(q.shape[-1])
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    if len(q) == len(k):
        return weights / weights.sum(-1, keepdims=True) @ v
    return weights / weights.sum(-1, keepdims=True) @ v * 2
"""


def test_a_wrong_answer_earns_for_its_right_cases_only_where_the_teacher_says_so(folder, tmp_path):
    cases = hidden_task(exercise_named(PLAN.exercise)["7.2"]).draw(PLAN.seed)
    share = sum(len(case.args[0]) == len(case.args[1]) for case in cases) / len(cases)
    assert 0 < share < 1
    (folder / "dora.ipynb").write_text(notebook(FIRST, MIX, SQUARE), "utf8")
    out = tmp_path / "grades.csv"
    for partial in (0.0, 0.5, 0.0):
        grade_class(folder, replace(PLAN, partial_credit=partial), out, say=lambda line: None)
        anna, bert, _, dora = rows(out)
        assert anna["7.2"] == "5"
        assert (bert["7.2"] == "0") == (partial == 0), "with one feature there is nothing to scale"
        assert float(dora["7.2"]) == pytest.approx(5 * partial * share, abs=0.005)
        assert float(dora["score"]) == float(dora["7.1"]) + float(dora["7.2"])
        assert dora["7.2 status"] == "wrong"
    assert len(out.with_suffix(".jsonl").read_text("utf8").splitlines()) == 4, "nothing ran twice"


def test_pages_show_the_points_of_the_table_a_teacher_may_have_changed(folder, tmp_path):
    out, dates = tmp_path / "grades.csv", tmp_path / "dates.csv"
    dates.write_text("student,date\nbert,2026-12-02T01:00\n", "utf8")
    grade_class(
        folder,
        PLAN,
        out,
        late=LatePolicy.from_csv(dates, "2026-12-01T00:00", 0.2),
        say=lambda line: None,
    )
    bert = rows(out)[1]
    assert (bert["7.2"], bert["late factor"], bert["score"]) == ("0", "0.6", "3")
    out.write_text(out.read_text("utf8").replace("bert,wrong,3,10,5,0", "bert,wrong,3,10,5,2.5"))
    results, _ = read_grades(out)
    assert [mark.points for mark in results[1].grades] == [5, 2.5]
    assert results[1].score == pytest.approx(4.5)
    assert "0.6 of the points" in feedback_page(results[1], exercise_named(PLAN.exercise), "")
    out.write_text(out.read_text("utf8").replace("5,2.5", "5,half"))
    with pytest.raises(ValueError, match="row of bert"):
        read_grades(out)


def test_a_table_of_dates_without_its_columns_is_refused(tmp_path):
    (tmp_path / "dates.csv").write_text("name,when\nanna,2026-12-01\n", "utf8")
    with pytest.raises(ValueError, match="must have the columns student, date"):
        LatePolicy.from_csv(tmp_path / "dates.csv", "2026-12-01", 0.1)


def marked(**more) -> SubmissionGrade:
    return SubmissionGrade(
        **(
            {
                "student": "anna",
                "file": "anna.ipynb",
                "exercise": PLAN.exercise,
                "status": GradeStatus.WRONG,
            }
            | more
        )
    )


@pytest.mark.parametrize("name", ["=1+1", "+1", "-rf", "@SUM(A1)", "\t=1", " =1", "\r=1"])
def test_no_cell_is_a_formula(name):
    line = grades_csv([marked(student=name)], []).splitlines()[1]
    assert line.startswith("'")


@pytest.mark.parametrize("text", ['say "a, b"', "two\nlines", "\x00nul", "<b>", "\udcff", "ø 漢"])
def test_odd_text_stays_in_its_cell(text):
    lines = list(csv.reader(io.StringIO(grades_csv([marked(message=text)], []))))
    assert len(lines) == 2
    assert len(lines[0]) == len(lines[1])
    assert all(character.isprintable() for character in lines[1])


def test_a_number_is_no_text():
    assert escape_cell(-1.5) == -1.5


def test_results_survive_the_journal_and_a_damaged_line_is_made_again(tmp_path):
    result = marked(
        grades=(TaskGrade("7.1", GradeStatus.PASSED, 5, 5, ("Right.",), ("M01",), "shown", "read"),)
    )
    log = ResultsLog(tmp_path / "deep" / "grades.jsonl")
    log.append("a", result)
    log.close()
    with open(log.path, "ab") as file:
        file.write(b'{"key": "b", "result": {"student": 1}}\nnonsense\n{"key": "c", "mar')
    again = ResultsLog(log.path)
    assert again.known == {"a": result}
    again.append("d", replace(result, student="dora"))
    again.close()
    last = ResultsLog(log.path)
    assert {key: result.student for key, result in last.known.items()} == {"a": "anna", "d": "dora"}
    last.close()
    data = json.loads(log.path.read_bytes().splitlines()[0])["result"]
    assert from_json(data) == result


def test_a_full_disk_is_said_and_loses_nothing(tmp_path):
    if not Path("/dev/full").exists():
        pytest.fail("this test needs /dev/full")
    with open("/dev/full", "ab", buffering=0) as full:
        log = ResultsLog(tmp_path / "grades.jsonl")
        log.append("a", marked())
        log.close()
        log.file = full
        with pytest.raises(UnwritableError, match="No space left"):
            log.append("b", marked())
    again = ResultsLog(tmp_path / "grades.jsonl")
    again.close()
    assert list(again.known) == ["a"]


def test_a_table_is_written_whole_or_not_at_all(tmp_path):
    out = tmp_path / "grades.csv"
    write_whole(out, "old")
    with pytest.raises(UnwritableError, match="cannot be written"):
        write_whole(tmp_path / "nothing" / "grades.csv", "new")
    with pytest.raises(UnicodeEncodeError):
        write_whole(out, "\ud800")
    assert out.read_text() == "old"


def test_what_cannot_be_done_is_said_before_anything_is_graded(folder, tmp_path, capsys):
    there = ["--out", str(tmp_path / "g.csv"), "--secret", str(tmp_path / "secret")]
    asked = ["grade", str(folder), "--exercise", "07_self_attention", *there]
    assert main(["grade", str(folder), "--exercise", "99_none", *there]) == 2
    assert "must be one of 00_start, 01_first_lap" in capsys.readouterr().err
    assert main([*asked, "--tasks", "7.99"]) == 2
    assert "no task '7.99'" in capsys.readouterr().err
    assert main([*asked, "--due", "2026-12-01"]) == 2
    assert "belong together" in capsys.readouterr().err
    assert main(["grade", str(tmp_path / "none"), *asked[2:]]) == 2
    assert "is not a folder" in capsys.readouterr().err
    (tmp_path / "file").write_text("")
    assert main([*asked[:4], "--out", str(tmp_path / "file" / "g.csv"), *there[2:]]) == 3
    assert "cannot be written" in capsys.readouterr().err


def test_the_secret_is_made_once_and_kept_from_others(tmp_path):
    first = read_secret(tmp_path / "secret")
    assert read_secret(tmp_path / "secret") == first
    assert (tmp_path / "secret").stat().st_mode & 0o077 == 0
    assert len(first) >= 32
    (tmp_path / "short").write_text("x")
    with pytest.raises(ValueError, match="must hold a secret"):
        read_secret(tmp_path / "short")


def test_a_new_secret_on_request_keeps_the_old_one(folder, tmp_path, capsys):
    words = ["grade", str(folder), "--exercise", PLAN.exercise, "--tasks", "7.1", "--out",
             str(tmp_path / "g.csv"), "--secret", str(tmp_path / "secret"),
             "--i-trust-these-students"]  # fmt: skip
    (folder / "anna.ipynb").unlink()
    (folder / "bert.ipynb").unlink()
    assert main(words) == 0
    first = read_secret(tmp_path / "secret")
    assert main([*words, "--new-secret"]) == 0
    assert "New hidden cases" in capsys.readouterr().out
    name = GradingPlan(PLAN.exercise, first).fingerprint
    assert read_secret(tmp_path / "secret") != first
    assert read_secret(tmp_path / f"secret.{name}") == first
    assert (tmp_path / "secret").stat().st_mode & 0o077 == 0


def test_hidden_cases_follow_the_secret():
    task = PLAN.selected_tasks()[1]
    draws = [
        task.draw(replace(PLAN, secret=secret).seed)[0].args[0].tolist() for secret in (b"a", b"b")
    ]
    assert draws[0] != draws[1]
    assert PLAN.fingerprint != replace(PLAN, secret=b"b").fingerprint
    assert b"secret" not in PLAN.fingerprint.encode()


def test_an_exercise_gives_what_its_page_imports_and_no_answer_of_its_own():
    given = provided_functions("08_masking")
    assert "attend" in given["lib.attention.dot_product"]
    for name in ("05_scaling", "07_self_attention", "12_gpt2", "14_cost"):
        answers = [task.reference for task in exercise_named(name).tasks]
        held = [value for names in provided_functions(name).values() for value in names.values()]
        assert not any(value is answer for value in held for answer in answers)


def test_time_left_is_shown():
    line = batch.progress_line(10, 40, 60.0, marked())
    assert line.startswith("10/40")
    assert "3 min 0 s left" in line


def test_marks_and_secrets_do_not_lie_where_students_get_them(tmp_path):
    handout, folder = tmp_path / "handout", tmp_path / "submissions"
    (handout / "exercises").mkdir(parents=True)
    (handout / "exercises" / "07_self_attention.checks").touch()
    refuse_inside(folder, tmp_path / "grades.csv")
    for path in (handout / "grades.csv", handout / "exercises" / "deep" / "grading.secret"):
        with pytest.raises(ValueError, match="lies in handout, the folder that students get"):
            refuse_inside(folder, path)


def test_git_ignores_what_a_teacher_keeps():
    kept = [
        "grading.secret",
        "grading.secret.s1",
        "week-3/marks/grades.csv",
        "class.csv",
        "gradebook.csv",
    ]
    done = subprocess.run(["git", "check-ignore", *kept], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout.split() == kept
