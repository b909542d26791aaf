"""What Moodle and Canvas hand over is recognised, and what they take back has their own form."""

from __future__ import annotations

import io
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from classroom.__main__ import main
from classroom.feedback_pages import page_name
from classroom.gradebook.deadlines import LatePolicy, parse_date, zone_named
from classroom.gradebook.roster import Roster
from classroom.gradebook.tables import read_table, write_whole
from classroom.grading.grades import TaskGrade
from classroom.grading.grades_table import grades_csv
from classroom.grading.results_log import ResultsLog
from classroom.platforms.downloads import refuse_download
from classroom.platforms.names import (
    CANVAS,
    MOODLE,
    PlatformName,
    parse_name,
    parse_names,
    platform_students,
)
from classroom.platforms.uploads import (
    comment_on,
    feedback_archive,
    moodle_numbers,
    moodle_upload,
)
from classroom.report.statistics import GRADER_FAILED
from classroom.status import GradeStatus
from tests.classroom.test_gradebook import folder, grade, hand_in, row_of  # noqa: F401
from tests.classroom.test_totals import result

WORKSHEET = (
    "Identifier,Full name,Email address,Status,Grade,Maximum Grade,Grade can be changed,"
    "Last modified (submission),Last modified (grade),Feedback comments\n"
    "Participant 123456,Jane Doe,j@example.org,Submitted,,100.00,Yes,"
    '"Tuesday, 1 December 2026, 12:00 PM",-,\n'
    "Participant 123457,Max Rüger,m@example.org,No submission,,100.00,Yes,-,-,\n"
    "Participant 123458,Ann Lee,a@example.org,Submitted,12.00,100.00,Yes,-,-,old\n"
)
EXPORT = (
    "Student,ID,SIS User ID,SIS Login ID,Section,Exercise 7 (31),Exercise 8 (32)\n"
    "    Points Possible,,,,,20,(read only)\n"
    '"Doe, Jane",4711,,jd,A,,3\n'
    '"Lee, Ann",4712,,al,A,1,4\n'
)


@pytest.mark.parametrize(
    ("entry", "pattern", "name"),
    [
        ("Jane Doe_123456_assignsubmission_file_", MOODLE, ("Jane Doe", "123456")),
        ("Jane Doe_123456_assignsubmission_file", MOODLE, ("Jane Doe", "123456")),
        ("Jane_Ann Doe_12_assignsubmission_file_a_1.ipynb", MOODLE, ("Jane_Ann Doe", "12")),
        ("Max Rüger_9_assignsubmission_onlinetext_x", MOODLE, ("Max Rüger", "9")),
        ("doejane_4711_98765_work.ipynb", CANVAS, ("doejane", "4711")),
        ("doejane_LATE_4711_98765_work-2.ipynb", CANVAS, ("doejane", "4711")),
        ("o'neil-x_1_2_a b.zip", CANVAS, ("o'neil-x", "1")),
    ],
)
def test_the_names_of_a_platform_hold_the_student_and_a_number(entry, pattern, name):
    assert parse_name(entry, pattern) == PlatformName(*name)


@pytest.mark.parametrize("entry", ["anna.ipynb", "week_3_07.ipynb", "_1_assignsubmission_file_"])
def test_other_names_are_names(entry):
    assert parse_names([Path(entry)]) == {}


def test_the_names_of_canvas_count_only_if_every_entry_has_one():
    mixed = [Path("week_3_07_attention.ipynb"), Path("anna.ipynb")]
    assert platform_students(mixed) == {mixed[0]: "week_3_07_attention", mixed[1]: "anna"}


def test_two_students_of_one_name_are_two():
    paths = [Path(f"Jane Doe_{n}_assignsubmission_file_") for n in (1, 2)]
    paths += [Path("Ann Lee_3_assignsubmission_file_")]
    assert list(platform_students(paths).values()) == ["Jane Doe 1", "Jane Doe 2", "Ann Lee"]


def test_a_long_hostile_name_is_read_in_no_time():
    assert parse_name("a_1" * 80_000) is None
    assert parse_name("_" * 200_000, CANVAS) is None


def test_the_worksheet_of_moodle_is_a_roster_and_has_the_dates(tmp_path):
    path = tmp_path / "worksheet.csv"
    path.write_text(WORKSHEET, "utf-8-sig")
    roster = Roster.from_csv(path)
    assert list(roster.students) == ["Jane Doe", "Max Rüger", "Ann Lee"]
    assert roster.rename("J. Doe", "123456") == "Jane Doe"
    policy = LatePolicy.from_csv(path, "2026-12-01T11:30", 0.1, zone_named("UTC"))
    assert list(policy.dates) == ["Jane Doe"]
    assert policy.factor("Jane Doe") == pytest.approx(0.9)
    assert policy.dates["Jane Doe"] == parse_date("2026-12-01T12:00Z", None, "")


def test_the_export_of_canvas_is_a_roster_of_names_by_number(tmp_path):
    path = tmp_path / "export.csv"
    path.write_text(EXPORT, "utf8")
    roster = Roster.from_csv(path)
    assert list(roster.students) == ["Doe, Jane", "Lee, Ann"]
    assert roster.rename("doejane", "4711") == "Doe, Jane"


def test_a_folder_of_moodle_is_graded_under_the_names_of_its_worksheet(folder, tmp_path):  # noqa: F811
    for path in folder.iterdir():
        path.unlink()
    entry = folder / "Jane DOE_123456_assignsubmission_file_"
    entry.mkdir()
    hand_in(entry, "work", "right")
    (tmp_path / "worksheet.csv").write_text(WORKSHEET, "utf-8-sig")
    out = tmp_path / "grades.csv"
    grade(folder, out, roster=Roster.from_csv(tmp_path / "worksheet.csv"))
    assert row_of(out, "Jane Doe")["score"] == "10"
    assert row_of(out, "Ann Lee")["status"] == "not handed in"
    upload = tmp_path / "upload.csv"
    asked = ["upload", str(out), "--moodle", str(tmp_path / "worksheet.csv"), "--out", str(upload)]
    pages = tmp_path / "pages"
    assert main(["feedback", str(out), "--out", str(pages)]) == 0
    packed = tmp_path / "feedback.zip"
    assert main([*asked, "--feedback", str(pages), "--zip", str(packed)]) == 0
    jane, max_, ann = read_table(upload).rows
    assert (jane["Grade"], jane["Feedback comments"]) == ("100", "10 of 10 points.")
    assert (max_["Grade"], ann["Grade"], ann["Feedback comments"]) == ("", "12.00", "old")
    with zipfile.ZipFile(packed) as archive:
        (name,) = archive.namelist()
    assert name == "Jane DOE_123456_assignfeedback_file_feedback.html"
    assert name.split("_", 4)[1].isdigit()


@pytest.fixture
def canvas(tmp_path):
    """A graded class of Canvas, and its export."""
    (tmp_path / "export.csv").write_text(EXPORT, "utf8")
    jane = replace(result("Jane", "07_self_attention", 3, 5), file="doejane_4711_98_w.ipynb")
    ann = replace(result("Lee, Ann", "07_self_attention", 2, 5), message=f"{GRADER_FAILED}: x")
    zoe = result("zoe", "07_self_attention", 2, 5)
    log = ResultsLog(tmp_path / "grades.jsonl")
    for row in (jane, ann, zoe):
        log.append(row.student, row)
    log.close()
    write_whole(tmp_path / "grades.csv", grades_csv([jane, ann, zoe], ["7.1"]))
    return tmp_path


def test_the_column_of_canvas_is_filled_on_its_own_scale(canvas, capsys):
    out = canvas / "upload.csv"
    asked = ["upload", str(canvas / "grades.csv"), "--canvas", str(canvas / "export.csv")]
    assert main([*asked, "--assignment", "Exercise 7", "--out", str(out)]) == 0
    printed = capsys.readouterr().out
    assert "1 grades in" in printed
    assert "no row in" in printed
    assert "for zoe" in printed
    possible, jane, ann = read_table(out).rows
    assert jane["Exercise 7 (31)"] == "12", "3 of 5 points are 12 of 20"
    assert ann["Exercise 7 (31)"] == "1", "what the grader failed on stays as it was"
    assert (possible["Exercise 7 (31)"], jane["Exercise 8 (32)"]) == ("20", "3")
    for words, message in [
        ([*asked, "--assignment", "Exercise"], "in 2 of them"),
        ([*asked, "--assignment", "7", "--out", str(canvas / "export.csv")], "one of the tables"),
        (["upload", asked[1], "--moodle", asked[3]], "columns Identifier, Grade"),
    ]:
        assert main(words) == 2
        assert message in capsys.readouterr().err


def test_a_comment_for_moodle_is_no_formula_and_names_of_others_stay(tmp_path):
    path = tmp_path / "worksheet.csv"
    path.write_text(WORKSHEET.replace("Jane Doe", "=Jane"), "utf8")
    grade_of = replace(result("=Jane", "07_self_attention", 3, 5, "＝cmd"),
                       file="=Ja_ne_123456_assignsubmission_file_")  # fmt: skip
    upload = moodle_upload(read_table(path), [grade_of])
    assert "Participant 123456,=Jane," in upload.text
    (tmp_path / page_name("=Jane")).write_text("page", "utf8")
    other = result("x", "07_self_attention", 1, 5)
    archive = feedback_archive([grade_of, other], tmp_path, {})
    assert zipfile.ZipFile(io.BytesIO(archive.packed)).namelist() == [
        "=Ja ne_123456_assignfeedback_file_feedback.html"
    ]
    assert (archive.count, archive.without_page, archive.without_number) == (1, ["x"], [])


def test_a_page_takes_its_number_from_the_worksheet_where_the_file_has_none(tmp_path):
    path = tmp_path / "worksheet.csv"
    path.write_text(WORKSHEET, "utf8")
    jane, zoe, ann = (result(name, "07_self_attention", 3, 5)
                      for name in ("Jane Doe", "zoe", "Ann Lee"))  # fmt: skip
    for row in (jane, zoe):
        (tmp_path / page_name(row.student)).write_text("page", "utf8")
    numbers = moodle_numbers(read_table(path), [jane, zoe, ann])
    archive = feedback_archive([jane, zoe, ann], tmp_path, numbers)
    assert zipfile.ZipFile(io.BytesIO(archive.packed)).namelist() == [
        "Jane Doe_123456_assignfeedback_file_feedback.html"
    ]
    assert (archive.without_page, archive.without_number) == (["Ann Lee"], ["zoe"])


def test_the_comment_holds_what_lateness_cost_and_why_points_were_corrected():
    grades = (
        TaskGrade("7.1", GradeStatus.PASSED, 5, 5, ("Passed.",)),
        TaskGrade("7.2", GradeStatus.WRONG, 3, 5,
                  ("No scale.", "Corrected by hand from 0 to 3 points. The idea is right.")),
    )  # fmt: skip
    row = replace(result("Jane", "07_self_attention", 0, 5), grades=grades, late_factor=0.9)
    assert comment_on(row) == (
        "7.2 of 10 points. Late: 0.9 of the points of the tasks count. "
        "7.2 wrong: No scale. Corrected by hand from 0 to 3 points. The idea is right."
    )


def moodle_archive(path: Path, names: list[str]) -> Path:
    """The archive of a class as Moodle makes it."""
    with zipfile.ZipFile(path, "w") as archive:
        for number, name in enumerate(names, 123456):
            archive.writestr(f"{name}_{number}_assignsubmission_file/work.ipynb", "{}")
    return path


def test_the_archive_of_a_whole_class_is_to_be_unpacked(tmp_path, capsys):
    folder = tmp_path / "moodle"  # noqa: F811
    folder.mkdir()
    archive = moodle_archive(folder / "all.zip", ["Jane Doe", "Max", "Ann"])
    asked = ["--exercise", "07_self_attention", "--out", str(tmp_path / "g.csv"), "--secret",
             str(tmp_path / "secret")]  # fmt: skip
    assert main(["grade", str(folder), *asked]) == 2
    assert "holds the notebooks of 3 students: unpack it" in capsys.readouterr().err
    assert main(["similar", str(folder), "--out", str(tmp_path / "s.html")]) == 2
    assert "unpack it" in capsys.readouterr().err
    assert main(["grade", str(archive), *asked]) == 2
    assert "Unpack the archive of a platform first" in capsys.readouterr().err


def test_an_archive_beside_other_work_is_one_students_whatever_it_holds(tmp_path):
    alone = [moodle_archive(tmp_path / "all.zip", ["Jane Doe", "Max"])]
    with pytest.raises(ValueError, match="unpack"):
        refuse_download(alone)
    refuse_download([*alone, tmp_path / "anna.ipynb"])
    for damaged in (b"", b"PK", alone[0].read_bytes()[:-9]):
        alone[0].write_bytes(damaged)
        refuse_download(alone)
