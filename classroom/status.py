"""The statuses of a graded task and of a whole submission, as tables, pages, and JSON hold them."""

from __future__ import annotations

from enum import StrEnum

from checks.status import Status


class GradeStatus(StrEnum):
    """What became of one task, or of a submission as a whole.

    NOT_GRADED is the failure of the grader itself: it says nothing about the work.
    """

    PASSED = "passed"
    WRONG = "wrong"
    NOT_ATTEMPTED = "not attempted"
    CRASHED = "crashed"
    TIMED_OUT = "timed out"
    OUT_OF_MEMORY = "out of memory"
    REFUSED = "refused"
    UNREADABLE = "unreadable"
    NOT_HANDED_IN = "not handed in"
    NOT_GRADED = "not graded"

    @property
    def words(self) -> str:
        """The status as students and teachers read it on a page."""
        return WORDS.get(self, self.value)


WORDS = {
    GradeStatus.WRONG: "not right",
    GradeStatus.CRASHED: "stopped with an error",
    GradeStatus.TIMED_OUT: "took too long",
    GradeStatus.OUT_OF_MEMORY: "used too much memory",
    GradeStatus.REFUSED: "not accepted",
    GradeStatus.UNREADABLE: "could not be read",
    GradeStatus.NOT_GRADED: "not graded yet",
}
# The first of these that any task has is the status of the whole submission.
SEVERITY = (
    GradeStatus.NOT_GRADED,
    GradeStatus.UNREADABLE,
    GradeStatus.OUT_OF_MEMORY,
    GradeStatus.TIMED_OUT,
    GradeStatus.CRASHED,
    GradeStatus.REFUSED,
)
# The status of a check that is not listed here counts as wrong.
OF_CHECKS = {
    Status.PASSED: GradeStatus.PASSED,
    Status.TOO_SLOW: GradeStatus.TIMED_OUT,
    Status.NOT_ATTEMPTED: GradeStatus.NOT_ATTEMPTED,
    Status.MISSING: GradeStatus.NOT_ATTEMPTED,
    Status.RAISED: GradeStatus.CRASHED,
}
