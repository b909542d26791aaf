"""The result of grading one submission: a grade for each task, and all grades of one student."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

from classroom.status import SEVERITY, GradeStatus

# Letters that are kept: what an answer returns, or calls its classes, can be megabytes.
MOST_SENTENCE = 2_000
MOST_SHOWN = 20_000
BY_HAND = "Corrected by hand"  # begins a sentence that a teacher's correction adds


@dataclass(frozen=True)
class TaskGrade:
    """The points of one task, and the sentences that explain them.

    `right` is the share of the hidden cases on which a wrong answer was right. A student may read
    `sentences`, `case` and the own `code`, and not `shown`, which quotes hidden numbers.
    """

    task: str
    status: GradeStatus
    points: int | float
    max_points: int
    sentences: tuple[str, ...] = ()
    misconceptions: tuple[str, ...] = ()
    shown: str = ""
    read: str = ""
    version: str = ""
    right: int | float = 0.0
    code: str = ""
    case: str = ""

    def __post_init__(self) -> None:
        sentences = tuple(sentence[:MOST_SENTENCE] for sentence in self.sentences)
        object.__setattr__(self, "sentences", sentences)
        for name in ("shown", "code", "case"):
            object.__setattr__(self, name, getattr(self, name)[:MOST_SHOWN])

    def with_partial_credit(self, partial_credit: float) -> TaskGrade:
        """Give a wrong answer this fraction of the points for its share of right cases."""
        if self.status == GradeStatus.PASSED:
            return self
        return replace(self, points=two_digits(self.max_points * partial_credit * self.right))


@dataclass(frozen=True)
class SubmissionGrade:
    """All grades of one student, with what is needed to reproduce them."""

    student: str
    file: str
    exercise: str
    status: GradeStatus | None
    grades: tuple[TaskGrade, ...] = ()
    message: str = ""
    seconds: float = 0.0
    sha256: str = ""
    seed: str = ""
    late_factor: int | float = 1.0
    corrected_score: int | float | None = None

    def with_status(self) -> SubmissionGrade:
        """Set the status of the whole: the one that all tasks share, or the most severe."""
        statuses = {grade.status for grade in self.grades}
        severe = (status for status in SEVERITY if status in statuses)
        status = statuses.pop() if len(statuses) == 1 else next(severe, GradeStatus.WRONG)
        return replace(self, status=status)

    def with_credit(self, partial_credit: float, late_factor: int | float) -> SubmissionGrade:
        """Apply partial credit to each task, and the late penalty to the whole."""
        grades = tuple(grade.with_partial_credit(partial_credit) for grade in self.grades)
        return replace(self, grades=grades, late_factor=late_factor)

    @property
    def summary(self) -> str:
        """The message of the row: why tasks lost points, and why a teacher corrected them."""
        parts = [reason for grade in self.grades if (reason := short_reason(grade))]
        return "; ".join([*filter(None, [self.message]), *parts]).replace(".; ", "; ")[:2000]

    @property
    def score(self) -> int | float:
        """The points of all tasks after the late penalty, unless a teacher has set them."""
        if self.corrected_score is not None:
            return self.corrected_score
        return two_digits(sum(grade.points for grade in self.grades) * self.late_factor)

    @property
    def max_points(self) -> int:
        """The points that could be earned."""
        return sum(grade.max_points for grade in self.grades)


def short_reason(grade: TaskGrade) -> str:
    """Return the first sentence about a task that lost points, and why a teacher corrected it."""
    quiet = grade.status in (GradeStatus.PASSED, GradeStatus.NOT_ATTEMPTED)
    first = [] if quiet else [sentence[:180] for sentence in grade.sentences[:1]]
    corrected = [sentence[:300] for sentence in grade.sentences if sentence.startswith(BY_HAND)]
    reasons = " ".join(first + corrected)
    return f"{grade.task} {grade.status}: {reasons}" if reasons else ""


def two_digits(number: int | float) -> int | float:
    """Round to two digits; a whole number becomes an int."""
    return int(number) if number == int(number) else round(number, 2)


def to_json(result: SubmissionGrade) -> dict[str, Any]:
    """Convert a result to data that JSON can hold."""
    return asdict(result)


def from_json(data: dict[str, Any]) -> SubmissionGrade:
    """Rebuild the result from which `to_json` made this data."""
    grades = [
        TaskGrade(**{
            key: tuple(value) if isinstance(value, list) else value for key, value in grade.items()
        } | {"status": GradeStatus(grade["status"])})
        for grade in data["grades"]
    ]  # fmt: skip
    status = GradeStatus(data["status"])
    return SubmissionGrade(**(data | {"status": status, "grades": tuple(grades)}))
