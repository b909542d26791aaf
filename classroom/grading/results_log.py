"""Results on disk: one line for each as soon as it is known, and the table made from them.

A killed run leaves at most one incomplete line, which is ignored; the next run continues there.
"""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from checks import Exercise
from classroom.grading.grades import SubmissionGrade, from_json, to_json, two_digits
from classroom.provided import exercise_named

LAST_COLUMNS = ("late factor", "message", "seconds", "file", "sha256", "seed", "version")
FORMULAS = ("=", "+", "-", "@", "\t", "\r")


class UnwritableError(OSError):
    """The results cannot be written; what was written before is still there."""


class ResultsLog:
    """All results of a run so far, by their keys."""

    def __init__(self, path: Path):
        self.path = path
        self.known: dict[str, SubmissionGrade] = {}
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            raw = path.read_bytes() if path.exists() else b""
            self.file = open(path, "ab", buffering=0)  # noqa: SIM115
            if raw and not raw.endswith(b"\n"):
                self.file.write(b"\n")
        except OSError as error:
            raise UnwritableError(f"{path} cannot be written: {error.strerror}") from None
        for line in raw.splitlines():
            # A killed run leaves half a line; its submission is graded again.
            with suppress(ValueError, KeyError, TypeError):
                entry = json.loads(line)
                self.known[entry["key"]] = from_json(entry["result"])

    def append(self, key: str, result: SubmissionGrade) -> None:
        """Write one result, through to the disk."""
        self.known[key] = result
        line = json.dumps({"key": key, "result": to_json(result)}, ensure_ascii=True) + "\n"
        try:
            self.file.write(line.encode())
            os.fsync(self.file.fileno())
        except OSError as error:
            raise UnwritableError(f"{self.path} cannot be written: {error.strerror}") from None

    def close(self) -> None:
        """Close the file."""
        self.file.close()


def write_whole(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    part = path.with_name(f".{path.name}.part")
    try:
        with open(part, "w", encoding="utf8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except OSError as error:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        raise UnwritableError(f"{path} cannot be written: {error.strerror}") from None


def grades_csv(results: Iterable[SubmissionGrade], tasks: list[str]) -> str:
    """The table as CSV: a row for each student, with points and status of each task."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    head = ["student", "status", "score", "max", *tasks, *(f"{task} status" for task in tasks)]
    writer.writerow([*head, *LAST_COLUMNS])
    for result in results:
        grades = {grade.task: grade for grade in result.grades}
        points = [grades[task].points if task in grades else 0 for task in tasks]
        statuses = [grades[task].status if task in grades else "" for task in tasks]
        versions = " ".join(sorted({grade.version for grade in result.grades}))
        row = [result.student, result.status, result.score, result.max_points,
               *points, *statuses, two_digits(result.late_factor), result.summary, result.seconds,
               result.file, result.sha256, result.seed, versions]  # fmt: skip
        writer.writerow([escape_cell(cell) for cell in row])
    return text.getvalue()


def read_grades(path: Path) -> tuple[list[SubmissionGrade], Exercise]:
    """Read the results of a table, in its order, and their exercise.

    Points come from the table, because a teacher may have changed them there.
    """
    with open(path, encoding="utf8", newline="") as file:
        rows = list(csv.DictReader(file))
    log = ResultsLog(path.with_suffix(".jsonl"))
    log.close()
    known = {(escape_cell(result.file), result.sha256, result.seed): result
             for result in log.known.values()}  # fmt: skip
    pairs = [(known.get((row["file"], row["sha256"], row["seed"])), row) for row in rows]
    results = [with_row_points(row, result) for result, row in pairs if result]
    if not results:
        raise ValueError(
            f"{path} must be a table that `grade` wrote, with {log.path.name} in the same folder; "
            f"no row of it has a result there. Name the table, or run `grade` again"
        )
    return results, exercise_named(results[0].exercise)


def with_row_points(row: dict[str, str], result: SubmissionGrade) -> SubmissionGrade:
    """Take the points and the late factor from the row of the table."""
    try:
        grades = [replace(grade, points=two_digits(float(row[grade.task])))
                  for grade in result.grades if grade.task in row]  # fmt: skip
        return replace(result, grades=tuple(grades), late_factor=float(row["late factor"]))
    except ValueError as error:
        raise ValueError(
            f"points and late factor in the row of {result.student} must be numbers: {error}. "
            "Correct the cell in the table of grades"
        ) from None


def escape_cell(cell: Any) -> Any:
    """Make text safe for a spreadsheet: one line, no formula, no character that files refuse."""
    if not isinstance(cell, str):
        return cell
    text = "".join(character if character.isprintable() else " " for character in cell)
    text = text.encode("utf8", "backslashreplace").decode("utf8")
    return f"'{text}" if cell.startswith(FORMULAS) or text.lstrip().startswith(FORMULAS) else text
