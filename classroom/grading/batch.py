"""Grade a folder of submissions into a table: `python -m classroom grade`."""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import multiprocessing.connection
import os
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    Executor,
    Future,
    ProcessPoolExecutor,
    wait,
)
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from classroom.gradebook.attempts import BEST, LAST, best_attempts, paths_to_grade
from classroom.gradebook.deadlines import LatePolicy
from classroom.gradebook.roster import Roster
from classroom.gradebook.tables import Dialect
from classroom.grading.class_table import finish_table, log_absent, refuse_inside
from classroom.grading.grades import SubmissionGrade
from classroom.grading.grades_table import refuse_table
from classroom.grading.results_log import ResultsLog
from classroom.grading.submission_grader import (
    GradingPlan,
    checks_version,
    grade_submission,
    unsolved,
)
from classroom.platforms.names import parse_names, platform_students
from classroom.provided import exercise_named
from classroom.status import GradeStatus
from classroom.submissions import (
    Submission,
    group_by_student,
    list_submissions,
    read_submission,
)

MAX_USERS = 1_000  # sandboxes that may run side by side, each as a different user


def read_secret(path: Path) -> bytes:
    """Read the secret of the hidden cases; the first use creates it, for its owner alone."""
    with suppress(FileExistsError):
        created = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(created, "w") as file:
            file.write(secrets.token_hex(32) + "\n")
    text = path.read_text("utf8").strip()
    if len(text) < 16:
        raise ValueError(
            f"{path} must hold a secret of at least 16 characters; got {len(text)}. "
            "Restore the file, or name another one with --secret"
        )
    return text.encode()


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
    entries = list_submissions(folder)
    names = platform_students(entries)
    students = group_by_student(entries, names.get)
    log = ResultsLog(out.with_suffix(".jsonl"))
    try:
        refuse_table(out, plan.exercise, log)
        roster = roster or Roster.of(students)
        numbers = {path: name.number for path, name in parse_names(entries).items()}
        work = [(roster.rename(student, numbers.get(paths[-1], "")), paths)
                for student, paths in paths_to_grade(students, attempts)]  # fmt: skip
        results = []
        start = time.monotonic()
        executor = engine or process_pool(jobs)
        try:
            for count, result in enumerate(grade_all(work, plan, log, executor, jobs), 1):
                factor = late.factor(result.student, result.file) if late else 1.0
                results.append(result.with_credit(plan.partial_credit, factor))
                seconds = time.monotonic() - start
                say(progress_line(count, len(work), seconds, results[-1]))
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


def process_pool(jobs: int) -> ProcessPoolExecutor:
    """Start processes of the grader; each drives one sandbox at a time."""
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(jobs, context, initializer=exit_with_parent)


def exit_with_parent() -> None:
    """End this process as soon as its parent is gone, however the parent ended."""

    def watch() -> None:
        multiprocessing.connection.wait([multiprocessing.parent_process().sentinel])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def grade_all(
    work: list[tuple[str, list[Path]]],
    plan: GradingPlan,
    log: ResultsLog,
    engine: Executor,
    jobs: int,
) -> Iterator[SubmissionGrade]:
    """Yield results as they come; only a few submissions are in memory at a time."""
    waiting: dict[Future, tuple[Submission, GradingPlan]] = {}
    for number, (student, paths) in enumerate(work):
        submission = replace(read_submission(paths), student=student)
        known = log.known.get(result_key(submission, plan))
        tasks = ungraded_tasks(known, plan)
        if not tasks:
            yield known
            continue
        part = replace(plan, tasks=tuple(tasks))
        waiting[submit(engine, submission, part, number % MAX_USERS)] = submission, part
        while len(waiting) >= 2 * jobs:
            yield from collect(waiting, plan, log)
    while waiting:
        yield from collect(waiting, plan, log)


def submit(engine: Executor, submission: Submission, plan: GradingPlan, user: int) -> Future:
    """Start grading; if the engine has no process left, the future holds that error."""
    try:
        return engine.submit(grade_submission, submission, plan, user)
    except BrokenExecutor as error:
        failed: Future = Future()
        failed.set_exception(error)
        return failed


def collect(waiting: dict, plan: GradingPlan, log: ResultsLog) -> Iterator[SubmissionGrade]:
    """Wait for at least one result; merge it with the grades that were known, and log it."""
    done, _ = wait(waiting, return_when=FIRST_COMPLETED)
    for future in done:
        submission, part = waiting.pop(future)
        try:
            fresh = future.result()
        except Exception as error:
            fresh = grader_failure(submission, part, error)
        key = result_key(submission, plan)
        result = merge_grades(log.known.get(key), fresh, plan)
        log.append(key, result)
        yield result


def merge_grades(
    known: SubmissionGrade | None, fresh: SubmissionGrade, plan: GradingPlan
) -> SubmissionGrade:
    """Replace known grades by fresh ones, in the order of the tasks."""
    grades = {grade.task: grade for result in (known, fresh) if result for grade in result.grades}
    ordered = [grades[task.id] for task in exercise_named(plan.exercise).tasks if task.id in grades]
    return replace(fresh, grades=tuple(ordered)).with_status()


def grader_failure(submission: Submission, plan: GradingPlan, error: Exception) -> SubmissionGrade:
    """The row of a submission on which the grader itself failed; the next run tries it again."""
    message = f"the grader itself failed: {type(error).__name__}: {error}"
    crashed = GradeStatus.CRASHED
    grades = tuple(unsolved(task, crashed, message) for task in plan.selected_tasks())
    return SubmissionGrade(submission.student, submission.file, plan.exercise, crashed, grades,
                           message, sha256=submission.sha256, seed=plan.fingerprint)  # fmt: skip


def progress_line(count: int, total: int, seconds: float, result: SubmissionGrade) -> str:
    """One line: how far the run is, how long it still takes, and the last result."""
    left = seconds / count * (total - count)
    clock = f"{left // 60:.0f} min {left % 60:.0f} s left"
    return f"{count}/{total}  {clock:>16}  {result.student[:40]}: {result.status}, " \
           f"{result.score} of {result.max_points}"  # fmt: skip
