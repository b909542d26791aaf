"""The gradebook: every student over all exercises, with weights and the lowest ones dropped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from classroom.feedback_pages import render
from classroom.gradebook.names import find_student
from classroom.gradebook.tables import COMMAS, Dialect, read_table, table_text
from classroom.grading.grades import SubmissionGrade, two_digits
from classroom.grading.grades_table import read_grades
from classroom.marking.marks import with_unmarked
from classroom.report.statistics import not_judged
from classroom.status import GradeStatus


@dataclass(frozen=True)
class ExerciseColumn:
    """One exercise in the gradebook: its weight, and the results of its students."""

    exercise: str
    weight: int | float
    results: Mapping[str, SubmissionGrade]

    @property
    def most(self) -> int:
        """The points that could be earned."""
        return max(result.max_points for result in self.results.values())


@dataclass(frozen=True)
class StudentTotal:
    """One student: the share of the points of each exercise, which of them count, and the total.

    A share is None where the grader failed or the student is excused.
    """

    student: str
    points: tuple[int | float | None, ...]
    shares: tuple[float | None, ...]
    dropped: frozenset[int]
    total: float | None


def read_columns(paths: Iterable[Path], weights: Mapping[str, int | float]) -> list[ExerciseColumn]:
    """Read the tables of grades; an exercise without a weight has the weight 1."""
    columns: list[ExerciseColumn] = []
    for path in paths:
        results, _ = with_unmarked(path, read_grades(path)[0])
        name = results[0].exercise
        if name in [column.exercise for column in columns]:
            raise ValueError(f"each table must be of another exercise; {path} is {name} again")
        by_student = {result.student: result for result in results}
        columns.append(ExerciseColumn(name, weights.get(name, 1.0), by_student))
    if unknown := set(weights) - {column.exercise for column in columns}:
        raise ValueError(f"no table is of {', '.join(sorted(unknown))}, which has a weight")
    return columns


def student_totals(
    columns: Sequence[ExerciseColumn],
    drop: int = 0,
    roster: Iterable[str] = (),
    excused: Iterable[tuple[str, str]] = (),
) -> list[StudentTotal]:
    """Compute the total of each student: sum(weight share) / sum(weight), over what counts.

    The `drop` exercises with the lowest shares do not count. An exercise without a submission is
    a share of 0; one that is excused, or on which the grader failed, is left out.
    """
    if not 0 <= drop < len(columns):
        raise ValueError(
            f"--drop-lowest must leave at least one of {len(columns)} exercises; got {drop}"
        )
    names = list(roster)
    for column in columns:
        names += [name for name in column.results if not find_student(name, names)]
    free = set(excused)
    return [student_total(name, columns, drop, free) for name in sorted(names)]


def student_total(
    name: str, columns: Sequence[ExerciseColumn], drop: int, excused: set[tuple[str, str]]
) -> StudentTotal:
    """Compute the row of one student."""
    points: list[int | float | None] = []
    shares: list[float | None] = []
    for column in columns:
        result = column.results.get(find_student(name, column.results) or "")
        left_out = (name, column.exercise) in excused or (result and not_judged(result))
        absent = result is None or result.status == GradeStatus.NOT_HANDED_IN
        points.append(None if left_out or absent else result.score)
        most = result.max_points if result else column.most
        shares.append(None if left_out else (points[-1] or 0) / most if most else 0.0)
    counted = sorted((share, n) for n, share in enumerate(shares) if share is not None)
    dropped = frozenset(n for _, n in counted[: min(drop, len(counted) - 1)]) if counted else None
    kept = [n for _, n in counted if n not in (dropped or ())]
    weight = sum(columns[n].weight for n in kept)
    total = sum(columns[n].weight * shares[n] for n in kept) / weight if weight else None
    return StudentTotal(name, tuple(points), tuple(shares), dropped or frozenset(), total)


def read_excused(path: Path, students: Iterable[str]) -> list[tuple[str, str]]:
    """Read who is excused from what: a table with the columns student and exercise."""
    students = list(students)
    rows = read_table(path).require("student", "exercise").rows
    return [(find_student(row["student"], students) or row["student"], row["exercise"].strip())
            for row in rows]  # fmt: skip


def gradebook_csv(
    columns: Sequence[ExerciseColumn], totals: Iterable[StudentTotal], dialect: Dialect = COMMAS
) -> str:
    """The gradebook as CSV: points of each exercise, the total in percent, and what was dropped."""
    head = [f"{column.exercise} of {column.most}" for column in columns]
    rows = (
        [row.student, "" if row.total is None else two_digits(round(100 * row.total, 2)),
         *("" if points is None else points for points in row.points),
         " ".join(columns[n].exercise for n in sorted(row.dropped))]
        for row in totals
    )  # fmt: skip
    return table_text(["student", "total %", *head, "dropped"], rows, dialect)


def gradebook_page(
    columns: Sequence[ExerciseColumn], totals: Sequence[StudentTotal], drop: int
) -> str:
    """Write the gradebook as a page, with the mean of each column."""
    means = [mean_share([row.shares[n] for row in totals]) for n in range(len(columns))]
    return render(
        "gradebook/totals.html", columns=columns, totals=totals, drop=drop, means=means,
        mean=mean_share([row.total for row in totals]),
    )  # fmt: skip


def mean_share(shares: Iterable[float | None]) -> float | None:
    """The mean of the shares that count."""
    counted = [share for share in shares if share is not None]
    return float(np.mean(counted)) if counted else None
