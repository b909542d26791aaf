"""The commands of a teacher: `python -m classroom COMMAND --help`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager, nullcontext
from pathlib import Path

from classroom.feedback_pages import class_report, feedback, file_of
from classroom.grading.batch import Late, grade, secret_in
from classroom.grading.mark import Plan, version
from classroom.grading.results_log import graded_in, write
from classroom.handing_out.nbgrader_otter import ENGINES
from classroom.handing_out.release import release
from classroom.provided import load
from classroom.sandbox.doctor import demand_soundness, examine
from classroom.sandbox.isolation import SandboxError

ASKED = (NotADirectoryError, FileNotFoundError, FileExistsError)


def main(words: list[str] | None = None) -> int:
    """Run one command; 0 if it did what it should, 2 if it was asked wrongly, 3 if it could not."""
    parser = argparse.ArgumentParser(prog="python -m classroom", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    command = commands.add_parser("release", help="a folder to hand out, without any answer")
    command.add_argument("exercises", nargs="+", help="for example 07_self_attention")
    command.add_argument("--out", type=Path, required=True, help="a new folder")
    command.add_argument(
        "--engine",
        choices=sorted(ENGINES),
        default="",
        help="make it the source of an assignment there; for trusted students only",
    )
    command.set_defaults(run=run_release)
    command = commands.add_parser("grade", help="grade a folder of hand-ins")
    command.add_argument("folder", type=Path, help="one notebook, archive or folder per student")
    command.add_argument("--exercise", required=True, help="for example 07_self_attention")
    command.add_argument("--out", type=Path, default=Path("grades.csv"))
    command.add_argument(
        "--secret",
        type=Path,
        default=Path("grading.secret"),
        help="a file that hidden cases are drawn from; made if it is not there",
    )
    command.add_argument("--tasks", nargs="+", default=[], help="only these are run again")
    command.add_argument("--jobs", type=int, default=1, help="so many at a time")
    command.add_argument("--cluster", default="", help="a dask scheduler's address: more machines")
    command.add_argument("--dates", type=Path, help="a CSV with student and date")
    command.add_argument("--due", help="the last moment, for example 2026-12-01T23:59")
    command.add_argument("--late", type=share, default=0.1, help="lost for each day begun: 0.1")
    command.add_argument(
        "--partial",
        type=share,
        default=0.0,
        help="what a wrong answer earns that is right on some cases: 0.5 is half of their share",
    )
    command.add_argument(
        "--i-trust-these-students",
        action="store_true",
        help="without a sandbox: their code can do whatever you can",
    )
    command.set_defaults(run=run_grade)
    command = commands.add_parser("feedback", help="a page for each student of a graded folder")
    command.add_argument("grades", type=Path, help="the table that grade wrote")
    command.add_argument("--out", type=Path, default=Path("feedback"), help="a folder")
    command.add_argument("--book", default="", help="the book's address, for its links")
    command.set_defaults(run=run_feedback)
    command = commands.add_parser("report", help="a page about the class")
    command.add_argument("grades", type=Path, help="the table that grade wrote")
    command.add_argument("--out", type=Path, default=Path("report.html"))
    command.set_defaults(run=run_report)
    command = commands.add_parser("doctor", help="try whether a sandbox holds on this machine")
    command.set_defaults(run=run_doctor)
    said = parser.parse_args(words)
    try:
        return said.run(said)
    except (ValueError, KeyError, *ASKED) as error:
        print(error.args[-1] if error.args else error, file=sys.stderr)
        return 2
    except (OSError, SandboxError) as error:
        print(error, file=sys.stderr)
        return 3


def share(text: str) -> float:
    """A number from 0 to 1."""
    if not 0 <= float(text) <= 1:
        raise argparse.ArgumentTypeError(f"{text} is not from 0 to 1")
    return float(text)


def run_doctor(said: argparse.Namespace) -> int:
    """Say what is sound and what is not."""
    findings = examine()
    print(*findings, sep="\n")
    return 0 if all(one.sound for one in findings) else 3


def run_release(said: argparse.Namespace) -> int:
    """Write a bundle for students."""
    files = release(said.exercises, said.out, said.engine)
    print(f"{len(files)} files in {said.out}, and no answer in them")
    return 0


def run_feedback(said: argparse.Namespace) -> int:
    """Write a page for each student."""
    results, exercise = graded_in(said.grades)
    said.out.mkdir(parents=True, exist_ok=True)
    for one in results:
        write(said.out / file_of(one.student), feedback(one, exercise, said.book))
    print(f"{len(results)} pages in {said.out}")
    return 0


def run_report(said: argparse.Namespace) -> int:
    """Write the page about the class."""
    write(said.out, class_report(*graded_in(said.grades)))
    print(f"The class in {said.out}")
    return 0


@contextmanager
def cluster(address: str) -> Iterator[tuple[Executor, int]]:
    """The machines behind a dask scheduler, and how many hand-ins they take at a time.

    Each needs this course, the same to the letter, and a sound sandbox.
    Afterwards the connection is closed: left open, it would look for its scheduler for ever.
    """
    from distributed import Client

    with Client(address, timeout=20) as client:
        others = [where for where, one in client.run(version).items() if one != version()]
        if others:
            names = ", ".join(others)
            raise ValueError(f"these machines have another state of the course: {names}")
        client.run(demand_soundness)
        yield client.get_executor(pure=False, retries=3), sum(client.nthreads().values())


def run_grade(said: argparse.Namespace) -> int:
    """Grade a folder."""
    exercise = load(said.exercise)
    for task in said.tasks:
        exercise[task]
    late = None
    if said.dates or said.due:
        if not (said.dates and said.due):
            raise ValueError("--dates and --due belong together")
        late = Late.read(said.dates, said.due, said.late)
    if not said.i_trust_these_students:
        demand_soundness()
    plan = Plan(
        said.exercise,
        secret_in(said.secret),
        tuple(said.tasks),
        isolated=not said.i_trust_these_students,
        partial=said.partial,
    )
    where = cluster(said.cluster) if said.cluster else nullcontext((None, said.jobs))
    with where as (engine, jobs):
        done = grade(said.folder, plan, said.out, engine=engine, jobs=jobs, late=late)
    print(f"{len(done)} rows in {said.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
