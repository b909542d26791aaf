"""Show similar submissions side by side, with the lines that a pair has and few others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from classroom.feedback_pages import render
from classroom.inspection.similarity import ClassRuns, SimilarPair, marked_lines
from classroom.platforms.downloads import refuse_download
from classroom.platforms.names import platform_students
from classroom.submissions import group_by_student, list_submissions, read_submission


def read_texts(folder: Path) -> tuple[dict[str, str], list[str]]:
    """The code of each student's newest submission, and whose cannot be read."""
    refuse_download(entries := list_submissions(folder))
    groups = group_by_student(entries, platform_students(entries).get)
    texts = {student: "\n\n".join(read_submission(paths).sources)
             for student, paths in groups.items()}  # fmt: skip
    unread = [student for student, text in texts.items() if not text]
    return {student: text for student, text in texts.items() if text}, unread


def same_code(texts: Mapping[str, str]) -> list[list[str]]:
    """The students whose code is the same to the letter, in groups."""
    groups: dict[str, list[str]] = {}
    for student, text in texts.items():
        groups.setdefault(text.strip(), []).append(student)
    return [group for group in groups.values() if len(group) > 1]


def similar_page(
    pairs: Sequence[SimilarPair], runs: ClassRuns, texts: Mapping[str, str], share: float
) -> str:
    """Write the page of all pairs."""
    shown = [
        {
            "pair": pair,
            "sides": [(name, excerpts(marked_lines(texts[name], rare)))
                      for name in (pair.first, pair.second)],
        }
        for pair in pairs for rare in [runs.rare_in_both(pair.first, pair.second)]
    ]  # fmt: skip
    return render(
        "inspection/similar.html",
        shown=shown, count=len(texts), share=share, same=same_code(texts),
    )  # fmt: skip


def excerpts(lines: Sequence[tuple[str, bool]], around: int = 2) -> list[tuple[int, str, bool]]:
    """The marked lines with two more on each side, by number; a gap is a line of number 0."""
    near = {
        number + step for number, (_, marked) in enumerate(lines) if marked
        for step in range(-around, around + 1)
    }  # fmt: skip
    chosen: list[tuple[int, str, bool]] = []
    for number, (line, marked) in enumerate(lines):
        if number in near:
            if chosen and chosen[-1][0] < number:
                chosen.append((0, "", False))
            chosen.append((number + 1, line, marked))
    return chosen[:400]
