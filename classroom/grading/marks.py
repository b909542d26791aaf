"""What grading one hand-in comes to: a mark for each task, and the marks of a student together."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

GRAVE = ("unreadable", "out of memory", "timed out", "crashed", "refused")


@dataclass(frozen=True)
class Mark:
    """What one task earned, and what there is to say about it.

    `right` is the share of the hidden cases on which a wrong answer was right.
    """

    task: str
    status: str
    points: int | float
    most: int
    sentences: tuple[str, ...] = ()
    misconceptions: tuple[str, ...] = ()
    shown: str = ""
    read: str = ""
    version: str = ""
    right: int | float = 0.0

    def credited(self, partial: float) -> Mark:
        """The same where being right on every case but none quite would earn a share `partial`."""
        if self.status == "passed":
            return self
        return replace(self, points=tidy(self.most * partial * self.right))


@dataclass(frozen=True)
class Marked:
    """All marks of one student, with what is needed to make them again."""

    student: str
    file: str
    exercise: str
    status: str
    marks: tuple[Mark, ...] = ()
    message: str = ""
    seconds: float = 0.0
    sha256: str = ""
    seed: str = ""
    late: int | float = 1.0

    def summed(self) -> Marked:
        """The same with the status of the whole, unless the file itself decided it."""
        found = {mark.status for mark in self.marks}
        gravest = (one for one in GRAVE if one in found)
        status = found.pop() if len(found) == 1 else next(gravest, "wrong")
        return replace(self, status=status)

    def counted(self, partial: float, late: int | float) -> Marked:
        """The same with credit for cases that were right, and with what being late costs."""
        marks = tuple(mark.credited(partial) for mark in self.marks)
        return replace(self, marks=marks, late=late)

    @property
    def words(self) -> str:
        """What a teacher reads in the row: the tasks that are not passed, and why."""
        told = [mark for mark in self.marks if mark.status not in ("passed", "not attempted")]
        parts = [f"{mark.task} {mark.status}: {''.join(mark.sentences[:1])}"[:200] for mark in told]
        return "; ".join([*filter(None, [self.message]), *parts])[:2000]

    @property
    def score(self) -> int | float:
        """The points of all tasks, less what being late costs."""
        return tidy(sum(mark.points for mark in self.marks) * self.late)

    @property
    def most(self) -> int:
        """The points that there were to earn."""
        return sum(mark.most for mark in self.marks)


def tidy(number: int | float) -> int | float:
    """A number to two digits, a whole one without its point."""
    return int(number) if number == int(number) else round(number, 2)


def as_data(marked: Marked) -> dict[str, Any]:
    """A result as JSON holds it."""
    return asdict(marked)


def from_data(data: dict[str, Any]) -> Marked:
    """A result as it was before `as_data`."""
    marks = [
        Mark(**{key: tuple(one) if isinstance(one, list) else one for key, one in mark.items()})
        for mark in data["marks"]
    ]
    return Marked(**(data | {"marks": tuple(marks)}))
