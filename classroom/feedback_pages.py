"""What students and teachers read: a page for each student, and one about the class."""

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
from classroom.grading.marks import Marked
from figures.palette import ROLES
from figures.plots import bars
from figures.svg import Figure

HERE = Path(__file__).parent
WORDS = {
    "passed": "passed", "wrong": "not right", "not attempted": "not attempted",
    "crashed": "stopped with an error", "timed out": "took too long",
    "out of memory": "used too much memory", "refused": "not accepted",
    "unreadable": "could not be read",
}  # fmt: skip


def filled(template: str, **values: Any) -> str:
    """A template of this folder with everything in it escaped."""
    loader = jinja2.FileSystemLoader(HERE)
    pages = jinja2.Environment(loader=loader, autoescape=True, undefined=jinja2.StrictUndefined)
    pages.filters |= {
        "said": lambda text: markupsafe.Markup(html_with_code(text)),
        "place": place_in_words,
        "words": WORDS.__getitem__,
        "percent": lambda share: f"{100 * share:.0f} %",
    }
    light = "".join(f"--{role}:{colour.light};" for role, colour in ROLES.items())
    dark = "".join(f"--{role}:{colour.dark};" for role, colour in ROLES.items())
    return pages.get_template(template).render(light=light, dark=dark, **values)


def file_of(student: str) -> str:
    """A file name for a student that no file system refuses and no two students share."""
    clean = re.sub(r"[^\w.-]+", "_", student).strip("._-")[:60] or "student"
    return f"{clean}-{hashlib.sha256(student.encode()).hexdigest()[:6]}.html"


def feedback(marked: Marked, exercise: Exercise, book: str) -> str:
    """A student's page: each task, what was wrong by name, and where to read; no hidden number."""
    titles = {task.id: task.title for task in exercise.tasks}
    known = misconceptions()
    tasks = [
        {
            "mark": mark,
            "title": titles.get(mark.task, ""),
            "ideas": [known[one].name for one in mark.misconceptions if one in known],
            "link": linked(mark.read, book),
        }
        for mark in marked.marks
    ]
    return filled("feedback.html", marked=marked, title=exercise.title, tasks=tasks)


def linked(read: str, book: str) -> str:
    """Where to read about it in the book at this address, or nothing."""
    page, anchor = split_read(read)
    return f"{book.rstrip('/')}/chapters/{page}.html#{anchor}".rstrip("#") if book and page else ""


@dataclass(frozen=True)
class TaskFacts:
    """How a class did on one task: shares of all who attempted anything, and who got it."""

    task: str
    title: str
    passed: float
    not_attempted: float
    discrimination: float | None
    counts: dict[str, int]


def task_facts(results: Sequence[Marked], exercise: Exercise) -> list[TaskFacts]:
    """Difficulty and discrimination of each task.

    Discrimination is the correlation of passing this task with the points of all others: near 0
    or below, the task does not tell those who know from those who do not.
    """
    facts = []
    for task in exercise.tasks:
        pairs = [(mark, one) for one in results for mark in one.marks if mark.task == task.id]
        if not pairs:
            continue
        passed = np.array([mark.status == "passed" for mark, _ in pairs], dtype=float)
        rest = np.array([one.score - mark.points for mark, one in pairs], dtype=float)
        counts = Counter(mark.status for mark, _ in pairs)
        flat = passed.std() == 0 or rest.std() == 0
        facts.append(TaskFacts(
            task.id, task.title, float(passed.mean()), counts["not attempted"] / len(pairs),
            None if flat else float(np.corrcoef(passed, rest)[0, 1]), dict(counts),
        ))  # fmt: skip
    return facts


def ideas_found(results: Sequence[Marked]) -> list[tuple[str, str, int, str]]:
    """The misconceptions that were met: id, name, how many students had it, and in which tasks."""
    students: dict[str, set[str]] = defaultdict(set)
    tasks: dict[str, set[str]] = defaultdict(set)
    for one in results:
        for mark in one.marks:
            for idea in mark.misconceptions:
                students[idea].add(one.student)
                tasks[idea].add(mark.task)
    known = misconceptions()
    rows = [
        (idea, known[idea].name if idea in known else "", len(who), ", ".join(sorted(tasks[idea])))
        for idea, who in students.items()
    ]
    return sorted(rows, key=lambda row: (-row[2], row[0]))


def distribution(results: Sequence[Marked]) -> Figure:
    """How many students have how much of the points, in tenths."""
    shares = [one.score / one.most for one in results if one.most]
    tenths = Counter(min(9, int(10 * share)) for share in shares)
    names = [f"{10 * n} to {10 * n + 10} %" for n in range(10)]
    counts = [float(tenths[n]) for n in range(10)]
    middle = 100 * float(np.median(shares)) if shares else 0.0
    told = ", ".join(
        f"{name}: {count:.0f}" for name, count in zip(names, counts, strict=True) if count
    )
    return bars(
        counts, names, digits=0, label="students",
        alt=f"Students by their share of the points. {told}.",
        caption=f"Half of the students have {middle:.0f} % of the points or more.",
    )  # fmt: skip


def class_report(results: Sequence[Marked], exercise: Exercise) -> str:
    """The page about a class."""
    statuses = Counter(one.status for one in results)
    return filled(
        "report.html", title=exercise.title, results=results, statuses=statuses.most_common(),
        facts=task_facts(results, exercise), ideas=ideas_found(results),
        figure=markupsafe.Markup(distribution(results)._repr_html_()),
    )  # fmt: skip
