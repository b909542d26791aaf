"""Several submissions of the same student: the last counts, or the best."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from classroom.grading.grades import SubmissionGrade

LAST, BEST = "last", "best"


def paths_to_grade(students: Mapping[str, list[Path]], counts: str) -> list[tuple[str, list[Path]]]:
    """The submissions to grade: all of a student together if the last counts, else each alone."""
    if counts == LAST:
        return list(students.items())
    return [(student, [path]) for student, paths in students.items() for path in paths]


def best_attempts(
    results: Iterable[SubmissionGrade], files: Sequence[str]
) -> list[SubmissionGrade]:
    """Keep the result with the most points of each student; of equal ones, the last of `files`."""
    order = {file: number for number, file in enumerate(files)}
    attempts: dict[str, list[SubmissionGrade]] = defaultdict(list)
    for result in sorted(results, key=lambda result: order.get(result.file, -1)):
        attempts[result.student].append(result)
    return [best_of(group) for group in attempts.values()]


def best_of(attempts: list[SubmissionGrade]) -> SubmissionGrade:
    """Choose the best attempt, and say among how many."""
    best = max(reversed(attempts), key=lambda result: result.score)
    if len(attempts) == 1:
        return best
    note = f"{len(attempts)} submissions, the best counts"
    return replace(best, message="; ".join(filter(None, [best.message, note])))
