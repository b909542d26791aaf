"""The roster of a class: who should have handed in, and who has more time."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import tzinfo
from pathlib import Path

from classroom.gradebook.deadlines import Extension, parse_due, parse_grace
from classroom.gradebook.names import find_student
from classroom.gradebook.tables import PLATFORM_COLUMNS, read_table
from classroom.grading.grades import SubmissionGrade, TaskGrade
from classroom.provided import exercise_named
from classroom.status import GradeStatus


@dataclass(frozen=True)
class Roster:
    """The students of a class by name, each with what they may do otherwise."""

    students: Mapping[str, Extension]
    numbers: Mapping[str, str] = field(default_factory=dict)  # the platform's numbers

    @classmethod
    def from_csv(cls, path: Path, zone: tzinfo | None = None) -> Roster:
        """Read a table with the column student, and if needed the columns id, due and grace.

        The worksheet of Moodle and the export of Canvas are such tables.
        """
        students, numbers = {}, {}
        for row in read_table(path).renamed(PLATFORM_COLUMNS).require("student").rows:
            name, number = row["student"].strip(), digits_of(row.get("id", ""))
            if name.startswith("Points Possible"):
                continue  # Canvas's second line
            if find_student(name, students):
                raise ValueError(f"{path} must name each student once; it names {name} twice")
            due, grace = row.get("due", "").strip(), row.get("grace", "").strip()
            if number:
                numbers[number] = name
            students[name] = Extension(
                parse_due(due, zone, f"due of {name} in {path}") if due else None,
                parse_grace(grace, f"grace of {name} in {path}") if grace else None,
            )
        return cls(students, numbers)

    @classmethod
    def of(cls, students: Iterable[str]) -> Roster:
        """The roster of a class without any: those who handed in."""
        return cls(dict.fromkeys(students, Extension()))

    def rename(self, student: str, number: str = "") -> str:
        """The name of a student as the roster has it."""
        return self.numbers.get(number) or find_student(student, self.students) or student

    def absent(self, handed_in: Iterable[str]) -> list[str]:
        """The students who handed in nothing."""
        present = {self.rename(student) for student in handed_in}
        return [student for student in self.students if student not in present]

    def strangers(self, handed_in: Iterable[str]) -> list[str]:
        """Those who handed in and do not stand in the roster."""
        return [student for student in handed_in if not find_student(student, self.students)]


def digits_of(cell: str) -> str:
    """The number at the end of a cell: 123456 of `Participant 123456`."""
    return "".join(re.findall(r"\d+$", cell.strip()))


def absent_grade(student: str, exercise: str, tasks: Iterable[str]) -> SubmissionGrade:
    """The row of a student who handed in nothing."""
    chosen = exercise_named(exercise)
    grades = tuple(
        TaskGrade(task, GradeStatus.NOT_ATTEMPTED, 0, chosen[task].importance) for task in tasks
    )
    return SubmissionGrade(
        student, "", exercise, GradeStatus.NOT_HANDED_IN, grades, "nothing was handed in"
    )
