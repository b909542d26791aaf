"""Points corrected by hand, in a file beside the table of grades that no run of `grade` changes.

Each line says who changed what, when and why; the last line about a task counts, and a line without
points takes the correction back. So the file is its own log, and a spreadsheet can edit it.
"""

from __future__ import annotations

import getpass
from collections.abc import Iterable
from dataclasses import astuple, dataclass, fields, replace
from datetime import datetime
from pathlib import Path

from classroom.gradebook.names import find_student
from classroom.gradebook.tables import COMMAS, parse_number, read_table, write_table
from classroom.grading.grades import BY_HAND, SubmissionGrade, TaskGrade, two_digits

LATE, SCORE = "late factor", "score"  # what can be corrected besides the points of a task


@dataclass(frozen=True)
class Correction:
    """One change by hand: of a task, of the late factor, or of the whole score."""

    student: str
    task: str
    points: float | None
    why: str = ""
    by: str = ""
    when: str = ""
    file: str = ""  # the file that was judged; empty if it holds for any

    def holds_for(self, result: SubmissionGrade) -> bool:
        """Whether the student has handed in no other file since."""
        return self.file in ("", file_mark(result))


COLUMNS = [field.name for field in fields(Correction)]


class Corrections:
    """All lines of one file of corrections."""

    def __init__(self, path: Path):
        self.path, self.entries, self.dialect = path, [], COMMAS
        if path.exists():
            table = read_table(path).require("student", "task", "points")
            self.dialect = table.dialect
            self.entries = [parse_correction(row, path) for row in table.rows]

    @classmethod
    def beside(cls, grades: Path) -> Corrections:
        """Open the corrections of a table of grades: grades.csv has grades.corrections.csv."""
        return cls(grades.with_suffix(".corrections.csv"))

    def add(self, entries: Iterable[Correction]) -> None:
        """Write further lines below those that are there."""
        self.entries = [*self.entries, *entries]
        write_table(self.path, COLUMNS, map(astuple, self.entries), self.dialect)

    def of_student(self, student: str) -> dict[str, Correction]:
        """The corrections of a student that count, by task."""
        last = {entry.task: entry for entry in self.entries
                if find_student(entry.student, [student])}  # fmt: skip
        return {task: entry for task, entry in last.items() if entry.points is not None}

    def apply(self, result: SubmissionGrade) -> SubmissionGrade:
        """Put the corrections of this student in the place of the grader's points."""
        entries = {task: entry for task, entry in self.of_student(result.student).items()
                   if entry.holds_for(result)}  # fmt: skip
        grades = [corrected_task(grade, entries.get(grade.task)) for grade in result.grades]
        result = replace(result, grades=tuple(grades))
        if LATE in entries:
            result = replace(with_reason(result, entries[LATE], result.late_factor),
                             late_factor=two_digits(entries[LATE].points))  # fmt: skip
        if SCORE in entries:
            result = replace(with_reason(result, entries[SCORE], result.score),
                             corrected_score=two_digits(entries[SCORE].points))  # fmt: skip
        return result

    def idle(self, results: Iterable[SubmissionGrade]) -> list[str]:
        """What a teacher must be told: corrections that no row of the table takes."""
        rows = {result.student: result for result in results}
        lines = []
        for student in dict.fromkeys(entry.student for entry in self.entries):
            known = find_student(student, rows)
            if known is None:
                lines.append(f"{self.path.name} corrects {student}, who has no row")
                continue
            tasks = {grade.task for grade in rows[known].grades} | {LATE, SCORE}
            for task, entry in self.of_student(student).items():
                if not entry.holds_for(rows[known]):
                    lines.append(
                        f"{student} has handed in another file since the correction of {task} to "
                        f"{entry.points:g}: it does not count any more"
                    )
                elif task not in tasks:
                    lines.append(f"{self.path.name} corrects {task}, which {student} lacks")
        return lines


def parse_correction(row: dict[str, str], path: Path) -> Correction:
    """Read one line."""
    where = f"the line of {row['student']} in {path}"
    points = parse_number(row["points"], "points", where) if row["points"].strip() else None
    others = {name: row.get(name, "") for name in COLUMNS if name != "points"}
    return Correction(**others | {"task": row["task"].strip()}, points=points)


def corrected_task(grade: TaskGrade, entry: Correction | None) -> TaskGrade:
    """Put the corrected points in, with a sentence for the student."""
    if entry is None:
        return grade
    points = two_digits(entry.points)
    sentence = f"{BY_HAND} from {grade.points:g} to {points:g} points. {entry.why}".strip()
    return replace(grade, points=points, sentences=(*grade.sentences, sentence))


def with_reason(result: SubmissionGrade, entry: Correction, before: int | float) -> SubmissionGrade:
    """Say in the message of a row why its late factor or its score was corrected."""
    why = f"{BY_HAND}: the {entry.task} from {before:g} to {entry.points:g}. {entry.why}"
    return replace(result, message="; ".join(filter(None, [result.message, why.strip(" .")])))


def file_mark(result: SubmissionGrade) -> str:
    """Name the file that was graded, in letters that no spreadsheet takes for a number."""
    return f"sha-{result.sha256[:12]}" if result.sha256 else ""


def correction_now(
    result: SubmissionGrade, task: str, points: float | None, why: str, by: str = ""
) -> Correction:
    """Make a correction with the time, and with the name of whoever is logged in."""
    when = datetime.now().astimezone().isoformat(timespec="seconds")
    by = by or getpass.getuser()
    return Correction(result.student, task, points, why, by, when, file_mark(result))
