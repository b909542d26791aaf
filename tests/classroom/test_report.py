"""The page about a class says how it did, what to talk about, and whom to look at first."""

from __future__ import annotations

import statistics
from dataclasses import replace

import pytest

from classroom.__main__ import main
from classroom.feedback_pages import page_name
from classroom.gradebook.corrections import Correction
from classroom.gradebook.tables import write_whole
from classroom.grading.grades import TaskGrade
from classroom.grading.grades_table import grades_csv
from classroom.grading.results_log import ResultsLog
from classroom.report.class_report import report_page, student_flags
from classroom.report.statistics import GRADER_FAILED, points_spread, tasks_to_discuss
from classroom.status import GradeStatus
from tests.classroom.test_pages import CLASS, EXERCISE, student

FAILED = replace(
    student("eve", False, False, False), message=f"{GRADER_FAILED}: BrokenProcessPool: x"
)
ABSENT = replace(
    student("fay", False, False, False), status=GradeStatus.NOT_HANDED_IN,
    message="nothing was handed in",
)  # fmt: skip


def test_mean_and_spread_are_those_of_the_standard_library():
    spread = points_spread(CLASS)
    points = [15, 10, 0, 5]
    assert spread.mean == statistics.mean(points)
    assert spread.deviation == pytest.approx(statistics.stdev(points))
    assert spread.quartiles == pytest.approx(statistics.quantiles(points, n=4, method="inclusive"))
    assert points_spread([]) is None
    assert points_spread(CLASS[:1]).deviation == 0


def test_what_the_grader_failed_on_and_who_handed_in_nothing_change_no_statistic():
    alone, page = report_page(CLASS, EXERCISE), report_page([*CLASS, FAILED, ABSENT], EXERCISE)
    for text in ("Mean 7.5 of 15 points, standard deviation 6.5", "75 %", "50 %"):
        assert text in alone
        assert text in page
    assert "The grader failed on 1 of them</strong>: eve" in page
    assert "The grader failed" not in alone


def test_the_task_to_talk_about_lost_the_most_points_of_those_who_tried():
    idle = tuple(TaskGrade(f"7.{n}", GradeStatus.NOT_ATTEMPTED, 0, 5) for n in (1, 2, 3))
    group = [*CLASS, *(replace(CLASS[0], student=f"i{n}", grades=idle) for n in range(9))]
    worst, *others = tasks_to_discuss(group, EXERCISE)
    assert (worst.task, worst.lost, worst.tried, worst.wrong) == ("7.2", 15, 4, 3)
    assert (worst.mistake[-5:], worst.students) == ("(M01)", 2)
    assert [task.task for task in others] == ["7.3", "7.1"]
    assert tasks_to_discuss([student("a", True, True)], EXERCISE) == []


@pytest.mark.parametrize(
    ("result", "flag"),
    [
        (FAILED, "the grader failed"),
        (ABSENT, "nothing was handed in"),
        (replace(CLASS[0], late_factor=0.8), "late"),
        (replace(CLASS[0], message="2 submissions, the newest counts"), "several submissions"),
        (replace(CLASS[0], status=GradeStatus.REFUSED), "not accepted"),
        (replace(CLASS[0], status=GradeStatus.REFUSED, message="it is a link"), "it is a link"),
    ],
)
def test_whoever_needs_a_look_is_flagged_with_the_reason(result, flag):
    assert any(flag in text for text in student_flags(result, []))
    assert student_flags(CLASS[0], []) == []


def test_the_report_links_to_the_pages_of_students_and_shows_the_log(tmp_path):
    log = ResultsLog(tmp_path / "grades.jsonl")
    for result in CLASS:
        log.append(result.student, result)
    log.close()
    grades, pages = tmp_path / "grades.csv", tmp_path / "pages"
    write_whole(grades, grades_csv(CLASS, ["7.1", "7.2", "7.3"]))
    assert main(["feedback", str(grades), "--out", str(pages)]) == 0
    (pages / page_name("b")).unlink()
    assert main(["correct", str(grades), "a", "7.2", "1", "--why", "<b>too & early</b>"]) == 0
    out = tmp_path / "report.html"
    assert main(["report", str(grades), "--out", str(out), "--feedback", str(pages)]) == 0
    page = out.read_text("utf8")
    assert f'<a href="pages/{page_name("a")}">a</a>' in page
    assert page_name("b") not in page
    assert "corrected by hand: 7.2" in page
    assert "&lt;b&gt;too &amp; early" in page


def test_a_correction_that_was_taken_back_is_shown_as_such():
    entry = Correction("a", "7.2", None, "no", "c", "2026-12-01")
    assert "taken back" in report_page(CLASS, EXERCISE, [entry])
