"""What a student reads about a task: shown cases, names of mistakes, and no hidden number.

A verdict on hidden cases quotes their numbers, and an exception can carry them away. So the answer
is also judged on the cases that every check shows, before it has seen a hidden one; what is said
beyond that verdict is written here.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Sequence
from dataclasses import replace

from checks import Task, Verdict
from checks.differences.describe import capital
from checks.feedback.misconceptions import misconceptions
from checks.feedback.sentences import todo
from checks.run.errors import Mistake
from checks.status import Status
from classroom.grading.grades import TaskGrade

ELSEWHERE = (
    "Right on the cases that `check` shows, and not on others of the same kind. Does your code "
    "rely on something that holds in those cases alone, such as a size, a sign or an order?"
)
MOST_LINES, MOST_LETTERS = 60, 160  # of an answer that is quoted


def for_student(
    grade: TaskGrade, task: Task, hidden: Verdict, shown: Verdict | None, sources: Sequence[str]
) -> TaskGrade:
    """The grade with what its student may read in the place of the verdict on hidden cases."""
    if hidden.passed:
        return replace(grade, sentences=hidden.sentences[:1])
    verdict = shown if shown and not shown.passed else None
    sentences = verdict.sentences if verdict else _beyond_the_shown(hidden, sources)
    sentences = tuple(_handed_out(task) if text == todo(task) else text for text in sentences)
    return replace(
        grade, sentences=sentences, code=own_lines(sources, task.name),
        misconceptions=(verdict or hidden).misconceptions, read=(verdict or hidden).read,
        case="\n".join(verdict.case_lines()) if verdict else "",
    )  # fmt: skip


def _handed_out(task: Task) -> str:
    return f"`{task.name}` is as it was handed out."


def _beyond_the_shown(hidden: Verdict, sources: Sequence[str]) -> tuple[str, ...]:
    """What may be said of an answer that fails on hidden cases alone."""
    if hidden.status in (Status.TOO_SLOW, Status.NOT_ATTEMPTED, Status.NOT_HERE):
        return hidden.sentences  # words of ours, without a number
    named = [misconceptions()[number] for number in hidden.misconceptions]
    sentences = [f"{capital(entry.name)}. {entry.sentence}" for entry in named]
    if hidden.mistake:
        sentences.append(f"On another case it stopped: {type_and_line(hidden.mistake, sources)}.")
    return (ELSEWHERE, *sentences)


def type_and_line(mistake: Mistake, sources: Sequence[str]) -> str:
    """An exception without its message: a type of Python's own, and a line of the submission."""
    kind = getattr(builtins, mistake.type, None)
    known = isinstance(kind, type) and issubclass(kind, BaseException)
    name = mistake.type if known else "an exception"
    quoted = mistake.line and any(
        mistake.line == line.strip() for source in sources for line in source.splitlines()
    )
    return f"{name} at `{mistake.line}`" if quoted else name


def own_lines(sources: Sequence[str], name: str) -> str:
    """The student's lines that define a name, with their numbers in the cell; the last ones."""
    starts = re.compile(rf"(?:async[ \t]+def|def|class)[ \t]+{name}\b|{name}[ \t]*[:=]")
    for source in reversed(sources):
        lines = source.splitlines()
        first = next((n for n, line in enumerate(lines) if starts.match(line)), None)
        if first is not None:
            return "\n".join(_numbered(lines, first))
    return ""


def _numbered(lines: Sequence[str], first: int) -> list[str]:
    """The lines of one definition: up to the next line that begins at the margin."""
    last = first + 1
    while last < len(lines) and (not lines[last] or lines[last][0] in " \t)]}#"):
        last += 1
    while last > first + 1 and not lines[last - 1].strip():
        last -= 1
    shown = [
        f"{n + 1:>3}  {_printable(lines[n])}" for n in range(first, min(last, first + MOST_LINES))
    ]
    return shown if last <= first + MOST_LINES else [*shown, "     ..."]


def _printable(line: str) -> str:
    """A line without what a page cannot show, such as marks that turn the direction of writing."""
    text = line.expandtabs(4)[: MOST_LETTERS + 1]
    text = "".join(letter if letter.isprintable() else "?" for letter in text)
    return text if len(text) <= MOST_LETTERS else f"{text[:MOST_LETTERS]}..."
