"""Grade one submission: run its cells in a sandbox, and judge its answers outside."""

from __future__ import annotations

import difflib
import hashlib
import importlib
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from checks import Task, Verdict, judge
from checks.notebook import defines
from checks.status import Status
from checks.wire.values import ABSENT
from classroom.grading.grades import SubmissionGrade, TaskGrade
from classroom.grading.hidden_cases import hidden_task
from classroom.grading.student_words import for_student
from classroom.grading.task_grades import (
    Failure,
    grade_ended,
    grade_failed_cell,
    grade_unjudged,
    grade_verdict,
    unsolved,
)
from classroom.provided import exercise_named, make_provider, provided_functions
from classroom.sandbox.isolation import FIRST_USER, ROOT, Limits
from classroom.sandbox.remote_answer import answer_named, run_cells
from classroom.sandbox.sandbox import Sandbox, SandboxEndedError
from classroom.status import GradeStatus
from classroom.submissions import Submission

DEFINITION = re.compile(r"^(?:def|class)[ \t]+(\w+)", re.MULTILINE)
MAX_NAME, MAX_NAMES = 60, 300
NO_RESULT = (Status.TOO_SLOW, Status.NOT_ATTEMPTED)  # which hidden cases would only repeat
MAX_LEFT_OUT = 3  # cells of one submission that may end its sandbox, each a new one


@dataclass(frozen=True)
class GradingPlan:
    """What is graded and how; it is sent to other processes and machines as it is."""

    exercise: str
    secret: bytes
    tasks: tuple[str, ...] = ()
    limits: Limits = field(default_factory=Limits)
    isolated: bool = True
    first_user: int = FIRST_USER
    partial_credit: float = 0.0

    @property
    def seed(self) -> int:
        """The seed of the hidden cases; only the secret leads to it."""
        return int.from_bytes(hashlib.sha256(self.secret + self.exercise.encode()).digest()[:8])

    @property
    def fingerprint(self) -> str:
        """A short name of the secret, which does not reveal it and looks like no number."""
        return "s" + hashlib.sha256(b"fingerprint" + self.secret).hexdigest()[:8]

    def selected_tasks(self) -> list[Task]:
        """The tasks that are graded: those in `tasks`, or all."""
        exercise = exercise_named(self.exercise)
        return [exercise[number] for number in self.tasks or [task.id for task in exercise.tasks]]


def grade_submission(submission: Submission, plan: GradingPlan, user: int = 0) -> SubmissionGrade:
    """Grade one submission; whatever happens in it, there is one result with a status."""
    importlib.import_module("torch")  # seconds where it is not loaded, which are no answer's
    start = time.monotonic()
    tasks, status, message = plan.selected_tasks(), submission.status, submission.reason
    if status:
        grades = [TaskGrade(task.id, status, 0, task.importance) for task in tasks]
        message = "; ".join([message, *submission.notes])
    else:
        grader = SubmissionGrader(submission, plan, tasks, plan.first_user + user)
        grades = grader.run()
        message = "; ".join([*submission.notes, *grader.notes()])
    return SubmissionGrade(
        submission.student, submission.file, plan.exercise, status, with_version(grades),
        message, round(time.monotonic() - start, 1), submission.sha256, plan.fingerprint,
    ).with_status()  # fmt: skip


def with_version(grades: list[TaskGrade]) -> tuple[TaskGrade, ...]:
    """Note the version of the checks in each grade; one without a version is graded again."""
    return tuple(
        grade if grade.status == GradeStatus.NOT_GRADED
        else replace(grade, version=checks_version()) for grade in grades
    )  # fmt: skip


class SubmissionGrader:
    """Grades one submission in one sandbox, and in a new one after each that ended.

    A cell that ends its sandbox is left out from then on, and named.
    """

    def __init__(self, submission: Submission, plan: GradingPlan, tasks: list[Task], user: int):
        self.sources, self.plan, self.tasks, self.user = submission.sources, plan, tasks, user
        self.grades: dict[str, TaskGrade] = {}
        self.shown: dict[str, Verdict] = {}
        self.step: Callable[[Task, Any], TaskGrade | None] = self.judge_shown
        self.left_out: dict[int, SandboxEndedError] = {}
        self.until = time.monotonic() + plan.limits.submission

    def run(self) -> list[TaskGrade]:
        """Grade all tasks, in their order; each sandbox ends with a grade or a cell more."""
        while len(self.grades) < len(self.tasks):
            try:
                self.run_in_sandbox()
            except SandboxEndedError as ended:
                over = time.monotonic() > self.until or len(self.left_out) == MAX_LEFT_OUT
                if ended.cell is None or over:
                    self.grade_the_rest(ended)
                else:
                    self.left_out[ended.cell] = ended
        return [self.grades[task.id] for task in self.tasks]

    def notes(self) -> list[str]:
        """What was left out, in words."""
        return [f"cell {cell + 1} was left out: {ended}" for cell, ended in self.left_out.items()]

    def grade_the_rest(self, ended: SandboxEndedError) -> None:
        """Give the tasks without a grade the status of what ended the sandbox."""
        for task in self.tasks:
            if task.id not in self.grades:
                self.grades[task.id] = grade_ended(task, ended)

    def run_in_sandbox(self) -> None:
        """Run the cells in a fresh sandbox and judge tasks until one of them ends it."""
        provided = provided_functions(self.plan.exercise)
        names = {module: sorted(functions) for module, functions in provided.items()}
        with Sandbox(
            names, make_provider(self.plan.exercise), self.plan.limits, self.user,
            self.plan.isolated, self.until,
        ) as sandbox:  # fmt: skip
            cells = run_cells(sandbox, self.sources, self.left_out)
            # All shown cases come first: an answer that has seen hidden numbers could tell them.
            for step in (self.judge_shown, self.judge_hidden):
                self.step = step
                for task in self.tasks:
                    if task.id in self.grades:
                        continue
                    if grade := self.grade_task(sandbox, task, cells):
                        self.grades[task.id] = grade
                    if sandbox.ended:
                        self.grades[task.id] = grade_ended(task, sandbox.ended)
                        return

    def judge_shown(self, task: Task, answer: Any) -> TaskGrade | None:
        """Judge an answer on the shown cases; that is a grade only where it gives no result."""
        verdict = self.shown.get(task.id) or judge(task, answer)
        self.shown[task.id] = verdict
        return self.graded(task, verdict) if verdict.status in NO_RESULT else None

    def judge_hidden(self, task: Task, answer: Any) -> TaskGrade:
        """Judge an answer on the hidden cases."""
        return self.graded(task, judge(hidden_task(task), answer, self.plan.seed))

    def graded(self, task: Task, verdict: Verdict) -> TaskGrade:
        """Turn a verdict into a grade with the words that its student may read."""
        grade = grade_verdict(task, verdict)
        return for_student(grade, task, verdict, self.shown[task.id], self.sources)

    def grade_task(
        self, sandbox: Sandbox, task: Task, cells: list[dict[str, Any]]
    ) -> TaskGrade | None:
        """Judge the answer to one task by this step; `cells` says how each cell ended."""
        failure = self.failure(task, cells)
        try:
            answer = answer_named(sandbox, task.name)
        except LookupError:
            if not failure:
                return self.grade_missing(task)
            return grade_failed_cell(task, failure, self.sources)
        except SandboxEndedError as ended:
            return grade_ended(task, ended)
        if isinstance(failure, dict) and failure.get("error") == "SyntaxError":
            return grade_failed_cell(task, failure, self.sources)
        try:
            return self.step(task, answer)
        except SandboxEndedError as ended:
            return grade_ended(task, ended)
        except MemoryError:
            ended = sandbox.end(GradeStatus.OUT_OF_MEMORY, "its replies take too much memory")
            return grade_ended(task, ended)
        except Exception as error:
            return grade_unjudged(task, error)

    def grade_missing(self, task: Task) -> TaskGrade:
        """Grade a task whose name is not defined; mention the nearest name that is."""
        names = {name for source in self.sources for name in DEFINITION.findall(source)}
        # Each comparison takes the square of a name's length, so only a few short ones are made.
        short = sorted(name for name in names if len(name) <= MAX_NAME)[:MAX_NAMES]
        near = difflib.get_close_matches(task.name, short, 1, 0.75)
        sentences = [f"`{task.name}` is not defined in the submission."]
        sentences += [f"There is a `{near[0]}`: should it have this name?"] if near else []
        return unsolved(task, GradeStatus.NOT_ATTEMPTED, *sentences)

    def failure(self, task: Task, cells: list[dict[str, Any]]) -> Failure:
        """How the last cell that defines this task's name failed, or a cell that imports it."""
        pairs = list(zip(reversed(self.sources), reversed(cells), strict=True))
        for number, (source, cell) in enumerate(pairs, 1):
            if defines(source, task.name):
                if ended := self.left_out.get(len(pairs) - number):
                    return ended
                return cell if cell.get("error") else {}
        word = re.compile(rf"\b{task.name}\b")
        mentions = [cell for source, cell in pairs if word.search(source)]
        return next((cell for cell in mentions if ABSENT in str(cell.get("message"))), {})


@cache
def checks_version() -> str:
    """Hash every file that decides a grade into one short name."""
    files = sorted(
        path for package in ("lib", "checks", "classroom", "exercises")
        for path in (ROOT / package).rglob("*") if path.suffix in (".py", ".yml")
    )  # fmt: skip
    digest = hashlib.sha256()
    for path in files:
        digest.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes())
    return f"v{digest.hexdigest()[:12]}"
