"""Whether answers are marked here as they should be: every truth passes, its mistakes are named."""

import importlib
import sys
from pathlib import Path

import exercises
from checks import judge


def slips(task) -> list[str]:
    """What is marked wrongly in one task: its own truth, or the first of its known mistakes."""
    listed = []
    if not judge(task, task.reference).passed:
        listed.append(f"{task.id}: the right answer does not pass")
    for wrong in task.wrong[:1]:
        if judge(task, wrong.answer).misconceptions != wrong.ids:
            listed.append(f"{task.id}: {wrong.misconception} is not named")
    return listed


def main() -> int:
    """Mark every task of every exercise."""
    names = sorted(path.stem for path in Path(exercises.__file__).parent.glob("[0-9]*.py"))
    rooms = [importlib.import_module(f"exercises.{name}").EXERCISE for name in names]
    tasks = [task for room in rooms for task in room.tasks]
    problems = [slip for task in tasks for slip in slips(task)]
    print(
        "\n".join(problems) or f"{len(tasks)} tasks in {len(rooms)} exercises are marked rightly."
    )
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
