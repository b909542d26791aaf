"""Grade a folder of submissions into a table: `python -m classroom grade`."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from dataclasses import dataclass, field, replace
from pathlib import Path

from classroom.gradebook.attempts import BEST, LAST, best_attempts, paths_to_grade
from classroom.gradebook.deadlines import LatePolicy
from classroom.gradebook.roster import Roster
from classroom.gradebook.tables import Dialect
from classroom.grading.class_table import (
    finish_table,
    log_absent,
    refuse_inside,
    refuse_table,
    with_points_by_hand,
)
from classroom.grading.grader_pool import process_pool
from classroom.grading.grades import SubmissionGrade
from classroom.grading.results_log import ResultsLog
from classroom.grading.submission_grader import (
    GradingPlan,
    checks_version,
    grade_submission,
    unsolved,
    with_version,
)
from classroom.platforms.downloads import refuse_download
from classroom.platforms.names import parse_names, platform_students
from classroom.processes import SupervisedPool
from classroom.provided import exercise_named
from classroom.status import GradeStatus
from classroom.submissions import (
    Submission,
    group_by_student,
    hidden_entries,
    list_submissions,
    read_submission,
)

MAX_USERS = 1_000  # sandboxes that may run side by side, each as a different user
LITTLE_MEMORY = 64 * 2**20  # bytes to unpack a file while others are graded


def result_key(submission: Submission, plan: GradingPlan) -> str:
    """Hash what a result depends on besides the checks: the same key means the same work."""
    parts = [submission.student, submission.file, submission.sha256 or submission.reason,
             plan.exercise, plan.fingerprint, plan.isolated]  # fmt: skip
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:24]


def ungraded_tasks(known: SubmissionGrade | None, plan: GradingPlan) -> list[str]:
    """The selected tasks without a grade, or with one from another version of the checks."""
    versions = {grade.task: grade.version for grade in known.grades} if known else {}
    return [task.id for task in plan.selected_tasks() if versions.get(task.id) != checks_version()]


def grade_class(
    folder: Path,
    plan: GradingPlan,
    out: Path,
    *,
    engine: Executor | None = None,
    jobs: int = 1,
    late: LatePolicy | None = None,
    roster: Roster | None = None,
    attempts: str = LAST,
    dialect: Dialect | None = None,
    say: Callable[[str], None] = print,
) -> list[SubmissionGrade]:
    """Grade every submission, log each result at once, and write the table at the end."""
    refuse_inside(folder, out)
    refuse_download(entries := list_submissions(folder))
    names = platform_students(entries)
    students = group_by_student(entries, names.get)
    if hidden := hidden_entries(folder):
        say(f"passed over, because of the dot that their names begin with: {', '.join(hidden)}")
    log = ResultsLog(out.with_suffix(".jsonl"))
    try:
        refuse_table(out, plan.exercise, log)
        roster = roster or Roster.of(students)
        numbers = {path: name.number for path, name in parse_names(entries).items()}
        work = [(roster.rename(student, numbers.get(paths[-1], "")), paths)
                for student, paths in paths_to_grade(students, attempts)]  # fmt: skip
        results, by_hand = [], with_points_by_hand(out)
        start = time.monotonic()
        executor = engine or process_pool(jobs, plan.exercise)
        try:
            for count, result in enumerate(grade_all(work, plan, log, executor, jobs), 1):
                factor = late.factor(result.student, result.file) if late else 1.0
                results.append(result := result.with_credit(plan.partial_credit, factor))
                seconds = time.monotonic() - start
                say(progress_line(count, len(work), seconds, by_hand(result), result.score))
        finally:
            if engine is None:
                executor.shutdown(wait=False, cancel_futures=True)
        if attempts == BEST:
            order = [path.name for _, paths in work for path in paths]
            results = best_attempts(results, order)
        results += log_absent(roster, results, plan, log)
        finish_table(out, results, roster, late, dialect, say)
    finally:
        log.close()
    return results


@dataclass
class Work:
    """The submissions that are being graded, and the suspects, in whose company a process died."""

    plan: GradingPlan
    log: ResultsLog
    engine: Executor
    waiting: dict[Future, tuple[Submission, GradingPlan]] = field(default_factory=dict)
    suspects: list[tuple[Submission, GradingPlan]] = field(default_factory=list)
    submitted: int = 0

    def submit(self, submission: Submission, part: GradingPlan) -> None:
        """Start grading; if the engine has no process left, the future holds that error."""
        user = self.submitted % MAX_USERS
        self.submitted += 1
        try:
            future = self.engine.submit(grade_submission, submission, part, user)
        except BrokenExecutor as error:
            future = Future()
            future.set_exception(error)
        self.waiting[future] = submission, part

    def start(self, submission: Submission) -> Iterator[SubmissionGrade]:
        """Start grading what has no grade yet; yield the result if all of it is known."""
        known = self.log.known.get(result_key(submission, self.plan))
        if tasks := ungraded_tasks(known, self.plan):
            self.submit(submission, replace(self.plan, tasks=tuple(tasks)))
        else:
            yield known

    def collect_all(self) -> Iterator[SubmissionGrade]:
        """Wait for all results."""
        while self.waiting:
            yield from self.collect()

    def collect(self, alone: bool = False) -> Iterator[SubmissionGrade]:
        """Wait for at least one result; merge it with the grades that were known, and log it.

        If a process died, or all took too much memory, its submission may be innocent: it is graded
        again, when it is `alone`.
        """
        done, _ = wait(self.waiting, return_when=FIRST_COMPLETED)
        for future in done:
            submission, part = self.waiting.pop(future)
            if isinstance(future.exception(), (BrokenExecutor, MemoryError)) and not alone:
                self.suspects.append((submission, part))
                continue
            key = result_key(submission, self.plan)
            fresh = result_of(future, submission, part)
            result = merge_grades(self.log.known.get(key), fresh, self.plan)
            self.log.append(key, result)
            yield result


def grade_all(
    students: list[tuple[str, list[Path]]],
    plan: GradingPlan,
    log: ResultsLog,
    engine: Executor,
    jobs: int,
) -> Iterator[SubmissionGrade]:
    """Yield results as they come; only a few submissions are in memory at a time.

    A file that needs much memory is read at the end, when nothing else is graded.
    """
    work = Work(plan, log, engine)
    large = []
    for student, paths in students:
        try:
            submission = replace(read_submission(paths, LITTLE_MEMORY), student=student)
        except MemoryError:
            large.append((student, paths))
            continue
        yield from work.start(submission)
        while len(work.waiting) >= 2 * jobs:
            yield from work.collect()
    yield from work.collect_all()
    for student, paths in large:
        if isinstance(engine, SupervisedPool):
            engine.end_processes()
        yield from work.start(replace(read_submission(paths), student=student))
        yield from work.collect_all()
    for suspect in work.suspects:
        work.submit(*suspect)
        yield from work.collect(alone=True)


def result_of(future: Future, submission: Submission, plan: GradingPlan) -> SubmissionGrade:
    """The result of grading, or the row of a submission that the grader could not grade."""
    try:
        return future.result()
    except TimeoutError:
        status, message = GradeStatus.TIMED_OUT, "its grading never ended"
    except MemoryError:
        status, message = GradeStatus.OUT_OF_MEMORY, "to grade it takes too much memory"
    except Exception as error:
        status = GradeStatus.NOT_GRADED
        message = f"the grader itself failed: {type(error).__name__}: {error}"
    grades = with_version([unsolved(task, status, message) for task in plan.selected_tasks()])
    return SubmissionGrade(submission.student, submission.file, plan.exercise, status, grades,
                           message, sha256=submission.sha256, seed=plan.fingerprint)  # fmt: skip


def merge_grades(
    known: SubmissionGrade | None, fresh: SubmissionGrade, plan: GradingPlan
) -> SubmissionGrade:
    """Replace known grades by fresh ones, in the order of the tasks."""
    grades = {grade.task: grade for result in (known, fresh) if result for grade in result.grades}
    ordered = [grades[task.id] for task in exercise_named(plan.exercise).tasks if task.id in grades]
    return replace(fresh, grades=tuple(ordered)).with_status()


def progress_line(
    count: int, total: int, seconds: float, result: SubmissionGrade, gave: int | float | None = None
) -> str:
    """One line: how far the run is, how long it still takes, and the last result.

    `gave` is the score before marks and corrections by hand.
    """
    by_hand = "" if gave in (None, result.score) else f", by hand; the grader gave {gave}"
    left = seconds / count * (total - count)
    clock = f"{left // 60:.0f} min {left % 60:.0f} s left"
    return f"{count}/{total}  {clock:>16}  {result.student[:40]}: {result.status}, " \
           f"{result.score} of {result.max_points}{by_hand}"  # fmt: skip
