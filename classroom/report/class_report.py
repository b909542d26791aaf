"""Write the page about a class for its teacher."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import markupsafe
import numpy as np

from checks import Exercise
from classroom.feedback_pages import page_name, render
from classroom.gradebook.corrections import Correction
from classroom.grading.grades import SubmissionGrade
from classroom.report.statistics import (
    count_misconceptions,
    in_statistics,
    not_judged,
    points_spread,
    task_statistics,
    tasks_to_discuss,
)
from classroom.status import GradeStatus
from figures.plots import bars
from figures.svg import Figure

NO_WORK = (GradeStatus.UNREADABLE, GradeStatus.REFUSED, GradeStatus.NOT_HANDED_IN)


def student_flags(result: SubmissionGrade, corrected: Sequence[Correction]) -> list[str]:
    """Why a teacher should look at this student, in a few words each."""
    flags = []
    if not_judged(result):
        flags.append("the grader failed; run `grade` again")
    elif result.status in NO_WORK:
        flags.append((result.message or GradeStatus(result.status).words)[:120])
    if "submissions, the" in result.message:
        flags.append("several submissions")
    if result.late_factor < 1:
        flags.append("late")
    names = sorted({entry.task for entry in corrected})
    if names:
        flags.append(f"corrected by hand: {', '.join(names)}")
    return flags


def links_from(page: Path, folder: Path) -> Callable[[str], str]:
    """Return a function that links to a student's feedback page, where there is one."""

    def link(student: str) -> str:
        target = folder / page_name(student)
        return Path(os.path.relpath(target, page.parent)).as_posix() if target.exists() else ""

    return link


def score_distribution(results: Sequence[SubmissionGrade]) -> Figure:
    """Draw how many students have which share of the points, in tenths."""
    shares = [result.score / result.max_points for result in results if result.max_points]
    tenths = Counter(min(9, int(10 * share)) for share in shares)
    names = [f"{10 * n} to {10 * n + 10} %" for n in range(10)]
    counts = [float(tenths[n]) for n in range(10)]
    middle = 100 * float(np.median(shares)) if shares else 0.0
    counted = ", ".join(
        f"{name}: {count:.0f}" for name, count in zip(names, counts, strict=True) if count
    )
    return bars(
        counts, names, digits=0, label="students",
        alt=f"Students by their share of the points. {counted}.",
        caption=f"Half of the students have {middle:.0f} % of the points or more.",
    )  # fmt: skip


def report_page(
    results: Sequence[SubmissionGrade],
    exercise: Exercise,
    log: Sequence[Correction] = (),
    link: Callable[[str], str] = lambda student: "",
) -> str:
    """Write the page about a class."""
    judged = [result for result in results if in_statistics(result)]
    students = [
        (result, link(result.student),
         student_flags(result, [entry for entry in log if entry.student == result.student]))
        for result in results
    ]  # fmt: skip
    return render(
        "report/report.html", title=exercise.title, results=results, students=students,
        statuses=Counter(result.status for result in results).most_common(),
        spread=points_spread(judged), failures=[row for row in results if not_judged(row)],
        statistics=task_statistics(judged, exercise), misconceptions=count_misconceptions(judged),
        discuss=tasks_to_discuss(judged, exercise), log=log, judged=judged,
        figure=markupsafe.Markup(score_distribution(judged)._repr_html_()),
    )  # fmt: skip
