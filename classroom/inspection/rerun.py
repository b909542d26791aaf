"""Grade one submission again, and show what it printed and where it stopped, beside its code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from checks import Task
from checks.notebook import defines
from classroom.grading.grades import BY_HAND, SubmissionGrade, TaskGrade
from classroom.grading.submission_grader import GradingPlan, SubmissionGrader, grade_submission
from classroom.sandbox.remote_answer import answer_named
from classroom.sandbox.sandbox import Sandbox, SandboxEndedError
from classroom.status import GradeStatus
from classroom.submissions import Submission

TRANSCRIPT = Path(__file__).with_name("transcript.py")
MOST_LINES = 100  # of what a place prints
NAME = "transcript_of_the_teacher"


@dataclass(frozen=True)
class Rerun:
    """A verdict as `grade` gives it, and the text of a second run that was watched."""

    grade: SubmissionGrade
    sources: tuple[str, ...]
    pieces: tuple[tuple[str, str], ...]


class WatchedGrader(SubmissionGrader):
    """Grades a submission whose prints and tracebacks are kept."""

    pieces: tuple[tuple[str, str], ...] = ()

    def grade_task(
        self, sandbox: Sandbox, task: Task, cells: list[dict[str, Any]]
    ) -> TaskGrade | None:
        """Judge a task, then fetch what was printed until now."""
        grade = super().grade_task(sandbox, task, cells)
        try:
            kept = answer_named(sandbox, NAME)
        except (SandboxEndedError, LookupError):
            return grade
        if isinstance(kept, list):
            pairs = [pair for pair in kept if isinstance(pair, list) and len(pair) == 2]
            self.pieces = tuple((str(place), str(text)) for place, text in pairs)
        return grade


def watched_sources(sources: tuple[str, ...], names: list[str]) -> tuple[str, ...]:
    """Put a cell of ours before each cell, which says where we are, and one behind the last."""
    cells = [TRANSCRIPT.read_text("utf8")]
    for number, source in enumerate(sources, 1):
        cells += [f"import builtins; builtins.{NAME}.place = 'cell {number}'", source]
    return (*cells, f"import builtins; builtins.watch_for_the_teacher({names!r})")


def run_again(submission: Submission, plan: GradingPlan) -> Rerun:
    """Grade it as `grade` does, then once more with everything that it says."""
    grade = grade_submission(submission, plan)
    if submission.status:
        return Rerun(grade, (), ())
    tasks = plan.selected_tasks()
    sources = watched_sources(submission.sources, [task.name for task in tasks])
    watched = WatchedGrader(replace(submission, sources=sources), plan, tasks, plan.first_user)
    watched.run()
    return Rerun(grade, submission.sources, watched.pieces)


@dataclass
class Lines:
    """The lines of the text that a teacher reads."""

    lines: list[str] = field(default_factory=list)

    def add(self, text: str, indent: str = "") -> None:
        """Add text without any character that could command the terminal."""
        for line in text.expandtabs(4).splitlines():
            plain = "".join(letter if letter.isprintable() else "?" for letter in line)
            self.lines.append(f"{indent}{plain}"[:400])


def rerun_text(rerun: Rerun, plan: GradingPlan) -> str:
    """Write the verdicts with the code that they are about, then all prints and tracebacks."""
    text, result = Lines(), rerun.grade
    text.add(f"{result.student}, {result.file}: {result.status}, {result.score} of "
             f"{result.max_points} points. {result.message}")  # fmt: skip
    for task, grade in zip(plan.selected_tasks(), result.grades, strict=True):
        text.add(
            f"\n{task.id} {task.title}: {grade.status}, {grade.points:g} of {grade.max_points}"
        )
        for sentence in grade.sentences:
            text.add(sentence, "  ")
        if grade.shown and grade.status != GradeStatus.PASSED:
            text.add(f"The hidden cases, for you alone:\n{grade.shown}", "  ")
        cells = [n for n, source in enumerate(rerun.sources, 1) if defines(source, task.name)]
        for number in cells[-1:]:
            text.add(f"cell {number}:", "  ")
            for count, line in enumerate(rerun.sources[number - 1].splitlines(), 1):
                text.add(f"{count:4} | {line}", "  ")
    text.add("\nWhat it printed, and where it stopped:")
    for place, kept in rerun.pieces:
        lines = kept.splitlines()
        text.add(f"\n[{place}]")
        text.add("\n".join(lines[:MOST_LINES]), "  ")
        if len(lines) > MOST_LINES:
            text.add(f"and {len(lines) - MOST_LINES} lines more", "  ")
    if not any(kept.strip() for _, kept in rerun.pieces):
        text.add("nothing")
    return "\n".join(text.lines)


def by_hand_lines(rerun: SubmissionGrade, rows: Sequence[SubmissionGrade]) -> list[str]:
    """What the table says otherwise about this submission: marks and corrections by hand."""
    row = next((row for row in rows if row.file == rerun.file), None)
    if row is None:
        return [f"\nNo row of the table is about {rerun.file}."] if rows else []
    ran = {grade.task: grade.points for grade in rerun.grades}
    lines = Lines()
    lines.add(f"\nYour table says {row.score} of {row.max_points} for the whole. {row.message}")
    for grade in row.grades:
        if grade.task in ran and grade.points != ran[grade.task]:
            why = " ".join(text for text in grade.sentences if text.startswith(BY_HAND))
            points = f"{grade.points:g} of {grade.max_points}"
            lines.add(f"Your table says {points} for {grade.task}. {why}")
    return lines.lines
