"""Turn what became of one answer into the grade of its task."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from checks import Task, Verdict
from checks.notebook import defines
from checks.status import Status
from checks.wire.values import ABSENT
from classroom.grading.grades import TaskGrade
from classroom.grading.student_words import own_lines
from classroom.sandbox.sandbox import SandboxEndedError
from classroom.status import OF_CHECKS, GradeStatus

Failure = dict[str, Any] | SandboxEndedError  # of a cell that raised, or that was left out


def unsolved(task: Task, status: GradeStatus, *sentences: str) -> TaskGrade:
    """The grade of a task that earns nothing, with the reasons."""
    return TaskGrade(task.id, status, 0, task.importance, sentences, read=task.read)


def grade_failed_cell(task: Task, failure: Failure, sources: Sequence[str] = ()) -> TaskGrade:
    """Grade a task whose cell stopped with an error, or was left out."""
    if isinstance(failure, SandboxEndedError):
        number = f"cell {failure.cell + 1}"
        sentence = f"The cell that defines `{task.name}` ({number}) was left out: {failure}."
        return replace(unsolved(task, failure.status, sentence), code=own_lines(sources, task.name))
    kind, message = str(failure["error"])[:60], str(failure.get("message", ""))[:600]
    line = place_of_stop(task, failure.get("line"), sources)
    status = GradeStatus.REFUSED if ABSENT in message else GradeStatus.CRASHED
    sentence = f"The cell that defines `{task.name}` stopped with {kind}: {message}{line}"
    return replace(unsolved(task, status, sentence), code=own_lines(sources, task.name))


def place_of_stop(task: Task, number: Any, sources: Sequence[str]) -> str:
    """Where a cell that defines a name stopped: the number of the line, and the line."""
    if not isinstance(number, int) or number < 1:
        return ""
    source = next((text for text in reversed(sources) if defines(text, task.name)), "")
    lines = source.splitlines()[number - 1 : number]
    return f" (line {number}" + (f", `{lines[0].strip()[:200]}`)" if lines else ")")


def grade_verdict(task: Task, verdict: Verdict) -> TaskGrade:
    """Turn a verdict into a grade; some errors have a status of their own."""
    status = OF_CHECKS.get(verdict.status, GradeStatus.WRONG)
    text = " ".join(verdict.sentences)
    if verdict.status == Status.RAISED and "MemoryError" in text:
        status = GradeStatus.OUT_OF_MEMORY
    if ABSENT in text:
        status = GradeStatus.REFUSED
    points = task.importance if status == GradeStatus.PASSED else 0
    right = 0.0 if status == GradeStatus.REFUSED else verdict.right
    return TaskGrade(
        task.id, status, points, task.importance, verdict.sentences, verdict.misconceptions,
        repr(verdict), verdict.read, right=right,
    )  # fmt: skip


def grade_ended(task: Task, ended: SandboxEndedError) -> TaskGrade:
    """Grade a task during which the sandbox ended."""
    return unsolved(task, ended.status, f"`{task.name}` could not be judged: {ended}.")


def grade_unjudged(task: Task, error: Exception) -> TaskGrade:
    """Grade a task on which the grader itself failed."""
    message = f"the grader itself failed: {type(error).__name__}: {str(error)[:300]}"
    return unsolved(task, GradeStatus.NOT_GRADED, message)
