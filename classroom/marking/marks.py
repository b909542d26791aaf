"""Marks given by hand, in a file of their own: grades.csv has grades.marks.csv.

Each line says who gave which points for which criteria, with a comment; the last line about a task
of a student counts.
"""

from __future__ import annotations

import getpass
from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields, replace
from datetime import datetime
from pathlib import Path

from classroom.gradebook.deadlines import names_in_short
from classroom.gradebook.names import find_student
from classroom.gradebook.tables import COMMAS, parse_number, read_table, write_table
from classroom.grading.grades import SubmissionGrade, TaskGrade, two_digits
from classroom.marking.rubric import RubricTask, read_rubric, rubric_path
from classroom.status import GradeStatus


@dataclass(frozen=True)
class Mark:
    """The points of one student for one task, criterion by criterion, as `2+0.5+0`."""

    student: str
    task: str
    points: str
    comment: str = ""
    by: str = ""
    when: str = ""
    sha256: str = ""

    def numbers(self, task: RubricTask, path: Path) -> list[float]:
        """The points by criterion."""
        where = f"the line of {self.student} in {path}"
        numbers = [parse_number(part, "points", where) for part in self.points.split("+")]
        most = [points for _, points in task.criteria]
        fits = len(numbers) == len(most)
        if not fits or any(not 0 <= n <= m for n, m in zip(numbers, most, strict=True)):
            raise ValueError(
                f"points in {where} must be a number for each criterion of {task.task}, at most "
                f"{'+'.join(map(str, most))}; got {self.points}. Correct the line"
            )
        return numbers


COLUMNS = [field.name for field in fields(Mark)]


class Marks:
    """The rubric of a table of grades, and all marks that were given by it."""

    def __init__(self, grades: Path):
        self.path, self.dialect = grades.with_suffix(".marks.csv"), COMMAS
        self.tasks = read_rubric(rubric_path(grades))
        self.entries: list[Mark] = []
        if self.path.exists():
            table = read_table(self.path).require("student", "task", "points")
            self.dialect = table.dialect
            self.entries = [Mark(**{name: row.get(name, "") for name in COLUMNS})
                            for row in table.rows]  # fmt: skip

    def add(self, mark: Mark) -> None:
        """Write one more line."""
        mark.numbers(self.tasks[mark.task], self.path)
        self.entries.append(replace(mark, points=mark.points.replace(",", ".")))
        write_table(self.path, COLUMNS, map(astuple, self.entries), self.dialect)

    def of_student(self, student: str) -> dict[str, Mark]:
        """The marks of a student that count, by task."""
        return {mark.task: mark for mark in self.entries if mark.task in self.tasks
                and find_student(mark.student, [student])}  # fmt: skip

    def apply(self, result: SubmissionGrade) -> SubmissionGrade:
        """Add the tasks that were marked; one that waits for its mark is left out."""
        marks, grades = self.of_student(result.student), list(result.grades)
        for task in self.tasks.values():
            if task.task in marks:
                grades.append(self.grade(marks[task.task], task))
            elif result.status == GradeStatus.NOT_HANDED_IN:
                grades.append(TaskGrade(task.task, GradeStatus.NOT_ATTEMPTED, 0, task.most))
        return replace(result, grades=tuple(grades))

    def grade(self, mark: Mark, task: RubricTask) -> TaskGrade:
        """Turn a mark into the grade of a task, with a sentence for each criterion."""
        numbers = mark.numbers(task, self.path)
        status = GradeStatus.PASSED if sum(numbers) == task.most else GradeStatus.WRONG
        sentences = [f"{number:g} of {points}: {text}" for number, (text, points)
                     in zip(numbers, task.criteria, strict=True)]  # fmt: skip
        comment = (mark.comment,) if mark.comment else ()
        points = two_digits(sum(numbers))
        return TaskGrade(task.task, status, points, task.most, (task.title, *sentences, *comment))


def with_unmarked(
    grades: Path, results: Sequence[SubmissionGrade]
) -> tuple[list[SubmissionGrade], list[str]]:
    """Count each task that waits for its mark as 0 points; return who waits too.

    So every student of a table has the same maximum.
    """
    tasks = Marks(grades).tasks.values()
    completed, waiting = [], []
    for result in results:
        known = {grade.task for grade in result.grades}
        missing = tuple(
            TaskGrade(task.task, GradeStatus.NOT_GRADED, 0, task.most, ("not marked yet",))
            for task in tasks if task.task not in known
        )  # fmt: skip
        completed.append(replace(result, grades=result.grades + missing))
        if missing:
            waiting.append(result.student)
    return completed, waiting


def unmarked_line(grades: Path, waiting: list[str]) -> str:
    """Say whose answers wait for a mark; empty if none does."""
    if not waiting:
        return ""
    return (
        f"not marked yet, and counted as 0: answers of {names_in_short(waiting)} in {grades}. "
        "Mark them with `mark`, and run this again"
    )


def mark_now(result: SubmissionGrade, task: str, points: str, comment: str, by: str = "") -> Mark:
    """Make a mark with the time, and with the name of whoever is logged in."""
    when = datetime.now().astimezone().isoformat(timespec="seconds")
    by = by or getpass.getuser()
    return Mark(result.student, task, points, comment, by, when, f"sha-{result.sha256[:12]}")
