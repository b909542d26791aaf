"""A rubric: the tasks to mark by hand, each with its criteria and their points.

It stands beside the table of grades: grades.csv has grades.rubric.yml.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

FORM = """essay:
  title: Why are scores divided by the root of d_k?
  below: Your explanation
  criteria:
  - {points: 2, text: The variance of a score grows with d_k.}"""


@dataclass(frozen=True)
class RubricTask:
    """A task to mark by hand; its answer stands below the heading `below`."""

    task: str
    title: str
    below: str
    criteria: tuple[tuple[str, int], ...]

    @property
    def most(self) -> int:
        """The points of all criteria."""
        return sum(points for _, points in self.criteria)


def rubric_path(grades: Path) -> Path:
    """The rubric of a table of grades."""
    return grades.with_suffix(".rubric.yml")


def read_rubric(path: Path) -> dict[str, RubricTask]:
    """Read a rubric; a file that does not exist has no tasks."""
    if not path.exists():
        return {}
    try:
        data = yaml.safe_load(path.read_text("utf-8-sig"))
        tasks = [parse_rubric_task(str(name), entry) for name, entry in data.items()]
    except (yaml.YAMLError, AttributeError, KeyError, TypeError, ValueError) as error:
        message = " ".join(str(error).split())[:200]
        raise ValueError(
            f"{path} must hold tasks with title, below and criteria: {message}. "
            f"For example:\n{FORM}"
        ) from None
    return {task.task: task for task in tasks}


def parse_rubric_task(name: str, entry: dict[str, Any]) -> RubricTask:
    """Read one task."""
    criteria = []
    for criterion in entry["criteria"]:
        points = criterion["points"]
        if not isinstance(points, int) or points <= 0:
            raise ValueError(f"the points of a criterion must be a whole number; got {points!r}")
        criteria.append((str(criterion["text"]), points))
    if not criteria:
        raise ValueError(f"{name} has no criteria")
    return RubricTask(name, str(entry["title"]), str(entry["below"]), tuple(criteria))
