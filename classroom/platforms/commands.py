"""The command that writes what a learning platform takes back."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from classroom.gradebook.deadlines import names_in_short
from classroom.gradebook.tables import read_table, write_whole
from classroom.grading.grades import SubmissionGrade
from classroom.grading.grades_table import read_grades
from classroom.marking.marks import unmarked_line, with_unmarked
from classroom.platforms.names import PlatformName
from classroom.platforms.uploads import (
    assignment_column,
    canvas_upload,
    feedback_archive,
    moodle_numbers,
    moodle_upload,
)
from classroom.status import GradeStatus


def add_platform_commands(commands: Any) -> None:
    """Describe the command."""
    command = commands.add_parser("upload", help="write grades for Moodle or Canvas")
    command.add_argument("grades", type=Path, help="the table that `grade` wrote")
    source = command.add_mutually_exclusive_group(required=True)
    source.add_argument("--moodle", type=Path, help="the grading worksheet that Moodle wrote")
    source.add_argument("--canvas", type=Path, help="the gradebook that Canvas exported")
    command.add_argument("--assignment", default="", help="words of the column's name in Canvas")
    command.add_argument(
        "--out", type=Path, help="the table to upload; upload.csv beside the grades"
    )
    command.add_argument("--feedback", type=Path, help="the folder that `feedback` wrote")
    command.add_argument("--zip", type=Path, help="its archive; feedback.zip beside the grades")
    command.set_defaults(run=run_upload)


def run_upload(arguments: argparse.Namespace) -> int:
    """Write the table, and the archive of feedback pages if their folder is named."""
    table = read_table(arguments.moodle or arguments.canvas)
    out = arguments.out or arguments.grades.with_name("upload.csv")
    if out.resolve() in (table.path.resolve(), arguments.grades.resolve()):
        raise ValueError(f"{out} is one of the tables to read; name another with --out")
    results, waiting = with_unmarked(arguments.grades, read_grades(arguments.grades)[0])
    if arguments.moodle:
        upload = moodle_upload(table, results)
    else:
        upload = canvas_upload(table, results, assignment_column(table, arguments.assignment))
    write_whole(out, upload.text)
    print(f"{upload.count} grades in {out}; the other rows stay as they were")
    if line := unmarked_line(arguments.grades, waiting):
        print(line)
    if upload.without_row:
        print(f"no row in {table.path} for {names_in_short(upload.without_row)}")
    if arguments.feedback:
        numbers = moodle_numbers(table, results) if arguments.moodle else {}
        zip_path = arguments.zip or arguments.grades.with_name("feedback.zip")
        pack_feedback(zip_path, arguments.feedback, results, numbers)
    return 0


def pack_feedback(
    out: Path,
    pages: Path,
    results: Sequence[SubmissionGrade],
    numbers: Mapping[str, PlatformName],
) -> None:
    """Write the archive of feedback pages, and say for whom it holds none, and why."""
    absent = [row.student for row in results if row.status == GradeStatus.NOT_HANDED_IN]
    archive = feedback_archive(
        [row for row in results if row.student not in absent], pages, numbers
    )
    out.write_bytes(archive.packed)
    print(f"{archive.count} pages in {out}")
    for students, why in (
        (archive.without_page, f"it is not in {pages}; run `feedback` again"),
        (archive.without_number, "the file has no number of Moodle's, and the worksheet no row"),
        (absent, "nothing was handed in"),
    ):
        if students:
            print(f"no page is packed for {names_in_short(students)}: {why}")
