"""Write what Moodle and Canvas take back: their own table with the points, a ZIP of feedback.

Both tables have commas, points in their numbers, and UTF-8, however a spreadsheet has saved them:
Moodle reads no others.
Source: Moodle, mod/assign/feedback/offline/importgradeslib.php, parsecsv and init (it needs the
columns Identifier, Grade and Last modified (grade)), and mod/assign/feedback/file/importziplib.php
(the names in the ZIP); Canvas, lib/gradebook_importer.rb (Student, ID, SIS Login ID, Section, and
the row Points Possible).
"""

from __future__ import annotations

import csv
import io
import re
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from classroom.feedback_pages import page_name
from classroom.gradebook.names import find_student
from classroom.gradebook.roster import digits_of
from classroom.gradebook.tables import CsvTable, escape_cell
from classroom.grading.grades import SubmissionGrade, two_digits
from classroom.platforms.names import CANVAS, MOODLE, PlatformName, parse_name
from classroom.report.statistics import in_statistics

COMMENTS = "Feedback comments"
MODIFIED = "Last modified (grade)"
FEEDBACK = "assignfeedback_file_feedback.html"


@dataclass(frozen=True)
class Upload:
    """A table to upload, how many grades it holds, and whom it leaves out."""

    text: str
    count: int
    without_row: list[str]


def platform_number(result: SubmissionGrade) -> str:
    """The number that a platform has put into the name of the file; empty if there is none."""
    for pattern in (MOODLE, CANVAS):
        if name := parse_name(result.file, pattern):
            return name.number
    return ""


def match_rows(
    table: CsvTable, results: Sequence[SubmissionGrade], number: str, name: str
) -> dict[int, SubmissionGrade]:
    """The result of each row: by the platform's number, or else by the student's name."""
    by_number = {platform_number(result): result for result in results if platform_number(result)}
    by_name = {result.student: result for result in results}
    rows = {}
    for n, row in enumerate(table.rows):
        digits = digits_of(row.get(number, ""))
        student = find_student(row.get(name, "").strip(), by_name)
        result = by_number.get(digits) or by_name.get(student or "")
        if result is not None:
            rows[n] = result
    return rows


def scaled(result: SubmissionGrade, most: str) -> int | float:
    """The points on the platform's scale, or as they are if it names none."""
    share = result.score / result.max_points if result.max_points else 0.0
    text = most.strip().replace(",", ".")
    if not re.fullmatch(r"\d+(\.\d+)?", text):
        return result.score
    return two_digits(round(share * float(text), 2))


def moodle_upload(table: CsvTable, results: Sequence[SubmissionGrade]) -> Upload:
    """Fill Moodle's grading worksheet: the grade on its scale, and a comment."""
    table.require("Identifier", "Grade", MODIFIED)
    matched = match_rows(table, results, "Identifier", "Full name")
    for n, result in matched.items():
        if in_statistics(result):
            points = scaled(result, table.rows[n].get("Maximum Grade", ""))
            table.rows[n]["Grade"] = str(points)
            if COMMENTS in table.columns:
                table.rows[n][COMMENTS] = escape_cell(comment_on(result))
    return finished(table, results, matched)


def comment_on(result: SubmissionGrade) -> str:
    """The comment that a student reads: the points, what lateness cost, and the reasons."""
    late = f" Late: {result.late_factor:g} of the points of the tasks count."
    points = f"{result.score:g} of {result.max_points} points."
    return f"{points}{late * (result.late_factor != 1)} {result.summary}".strip()[:1000]


def canvas_upload(table: CsvTable, results: Sequence[SubmissionGrade], assignment: str) -> Upload:
    """Fill the column of an assignment in Canvas's export of the gradebook."""
    table.require("Student", "ID", assignment)
    points = [row[assignment] for row in table.rows if "Points Possible" in row["Student"]]
    matched = match_rows(table, results, "ID", "Student")
    for n, result in matched.items():
        if in_statistics(result):
            table.rows[n][assignment] = str(scaled(result, *points[:1] or [""]))
    return finished(table, results, matched)


def finished(
    table: CsvTable, results: Sequence[SubmissionGrade], matched: dict[int, SubmissionGrade]
) -> Upload:
    """Write the table as the platform wrote it; the other cells stay as they were."""
    text = io.StringIO()
    writer = csv.DictWriter(text, table.columns, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(table.rows)
    graded = [result for result in matched.values() if in_statistics(result)]
    present = {id(result) for result in matched.values()}
    missing = [result.student for result in results
               if in_statistics(result) and id(result) not in present]  # fmt: skip
    return Upload(text.getvalue(), len(graded), missing)


@dataclass(frozen=True)
class Archive:
    """Feedback pages for Moodle, how many, and the students for whom something is missing."""

    packed: bytes
    count: int
    without_page: list[str]
    without_number: list[str]


def feedback_archive(
    results: Sequence[SubmissionGrade], pages: Path, numbers: Mapping[str, PlatformName]
) -> Archive:
    """Pack feedback pages under the names by which Moodle gives them to students.

    A name is that of the submitted file, or else the one in `numbers`.
    """
    packed, archive = io.BytesIO(), Archive(b"", 0, [], [])
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
        for result in results:
            name = parse_name(result.file) or numbers.get(result.student)
            page = pages / page_name(result.student)
            if not page.is_file():
                archive.without_page.append(result.student)
            elif name is None:
                archive.without_number.append(result.student)
            else:
                # Moodle splits at underscores, and takes what stands second as the number.
                plain = re.sub(r"[_/\\]+", " ", name.name)
                file.write(page, f"{plain}_{name.number}_{FEEDBACK}")
        count = len(file.namelist())
    return replace(archive, packed=packed.getvalue(), count=count)


def moodle_numbers(table: CsvTable, results: Sequence[SubmissionGrade]) -> dict[str, PlatformName]:
    """The name and the number of each student in Moodle's worksheet."""
    matched = match_rows(table, results, "Identifier", "Full name")
    rows = {result.student: table.rows[n] for n, result in matched.items()}
    return {
        student: PlatformName(row.get("Full name") or student, number)
        for student, row in rows.items() if (number := digits_of(row.get("Identifier", "")))
    }  # fmt: skip


def assignment_column(table: CsvTable, words: str) -> str:
    """The only column of Canvas's export whose name holds these words."""
    columns = [column for column in table.columns if words in column]
    if len(columns) != 1:
        raise ValueError(
            f"--assignment must name one column of {table.path}; {words!r} is in "
            f"{len(columns)} of them: {', '.join(columns or table.columns)[:300]}"
        )
    return columns[0]
