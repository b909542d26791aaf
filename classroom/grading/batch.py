"""A folder of hand-ins to a table of grades: `python -m classroom grade`."""

from __future__ import annotations

import csv
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
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from classroom.grading.mark import Plan, mark, version
from classroom.grading.marks import Mark, Marked
from classroom.grading.results_log import Journal, table, write
from classroom.provided import load
from classroom.submissions import HandIn, by_student, handed_in, read

MOST_USERS = 1_000  # so many sandboxes may stand beside each other, each as another user


@dataclass(frozen=True)
class Late:
    """What a late hand-in loses: a share of its points for each day that has begun."""

    due: datetime
    share: float
    dates: dict[str, datetime]

    def factor(self, student: str) -> float:
        """What a student's points are multiplied by; a student without a date is in time."""
        date = self.dates.get(student)
        if date is None or date <= self.due:
            return 1.0
        days = -(-(date - self.due).total_seconds() // 86_400)
        return max(0.0, 1.0 - self.share * days)

    @classmethod
    def read(cls, path: Path, due: str, share: float) -> Late:
        """Dates from a CSV with the columns student and date."""
        with open(path, encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file))
        if not rows or not {"student", "date"} <= set(rows[0]):
            raise ValueError(f"{path} needs the columns student and date")
        dates = {row["student"]: datetime.fromisoformat(row["date"]) for row in rows}
        return cls(datetime.fromisoformat(due), share, dates)


def secret_in(path: Path) -> bytes:
    """The secret of the hidden cases; made at the first use, readable by its owner alone."""
    with suppress(FileExistsError):
        made = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(made, "w") as file:
            file.write(secrets.token_hex(32) + "\n")
    text = path.read_text("utf8").strip()
    if len(text) < 16:
        raise ValueError(f"{path} holds no secret of at least 16 characters")
    return text.encode()


def key_of(hand_in: HandIn, plan: Plan) -> str:
    """What a result depends on beside the checks: the same key means the same work."""
    parts = [hand_in.student, hand_in.file, hand_in.sha256 or hand_in.reason, plan.exercise,
             plan.fingerprint, plan.isolated]  # fmt: skip
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:24]


def lacking(known: Marked | None, plan: Plan) -> list[str]:
    """The chosen tasks that have no mark yet, or one of other checks than today's."""
    versions = {mark.task: mark.version for mark in known.marks} if known else {}
    return [task.id for task in plan.chosen() if versions.get(task.id) != version()]


def grade(
    folder: Path,
    plan: Plan,
    out: Path,
    *,
    engine: Executor | None = None,
    jobs: int = 1,
    late: Late | None = None,
    say: Callable[[str], None] = print,
) -> list[Marked]:
    """Grade every hand-in, keep each result at once, and write the table in the end."""
    students = by_student(handed_in(folder))
    journal = Journal(out.with_suffix(".jsonl"))
    try:
        done = []
        start = time.monotonic()
        own = engine or pool(jobs)
        try:
            for count, one in enumerate(graded(students, plan, journal, own, jobs), 1):
                factor = late.factor(one.student) if late else 1.0
                done.append(one.counted(plan.partial, factor))
                say(progress(count, len(students), time.monotonic() - start, done[-1]))
        finally:
            if engine is None:
                own.shutdown(wait=False, cancel_futures=True)
        done.sort(key=lambda one: one.student)
        marked = {mark.task for one in done for mark in one.marks}
        tasks = [task.id for task in load(plan.exercise).tasks if task.id in marked]
        write(out, table(done, tasks))
    finally:
        journal.close()
    return done


def pool(jobs: int) -> ProcessPoolExecutor:
    """Processes of ours; each drives one sandbox at a time."""
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(jobs, context, initializer=end_with_the_parent)


def end_with_the_parent() -> None:
    """Let this process end as soon as the one that started it is gone, however that went."""

    def watch() -> None:
        multiprocessing.connection.wait([multiprocessing.parent_process().sentinel])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def graded(
    students: dict[str, list[Path]], plan: Plan, journal: Journal, engine: Executor, jobs: int
) -> Iterator[Marked]:
    """The results as they come; a few hand-ins are under way at a time, the rest on the disk."""
    waiting: dict[Future, tuple[HandIn, Plan]] = {}
    for number, paths in enumerate(students.values()):
        hand_in = read(paths)
        known = journal.known.get(key_of(hand_in, plan))
        tasks = lacking(known, plan)
        if not tasks:
            yield known
            continue
        part = replace(plan, tasks=tuple(tasks))
        waiting[submitted(engine, hand_in, part, number % MOST_USERS)] = hand_in, part
        while len(waiting) >= 2 * jobs:
            yield from finished(waiting, plan, journal)
    while waiting:
        yield from finished(waiting, plan, journal)


def submitted(engine: Executor, hand_in: HandIn, plan: Plan, user: int) -> Future:
    """The result to come; where no process of ours is left to make it, that is the result."""
    try:
        return engine.submit(mark, hand_in, plan, user)
    except BrokenExecutor as error:
        failed: Future = Future()
        failed.set_exception(error)
        return failed


def finished(waiting: dict, plan: Plan, journal: Journal) -> Iterator[Marked]:
    """Wait for one result or more; keep and give each, with the marks that were known before."""
    done, _ = wait(waiting, return_when=FIRST_COMPLETED)
    for future in done:
        hand_in, part = waiting.pop(future)
        try:
            marked = future.result()
        except Exception as error:
            marked = broken(hand_in, part, error)
        key = key_of(hand_in, plan)
        marked = together(journal.known.get(key), marked, plan)
        journal.keep(key, marked)
        yield marked


def together(known: Marked | None, fresh: Marked, plan: Plan) -> Marked:
    """Fresh marks in the place of those that were known, in the order of the tasks."""
    marks = {mark.task: mark for one in (known, fresh) if one for mark in one.marks}
    ordered = [marks[task.id] for task in load(plan.exercise).tasks if task.id in marks]
    return replace(fresh, marks=tuple(ordered)).summed()


def broken(hand_in: HandIn, plan: Plan, error: Exception) -> Marked:
    """A row for work at which our own side failed: it is said, and the next run tries again."""
    said = f"the grader itself failed: {type(error).__name__}: {error}"
    marks = [Mark(task.id, "crashed", 0, task.importance, (said,)) for task in plan.chosen()]
    return Marked(hand_in.student, hand_in.file, plan.exercise, "crashed", tuple(marks), said,
                  sha256=hand_in.sha256, seed=plan.fingerprint)  # fmt: skip


def progress(count: int, total: int, seconds: float, marked: Marked) -> str:
    """One line: how far, how long still, and what came last."""
    left = seconds / count * (total - count)
    clock = f"{left // 60:.0f} min {left % 60:.0f} s left"
    return f"{count}/{total}  {clock:>16}  {marked.student[:40]}: {marked.status}, " \
           f"{marked.score} of {marked.most}"  # fmt: skip
