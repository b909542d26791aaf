"""The table of grades: written with every correction, and read back from any spreadsheet.

Each row holds in `graded` what the grader gave and in `written` what was written, so a cell that a
teacher has changed since is known, and becomes a correction before the table is written again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from checks import Exercise
from classroom.gradebook.corrections import (
    LATE,
    SCORE,
    Correction,
    Corrections,
    correction_now,
)
from classroom.gradebook.tables import (
    COMMAS,
    CsvTable,
    Dialect,
    parse_number,
    read_table,
    table_text,
    write_whole,
)
from classroom.grading.grades import SubmissionGrade, two_digits
from classroom.grading.results_log import known_results
from classroom.marking.marks import Marks
from classroom.provided import exercise_named

LAST_COLUMNS = ("corrected", "message", "seconds", "file", "sha256", "seed", "version",
                "result", "graded", "written")  # fmt: skip


@dataclass(frozen=True)
class GradedRow:
    """One row: what the grader gave, what the table shows, and which cells were changed since."""

    graded: SubmissionGrade
    shown: SubmissionGrade
    edits: dict[str, float]


def grades_csv(
    results: Iterable[SubmissionGrade],
    tasks: list[str],
    corrections: Corrections | None = None,
    dialect: Dialect = COMMAS,
) -> str:
    """The table as CSV: a row for each student, with points and status of each task."""
    points = [points_column(task, dialect) for task in tasks]
    head = ["student", "status", "score", "max", *points, *(f"{task} status" for task in tasks)]
    rows = (row_cells(result, tasks, corrections) for result in results)
    return table_text([*head, LATE, *LAST_COLUMNS], rows, dialect)


def points_column(task: str, dialect: Dialect) -> str:
    """Name the column of a task; where commas are decimal, a bare 7.1 becomes a day in January."""
    return task if dialect.delimiter == "," else f"{task} points"


def row_cells(
    graded: SubmissionGrade, tasks: list[str], corrections: Corrections | None
) -> list[str | int | float]:
    """The cells of one row."""
    result = corrections.apply(graded) if corrections else graded
    values, before = cell_values(result), cell_values(graded)
    changed = [f"{name}: {before[name]:g} -> {value:g}" for name, value in values.items()
               if value != before[name] and (name != SCORE or result.corrected_score)]  # fmt: skip
    statuses = {grade.task: grade.status for grade in result.grades}
    versions = " ".join(sorted({grade.version for grade in result.grades}))
    return [
        result.student, result.status or "", result.score, result.max_points,
        *(values.get(task, "") for task in tasks), *(statuses.get(task, "") for task in tasks),
        two_digits(result.late_factor), "; ".join(changed), result.summary, result.seconds,
        result.file, result.sha256, result.seed, versions, result_mark(result),
        values_text(before), values_text(values),
    ]  # fmt: skip


def cell_values(result: SubmissionGrade) -> dict[str, int | float]:
    """The numbers of a row that a teacher may change."""
    points = {grade.task: grade.points for grade in result.grades}
    return points | {LATE: two_digits(result.late_factor), SCORE: result.score}


def values_text(values: dict[str, int | float]) -> str:
    """Write values into one cell: `7.1=5, 7.2=0, late factor=1, score=5`."""
    return ", ".join(f"{name}={value}" for name, value in values.items())


def parse_values(text: str) -> dict[str, float]:
    """Read what `values_text` wrote; a cell that was changed gives nothing."""
    try:
        return {name: float(value) for name, _, value in
                (part.rpartition("=") for part in text.split(", ") if part)}  # fmt: skip
    except ValueError:
        return {}


def result_mark(result: SubmissionGrade) -> str:
    """A short name of a result that no other row has, and no spreadsheet takes for a number."""
    parts = [result.student, result.file, result.sha256, result.seed, result.exercise]
    return "r" + hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


def read_rows(path: Path) -> tuple[list[GradedRow], Exercise]:
    """Read the rows of a table, in its order, and their exercise."""
    table = read_table(path)
    log = path.with_suffix(".jsonl")
    known = {result_mark(result): result for result in known_results(log).values()}
    corrections, marks = Corrections.beside(path), Marks(path)
    rows = [graded_row(table, row, marks.apply(known[row["result"]]), corrections,
                       marks.tasks)
            for row in table.rows if row.get("result") in known]  # fmt: skip
    if not rows:
        raise ValueError(
            f"{path} must be a table that `grade` wrote, with {log.name} in the same folder; "
            f"no row of it has a result there. Name the table, or run `grade` again"
        )
    return rows, exercise_named(rows[0].graded.exercise)


def graded_row(
    table: CsvTable,
    row: dict[str, str],
    result: SubmissionGrade,
    corrections: Corrections,
    by_hand: Collection[str] = (),
) -> GradedRow:
    """Rebuild what the grader gave from a row, and what the table shows."""
    gave = parse_values(row.get("graded", ""))
    grades = [
        grade if grade.task in by_hand
        else replace(grade, points=two_digits(gave.get(grade.task, grade.points)))
        for grade in result.grades
    ]  # fmt: skip
    graded = replace(result, grades=tuple(grades), late_factor=two_digits(gave.get(LATE, 1.0)))
    shown = corrections.apply(graded)
    written = parse_values(row.get("written", "")) or cell_values(shown)
    cells = {name: cell_number(table, row, name) for name in written}
    edits = {name: value for name, value in cells.items()
             if abs(value - written.get(name, value)) > 1e-9}  # fmt: skip
    for name, value in edits.items():
        if name != SCORE:
            shown = with_edit(shown, name, value)
    if SCORE in edits and abs(shown.score - edits[SCORE]) < 1e-9:
        del edits[SCORE]  # the sum of the cells that were changed
    elif SCORE in edits:
        shown = with_edit(shown, SCORE, edits[SCORE])
    return GradedRow(graded, shown, edits)


def cell_number(table: CsvTable, row: dict[str, str], name: str) -> float:
    """Read the number in a cell of a row."""
    column = next((column for column in (name, f"{name} points") if column in row), "")
    if not column:
        raise ValueError(
            f"{table.path} must have the column {name}; it is missing. If a spreadsheet made a "
            "date of it, write the name into the first line again"
        )
    return parse_number(row[column], name, f"the row of {row['student']} in {table.path}")


def with_edit(result: SubmissionGrade, name: str, value: float) -> SubmissionGrade:
    """Take over one cell that was changed."""
    if name in (LATE, SCORE):
        field = {LATE: "late_factor", SCORE: "corrected_score"}[name]
        return replace(result, **{field: two_digits(value)})
    return replace(result, grades=tuple(
        replace(grade, points=two_digits(value)) if grade.task == name else grade
        for grade in result.grades
    ))  # fmt: skip


def read_grades(path: Path) -> tuple[list[SubmissionGrade], Exercise]:
    """Read the results of a table with their corrections, in its order, and their exercise."""
    rows, exercise = read_rows(path)
    return [row.shown for row in rows], exercise


def changed_cells(path: Path, rows: Iterable[GradedRow]) -> list[Correction]:
    """The cells of a table that were changed since it was written, as corrections."""
    return [
        correction_now(row.graded, name, value, f"changed in {path.name}")
        for row in rows for name, value in row.edits.items()
    ]  # fmt: skip


def adopt_edits(path: Path, corrections: Corrections, say: Callable[[str], None]) -> None:
    """Turn each cell of the table that was changed by hand into a correction, and say so."""
    if not path.exists():
        return
    rows, _ = read_rows(path)
    if entries := changed_cells(path, rows):
        corrections.add(entries)
        say(f"{len(entries)} cells of {path} were changed by hand: {corrections.path} keeps them")
    known = {result_mark(row.graded) for row in rows}
    for row in read_table(path).rows:
        if row.get("result") not in known:
            say(f"the row of {row.get('student')} was added by hand, and is not kept: put the name "
                "into a roster, and set the score with `correct`")  # fmt: skip


def write_grades(
    path: Path,
    results: Iterable[SubmissionGrade],
    corrections: Corrections,
    dialect: Dialect = COMMAS,
) -> None:
    """Write the table of these results with their corrections."""
    marks = Marks(path)
    results = [marks.apply(result) for result in results]
    tasks = list(dict.fromkeys(grade.task for result in results for grade in result.grades))
    if results:
        order = [task.id for task in exercise_named(results[0].exercise).tasks]
        tasks.sort(key=lambda task: order.index(task) if task in order else len(order))
    write_whole(path, grades_csv(results, tasks, corrections, dialect), dialect.encoding)


def rewrite_table(path: Path) -> None:
    """Write the table again with what was corrected and marked since."""
    corrections = Corrections.beside(path)
    adopt_edits(path, corrections, print)
    rows, exercise = read_rows(path)
    known = {task.id for task in exercise.tasks}
    checked = [replace(row.graded, grades=tuple(
        grade for grade in row.graded.grades if grade.task in known)) for row in rows]  # fmt: skip
    write_grades(path, checked, corrections, read_table(path).dialect)
