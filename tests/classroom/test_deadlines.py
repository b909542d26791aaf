"""A deadline means the same moment everywhere, and who has more time, or nothing, has a row."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from classroom.__main__ import command_line, main
from classroom.gradebook.attempts import best_attempts
from classroom.gradebook.commands import class_rules
from classroom.gradebook.deadlines import (
    Extension,
    LatePolicy,
    parse_date,
    parse_due,
    parse_grace,
    zone_named,
)
from classroom.gradebook.roster import Roster
from classroom.gradebook.run_options import recall_options
from classroom.grading.grades import SubmissionGrade, TaskGrade
from classroom.grading.grades_table import read_grades
from classroom.status import GradeStatus
from tests.classroom.test_gradebook import Engine, folder, grade, hand_in, row_of  # noqa: F401

BERLIN = ZoneInfo("Europe/Berlin")
NOON = datetime(2026, 12, 1, 11, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    ["2026-12-01T12:00+01:00", "2026-12-01T11:00Z", "2026-12-01 12:00", "01.12.2026 12:00",
     "Tuesday, 1 December 2026, 12:00 PM", "Dec 1, 2026 at 12:00pm", "'2026-12-01T12:00"],
)  # fmt: skip
def test_a_date_is_the_same_moment_in_every_form_and_zone(text):
    assert parse_date(text, BERLIN, "the date") == NOON


@pytest.mark.parametrize(
    "text", ["2026-12-01", "20261201", "01.12.2026", "1.12.2026", " 01.12.2026 ", "'2026-12-01"]
)
def test_a_deadline_that_is_a_day_ends_with_it_in_every_form(text, tmp_path):
    end = NOON.replace(hour=22, minute=59, second=59)
    assert parse_due(text, BERLIN) == end
    (tmp_path / "roster.csv").write_text(f"student,due\nanna,{text}\n", "utf8")
    assert Roster.from_csv(tmp_path / "roster.csv", BERLIN).students["anna"].due == end


def test_days_are_days_although_the_clocks_change():
    policy = LatePolicy(parse_due("2026-10-24T23:00", BERLIN), 0.1,
                        {"a": parse_date("2026-10-25T22:30", BERLIN, "")})  # fmt: skip
    assert policy.factor("a") == pytest.approx(0.8), "24.5 hours later, though the clock says 23.5"


def dates(tmp_path, text):
    (tmp_path / "dates.csv").write_text(text, "utf8")
    return tmp_path / "dates.csv"


def test_dates_with_a_zone_from_a_platform_are_read(tmp_path):
    path = dates(tmp_path, "student;date\nanna;2026-12-01T10:00+01:00\nben;2026-12-03T00:00Z\n")
    policy = LatePolicy.from_csv(path, "2026-12-01T12:00", 0.1, BERLIN)
    assert [policy.factor(name) for name in ("anna", "ben")] == [1.0, 0.8]


@pytest.mark.parametrize("text", ["12/01/2026", "soon", "2026-13-01"])
def test_a_date_that_could_mean_two_things_is_refused_with_its_place(tmp_path, text):
    path = dates(tmp_path, f"student,date\nanna,{text}\n")
    with pytest.raises(ValueError, match=r"date of anna in .*must be a date such as 2026-12-01T23"):
        LatePolicy.from_csv(path, "2026-12-01", 0.1)


def test_grace_costs_nothing_and_a_cap_bounds_the_loss():
    policy = LatePolicy(NOON, 0.25, {
        "a": NOON + timedelta(minutes=14), "b": NOON + timedelta(minutes=16),
        "c": NOON + timedelta(days=9),
    }, timedelta(minutes=15), 0.5)  # fmt: skip
    assert [policy.factor(name) for name in "abcd"] == [1, 0.75, 0.5, 1]


def test_an_extension_and_a_grace_hold_for_their_student_alone(tmp_path):
    (tmp_path / "roster.csv").write_text(
        "student,due,grace\nanna,2026-12-05,\nben,,48:00\ncarl,,\n", "utf8"
    )
    roster = Roster.from_csv(tmp_path / "roster.csv", BERLIN)
    late = {name: NOON + timedelta(days=1, hours=1) for name in ("anna", "ben", "carl")}
    policy = LatePolicy(NOON, 0.1, late, extensions=roster.students)
    assert [policy.factor(name) for name in late] == [1, 1, pytest.approx(0.8)]
    assert roster.students["ben"] == Extension(None, timedelta(hours=48))


def test_dates_without_a_student_and_students_without_a_date_are_reported():
    lines = LatePolicy(NOON, 0.1, {"anna": NOON, "zoe": NOON}).unclear(["anna", "ben"])
    assert lines == [
        "without a date, and in time: ben",
        "the dates name zoe, who handed in nothing",
    ]


@pytest.mark.parametrize("text", ["15", "1:75", "a:b", "-1:00"])
def test_a_grace_is_hours_and_minutes(text):
    with pytest.raises(ValueError, match="must be hours and minutes"):
        parse_grace(text)


def test_an_unknown_zone_is_named():
    assert zone_named("") is None
    with pytest.raises(ValueError, match="must be a name such as Europe/Berlin"):
        zone_named("Berlin")


def test_whoever_handed_in_nothing_has_a_row_until_work_comes_in(folder, tmp_path):  # noqa: F811
    out = tmp_path / "grades.csv"
    (tmp_path / "roster.csv").write_text("student\nAnna\nben\ncarl\n", "utf8")
    roster = Roster.from_csv(tmp_path / "roster.csv")
    hand_in(folder, "stranger", "right")
    lines = grade(folder, out, roster=roster)
    carl = row_of(out, "carl")
    assert (carl["status"], carl["score"], carl["max"]) == ("not handed in", "0", "10")
    assert row_of(out, "Anna")["score"] == "10", "the roster's spelling is the name"
    assert "not in the roster: stranger" in lines
    assert [result.student for result in read_grades(out)[0]] == ["Anna", "ben", "carl", "stranger"]
    hand_in(folder, "carl", "right")
    grade(folder, out, roster=roster)
    assert row_of(out, "carl")["status"] == "passed"


def test_a_roster_that_names_a_student_twice_is_refused(tmp_path):
    (tmp_path / "roster.csv").write_text("student\nanna\nANNA\n", "utf8")
    with pytest.raises(ValueError, match="names ANNA twice"):
        Roster.from_csv(tmp_path / "roster.csv")


def attempt(file: str, points: int, factor: float = 1.0) -> SubmissionGrade:
    grades = (TaskGrade("7.1", GradeStatus.WRONG, points, 10),)
    return SubmissionGrade("anna", file, "07_self_attention", GradeStatus.WRONG, grades,
                           late_factor=factor)  # fmt: skip


def test_the_best_attempt_is_that_with_the_most_points_after_its_penalty():
    attempts = [attempt("a", 9, 0.5), attempt("b", 5), attempt("c", 5), attempt("d", 4)]
    (best,) = best_attempts(attempts, "abcd")
    assert (best.file, best.score) == ("c", 5), "of equal ones the last"
    assert best.message == "4 submissions, the best counts"


def test_the_last_attempt_counts_or_the_best(folder, tmp_path):  # noqa: F811
    out = tmp_path / "grades.csv"
    (folder / "anna").mkdir()
    hand_in(folder / "anna", "later", "no")
    for n, name in enumerate(["anna.ipynb", "anna"]):
        os.utime(folder / name, (n, n))
    grade(folder, out)
    assert row_of(out, "anna")["score"] == "5"
    grade(folder, out, attempts="best")
    assert row_of(out, "anna")["score"] == "10"
    assert row_of(out, "anna")["message"] == "2 submissions, the best counts"


def test_wrong_rules_are_refused_before_anything_is_graded(folder, tmp_path, capsys):  # noqa: F811
    (tmp_path / "roster.csv").write_text("student,due\nanna,2026-12-01\n", "utf8")
    asked = ["grade", str(folder), "--exercise", "07_self_attention", "--secret",
             str(tmp_path / "s"), "--roster", str(tmp_path / "roster.csv")]  # fmt: skip
    assert main(asked) == 2
    assert "holds extensions, so --dates and --due are required" in capsys.readouterr().err
    (folder / "dates.csv").write_text("student,date\n", "utf8")
    assert main([*asked, "--dates", str(folder / "dates.csv"), "--due", "2026-12-01"]) == 2
    assert "every file is a submission" in capsys.readouterr().err


def test_the_options_of_grade_become_the_rules_of_the_class(folder, tmp_path):  # noqa: F811
    path = dates(tmp_path, "student,date\nanna,2026-12-09\n")
    arguments = command_line().parse_args([
        "grade", str(folder), "--exercise", "x", "--dates", str(path), "--due", "2026-12-01",
        "--zone", "UTC", "--late", "0.2", "--late-most", "0.4", "--attempts", "best",
    ])  # fmt: skip
    assert recall_options(arguments, tmp_path / "grades.csv") == ""
    rules = class_rules(arguments)
    assert rules["late"].factor("anna") == pytest.approx(0.6)
    assert rules["attempts"] == "best"


def grade_by_command(monkeypatch, folder, tmp_path, *options) -> int:  # noqa: F811
    """Run the whole command, with an engine that starts no process."""
    monkeypatch.setattr("classroom.grading.batch.process_pool", lambda *_: Engine())
    return main(["grade", str(folder), "--exercise", "07_self_attention", "--tasks", "7.1", "7.2",
                 "--out", str(tmp_path / "grades.csv"), "--secret", str(tmp_path / "s"),
                 "--i-trust-these-students", *options])  # fmt: skip


def test_a_run_without_options_uses_those_of_the_last_run_and_says_so(
    folder, tmp_path, capsys, monkeypatch  # noqa: F811
):  # fmt: skip
    out = tmp_path / "grades.csv"
    (tmp_path / "roster.csv").write_text("student\nanna\nben\ncarl\n", "utf8")
    path = dates(tmp_path, "student,date\nanna,2026-12-03\n")
    options = ["--roster", str(tmp_path / "roster.csv"), "--dates", str(path), "--due",
               "2026-12-01", "--late", "0.2", "--zone", "UTC"]  # fmt: skip
    assert grade_by_command(monkeypatch, folder, tmp_path, *options) == 0
    assert "as in the last run" not in capsys.readouterr().out
    before = out.read_bytes()
    assert grade_by_command(monkeypatch, folder, tmp_path) == 0
    assert out.read_bytes() == before, "carl keeps his row, and anna is late as before"
    assert row_of(out, "carl")["status"] == "not handed in"
    printed = capsys.readouterr().out
    assert f"as in the last run: --roster {tmp_path / 'roster.csv'} --dates {path}" in printed
    assert "--due 2026-12-01 --zone UTC --late 0.2 (delete" in printed
    assert grade_by_command(monkeypatch, folder, tmp_path, "--late", "0.1") == 0
    assert "--late" not in capsys.readouterr().out, "an option that is given wins"
    assert float(row_of(out, "anna")["late factor"]) == pytest.approx(0.8)
    (tmp_path / "grades.options.json").unlink()
    assert grade_by_command(monkeypatch, folder, tmp_path) == 0
    assert row_of(out, "anna")["late factor"] == "1"
    (tmp_path / "grades.options.json").write_text("{", "utf8")
    assert grade_by_command(monkeypatch, folder, tmp_path) == 2
    assert "Delete it, and give all options" in capsys.readouterr().err


def test_a_name_that_the_roster_spells_otherwise_is_named_with_its_pair(folder, tmp_path):  # noqa: F811
    (tmp_path / "roster.csv").write_text("student\nanna\nBeispiel Bne\nzoe\n", "utf8")
    (folder / "ben.ipynb").rename(folder / "Ben Beispiel.ipynb")
    roster = Roster.from_csv(tmp_path / "roster.csv")
    lines = grade(folder, tmp_path / "grades.csv", roster=roster)
    assert lines[-1].startswith("perhaps one student: Beispiel Bne of the roster and Ben Beispiel")
    assert "not in the roster: Ben Beispiel" in lines
    assert not any("zoe" in line for line in lines)
