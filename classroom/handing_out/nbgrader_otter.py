"""An unsolved notebook as the source of an nbgrader or an otter assignment.

Both run their tests in the student's own process, so that the student's code can change them:
they are for students who are trusted. Nothing is written twice: the cells below a task's answer,
where the page says `check("7.1")`, become the cells that cost points.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import yaml
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_raw_cell

from checks import Task

CALL = re.compile(r'check\("([\d.]+)"\)')


def for_nbgrader(notebook: NotebookNode, tasks: dict[str, Task]) -> NotebookNode:
    """The checks of these tasks become locked autograder tests, the cell that loads them locked.

    An answer stays a plain cell, which nbgrader leaves to the student.
    """
    for cell in notebook.cells:
        task = tasks.get(checked_task(cell))
        if task:
            cell.source = f'check.require("{task.id}")'
            lock_cell(cell, f"task-{task.id.replace('.', '-')}", points=task.importance)
        elif cell.cell_type == "code" and "check = exercise(" in cell.source:
            lock_cell(cell, "checks")
    return notebook


def lock_cell(cell: NotebookNode, name: str, points: int | None = None) -> None:
    """Say what nbgrader wants to know of a cell that students do not change."""
    settings = {"schema_version": 3, "grade_id": name, "grade": points is not None, "locked": True,
            "solution": False, "task": False, "cell_type": "code"}  # fmt: skip
    cell.metadata["nbgrader"] = settings | ({"points": points} if points is not None else {})


def for_otter(notebook: NotebookNode, tasks: dict[str, Task]) -> NotebookNode:
    """Each of these tasks becomes a question with one test; the rest of the page stays."""
    notebook.metadata.kernelspec["language"] = "python"  # otter asks for it
    settings = {
        "init_cell": True, "export_cell": False, "check_all_cell": False, "run_tests": False,
        "files": ["lib", "checks", "exercises", "chapters"], "requirements": "requirements.txt",
        "generate": True, "tests": {"ok_format": False},
    }  # fmt: skip
    cells = [raw_cell("ASSIGNMENT CONFIG", settings)]
    waiting: list[NotebookNode] = []
    for cell in notebook.cells:
        task = tasks.get(checked_task(cell))
        if task:
            cells += question_cells(task, waiting.pop())
        elif "exercise" in cell.metadata.get("tags", []):
            cells += waiting
            waiting = [cell]
        else:
            cells += [*waiting, cell]
            waiting = []
    notebook.cells = cells + waiting
    return notebook


def question_cells(task: Task, answer: NotebookNode) -> list[NotebookNode]:
    """The cells of one question: the answer as it is handed out, and its test."""
    name = task.id.replace(".", "_")
    test = f'""" # BEGIN TEST CONFIG\npoints: {task.importance}\n""" # END TEST CONFIG\n'
    test += f'def test_{name}(check):\n    check.require("{task.id}")'
    return [
        raw_cell("BEGIN QUESTION", {"name": f"q{name}"}),
        raw_cell("BEGIN SOLUTION"), answer, raw_cell("END SOLUTION"),
        raw_cell("BEGIN TESTS"), new_code_cell(test), raw_cell("END TESTS"),
        raw_cell("END QUESTION"),
    ]  # fmt: skip


def raw_cell(word: str, settings: dict | None = None) -> NotebookNode:
    """A raw cell that otter reads."""
    settings = yaml.safe_dump(settings, sort_keys=False).rstrip() if settings else ""
    return new_raw_cell(f"# {word}\n{settings}".rstrip())


def checked_task(cell: NotebookNode) -> str:
    """The number of the task that a cell checks; nothing where it does something else."""
    call = CALL.fullmatch(cell.source.strip()) if cell.cell_type == "code" else None
    return call[1] if call else ""


ENGINES: dict[str, Callable[[NotebookNode, dict[str, Task]], NotebookNode]] = {
    "nbgrader": for_nbgrader,
    "otter": for_otter,
}
