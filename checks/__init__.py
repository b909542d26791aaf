"""How one answer is checked, and its mistake named.

`task.py` is what an author writes, `notebook.py` what a learner calls.
"""

from checks.check import grade_source, judge
from checks.feedback.verdict import Verdict
from checks.notebook import exercise
from checks.task import Case, Exercise, Law, Task, Wrong

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
