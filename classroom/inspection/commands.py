"""The commands that look closely at submissions."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from classroom.grading.batch import read_secret
from classroom.grading.submission_grader import GradingPlan
from classroom.inspection.rerun import rerun_text, run_again
from classroom.sandbox.doctor import require_sandbox
from classroom.submissions import read_submission


def add_inspection_commands(commands: Any) -> None:
    """Describe the commands."""
    command = commands.add_parser(
        "rerun", help="grade one submission again, with its prints and tracebacks; changes no table"
    )
    command.add_argument("submission", type=Path, help="a notebook, an archive, or a folder")
    command.add_argument("--exercise", required=True, help="for example 07_self_attention")
    command.add_argument("--secret", type=Path, default=Path("grading.secret"), help="as in grade")
    command.add_argument("--tasks", nargs="+", default=[], help="these tasks only")
    command.set_defaults(run=run_rerun)


def run_rerun(arguments: argparse.Namespace) -> int:
    """Print what a submission does."""
    for path in (arguments.submission, arguments.secret):
        if not path.exists():
            raise FileNotFoundError(f"{path} does not exist; name the file that `grade` was given")
    require_sandbox()
    plan = GradingPlan(arguments.exercise, read_secret(arguments.secret), tuple(arguments.tasks))
    print(rerun_text(run_again(read_submission([arguments.submission]), plan), plan))
    return 0
