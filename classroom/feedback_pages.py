"""Write the feedback page of each student."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Any

import jinja2
import markupsafe

from checks import Exercise
from checks.feedback.blocks import html_with_code
from checks.feedback.misconceptions import misconceptions
from checks.feedback.verdict import place_in_words, split_read
from checks.released import is_shown
from classroom.grading.grades import SubmissionGrade, TaskGrade
from classroom.status import GradeStatus
from figures.palette import ROLES

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
    return f"{clean}-{hashlib.sha256(student.encode()).hexdigest()[:16]}.html"


def feedback_page(result: SubmissionGrade, exercise: Exercise, book: str) -> str:
    """Write the page of a student: every task, its named mistake, and where to read."""
    titles = {task.id: task.title for task in exercise.tasks}
    tasks = [
        {
            "grade": grade,
            "title": titles.get(grade.task, ""),
            "misconceptions": names_beyond(grade),
            "link": reading_link(grade.read, book),
        }
        for grade in result.grades
    ]
    passed = [task for task in tasks if task["grade"].status == GradeStatus.PASSED]
    shown = {task.id for task in exercise.tasks if is_shown(task)}
    hint = next((grade.task for grade in result.grades if grade.case and grade.task in shown), "")
    return render(
        "feedback.html",
        result=result, title=exercise.title, tasks=tasks, passed=passed, hint=hint,
    )  # fmt: skip


def names_beyond(grade: TaskGrade) -> list[str]:
    """The names of the mistakes that no sentence of the grade says already."""
    text, known = " ".join(grade.sentences).lower(), misconceptions()
    names = [known[number].name for number in grade.misconceptions if number in known]
    return [name for name in names if name.lower() not in text]


def reading_link(read: str, book: str) -> str:
    """Link to the paragraph in the book at this address; empty without a book."""
    page, anchor = split_read(read)
    return f"{book.rstrip('/')}/chapters/{page}.html#{anchor}".rstrip("#") if book and page else ""
