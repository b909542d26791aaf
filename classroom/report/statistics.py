"""What the points of a class say about its tasks and its mistakes."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from checks import Exercise
from checks.feedback.misconceptions import misconceptions
from classroom.grading.grades import SubmissionGrade
from classroom.status import GradeStatus

GRADER_FAILED = "the grader itself failed"


def not_judged(result: SubmissionGrade) -> bool:
    """Whether the grader failed on this submission: its points say nothing about the student."""
    return result.status == GradeStatus.NOT_GRADED or result.message.startswith(GRADER_FAILED)


def in_statistics(result: SubmissionGrade) -> bool:
    """Whether work was handed in and judged."""
    return not not_judged(result) and result.status != GradeStatus.NOT_HANDED_IN


@dataclass(frozen=True)
class Spread:
    """How the points of a class are distributed."""

    count: int
    mean: float
    deviation: float
    quartiles: tuple[float, float, float]
    most: int


def points_spread(results: Sequence[SubmissionGrade]) -> Spread | None:
    """Compute mean, standard deviation (n - 1) and quartiles; nothing for an empty class."""
    scores = np.array([result.score for result in results], dtype=float)
    if not len(scores):
        return None
    low, middle, high = np.percentile(scores, [25, 50, 75])
    deviation = float(scores.std(ddof=1)) if len(scores) > 1 else 0.0
    most = max(result.max_points for result in results)
    quartiles = float(low), float(middle), float(high)
    return Spread(len(scores), float(scores.mean()), deviation, quartiles, most)


@dataclass(frozen=True)
class TaskStatistics:
    """The results of a class on one task, as shares of all submissions that were graded."""

    task: str
    title: str
    passed: float
    not_attempted: float
    discrimination: float | None
    counts: dict[str, int]


def task_statistics(results: Sequence[SubmissionGrade], exercise: Exercise) -> list[TaskStatistics]:
    """Compute difficulty and discrimination of each task.

    Discrimination is the correlation of passing this task with the points of all others: near 0
    or below, the task does not separate strong students from weak ones.
    """
    facts = []
    for task in exercise.tasks:
        pairs = [(grade, result) for result in results for grade in result.grades
                 if grade.task == task.id]  # fmt: skip
        if not pairs:
            continue
        passed = np.array([grade.status == "passed" for grade, _ in pairs], dtype=float)
        rest = np.array([result.score - grade.points for grade, result in pairs], dtype=float)
        counts = Counter(grade.status for grade, _ in pairs)
        flat = passed.std() == 0 or rest.std() == 0
        facts.append(TaskStatistics(
            task.id, task.title, float(passed.mean()), counts["not attempted"] / len(pairs),
            None if flat else float(np.corrcoef(passed, rest)[0, 1]), dict(counts),
        ))  # fmt: skip
    return facts


def count_misconceptions(results: Sequence[SubmissionGrade]) -> list[tuple[str, str, int, str]]:
    """Count misconceptions: id, name, number of students, and tasks; the most frequent first."""
    students: dict[str, set[str]] = defaultdict(set)
    tasks: dict[str, set[str]] = defaultdict(set)
    for result in results:
        for grade in result.grades:
            for number in grade.misconceptions:
                students[number].add(result.student)
                tasks[number].add(grade.task)
    known = misconceptions()
    rows = [
        (number, known[number].name if number in known else "", len(names),
         ", ".join(sorted(tasks[number])))
        for number, names in students.items()
    ]  # fmt: skip
    return sorted(rows, key=lambda row: (-row[2], row[0]))


@dataclass(frozen=True)
class TaskToDiscuss:
    """A task on which the class lost many points, and the mistake that explains most of it."""

    task: str
    title: str
    lost: int | float
    tried: int
    wrong: int
    mistake: str
    students: int


def tasks_to_discuss(
    results: Sequence[SubmissionGrade], exercise: Exercise, count: int = 3
) -> list[TaskToDiscuss]:
    """The tasks on which those who tried lost the most points together, the worst first.

    A task that was not attempted is left out: time is missing there, not knowledge.
    """
    tried = [
        (task, [grade for result in results for grade in result.grades
                if grade.task == task.id and grade.status != GradeStatus.NOT_ATTEMPTED])
        for task in exercise.tasks
    ]  # fmt: skip
    known = misconceptions()
    tasks = []
    for task, grades in tried:
        wrong = [grade for grade in grades if grade.status != GradeStatus.PASSED]
        numbers = Counter(number for grade in wrong for number in set(grade.misconceptions))
        number, students = (numbers.most_common(1) or [("", 0)])[0]
        lost = sum(grade.max_points - grade.points for grade in wrong)
        name = f"{known[number].name} ({number})" if number in known else number
        tasks.append(
            TaskToDiscuss(task.id, task.title, lost, len(grades), len(wrong), name, students)
        )
    worst = sorted(tasks, key=lambda task: -task.lost)
    return [task for task in worst[:count] if task.lost > 0]
