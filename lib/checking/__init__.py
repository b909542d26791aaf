"""Checks that name the mistake: see `task.py` for what an author writes."""

from lib.checking.judging import grade_source, judge
from lib.checking.notebook import exercise
from lib.checking.report import Verdict
from lib.checking.task import Case, Exercise, Law, Task, Wrong

__all__ = [
    "Case",
    "Exercise",
    "Law",
    "Task",
    "Verdict",
    "Wrong",
    "exercise",
    "grade_source",
    "judge",
]
