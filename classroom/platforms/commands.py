"""The command that writes what a learning platform takes back."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from classroom.gradebook.deadlines import names_in_short
from classroom.gradebook.tables import read_table, write_whole
from classroom.grading.grades_table import read_grades
from classroom.marking.marks import unmarked_line, with_unmarked
from classroom.platforms.uploads import (
    assignment_column,
    canvas_upload,
    feedback_archive,
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
    command.add_argument("--out", type=Path, default=Path("upload.csv"), help="the table to upload")
    command.add_argument("--feedback", type=Path, help="the folder that `feedback` wrote")
    command.add_argument("--zip", type=Path, default=Path("feedback.zip"), help="its archive")
    command.set_defaults(run=run_upload)


def run_upload(arguments: argparse.Namespace) -> int:
    """Write the table, and the archive of feedback pages if their folder is named."""
    table = read_table(arguments.moodle or arguments.canvas)
    if arguments.out.resolve() in (table.path.resolve(), arguments.grades.resolve()):
        raise ValueError(f"{arguments.out} is one of the tables to read; name another with --out")
    results, waiting = with_unmarked(arguments.grades, read_grades(arguments.grades)[0])
    if arguments.moodle:
        upload = moodle_upload(table, results)
    else:
        upload = canvas_upload(table, results, assignment_column(table, arguments.assignment))
    write_whole(arguments.out, upload.text)
    print(f"{upload.count} grades in {arguments.out}; the other rows stay as they were")
    if line := unmarked_line(arguments.grades, waiting):
        print(line)
    if upload.without_row:
        print(f"no row in {table.path} for {names_in_short(upload.without_row)}")
    if arguments.feedback:
        archive, left = feedback_archive(results, arguments.feedback)
        arguments.zip.write_bytes(archive)
        print(f"{len(results) - len(left)} pages in {arguments.zip}")
        absent = [row.student for row in results if row.status == GradeStatus.NOT_HANDED_IN]
        if others := [name for name in left if name not in absent]:
            print(f"no page, or no number of Moodle's, for {names_in_short(others)}")
        if absent:
            print(f"no page is packed for {names_in_short(absent)}, who handed in nothing")
    return 0
