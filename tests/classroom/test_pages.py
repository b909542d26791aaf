"""What students and teachers read says what happened, and gives no hidden number away."""

from __future__ import annotations

import csv
import re

import numpy as np
import pytest

from classroom.__main__ import main
from classroom.feedback_pages import feedback_page, page_name
from classroom.grading.grades import SubmissionGrade, TaskGrade
from classroom.grading.grades_table import grades_csv
from classroom.grading.results_log import ResultsLog
from classroom.provided import exercise_named
from classroom.report.class_report import report_page, score_distribution
from classroom.report.statistics import count_misconceptions, task_statistics
from classroom.status import GradeStatus

EXERCISE = exercise_named("07_self_attention")


def student(name: str, *passed: bool, number: str = "M01") -> SubmissionGrade:
    """A student who passed or failed 7.1, 7.2 and so on, five points each."""
    marks = tuple(
        TaskGrade(f"7.{n + 1}", GradeStatus.PASSED if right else GradeStatus.WRONG, 5 * right, 5,
             ("Right on 3 cases." if right else f"{number}: no scaling. Divide by `sqrt(d_k)`.",),
             () if right else (number,), "hidden 0.123456", "chapters/05_scaling.html#claim-S0-21")
        for n, right in enumerate(passed)
    )  # fmt: skip
    return SubmissionGrade(
        name, f"{name}.ipynb", "07_self_attention", GradeStatus.WRONG, marks, sha256=name * 9
    )


CLASS = [
    student("a", True, True, True),
    student("b", True, False, True),
    student("c", False, False, False, number="M02"),
    student("d", True, False, False),
]


def test_feedback_names_the_mistake_and_leads_to_the_page_without_a_hidden_number():
    page = feedback_page(CLASS[1], EXERCISE, "https://example.org/book/")
    assert "10 of 15 points" in page
    assert "no scaling" in page
    assert "<code>sqrt(d_k)</code>" in page
    assert 'href="https://example.org/book/chapters/05_scaling.html#claim-S0-21"' in page
    assert "0.123456" not in page


def test_feedback_without_a_book_names_the_place():
    page = feedback_page(CLASS[1], EXERCISE, "")
    assert "href" not in page
    assert "chapter 5" in page


@pytest.mark.parametrize("name", ["<script>alert(1)</script>", "a & b", '"quoted"', "{{ 7*7 }}"])
def test_nothing_that_a_student_wrote_is_markup(name):
    grades = (TaskGrade("7.1", GradeStatus.WRONG, 0, 5, (f"ValueError: {name}",)),)
    hostile = SubmissionGrade(name, name, "07_self_attention", GradeStatus.WRONG, grades, name)
    for page in (feedback_page(hostile, EXERCISE, ""), report_page([hostile], EXERCISE)):
        assert "<script>" not in page
        assert "49" not in re.sub(r"<style>.*?</style>|<svg.*?</svg>", "", page, flags=re.DOTALL)


def test_file_names_are_safe_and_no_two_students_share_one():
    names = ["a/b", "a_b", "a b", "..", "", "-rf", "ø" * 300, "A", "a", "con", "x\ny"]
    files = [page_name(name) for name in names]
    assert len({name.lower() for name in files}) == len(files)
    assert all(re.fullmatch(r"[\w-][\w.-]{0,80}\.html", name) for name in files), files


def test_difficulty_and_discrimination_are_those_of_numpy():
    first, second, third = task_statistics(CLASS, EXERCISE)
    assert [row.passed for row in (first, second, third)] == [0.75, 0.25, 0.5]
    rest = [10, 5, 0, 0]
    wanted = np.corrcoef([1, 1, 0, 1], rest)[0, 1]
    assert first.discrimination == pytest.approx(wanted)
    assert second.counts == {"passed": 1, "wrong": 3}


def test_a_task_that_all_passed_discriminates_nobody():
    same = [student("a", True, True), student("b", True, False)]
    assert task_statistics(same, EXERCISE)[0].discrimination is None


def test_mistakes_are_counted_by_student_and_not_by_task():
    assert [(number, count, tasks) for number, _, count, tasks in count_misconceptions(CLASS)] == [
        ("M01", 2, "7.2, 7.3"), ("M02", 1, "7.1, 7.2, 7.3"),
    ]  # fmt: skip


def test_the_distribution_counts_everybody_once():
    figure = score_distribution(CLASS)
    assert "0 to 10 %: 1, 30 to 40 %: 1, 60 to 70 %: 1, 90 to 100 %: 1" in figure.alt
    assert "50 %" in figure.caption


def test_the_report_holds_every_task_and_every_mistake():
    page = report_page(CLASS, EXERCISE)
    assert "4 students: 4 not right" in page
    assert "75 %" in page
    assert "the same for all" not in page
    for text in ("7.1", "7.2", "7.3", "M01", "M02", "<svg"):
        assert text in page


def test_the_commands_write_pages_from_a_table_and_its_journal(tmp_path, capsys):
    log = ResultsLog(tmp_path / "grades.jsonl")
    for result in CLASS:
        log.append(result.student, result)
    log.close()
    grades = tmp_path / "grades.csv"
    grades.write_text(grades_csv(CLASS, ["7.1", "7.2", "7.3"]), "utf8")
    assert main(["feedback", str(grades), "--out", str(tmp_path / "pages")]) == 0
    assert main(["report", str(grades), "--out", str(tmp_path / "report.html")]) == 0
    assert {path.name for path in (tmp_path / "pages").iterdir()} == {page_name(c) for c in "abcd"}
    assert "4 students" in (tmp_path / "report.html").read_text("utf8")
    with open(grades, encoding="utf8") as file:
        assert [row["score"] for row in csv.DictReader(file)] == ["15", "10", "0", "5"]
    (tmp_path / "other.csv").write_text("file,sha256,status\n", "utf8")
    assert main(["report", str(tmp_path / "other.csv")]) == 2
    assert "no row of it has a result" in capsys.readouterr().err
