"""Grade a class: release exercises, grade submissions, write feedback and a report."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager, nullcontext
from pathlib import Path

from classroom.feedback_pages import feedback_page, page_name
from classroom.gradebook.commands import (
    add_class_options,
    add_gradebook_commands,
    class_rules,
    fraction,
)
from classroom.gradebook.corrections import Corrections
from classroom.gradebook.run_options import keep_options, recall_options
from classroom.gradebook.tables import write_whole
from classroom.grading.batch import grade_class
from classroom.grading.class_table import refuse_inside
from classroom.grading.grader_pool import memory_warning
from classroom.grading.grades import SubmissionGrade
from classroom.grading.grades_table import read_grades
from classroom.grading.secret_rounds import put_away_secret, read_secret
from classroom.grading.submission_grader import GradingPlan, checks_version
from classroom.inspection.commands import add_inspection_commands
from classroom.marking.commands import add_marking_commands
from classroom.marking.marks import unmarked_line, with_unmarked
from classroom.platforms.commands import add_platform_commands
from classroom.provided import exercise_named
from classroom.sandbox.doctor import examine_sandbox, require_sandbox
from classroom.sandbox.isolation import SandboxError
from classroom.status import GradeStatus

CONNECT = 20  # seconds that a scheduler may take to answer
USAGE_ERRORS = (ValueError, KeyError, NotADirectoryError, FileNotFoundError, FileExistsError)


def main(words: list[str] | None = None) -> int:
    """Run one command; return 0 if it succeeded, 2 for a wrong command, 3 if it failed."""
    arguments = command_line().parse_args(words)
    try:
        return arguments.run(arguments)
    except USAGE_ERRORS as error:
        print(error if isinstance(error, OSError) else error.args[-1], file=sys.stderr)
        return 2
    except (OSError, SandboxError) as error:
        print(error, file=sys.stderr)
        return 3


def command_line() -> argparse.ArgumentParser:
    """Describe the commands and their options."""
    parser = argparse.ArgumentParser(prog="python -m classroom", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    command = commands.add_parser("release", help="write a folder to hand out, without any answer")
    command.add_argument("exercises", nargs="+", help="for example 07_self_attention")
    command.add_argument("--out", type=Path, required=True, help="a new or empty folder")
    command.add_argument(
        "--engine", choices=["nbgrader", "otter"], default="",
        help="write the source of an assignment for this engine; for trusted students only",
    )  # fmt: skip
    command.add_argument("--book", default="", help="address of the book, for links to it")
    command.set_defaults(run=run_release)
    add_grade_options(commands.add_parser("grade", help="grade a folder of submissions"))
    command = commands.add_parser("feedback", help="write a page for each student")
    command.add_argument("grades", type=Path, help="the table that `grade` wrote")
    command.add_argument("--out", type=Path, help="a folder; `feedback` beside the table otherwise")
    command.add_argument("--book", default="", help="address of the book, for links to it")
    command.set_defaults(run=run_feedback)
    command = commands.add_parser("report", help="write a page about the class")
    command.add_argument("grades", type=Path, help="the table that `grade` wrote")
    command.add_argument("--out", type=Path, help="a file; report.html beside the table otherwise")
    command.add_argument(
        "--feedback", type=Path,
        help="the folder that `feedback` wrote; the report links to its pages",
    )  # fmt: skip
    command.set_defaults(run=run_report)
    add_gradebook_commands(commands)
    add_platform_commands(commands)
    add_inspection_commands(commands)
    add_marking_commands(commands)
    command = commands.add_parser("doctor", help="test the sandbox on this machine (Linux)")
    command.set_defaults(run=run_doctor)
    return parser


def add_grade_options(command: argparse.ArgumentParser) -> None:
    """Describe the options of `grade`."""
    command.add_argument("folder", type=Path, help="a notebook, archive, or folder per student")
    command.add_argument("--exercise", required=True, help="for example 07_self_attention")
    command.add_argument(
        "--out", type=Path, help="the table of grades; grades-EXERCISE.csv if it is left out"
    )
    command.add_argument(
        "--secret", type=Path, default=Path("grading.secret"),
        help="file with the secret from which hidden cases are drawn; created if it is missing",
    )  # fmt: skip
    command.add_argument(
        "--new-secret", action="store_true",
        help="draw new hidden cases, for a new round; the old secret is kept beside the new one",
    )  # fmt: skip
    command.add_argument("--tasks", nargs="+", default=[], help="grade these tasks only")
    command.add_argument("--jobs", type=int, default=1, help="submissions graded at the same time")
    command.add_argument("--cluster", default="", help="address of a dask scheduler")
    add_class_options(command)
    command.add_argument(
        "--partial", type=fraction,
        help="share of the points that a wrong answer earns for the cases on which it is right",
    )  # fmt: skip
    command.add_argument(
        "--i-trust-these-students", action="store_true",
        help="grade without a sandbox: their code can do whatever you can",
    )  # fmt: skip
    command.set_defaults(run=run_grade)


def run_doctor(arguments: argparse.Namespace) -> int:
    """Print what holds in the sandbox and what does not."""
    findings = examine_sandbox()
    print(*findings, sep="\n")
    return 0 if all(finding.sound for finding in findings) else 3


def run_release(arguments: argparse.Namespace) -> int:
    """Write a folder for students."""
    from classroom.handing_out.release import release

    files = release(arguments.exercises, arguments.out, arguments.engine, arguments.book)
    print(f"{len(files)} files in {arguments.out}, and no answer in them")
    return 0


def run_feedback(arguments: argparse.Namespace) -> int:
    """Write a page for each student."""
    results, exercise = read_grades(arguments.grades)
    results, waiting = with_unmarked(arguments.grades, results)
    out = arguments.out or arguments.grades.with_name("feedback")
    out.mkdir(parents=True, exist_ok=True)
    for result in results:
        page = feedback_page(result, exercise, arguments.book)
        write_whole(out / page_name(result.student), page)
    print(f"{len(results)} pages in {out}")
    if line := unmarked_line(arguments.grades, waiting):
        print(line)
    return 0


def run_report(arguments: argparse.Namespace) -> int:
    """Write the page about the class."""
    from classroom.report.class_report import links_from, report_page

    results, exercise = read_grades(arguments.grades)
    out = arguments.out or arguments.grades.with_name("report.html")
    link = links_from(out, arguments.feedback or arguments.grades.with_name("feedback"))
    log = Corrections.beside(arguments.grades).entries
    write_whole(out, report_page(results, exercise, log, link))
    print(f"The report is in {out}")
    return 0


@contextmanager
def cluster(address: str) -> Iterator[tuple[Executor, int]]:
    """Connect to the machines of a dask scheduler; yield an executor and its number of slots.

    Each machine needs the same version of this course and a sound sandbox.
    The connection is closed at the end; an open one would look for its scheduler forever.
    """
    from distributed import Client

    with Client(address, timeout=CONNECT) as client:
        versions = client.run(checks_version)
        others = [where for where, version in versions.items() if version != checks_version()]
        if others:
            raise ValueError(
                f"every machine must have the version {checks_version()} of the course; "
                f"{', '.join(others)} have another version. Copy this folder to them"
            )
        client.run(require_sandbox)
        yield client.get_executor(pure=False, retries=3), sum(client.nthreads().values())


def quiet_arithmetic() -> None:
    """Keep NumPy's warnings about a student's numbers off the terminal, in every process."""
    os.environ.setdefault("PYTHONWARNINGS", "ignore::RuntimeWarning")


def run_grade(arguments: argparse.Namespace) -> int:
    """Grade a folder."""
    exercise = exercise_named(arguments.exercise)
    for task in arguments.tasks:
        exercise[task]
    out = arguments.out or Path(f"grades-{arguments.exercise}.csv")
    refuse_inside(arguments.folder, out, arguments.secret)
    if recalled := recall_options(arguments, out):
        print(recalled)
    rules = class_rules(arguments)
    quiet_arithmetic()
    if not arguments.i_trust_these_students:
        require_sandbox()
    if arguments.new_secret and (kept := put_away_secret(arguments.secret)):
        print(f"New hidden cases; the secret of the last round is in {kept}")
    plan = GradingPlan(
        arguments.exercise,
        read_secret(arguments.secret),
        tuple(arguments.tasks),
        isolated=not arguments.i_trust_these_students,
        partial_credit=arguments.partial,
    )
    executor = cluster(arguments.cluster) if arguments.cluster else nullcontext(
        (None, arguments.jobs)
    )  # fmt: skip
    with executor as (engine, jobs):
        if engine is None and (warning := memory_warning(jobs, plan.limits.memory)):
            print(warning, file=sys.stderr)
        results = grade_class(arguments.folder, plan, out, engine=engine, jobs=jobs, **rules)
    keep_options(arguments, out)
    print(f"{len(results)} rows in {out}")
    return report_failures(results)


def report_failures(results: list[SubmissionGrade]) -> int:
    """Name the rows on which the grader itself failed; return 3 if there are any, else 0."""
    failed = [result for result in results if result.status == GradeStatus.NOT_GRADED]
    for result in failed:
        print(f"NOT GRADED: {result.student}: {result.summary}", file=sys.stderr)
    if failed:
        print(
            f"The grader itself failed on {len(failed)} of {len(results)} rows. Their points say "
            "nothing about the work. Run the same command again: it grades these rows only",
            file=sys.stderr,
        )
    return 3 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
