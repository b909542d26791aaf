"""The pages on which a teacher marks: who waits for a mark, and one answer with its rubric."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from classroom.feedback_pages import render
from classroom.grading.grades import SubmissionGrade
from classroom.grading.grades_table import read_rows, rewrite_table
from classroom.marking.answers import read_answer_apart
from classroom.marking.marks import Marks, mark_now
from classroom.status import GradeStatus


@dataclass
class MarkingDesk:
    """All answers of a class that are marked by hand; each has a number, for anonymous marking."""

    grades: Path
    folder: Path
    anonymous: bool = False
    by: str = ""

    def __post_init__(self) -> None:
        rows, exercise = read_rows(self.grades)
        self.title = exercise.title
        self.students = [row.graded for row in rows if row.graded.file]
        if self.anonymous:
            self.students.sort(key=lambda result: result.sha256)
        self.marks = Marks(self.grades)
        if not self.marks.tasks:
            raise ValueError(
                f"{self.grades.with_suffix('.rubric.yml')} must hold the tasks to mark; "
                "it is missing or empty. The teacher's guide shows one"
            )

    def name(self, number: int) -> str:
        """What to call a student on the pages."""
        return f"submission {number + 1}" if self.anonymous else self.students[number].student

    def waiting(self) -> list[tuple[str, int]]:
        """The answers without a mark: task and number, task by task."""
        marked = [self.marks.of_student(result.student) for result in self.students]
        return [(task, n) for task in self.marks.tasks for n in range(len(self.students))
                if task not in marked[n]]  # fmt: skip

    def overview(self) -> str:
        """The page with every answer."""
        rows = [
            (n, self.name(n), self.marks.of_student(result.student))
            for n, result in enumerate(self.students)
        ]
        return render(
            "marking/overview.html", title=self.title, tasks=self.marks.tasks, rows=rows,
            waiting=self.waiting(), totals=self.totals(),
        )  # fmt: skip

    def totals(self) -> dict[tuple[int, str], str]:
        """The points of every answer that has a mark, by number and task."""
        return {
            (n, task): f"{self.marks.grade(mark, self.marks.tasks[task]).points:g}"
            for n, result in enumerate(self.students)
            for task, mark in self.marks.of_student(result.student).items()
        }

    def answer(self, task: str, number: int, problem: str = "") -> str:
        """The page of one answer."""
        result: SubmissionGrade = self.students[number]
        mark = self.marks.of_student(result.student).get(task)
        points = mark.points.split("+") if mark else []
        rubric = self.marks.tasks[task]
        points += [""] * (len(rubric.criteria) - len(points))
        unread = result.status in (GradeStatus.REFUSED, GradeStatus.UNREADABLE)
        return render(
            "marking/answer.html", title=self.title, task=rubric, name=self.name(number),
            criteria=list(zip(rubric.criteria, points, strict=True)), problem=problem,
            comment=mark.comment if mark else "", number=number, last=len(self.students) - 1,
            parts=[] if unread else read_answer_apart(self.folder / result.file, rubric.below),
        )  # fmt: skip

    def save(self, task: str, number: int, points: list[str], comment: str) -> None:
        """Keep a mark, and write the table with it."""
        result = self.students[number]
        text = "+".join(point.strip() or "0" for point in points)
        self.marks.add(mark_now(result, task, text, comment.strip()[:4_000], self.by))
        rewrite_table(self.grades)

    def next_after(self, task: str, number: int) -> tuple[str, int] | None:
        """The next answer to the same task that waits, or any other that does."""
        waiting = self.waiting()
        later = [pair for pair in waiting if pair[0] == task and pair[1] > number]
        return (later or waiting or [None])[0]
