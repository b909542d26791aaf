"""What an exercise gives to its students from the course: the page's own imports, and no answer."""

from __future__ import annotations

import ast
import importlib
import inspect
from collections.abc import Callable
from functools import cache
from typing import Any

from checks import Exercise
from checks.run.wire import taken_apart
from classroom.handing_out.extract import path_of
from classroom.sandbox.isolation import ROOT
from classroom.submissions import code_cells


def load(name: str) -> Exercise:
    """The exercise with this name; an unknown one is a ValueError that lists what there is."""
    known = sorted(path.stem for path in (ROOT / "exercises").glob("[0-9]*.py"))
    if name not in known:
        raise ValueError(f"there is no exercise {name!r}; there are {', '.join(known)}")
    return importlib.import_module(f"exercises.{name}").EXERCISE


@cache
def allowed(name: str) -> dict[str, dict[str, Callable]]:
    """What an exercise's own first cells import from the course, by module and name."""
    page = (ROOT / "exercises" / f"{name}.ipynb").read_bytes()
    answers = {id(task.reference) for task in load(name).tasks}
    given: dict[str, dict[str, Callable]] = {}
    for source in code_cells(page):
        for module, names in imported(source):
            loaded = importlib.import_module(module)
            for one in names or public(loaded):
                if id(getattr(loaded, one)) not in answers:
                    given.setdefault(module, {})[one] = getattr(loaded, one)
    return given


def imported(source: str) -> list[tuple[str, list[str]]]:
    """Which names a cell of ours imports from which modules of `lib`; all of them where empty."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.ImportFrom) or not (node.module or "").startswith("lib"):
            continue
        names = [alias.name for alias in node.names]
        whole = [name for name in names if path_of(f"{node.module}.{name}").exists()]
        found += [(f"{node.module}.{name}", []) for name in whole]
        if rest := [name for name in names if name not in whole]:
            found.append((node.module, rest))
    return found


def public(module: Any) -> list[str]:
    """The functions that a module of ours defines for others."""
    functions = inspect.getmembers(module, inspect.isfunction)
    return [name for name, one in functions
            if not name.startswith("_") and one.__module__ == module.__name__]  # fmt: skip


def provider(given: dict[str, dict[str, Callable]]) -> Callable[[str, tuple, dict], Any]:
    """A function that runs what the exercise gives, out here, on the student's arguments."""

    def provide(name: str, args: tuple, kwargs: dict) -> Any:
        module, _, one = name.rpartition(".")
        return taken_apart(given[module][one](*args, **kwargs))

    return provide
