"""The record of results: kept through everything, sent nowhere, forgotten at a word."""

import json
import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from traitlets.config import Config

from checks import Case, Exercise, Task, Wrong, grade_source, judge
from checks.feedback.verdict import ReadingList, Table, Verdict
from checks.notebook import Check
from checks.progress import log, summary
from checks.progress.log import Note
from checks.status import Status


def task(id_, name, read="chapters/05_scaling.html") -> Task:
    return Task(
        id=id_, name=name, title=f"Task {id_}", difficulty=1, importance=1, minutes=1, read=read,
        reference=lambda x: x + 1, cases=lambda rng: [Case((rng.normal(size=3),))],
        wrong=[Wrong("M01", lambda x: x + 2), Wrong("M02", lambda x: x + 3)],
    )  # fmt: skip


SCALING = Exercise("05", "Scaling", [task("5.1", "one"), task("5.2", "two")])
LATER = Exercise(
    "17", "All of it", [task("17.1", "three"), task("17.2", "four", "chapters/08.html")]
)


@pytest.fixture
def file(tmp_path, monkeypatch) -> Path:
    """A place of its own for the record, which does not exist yet."""
    path = tmp_path / "learner" / "record.jsonl"
    monkeypatch.setenv(log.VARIABLE, str(path))
    monkeypatch.setattr(summary, "all_exercises", lambda: [SCALING, LATER])
    monkeypatch.setattr(log, "_unwritten", "")
    return path


def verdict(task="5.1", status="passed", *named) -> Verdict:
    return Verdict(Status(status), task, f"Task {task}", misconceptions=named)


def noted(*verdicts) -> summary.ProgressSummary:
    for n, judged in enumerate(verdicts):
        log.note(judged, f"answer {n}")
    return summary.read_progress()


def face(exercise=SCALING, live=True, **namespace) -> Check:
    check = Check(exercise, namespace)
    check.live = live
    return check


# What is noted.


def test_a_check_in_a_notebook_is_noted_and_one_outside_is_not(file):
    face(live=False, one=lambda x: x + 1)("5.1")
    assert not file.exists()
    face(one=lambda x: x + 2)("5.1")
    face(one=lambda x: x + 1)("5.1")
    assert [note[:3] for note in log.read_notes().notes] == [
        ("5.1", "wrong", ("M01",)), ("5.1", "passed", ())
    ]  # fmt: skip


def test_nothing_is_noted_of_what_was_not_attempted_and_of_a_table_of_progress(file):
    check = face(one=..., two=lambda x: x + 1)
    check("5.1")
    check.progress()
    check.overview()
    assert not file.exists()


def test_grading_writes_nothing(file):
    judge(SCALING.tasks[0], lambda x: x + 1)
    grade_source(SCALING.tasks[0], "def one(x): return x + 1")
    assert not file.exists()


def test_a_note_holds_no_answer_and_no_name(file):
    noted(verdict())
    held = json.loads(file.read_text("utf8"))
    assert set(held) == {"task", "status", "misconceptions", "answer", "time"}
    assert re.fullmatch("[0-9a-f]{64}", held["answer"])
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_off_notes_nothing(monkeypatch):
    for word in ("off", "OFF", ""):
        monkeypatch.setenv(log.VARIABLE, word)
        assert log.log_path() == Path(os.devnull)
        log.note(verdict())
        assert log.read_notes() == ([], [])
        assert log.forget() == "Nothing is noted."
    assert Path(os.devnull).exists()


def test_without_a_word_the_record_lies_in_the_users_data_and_not_in_the_course(monkeypatch):
    monkeypatch.delenv(log.VARIABLE, raising=False)
    course = Path(log.__file__).resolve().parents[2]
    assert log.log_path().name == "record.jsonl"
    assert course not in log.log_path().parents


# Nothing is lost, and nobody is stopped.


def test_two_notebooks_at_once_lose_no_line(file):
    code = (
        "from checks import Verdict; from checks.progress import log\n"
        "for n in range(100): log.note(Verdict('wrong', '5.1', 'x' * n), str(n))"
    )
    both = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(3)]
    assert [process.wait() for process in both] == [0, 0, 0]
    assert len(log.read_notes().notes) == 300
    assert log.read_notes().remarks == []


@pytest.mark.parametrize(
    "damage",
    [b'{"task": "5.1", "sta', b"\x00\xff\xfe", b"[" * 100_000, b"3", b"null", b'{"task": 5}',
     b'{"task": "5.1", "status": "great", "misconceptions": [], "answer": ""}',
     b'{"task": "<b>", "status": "passed", "misconceptions": [], "answer": ""}',
     b'{"task": "5.1", "status": "wrong", "misconceptions": [7], "answer": ""}',
     b'{"task": "5.1", "status": [], "misconceptions": 7, "answer": ""}'],
)  # fmt: skip
def test_a_damaged_line_spoils_only_itself_and_is_left_as_found(file, damage):
    noted(verdict("5.1"))
    with file.open("ab") as held:
        held.write(damage)  # without an end of the line, as a killed notebook leaves it
    progress = noted(verdict("5.2"))
    assert [note.task for note in log.read_notes().notes] == ["5.1", "5.2"]
    assert "1 line is damaged and left as found" in repr(progress)
    assert damage in file.read_bytes()


def test_where_nothing_can_be_written_the_check_goes_on_and_the_record_says_so(file):
    file.parent.write_text("a file where the folder should be")
    check = face(one=lambda x: x + 1)
    assert check("5.1").passed
    assert "could not be" in repr(check.record())
    file.parent.unlink()
    check("5.1")
    assert "could not be" not in repr(check.record())


def test_a_folder_in_the_place_of_the_file_is_told(file):
    file.mkdir(parents=True)
    assert "could not be read" in repr(noted(verdict()))
    assert "Nothing is noted." in log.forget()


# What it amounts to.


def test_an_empty_record_is_a_sentence(file):
    assert repr(summary.read_progress()).startswith("Nothing is noted yet")
    assert "<table>" not in summary.read_progress()._repr_html_()


def test_results_are_counted_by_the_skill_to_which_a_task_sends_its_reader(file):
    progress = noted(verdict("5.1"), verdict("17.1", "wrong", "M01"), verdict("17.2"))
    rows = {row[0]: row[1:4] for row in progress._tables()[0].rows}
    assert rows == {"Scaling": ("1 of 3", 1, "0 of 1"), "All of it": ("1 of 1", 1, "")}
    assert "2 of 4 tasks passed" in repr(progress)


def test_running_the_same_answer_again_is_no_other_attempt(file):
    for text in ("a", "a", "b", "c"):
        log.note(verdict("5.1", "passed" if text == "c" else "wrong"), text)
    log.note(verdict("5.1", "wrong"), "d")
    standing = summary.read_progress().standings[0]
    assert (standing.passed, standing.tries, standing.first_try) == (True, 3, False)


def test_only_the_first_attempt_is_at_once(file):
    assert noted(verdict("5.1")).standings[0].first_try
    assert not noted(verdict("5.2", "wrong"), verdict("5.2")).standings[1].first_try


def test_a_misconception_is_overcome_when_its_task_passed_since_and_open_again_when_it_returns():
    notes = [Note("5.1", "wrong", ("M01",)), Note("5.1", "wrong", ("M02",)), Note("5.1", "passed")]
    assert summary.standing(SCALING.tasks[0], "s", notes).met == {"M01": True, "M02": True}
    notes.append(Note("5.1", "wrong", ("M01",)))
    assert summary.standing(SCALING.tasks[0], "s", notes).met == {"M01": False, "M02": True}


def test_a_misconception_met_in_two_tasks_is_overcome_in_both_or_not_at_all(file):
    progress = noted(verdict("5.1", "wrong", "M01"), verdict("5.2", "wrong", "M01"), verdict("5.1"))
    assert progress.misconceptions() == [
        {"id": "M01", "name": "no scaling", "tasks": ["5.1", "5.2"], "overcome": False}
    ]
    assert noted(verdict("5.2")).misconceptions()[0]["overcome"]


def test_what_to_read_again_is_a_link_in_a_notebook_and_words_in_a_terminal(file):
    progress = noted(verdict("5.1", "wrong", "M01"))
    assert "chapter 5, scaling, “The divisor”" in repr(progress)
    assert '<a class="course-read" href="../chapters/05_scaling.ipynb#the-divisor">' in (
        progress._repr_html_()
    )
    assert "chapter" not in repr(noted(verdict("5.1")))


def test_notes_of_tasks_and_ideas_that_are_gone_are_passed_over(file):
    progress = noted(verdict("99.9"), verdict("5.1", "wrong", "M9999"))
    assert [standing.task.id for standing in progress.standings] == ["5.1"]
    assert progress.misconceptions() == []
    repr(progress)


def test_nothing_of_a_note_runs_in_the_page(file):
    noted(verdict("5.1", "wrong", "<script>"))
    assert "<script>" not in summary.read_progress()._repr_html_()


def test_forgetting_removes_every_trace(file):
    noted(verdict())
    assert face().forget() == "All that was noted is removed."
    assert not file.exists()
    assert repr(summary.read_progress()).startswith("Nothing is noted yet")


# Of all the course.


def test_every_task_of_the_course_has_one_skill(monkeypatch):
    every = summary.all_exercises()
    grouped = summary.tasks_by_skill(every)
    assert len(grouped) == len(every)
    assert sorted(task.id for tasks in grouped.values() for task in tasks) == sorted(
        task.id for exercise in every for task in exercise.tasks
    )
    assert "17.6" in [task.id for task in grouped["Multi-head attention"]]


# The export says what it proves.


def test_an_exported_file_shows_whether_it_was_changed_and_claims_no_more(file, tmp_path):
    progress = noted(verdict("5.1", "wrong", "M01"), verdict("5.1"), verdict("17.1"))
    path = tmp_path / "results.json"
    written = progress.export(path)
    assert summary.unharmed(path)
    assert written == json.loads(path.read_text("utf8"))
    assert written["tasks"][0] == {
        "task": "5.1", "title": "Task 5.1", "passed": True, "tries": 2,
        "answer_sha256": log.hashlib.sha256(b"answer 1").hexdigest(),
    }  # fmt: skip
    assert written["skills"] == [
        {"skill": "Scaling", "tasks": 3, "passed": 2, "at_once": 1,
         "misconceptions": 1, "overcome": 1}
    ]  # fmt: skip
    assert "proves neither" in written["worth"]
    path.write_text(path.read_text("utf8").replace('"tries": 2', '"tries": 1'), "utf8")
    assert not summary.unharmed(path)


def test_the_course_is_known_by_all_that_marks_an_answer():
    version = summary.course_version()
    assert version == summary.course_version()
    assert re.fullmatch("[0-9a-f]{64}", version["checks_sha256"])
    assert version["version"]


def test_tables_keep_their_form():
    table = Table(("a", "b"), [("<x>", ReadingList(("chapters/05_scaling.html",)))], "f")
    assert "&lt;x&gt;" in table._repr_html_()
    assert "05_scaling.ipynb" in table._repr_html_()
    assert "chapter 5, scaling" in repr(table)


# In a real notebook.


def test_a_learner_in_a_notebook_is_followed_from_a_mistake_to_a_pass(file):
    cells = [
        "import numpy as np\nfrom checks import exercise\ncheck = exercise('06_softmax')",
        "check('6.3')",
        "def at_temperature(weights, temperature):\n    return weights",
        "check('6.3')",
        "check('6.3')",
        "def at_temperature(weights, temperature):\n"
        "    powers = (weights / weights.max(-1, keepdims=True)) ** (1 / temperature)\n"
        "    return powers / powers.sum(-1, keepdims=True)",
        "check = exercise('06_softmax')",  # the first cell once more
        "check('6.3')",
        "check.record()",
    ]
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(source) for source in cells]
    )
    socket = Config(ConnectionFileMixin={"transport": "ipc", "ip": str(file.parents[1] / "k")})
    NotebookClient(notebook, kernel_name="python3", timeout=120, config=socket).execute()
    notes = log.read_notes().notes
    assert [(note.status, note.misconceptions) for note in notes] == [
        ("wrong", ("M178",)), ("wrong", ("M178",)), ("passed", ())
    ]  # fmt: skip
    assert notes[0].answer == notes[1].answer != notes[2].answer
    assert notes[2].answer == log.hashlib.sha256(cells[5].encode()).hexdigest()
    shown = notebook.cells[-1].outputs[0].data["text/plain"]
    assert re.search(r"Softmax +1 of \d+ +0 +1 of 1", shown)
    assert "M178" in shown
    assert "overcome" in shown
    assert str(file.parent) not in shown
