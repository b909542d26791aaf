"""The commands that look closely at submissions."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

from classroom.gradebook.commands import fraction
from classroom.gradebook.deadlines import names_in_short
from classroom.gradebook.tables import write_whole
from classroom.grading.class_table import refuse_inside
from classroom.grading.grades_table import read_grades
from classroom.grading.secret_rounds import read_secret
from classroom.grading.submission_grader import GradingPlan
from classroom.inspection.rerun import by_hand_lines, rerun_text, run_again
from classroom.platforms.names import parse_name
from classroom.sandbox.doctor import require_sandbox
from classroom.submissions import read_submission

LEAST_BITS = 40.0  # that a pair must share: less is a short habit


def add_inspection_commands(commands: Any) -> None:
    """Describe the commands."""
    command = commands.add_parser(
        "rerun", help="grade one submission again, with its prints and tracebacks; changes no table"
    )
    command.add_argument("submission", type=Path, help="a notebook, an archive, or a folder")
    command.add_argument("--grades", type=Path, help="its table, for what you changed by hand")
    command.add_argument("--exercise", default="", help="for example 07_self_attention")
    command.add_argument("--secret", type=Path, default=Path("grading.secret"), help="as in grade")
    command.add_argument("--tasks", nargs="+", default=[], help="these tasks only")
    command.set_defaults(run=run_rerun)
    command = commands.add_parser("similar", help="show pairs of submissions with similar code")
    command.add_argument("folder", type=Path, help="the submissions, as `grade` was given them")
    command.add_argument("--out", type=Path, default=Path("similar.html"), help="the page")
    command.add_argument(
        "--share",
        type=fraction,
        default=0.25,
        help="least share of unusual code that a pair has in common",
    )
    command.add_argument("--most", type=int, default=30, help="pairs on the page")
    command.set_defaults(run=run_similar)


def run_rerun(arguments: argparse.Namespace) -> int:
    """Print what a submission does."""
    for path in (arguments.submission, arguments.secret):
        if not path.exists():
            raise FileNotFoundError(f"{path} does not exist; name the file that `grade` was given")
    rows = read_grades(arguments.grades)[0] if arguments.grades else []
    exercise = arguments.exercise or "".join(row.exercise for row in rows[:1])
    if not exercise:
        raise ValueError("rerun must know the exercise; add --grades TABLE or --exercise NAME")
    require_sandbox()
    plan = GradingPlan(exercise, read_secret(arguments.secret), tuple(arguments.tasks))
    submission = read_submission([arguments.submission])
    if name := parse_name(arguments.submission.name):
        submission = replace(submission, student=name.name)
    rerun = run_again(submission, plan)
    print(rerun_text(rerun, plan), *by_hand_lines(rerun.grade, rows), sep="\n")
    return 0


def run_similar(arguments: argparse.Namespace) -> int:
    """Write the page of similar submissions."""
    from classroom.inspection.similar_page import read_texts, same_code, similar_page
    from classroom.inspection.similarity import class_runs, similar_pairs

    refuse_inside(arguments.folder, arguments.out)
    texts, unread = read_texts(arguments.folder)
    if unread:
        print(f"left out, because it cannot be read: the work of {names_in_short(unread)}")
    if len(texts) < 3:
        raise ValueError(
            f"{arguments.folder} must hold at least 3 submissions that can be read; "
            f"got {len(texts)}"
        )
    runs = class_runs(texts)
    pairs = similar_pairs(runs, arguments.share, LEAST_BITS)[: arguments.most]
    write_whole(arguments.out, similar_page(pairs, runs, texts, arguments.share))
    for group in same_code(texts):
        print(f"the same code to the letter: {names_in_short(group)}")
    print(f"similar pairs: {len(pairs)}, of {len(texts)} submissions, in {arguments.out}")
    return 0
