"""Write the pages of a graded class: one for each student, and one about the class."""

from __future__ import annotations

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2
import markupsafe
import numpy as np

from checks import Exercise
from checks.feedback.blocks import html_with_code
from checks.feedback.misconceptions import misconceptions
from checks.feedback.verdict import place_in_words, split_read
from classroom.grading.grades import SubmissionGrade
from classroom.status import GradeStatus
from figures.palette import ROLES
from figures.plots import bars
from figures.svg import Figure

HERE = Path(__file__).parent


def render(template: str, **values: Any) -> str:
    """Fill a template of this folder; every value is escaped."""
    loader = jinja2.FileSystemLoader(HERE)
    pages = jinja2.Environment(loader=loader, autoescape=True, undefined=jinja2.StrictUndefined)
    pages.filters |= {
        "sentence": lambda text: markupsafe.Markup(html_with_code(text)),
        "place": place_in_words,
        "words": lambda status: GradeStatus(status).words,
        "percent": lambda share: f"{100 * share:.0f} %",
    }
    light = "".join(f"--{role}:{colour.light};" for role, colour in ROLES.items())
    dark = "".join(f"--{role}:{colour.dark};" for role, colour in ROLES.items())
    return pages.get_template(template).render(light=light, dark=dark, **values)


def page_name(student: str) -> str:
    """Name the file of a student: safe on every file system, different for every student."""
    clean = re.sub(r"[^\w.-]+", "_", student).strip("._-")[:60] or "student"
    return f"{clean}-{hashlib.sha256(student.encode()).hexdigest()[:6]}.html"


def feedback_page(result: SubmissionGrade, exercise: Exercise, book: str) -> str:
    """Write the page of a student: every task, its named mistake, and where to read."""
    titles = {task.id: task.title for task in exercise.tasks}
    known = misconceptions()
    tasks = [
        {
            "grade": grade,
            "title": titles.get(grade.task, ""),
            "misconceptions": [known[id].name for id in grade.misconceptions if id in known],
            "link": reading_link(grade.read, book),
        }
        for grade in result.grades
    ]
    return render("feedback.html", result=result, title=exercise.title, tasks=tasks)


def reading_link(read: str, book: str) -> str:
    """Link to the paragraph in the book at this address; empty without a book."""
    page, anchor = split_read(read)
    return f"{book.rstrip('/')}/chapters/{page}.html#{anchor}".rstrip("#") if book and page else ""


@dataclass(frozen=True)
class TaskStatistics:
    """The results of a class on one task, as shares of all submissions."""

    task: str
    title: str
    passed: float
    not_attempted: float
    discrimination: float | None
    counts: dict[str, int]


def task_statistics(results: Sequence[SubmissionGrade], exercise: Exercise) -> list[TaskStatistics]:
    """Compute difficulty and discrimination of each task.

    Discrimination is the correlation of passing this task with the points of all others: near 0
    or below, the task does not separate strong students from weak ones.
    """
    facts = []
    for task in exercise.tasks:
        pairs = [(grade, result) for result in results for grade in result.grades
                 if grade.task == task.id]  # fmt: skip
        if not pairs:
            continue
        passed = np.array([grade.status == "passed" for grade, _ in pairs], dtype=float)
        rest = np.array([result.score - grade.points for grade, result in pairs], dtype=float)
        counts = Counter(grade.status for grade, _ in pairs)
        flat = passed.std() == 0 or rest.std() == 0
        facts.append(TaskStatistics(
            task.id, task.title, float(passed.mean()), counts["not attempted"] / len(pairs),
            None if flat else float(np.corrcoef(passed, rest)[0, 1]), dict(counts),
        ))  # fmt: skip
    return facts


def count_misconceptions(results: Sequence[SubmissionGrade]) -> list[tuple[str, str, int, str]]:
    """Count misconceptions: id, name, number of students, and tasks; the most frequent first."""
    students: dict[str, set[str]] = defaultdict(set)
    tasks: dict[str, set[str]] = defaultdict(set)
    for result in results:
        for grade in result.grades:
            for number in grade.misconceptions:
                students[number].add(result.student)
                tasks[number].add(grade.task)
    known = misconceptions()
    rows = [
        (number, known[number].name if number in known else "", len(names),
         ", ".join(sorted(tasks[number])))
        for number, names in students.items()
    ]  # fmt: skip
    return sorted(rows, key=lambda row: (-row[2], row[0]))


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


def report_page(results: Sequence[SubmissionGrade], exercise: Exercise) -> str:
    """Write the page about a class."""
    statuses = Counter(result.status for result in results)
    return render(
        "report.html", title=exercise.title, results=results, statuses=statuses.most_common(),
        statistics=task_statistics(results, exercise), misconceptions=count_misconceptions(results),
        figure=markupsafe.Markup(score_distribution(results)._repr_html_()),
    )  # fmt: skip
