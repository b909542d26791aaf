"""The commands and options by which a teacher decides about points."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from classroom.gradebook.attempts import BEST, LAST
from classroom.gradebook.corrections import (
    LATE,
    SCORE,
    Corrections,
    correction_now,
)
from classroom.gradebook.deadlines import LatePolicy, parse_grace, zone_named
from classroom.gradebook.names import name_student
from classroom.gradebook.roster import Roster
from classroom.gradebook.tables import COMMAS, SEMICOLONS, parse_number, write_whole
from classroom.gradebook.totals import (
    gradebook_csv,
    gradebook_page,
    read_columns,
    read_excused,
    student_totals,
)
from classroom.grading.class_table import refuse_inside
from classroom.grading.grades_table import adopt_edits, read_grades, read_rows, rewrite_table
from classroom.marking.marks import unmarked_line, with_unmarked


def add_class_options(command: argparse.ArgumentParser) -> None:
    """Describe the options of `grade` that concern students and not their code."""
    command.add_argument("--roster", type=Path, help="a CSV: student, and if needed due and grace")
    command.add_argument("--dates", type=Path, help="a CSV with the columns student and date")
    command.add_argument("--due", help="the deadline, for example 2026-12-01T23:59")
    command.add_argument("--zone", help="of dates without one, as Europe/Berlin")
    command.add_argument("--grace", help="hours and minutes that cost nothing, as 0:15")
    command.add_argument(
        "--late", type=fraction, help="share of the points lost for each day begun; 0.1 otherwise"
    )
    command.add_argument("--late-most", type=fraction, help="the largest share that can be lost")
    command.add_argument(
        "--attempts", choices=(LAST, BEST),
        help="which of several submissions of a student counts",
    )  # fmt: skip
    command.add_argument(
        "--semicolons", action="store_true",
        help="write the table for a spreadsheet in which 2,5 is a number",
    )  # fmt: skip


def fraction(text: str) -> float:
    """Parse a number from 0 to 1."""
    if not 0 <= float(text) <= 1:
        raise argparse.ArgumentTypeError(f"must be a number from 0 to 1; got {text}")
    return float(text)


def class_rules(arguments: argparse.Namespace) -> dict[str, Any]:
    """Read the files of these options; return what `grade_class` takes."""
    zone, grace = zone_named(arguments.zone), parse_grace(arguments.grace)
    refuse_inside(arguments.folder, *filter(None, (arguments.dates, arguments.roster)))
    if (arguments.due and not arguments.dates) or (arguments.dates and not arguments.due):
        given = "--dates" if arguments.dates else "--due"
        raise ValueError(f"--dates and --due belong together; got only {given}. Add the other")
    roster = Roster.from_csv(arguments.roster, zone) if arguments.roster else None
    late = None
    if arguments.dates:
        late = LatePolicy.from_csv(
            arguments.dates, arguments.due, arguments.late, zone, grace=grace,
            most=arguments.late_most, extensions=roster.students if roster else {},
        )  # fmt: skip
    elif roster and any(own.due or own.grace for own in roster.students.values()):
        raise ValueError(f"{arguments.roster} holds extensions, so --dates and --due are required")
    dialect = SEMICOLONS if arguments.semicolons else None
    return {"late": late, "roster": roster, "attempts": arguments.attempts, "dialect": dialect}


def add_gradebook_commands(commands: Any) -> None:
    """Describe the commands."""
    command = commands.add_parser("correct", help="set points by hand, with the reason")
    command.add_argument("grades", type=Path, help="the table that `grade` wrote")
    command.add_argument("student")
    command.add_argument("task", help=f'a task such as 7.2, "{LATE}", or {SCORE}')
    command.add_argument("points", help="the points, or `undo`")
    command.add_argument("--why", required=True, help="the reason; the student reads it")
    command.add_argument("--by", default="", help="who decides; you, if it is left out")
    command.set_defaults(run=run_correct)
    command = commands.add_parser("gradebook", help="sum up all exercises, in a table and a page")
    command.add_argument("grades", type=Path, nargs="+", help="the tables that `grade` wrote")
    command.add_argument(
        "--weights", nargs="+", default=[], help="for example 07_self_attention=2; 1 otherwise"
    )
    command.add_argument("--drop-lowest", type=int, default=0, help="exercises that do not count")
    command.add_argument("--roster", type=Path, help="a CSV with the column student")
    command.add_argument("--excused", type=Path, help="a CSV with the columns student, exercise")
    command.add_argument("--out", type=Path, default=Path("gradebook.csv"), help="the table")
    command.add_argument("--page", type=Path, default=Path("gradebook.html"), help="the page")
    command.add_argument("--semicolons", action="store_true", help="as for `grade`")
    command.set_defaults(run=run_gradebook)


def run_correct(arguments: argparse.Namespace) -> int:
    """Write a correction below the others, and the table with it."""
    rows, _ = read_rows(arguments.grades)
    students = {row.graded.student: row for row in rows}
    graded = students[name_student(arguments.student, students)].graded
    most = {grade.task: grade.max_points for grade in graded.grades}
    most |= {LATE: 1, SCORE: graded.max_points}
    if arguments.task not in most:
        raise ValueError(f"the task must be one of {', '.join(most)}; got {arguments.task!r}")
    points = None
    if arguments.points != "undo":
        points = parse_number(arguments.points, "points", "the command")
    if points is not None and not 0 <= points <= most[arguments.task]:
        raise ValueError(
            f"{arguments.task} must be from 0 to {most[arguments.task]}; got {points:g}"
        )
    corrections = Corrections.beside(arguments.grades)
    adopt_edits(arguments.grades, corrections, print)
    before = corrections.apply(graded).score
    corrections.add([correction_now(graded, arguments.task, points, arguments.why, arguments.by)])
    rewrite_table(arguments.grades)
    result = corrections.apply(graded)
    print(f"{graded.student}: {result.score} of {result.max_points} points, before {before}; "
          f"kept in {corrections.path}")  # fmt: skip
    return 0


def run_gradebook(arguments: argparse.Namespace) -> int:
    """Write the gradebook as a table and as a page."""
    if clash := {arguments.out, arguments.page} & set(arguments.grades):
        raise ValueError(f"{clash.pop()} is a table of grades; name another file")
    columns = read_columns(arguments.grades, parse_weights(arguments.weights))
    roster = list(Roster.from_csv(arguments.roster).students) if arguments.roster else []
    names = [row.student for row in student_totals(columns, 0, roster)]
    excused = read_excused(arguments.excused, names) if arguments.excused else []
    totals = student_totals(columns, arguments.drop_lowest, roster, excused)
    dialect = SEMICOLONS if arguments.semicolons else COMMAS
    write_whole(arguments.out, gradebook_csv(columns, totals, dialect), dialect.encoding)
    write_whole(arguments.page, gradebook_page(columns, totals, arguments.drop_lowest))
    for path in arguments.grades:
        if line := unmarked_line(path, with_unmarked(path, read_grades(path)[0])[1]):
            print(line)
    for student, exercise in excused:
        if student not in names or exercise not in [column.exercise for column in columns]:
            print(f"nobody is excused by {student}, {exercise}: one of them is unknown")
    print(f"{len(totals)} students in {arguments.out} and {arguments.page}")
    return 0


def parse_weights(words: list[str]) -> dict[str, float]:
    """Read weights such as 07_self_attention=2."""
    weights = {}
    for word in words:
        name, _, weight = word.partition("=")
        weights[name] = parse_number(weight, f"the weight of {name}", "the command")
        if weights[name] < 0:
            raise ValueError(f"the weight of {name} must not be negative; got {weight}")
    return weights
