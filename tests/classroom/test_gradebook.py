"""What a teacher changes by hand survives every run and every spreadsheet, and is logged."""

from __future__ import annotations

import csv
import io
import subprocess
import sys
from concurrent.futures import Executor, Future
from dataclasses import replace
from pathlib import Path

import pytest

from classroom.__main__ import main, quiet_arithmetic
from classroom.feedback_pages import page_name
from classroom.gradebook.corrections import Correction, Corrections
from classroom.gradebook.names import find_student, name_student
from classroom.gradebook.tables import SEMICOLONS, read_table, table_text
from classroom.grading.batch import grade_class
from classroom.grading.class_table import refuse_table
from classroom.grading.grades import SubmissionGrade, TaskGrade
from classroom.grading.grades_table import grades_csv, read_grades
from classroom.grading.results_log import ResultsLog
from classroom.grading.submission_grader import GradingPlan
from classroom.status import GradeStatus

ROOT = Path(__file__).resolve().parents[2]
PLAN = GradingPlan("07_self_attention", b"a secret of the tests alone", ("7.1", "7.2"))


class Engine(Executor):
    """An engine that passes 7.1, and 7.2 where the file says `right`; it starts no process."""

    def submit(self, call, submission, plan, user):
        del call, user
        right = "right" in " ".join(submission.sources)
        points = {"7.1": 5, "7.2": 5 * right}
        grades = tuple(
            TaskGrade(task, GradeStatus.PASSED if points[task] else GradeStatus.WRONG,
                      points[task], 5, version="v1") for task in plan.tasks
        )  # fmt: skip
        done = Future()
        done.set_result(SubmissionGrade(
            submission.student, submission.file, plan.exercise, None, grades,
            sha256=submission.sha256, seed=plan.fingerprint,
        ).with_status())  # fmt: skip
        return done


def hand_in(folder: Path, name: str, code: str) -> None:
    text = '{"cells": [{"cell_type": "code", "source": "%s"}]}' % code  # noqa: UP031
    (folder / f"{name}.ipynb").write_text(text, "utf8")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr("classroom.grading.batch.checks_version", lambda: "v1")
    made = tmp_path / "submissions"
    made.mkdir()
    hand_in(made, "anna", "right")
    hand_in(made, "ben", "no")
    return made


def grade(folder: Path, out: Path, **more) -> list[str]:
    lines = []
    grade_class(folder, PLAN, out, engine=Engine(), say=lines.append, **more)
    return lines


def row_of(out: Path, student: str) -> dict[str, str]:
    return next(row for row in read_table(out).rows if row["student"] == student)


def change(out: Path, student: str, **cells: str) -> None:
    """Change cells of the table as a spreadsheet does."""
    table = read_table(out)
    for row in table.rows:
        if row["student"] == student:
            row.update({name.replace("_", "."): value for name, value in cells.items()})
    text = io.StringIO()
    writer = csv.DictWriter(text, table.columns, lineterminator="\r\n")
    writer.writeheader()
    writer.writerows(table.rows)
    out.write_text(text.getvalue(), "utf8", newline="")


def test_points_changed_in_the_table_survive_a_late_submission_and_are_logged(folder, tmp_path):
    out = tmp_path / "grades.csv"
    grade(folder, out)
    change(out, "ben", **{"7_2": "3"})
    hand_in(folder, "carl", "right")
    lines = grade(folder, out)
    assert (row_of(out, "ben")["7.2"], row_of(out, "ben")["score"]) == ("3", "8")
    assert row_of(out, "ben")["corrected"].startswith("7.2: 0 -> 3")
    assert any("changed by hand" in line for line in lines)
    log = read_table(tmp_path / "grades.corrections.csv").rows
    assert [(row["student"], row["task"], row["points"]) for row in log] == [("ben", "7.2", "3.0")]
    assert log[0]["by"]
    assert log[0]["when"]
    before = out.read_bytes()
    assert not any("changed" in line for line in grade(folder, out)), "they are kept once"
    assert out.read_bytes() == before


def test_a_row_that_a_teacher_added_is_not_lost_without_a_word(folder, tmp_path):
    out = tmp_path / "grades.csv"
    grade(folder, out)
    with open(out, "a", encoding="utf8") as file:
        file.write("paula,passed,10,10,5,5\n")
    assert any("the row of paula was added by hand" in line for line in grade(folder, out))
    assert not any("added by hand" in line for line in grade(folder, out))


def test_a_score_set_by_hand_stays_and_one_that_only_follows_its_tasks_is_no_change(
    folder, tmp_path
):
    out = tmp_path / "grades.csv"
    grade(folder, out)
    change(out, "ben", score="9")
    change(out, "anna", score="7", **{"7_1": "2"})
    grade(folder, out)
    assert (row_of(out, "ben")["score"], row_of(out, "anna")["score"]) == ("9", "7")
    kept = [entry.task for entry in Corrections.beside(out).entries]
    assert sorted(kept) == ["7.1", "score"]
    assert {result.student: result.score for result in read_grades(out)[0]} == {"anna": 7, "ben": 9}


def test_the_command_corrects_says_why_to_the_student_and_takes_it_back(folder, tmp_path, capsys):
    out = tmp_path / "grades.csv"
    grade(folder, out)
    asked = ["correct", str(out), "ben", "7.2"]
    assert main([*asked, "2,5", "--why", "Your scale was right.", "--by", "dr. c"]) == 0
    assert "7.5 of 10 points, before 5" in capsys.readouterr().out
    grade(folder, out)
    ben = read_grades(out)[0][1]
    assert ben.score == 7.5
    assert ben.grades[1].sentences[-1] == (
        "Corrected by hand from 0 to 2.5 points. Your scale was right."
    )
    capsys.readouterr()
    assert main([*asked, "undo", "--why", "No."]) == 0
    assert "5 of 10 points, before 7.5" in capsys.readouterr().out
    assert row_of(out, "ben")["score"] == "5"
    entries = Corrections.beside(out).entries
    assert [(entry.points, entry.by) for entry in entries] == [
        (2.5, "dr. c"),
        (None, entries[1].by),
    ]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["bne", "7.2", "1"], "nearest: ben"),
        (["ben", "7.9", "1"], "must be one of 7.1, 7.2, late factor, score"),
        (["ben", "7.2", "half"], "must be a number"),
        (["ben", "7.2", "6"], "from 0 to 5"),
        (["ben", "7.2", "nan"], "must be a number"),
    ],
)
def test_a_wrong_correction_is_refused_and_nothing_is_written(
    folder, tmp_path, capsys, words, message
):
    out = tmp_path / "grades.csv"
    grade(folder, out)
    assert main(["correct", str(out), *words, "--why", "x"]) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "grades.corrections.csv").exists()


def test_a_correction_of_another_file_does_not_count_and_is_reported(folder, tmp_path):
    out = tmp_path / "grades.csv"
    grade(folder, out)
    change(out, "ben", **{"7_2": "3"})
    grade(folder, out)
    hand_in(folder, "ben", "right")
    lines = grade(folder, out)
    assert row_of(out, "ben")["score"] == "10"
    assert any("ben has handed in another file" in line for line in lines)


def test_a_line_that_a_teacher_writes_holds_for_any_file_and_unknown_names_are_reported(
    folder, tmp_path
):
    out = tmp_path / "grades.csv"
    lines = "Student;task;points\nBEN;7.2;1,5\nzoe;7.1;2\n"
    (tmp_path / "grades.corrections.csv").write_text(lines.replace("Student", "student"), "utf8")
    told_of = grade(folder, out)
    assert row_of(out, "ben")["score"] == "6.5"
    assert any("zoe, who has no row" in line for line in told_of)


DIALECTS = {
    "semicolons and decimal commas": lambda text: swapped(text).encode(),
    "a mark of UTF-8": lambda text: b"\xef\xbb\xbf" + text.encode(),
    "the encoding of Windows": lambda text: swapped(text).encode("cp1252"),
    "UTF-16 and tabs": lambda text: retabbed(text).encode("utf-16"),
    "Excel's line about its separator": lambda text: b"sep=;\r\n" + swapped(text).encode(),
    "spaces in the first line": lambda text: text.replace("student,status", " student , status")
    .encode(),
}  # fmt: skip


def retabbed(text: str, delimiter: str = "\t") -> str:
    saved = io.StringIO()
    csv.writer(saved, delimiter=delimiter).writerows(csv.reader(io.StringIO(text)))
    return saved.getvalue()


def swapped(text: str) -> str:
    return retabbed(text, ";").replace(";2.5;", ";2,5;")


@pytest.mark.parametrize("save", DIALECTS.values(), ids=DIALECTS)
def test_a_table_saved_by_any_spreadsheet_is_read(folder, tmp_path, save):
    out = tmp_path / "grades.csv"
    hand_in(folder, "jürgen", "no")
    grade(folder, out)
    change(out, "jürgen", **{"7_2": "2.5"})
    out.write_bytes(save(out.read_text("utf8")))
    results, _ = read_grades(out)
    assert [(result.student, result.score) for result in results] == [
        ("anna", 10), ("ben", 5), ("jürgen", 7.5),
    ]  # fmt: skip
    grade(folder, out)
    assert read_grades(out)[0][2].score == 7.5


def test_a_table_in_semicolons_stays_in_semicolons_and_its_tasks_are_no_dates(folder, tmp_path):
    out = tmp_path / "grades.csv"
    grade(folder, out, dialect=SEMICOLONS)
    assert out.read_bytes().startswith(b"\xef\xbb\xbfstudent;status;score;max;7.1 points;")
    main(["correct", str(out), "ben", "7.2", "2.5", "--why", "x"])
    grade(folder, out)
    assert ";7,5;10;5;2,5;" in out.read_text("utf-8-sig")


def test_a_date_that_a_spreadsheet_made_is_named_before_anything_is_graded(folder, tmp_path):
    out = tmp_path / "grades.csv"
    grade(folder, out)
    change(out, "ben", **{"7_2": "02. Mai"})
    with pytest.raises(ValueError, match=r"row of ben.*got '02. Mai'.*made a date of it"):
        grade(folder, out)
    out.write_text(out.read_text("utf8").replace(",7.1,7.2,", ",07. Jan,7.2,"), "utf8")
    with pytest.raises(ValueError, match=r"must have the column 7.1"):
        read_grades(out)


@pytest.mark.parametrize("secret", [b"secret %d" % n for n in range(60)])
def test_no_name_of_a_secret_or_version_looks_like_a_number(secret):
    name = replace(PLAN, secret=secret).fingerprint
    with pytest.raises(ValueError, match="could not convert"):
        float(name)
    assert not name[0].isdigit()


@pytest.mark.parametrize("text", ["＝cmd|x", "＋1", "－1", "＠x", "a;=1+1", 'a; "=1+1', ";\t@x"])
def test_no_sign_in_any_width_and_after_no_semicolon_begins_a_formula(text):
    line = table_text([], [[text]]).strip()
    cells = [cell.strip(' "') for cell in line.split(";")]
    assert not any(cell.startswith(tuple("=+-@＝＋－＠")) for cell in cells), line


def test_a_comma_in_a_table_of_semicolons_begins_no_formula():
    assert "x,'=1" in table_text([], [["x,=1"]], SEMICOLONS)


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"PK\x03\x04", "a workbook"),
        (b"", "of an empty file"),
        (b'student,"' + b"x" * 200_000, "CSV"),
    ],
)
def test_what_is_no_table_is_refused_in_words(tmp_path, raw, message):
    (tmp_path / "t.csv").write_bytes(raw)
    with pytest.raises(ValueError, match=message):
        read_table(tmp_path / "t.csv").require("student")


def test_the_table_of_another_exercise_or_of_somebody_else_is_not_overwritten(folder, tmp_path):
    out = tmp_path / "grades.csv"
    grade(folder, out)
    before = out.read_bytes()
    log = ResultsLog(out.with_suffix(".jsonl"))
    with pytest.raises(ValueError, match="holds the grades of 07_self_attention"):
        refuse_table(out, "08_masking", log)
    log.close()
    (tmp_path / "mine.csv").write_text("student,points\nanna,3\n", "utf8")
    with pytest.raises(ValueError, match=r"there is no mine.jsonl beside it"):
        grade(folder, tmp_path / "mine.csv")
    assert out.read_bytes() == before


def test_no_file_of_the_teacher_may_lie_among_the_submissions(folder, tmp_path, capsys):
    asked = ["grade", str(folder), "--exercise", PLAN.exercise, "--secret"]
    assert main([*asked, str(tmp_path / "s"), "--out", str(folder / "grades.csv")]) == 2
    assert "every file is a submission" in capsys.readouterr().err
    assert main([*asked, str(folder / "deep" / "s"), "--out", str(tmp_path / "g.csv")]) == 2
    assert "every file is a submission" in capsys.readouterr().err
    assert main([*asked, str(tmp_path / "s"), "--out", str(tmp_path)]) == 2
    assert "must be a file" in capsys.readouterr().err
    assert {path.name for path in folder.iterdir()} == {"anna.ipynb", "ben.ipynb"}


def test_a_page_for_a_table_without_results_says_so_and_makes_no_file(tmp_path, capsys):
    (tmp_path / "other.csv").write_text("name\nanna\n", "utf8")
    assert main(["feedback", str(tmp_path / "other.csv"), "--out", str(tmp_path / "pages")]) == 2
    assert "no row of it has a result" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["other.csv"]


def test_megabytes_that_an_answer_says_stay_out_of_the_log_and_the_table(tmp_path):
    long = "x" * 7_000_000
    grade_of = TaskGrade("7.1", GradeStatus.WRONG, 0, 5, (long, long), shown=long,
                         code=long, case=long)  # fmt: skip
    result = SubmissionGrade("anna", "a.ipynb", PLAN.exercise, GradeStatus.WRONG, (grade_of,))
    log = ResultsLog(tmp_path / "grades.jsonl")
    log.append("a", result)
    log.close()
    assert log.path.stat().st_size < 80_000
    assert len(grades_csv([result], ["7.1"])) < 5_000


def test_files_that_differ_by_a_letter_that_nobody_sees_keep_their_own_results(tmp_path):
    out = tmp_path / "grades.csv"
    names = ["anna", "an\u200bna", "an na", "AN NA"]
    results = [
        SubmissionGrade(name, f"{name}.ipynb", PLAN.exercise, GradeStatus.WRONG,
                        (TaskGrade("7.1", GradeStatus.WRONG, n, 5),), sha256="same")
        for n, name in enumerate(names)
    ]  # fmt: skip
    log = ResultsLog(out.with_suffix(".jsonl"))
    for n, result in enumerate(results):
        log.append(str(n), result)
    log.close()
    out.write_text(grades_csv(results, ["7.1"]), "utf8")
    assert [(row.student, row.score) for row in read_grades(out)[0]] == list(
        zip(names, range(4), strict=True)
    )
    assert len({page_name(name) for name in names}) == 4


def test_students_are_recognised_as_spreadsheets_retype_them():
    students = ["00123", "=1+1", "Zoë", "zoe", "Ben"]
    assert find_student("123", students) == "00123"
    assert find_student("'=1+1", students) == "=1+1"
    assert find_student("Zoe\u0308", students) == "Zoë"
    assert find_student(" ben", students) == "Ben"
    assert find_student("BEN", ["ben", "Ben"]) is None, "two could be meant"
    with pytest.raises(ValueError, match="nearest: Ben"):
        name_student("Bne", students)


def test_the_last_line_counts_and_one_without_points_takes_back():
    corrections = Corrections(Path("none.csv"))
    corrections.entries = [Correction("a", "7.1", 1.0), Correction("a", "7.1", 2.0),
                           Correction("a", "7.2", 1.0), Correction("a", "7.2", None)]  # fmt: skip
    assert {task: entry.points for task, entry in corrections.of_student("a").items()} == {"7.1": 2}


def test_no_folder_is_left_behind_by_any_process_that_grades():
    program = (
        "from concurrent.futures import ProcessPoolExecutor as Pool\n"
        "from multiprocessing import get_context\n"
        "from classroom.sandbox.isolation import course_files\n"
        "with Pool(1, get_context('spawn')) as pool:\n"
        "    print(pool.submit(course_files).result(), course_files())\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT)
    folders = done.stdout.split()
    assert len(set(folders)) == 2, done.stderr
    assert not any(Path(folder).exists() for folder in folders)


def test_warnings_about_numbers_of_students_stay_off_the_terminal(monkeypatch):
    program = "import numpy as np; np.log(np.zeros(1))"
    command = [sys.executable, "-c", program]
    monkeypatch.setenv("PYTHONWARNINGS", "")
    monkeypatch.delenv("PYTHONWARNINGS")
    assert "RuntimeWarning" in subprocess.run(command, capture_output=True, text=True).stderr
    quiet_arithmetic()
    assert subprocess.run(command, capture_output=True, text=True).stderr == ""


def test_the_lines_of_a_run_show_what_a_teacher_changed_and_what_the_grader_gave(folder, tmp_path):
    out = tmp_path / "grades.csv"
    grade(folder, out)
    change(out, "anna", **{"7_1": "2"})
    main(["correct", str(out), "ben", "7.2", "3", "--why", "x"])
    lines = grade(folder, out)
    assert any("ben: wrong, 8 of 10, by hand; the grader gave 5" in line for line in lines)
    assert any("anna: passed, 7 of 10, by hand; the grader gave 10" in line for line in lines)


def test_the_reason_for_a_late_factor_and_for_a_score_is_in_the_message(folder, tmp_path):
    out = tmp_path / "grades.csv"
    grade(folder, out)
    for what, number, why in (("late factor", "0.5", "The tram."), ("score", "9", "We talked.")):
        assert main(["correct", str(out), "anna", what, number, "--why", why]) == 0
    anna = read_grades(out)[0][0]
    assert anna.message == (
        "Corrected by hand: the late factor from 1 to 0.5. The tram; "
        "Corrected by hand: the score from 5 to 9. We talked"
    )
    grade(folder, out)
    assert row_of(out, "anna")["message"] == anna.message, "a new run says it once"
