"""One hand-in from its cells to its marks: run in a sandbox, judged out here."""

from __future__ import annotations

import difflib
import hashlib
import re
import time
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import torch  # noqa: F401 - it takes seconds to load, which must not be an answer's

from checks import Task, Verdict, judge
from checks.notebook import defines
from checks.run.wire import ABSENT
from classroom.grading.marks import Mark, Marked
from classroom.provided import allowed, load, provider
from classroom.sandbox.isolation import FIRST_USER, ROOT, Limits
from classroom.sandbox.remote_answer import answer_named, run_cells
from classroom.sandbox.sandbox import EndedError, Sandbox
from classroom.submissions import HandIn

DEFINED = re.compile(r"^(?:def|class)\s+(\w+)", re.MULTILINE)
RESTARTS = 3  # sandboxes for one hand-in, each after one that ended
STATUSES = {
    "passed": "passed", "too slow": "timed out", "not attempted": "not attempted",
    "missing": "not attempted",
}  # fmt: skip


@dataclass(frozen=True)
class Plan:
    """What is graded and how; it travels to other processes and machines as it is."""

    exercise: str
    secret: bytes
    tasks: tuple[str, ...] = ()
    limits: Limits = field(default_factory=Limits)
    isolated: bool = True
    users: int = FIRST_USER
    partial: float = 0.0

    @property
    def seed(self) -> int:
        """The number from which hidden cases are drawn; without the secret nobody knows it."""
        return int.from_bytes(hashlib.sha256(self.secret + self.exercise.encode()).digest()[:8])

    @property
    def fingerprint(self) -> str:
        """A short name of the seed, which does not give it away."""
        return hashlib.sha256(b"fingerprint" + self.secret).hexdigest()[:8]

    def chosen(self) -> list[Task]:
        """The tasks that are graded: those named, or all."""
        exercise = load(self.exercise)
        return [exercise[one] for one in self.tasks] if self.tasks else list(exercise.tasks)


def mark(hand_in: HandIn, plan: Plan, user: int = 0) -> Marked:
    """Grade one hand-in; whatever happens, there is one result with a status."""
    start = time.monotonic()
    marked = Marked(
        hand_in.student, hand_in.file, plan.exercise, hand_in.problem, message=hand_in.reason,
        sha256=hand_in.sha256, seed=plan.fingerprint,
    )  # fmt: skip
    tasks = plan.chosen()
    if hand_in.problem:
        marks = [Mark(task.id, hand_in.problem, 0, task.importance) for task in tasks]
    else:
        marks = Marking(hand_in, plan, tasks, plan.users + user).run()
        marked = replace(marked, message="; ".join(hand_in.notes))
    seconds = round(time.monotonic() - start, 1)
    marks = [replace(one, version=version()) for one in marks]
    return replace(marked, marks=tuple(marks), seconds=seconds).summed()


class Marking:
    """The grading of one hand-in: a sandbox for all tasks, and a new one after each that ended."""

    def __init__(self, hand_in: HandIn, plan: Plan, tasks: list[Task], user: int):
        self.sources, self.plan, self.tasks, self.user = hand_in.sources, plan, tasks, user
        self.marks: dict[str, Mark] = {}

    def run(self) -> list[Mark]:
        """The marks of all tasks, in their order."""
        for _ in range(RESTARTS):
            try:
                self.once()
            except EndedError as ended:
                # The cells themselves never came to their end: to run them again is in vain.
                self.rest(ended)
                break
            if len(self.marks) == len(self.tasks):
                break
        self.rest(EndedError("crashed", "its process ended too often"))
        return [self.marks[task.id] for task in self.tasks]

    def rest(self, ended: EndedError) -> None:
        """Give the tasks that have no mark yet the status of what ended them."""
        for task in self.tasks:
            if task.id not in self.marks:
                self.marks[task.id] = stopped(task, ended)

    def once(self) -> None:
        """Run the cells in a fresh sandbox and judge tasks until one of them ends it."""
        given = allowed(self.plan.exercise)
        with Sandbox(
            {module: sorted(names) for module, names in given.items()},
            provider(given), self.plan.limits, self.user, self.plan.isolated,
        ) as sandbox:  # fmt: skip
            ended = run_cells(sandbox, list(self.sources))
            for task in self.tasks:
                if task.id in self.marks:
                    continue
                self.marks[task.id] = self.judged(sandbox, task, ended)
                if sandbox.ended:
                    self.marks[task.id] = stopped(task, sandbox.ended)
                    return

    def judged(self, sandbox: Sandbox, task: Task, ended: list[dict[str, Any]]) -> Mark:
        """The mark of one task."""
        failed = self.failure(task, ended)
        try:
            answer = answer_named(sandbox, task.name)
            if failed and failed["error"] == "SyntaxError":
                return failure_mark(task, failed)
            return from_verdict(task, judge(task, answer, self.plan.seed))
        except LookupError:
            return failure_mark(task, failed) if failed else self.absent(task)
        except EndedError as ended_now:
            return stopped(task, ended_now)

    def absent(self, task: Task) -> Mark:
        """The mark of a task whose name is nowhere, with the nearest name that is."""
        names = {one for source in self.sources for one in DEFINED.findall(source)}
        near = difflib.get_close_matches(task.name, names, 1, 0.75)
        said = [f"`{task.name}` is not defined in what was handed in."]
        said += [f"There is a `{near[0]}`: is it meant to have this name?"] if near else []
        return Mark(task.id, "not attempted", 0, task.importance, tuple(said), read=task.read)

    def failure(self, task: Task, ended: list[dict[str, Any]]) -> dict[str, Any]:
        """How the last cell that defines this task's name failed, or one that imports it."""
        pairs = list(zip(reversed(self.sources), reversed(ended), strict=True))
        for source, said in pairs:
            if defines(source, task.name):
                return said if said.get("error") else {}
        word = re.compile(rf"\b{task.name}\b")
        told = [said for source, said in pairs if word.search(source)]
        return next((said for said in told if ABSENT in str(said.get("message"))), {})


def failure_mark(task: Task, failed: dict[str, Any]) -> Mark:
    """The mark of a task whose cell stopped with an error."""
    kind, message = str(failed["error"])[:60], str(failed.get("message", ""))[:600]
    line = f" (line {failed['line']})" if failed.get("line") else ""
    status = "refused" if ABSENT in message else "crashed"
    said = f"The cell that defines `{task.name}` stopped with {kind}: {message}{line}"
    return Mark(task.id, status, 0, task.importance, (said,), read=task.read)


def from_verdict(task: Task, verdict: Verdict) -> Mark:
    """A mark says what the verdict says; one with an error that we know gets its own status."""
    status = STATUSES.get(verdict.status, "wrong")
    said = " ".join(verdict.sentences)
    if verdict.status == "raised":
        status = "crashed"
        if "MemoryError" in said:
            status = "out of memory"
    if ABSENT in said:
        status = "refused"
    points = task.importance if status == "passed" else 0
    right = 0.0 if status == "refused" else verdict.right
    return Mark(
        task.id, status, points, task.importance, verdict.sentences, verdict.misconceptions,
        repr(verdict), verdict.read, right=right,
    )  # fmt: skip


def stopped(task: Task, ended: EndedError) -> Mark:
    """The mark of a task during which the sandbox ended."""
    status = {"too slow": "timed out"}.get(ended.why, ended.why)
    said = f"`{task.name}` could not be judged: {ended}."
    return Mark(task.id, status, 0, task.importance, (said,), read=task.read)


@cache
def version() -> str:
    """A short name of the checks as they are: all files that decide a mark, in one number."""
    files = sorted(
        path for package in ("lib", "checks", "classroom", "exercises")
        for path in (ROOT / package).rglob("*") if path.suffix in (".py", ".yml")
    )  # fmt: skip
    every = hashlib.sha256()
    for path in files:
        every.update(str(path.relative_to(ROOT)).encode() + b"\0" + Path(path).read_bytes())
    return every.hexdigest()[:12]
