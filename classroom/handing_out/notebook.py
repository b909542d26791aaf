"""The notebook of an exercise as students get it: unsolved, in a folder that is not the course."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from checks.released import load_exercise
from classroom.handing_out.nbgrader_otter import ENGINES
from classroom.sandbox.isolation import ROOT

BEGIN = """# Run this first: it finds the checks, which lie in the folder that you got.
import importlib.util
import sys
from pathlib import Path

HERE = Path.cwd()
for folder in (HERE, *HERE.parents):
    if (folder / "checks" / "released.py").exists():
        sys.path.insert(0, str(folder))
        break
if importlib.util.find_spec("checks") is None:
    raise ModuleNotFoundError(
        f"The folder {HERE} does not hold the checks. Put this notebook back into the folder that "
        "you got, with all that is in it, and open it there; README.md there says how."
    )"""
LINK = re.compile(r"\[([^\]]+)\]\(\.\./([\w/]+)\.(?:ipynb|md)(#[\w-]+)?\)")


def unsolved_notebook(name: str) -> NotebookNode:
    """The notebook of an exercise as it is in the book, without outputs."""
    notebook = nbformat.read(ROOT / "exercises" / f"{name}.ipynb", as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    return notebook


def handed_out(notebook: NotebookNode, book: str) -> NotebookNode:
    """The same notebook outside the course: it installs nothing, and links to this book or nowhere.

    The first code cell of a page installs the course on Colab, with its answers.
    """
    first = next(cell for cell in notebook.cells if cell.cell_type == "code")
    if "google.colab" not in first.source:
        raise ValueError("the first code cell must be the one for Colab, which students do not get")
    first.source, first.metadata = BEGIN, nbformat.from_dict({})
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = LINK.sub(lambda match: book_link(match, book), cell.source)
    return notebook


def book_link(match: re.Match[str], book: str) -> str:
    """A link to the page in this book, or its words alone."""
    words, page, anchor = match.groups()
    return f"[{words}]({book.rstrip('/')}/{page}.html{anchor or ''})" if book else words


def for_engine(notebook: NotebookNode, out: Path, name: str, engine: str) -> NotebookNode:
    """The notebook with points where an engine gives them; a task that is judged later has none."""
    if not engine:
        return notebook
    recorded = load_exercise(out / "exercises" / f"{name}.checks").tasks
    return ENGINES[engine](notebook, {task.id: task for task in recorded if not task.later})
