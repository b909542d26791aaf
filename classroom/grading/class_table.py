"""The end of a run: absent students, corrections, the table, and what to look at."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from classroom.gradebook.corrections import Corrections
from classroom.gradebook.deadlines import LatePolicy, names_in_short
from classroom.gradebook.names import nearly_same
from classroom.gradebook.roster import Roster, absent_grade
from classroom.gradebook.tables import COMMAS, Dialect, read_table
from classroom.grading.grades import SubmissionGrade
from classroom.grading.grades_table import (
    adopt_edits,
    changed_cells,
    read_rows,
    write_grades,
)
from classroom.grading.results_log import ResultsLog
from classroom.grading.submission_grader import GradingPlan
from classroom.marking.marks import Marks
from classroom.status import GradeStatus


def refuse_inside(folder: Path, *paths: Path) -> None:
    """Refuse a file of the teacher's among the submissions, or where students get it."""
    for path in paths:
        if folder.resolve() in path.resolve().parents:
            raise ValueError(
                f"{path} lies in {folder}, where every file is a submission. "
                "Name a place outside this folder"
            )
        if path.is_dir() or path.suffix == ".jsonl":
            raise ValueError(f"{path} must be a file such as grades.csv. Name another one")
        for above in path.resolve().parents:
            if any((above / "exercises").glob("*.checks")):
                raise ValueError(
                    f"{path} lies in {above.name}, the folder that students get. "
                    "Name a place outside this folder"
                )


def refuse_table(out: Path, exercise: str, log: ResultsLog) -> None:
    """Refuse to write over a table of another exercise, or one that `grade` did not write."""
    others = {result.exercise for result in log.known.values()} - {exercise}
    if others:
        raise ValueError(
            f"{out} holds the grades of {', '.join(sorted(others))}, and this run grades "
            f"{exercise}. Name another file with --out"
        )
    if out.exists() and not log.known:
        raise ValueError(
            f"{out} exists, and there is no {log.path.name} beside it from which `grade` made it. "
            "Name another file with --out, or move this one away"
        )
    if out.exists():
        read_rows(out)  # a cell that cannot be read is told before anything is graded


def with_points_by_hand(path: Path) -> Callable[[SubmissionGrade], SubmissionGrade]:
    """Return a function that gives a result the marks and corrections that its table will show."""
    corrections, marks = Corrections.beside(path), Marks(path)
    corrections.entries += changed_cells(path, read_rows(path)[0]) if path.exists() else []
    return lambda result: corrections.apply(marks.apply(result))


def log_absent(
    roster: Roster, results: list[SubmissionGrade], plan: GradingPlan, log: ResultsLog
) -> list[SubmissionGrade]:
    """Make and log a row for each student who handed in nothing."""
    tasks = [task.id for task in plan.selected_tasks()]
    rows = [absent_grade(student, plan.exercise, tasks)
            for student in roster.absent(result.student for result in results)]  # fmt: skip
    for row in rows:
        log.append(f"absent {row.student}", row)
    return rows


def finish_table(
    out: Path,
    results: list[SubmissionGrade],
    roster: Roster,
    late: LatePolicy | None,
    dialect: Dialect | None,
    say: Callable[[str], None],
) -> None:
    """Keep what was changed by hand, write the table, and say what a teacher must know."""
    results.sort(key=lambda result: result.student)
    corrections = Corrections.beside(out)
    saved = read_table(out).dialect if out.exists() else COMMAS
    adopt_edits(out, corrections, say)
    write_grades(out, results, corrections, dialect or saved)
    students = [result.student for result in results]
    if strangers := roster.strangers(students):
        say(f"not in the roster: {names_in_short(strangers)}")
        absent = roster.absent(handed_in(results))
        for name, stranger in nearly_same(absent, strangers):
            say(f"perhaps one student: {name} of the roster and {stranger}, who handed in. Write "
                "the name in the roster as it was handed in, and grade again")  # fmt: skip
    present = handed_in(results)
    for line in [*corrections.idle(results), *(late.unclear(present) if late else [])]:
        say(line)


def handed_in(results: list[SubmissionGrade]) -> list[str]:
    """The students whose work came in."""
    return [row.student for row in results if row.status != GradeStatus.NOT_HANDED_IN]
