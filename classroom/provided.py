"""What an exercise gives to its students from the course: the page's own imports, and no answer."""

from __future__ import annotations

import ast
import importlib
import inspect
from collections.abc import Callable
from functools import cache, partial
from typing import Any

from checks import Exercise
from checks.run.nodes import Mapping, Numbers
from checks.wire.values import put_together, taken_apart
from classroom.handing_out.extract import module_path
from classroom.processes import SupervisedProcess
from classroom.sandbox.isolation import ROOT
from classroom.unpacking.notebook_code import code_sources

PROVIDED_MEMORY = 320 * 2**20  # bytes for all that a call of them computes


def exercise_named(name: str) -> Exercise:
    """The exercise with this name; an unknown one is a ValueError that lists what there is."""
    known = sorted(path.stem for path in (ROOT / "exercises").glob("[0-9]*.py"))
    if name not in known:
        raise ValueError(f"the exercise must be one of {', '.join(known)}; got {name!r}")
    return importlib.import_module(f"exercises.{name}").EXERCISE


@cache
def provided_functions(name: str) -> dict[str, dict[str, Callable]]:
    """What an exercise's own first cells import from the course, by module and name."""
    page = (ROOT / "exercises" / f"{name}.ipynb").read_bytes()
    answers = {id(task.reference) for task in exercise_named(name).tasks}
    provided: dict[str, dict[str, Callable]] = {}
    for source in code_sources(page):
        for module, names in lib_imports(source):
            loaded = importlib.import_module(module)
            for function in names or public_functions(loaded):
                if id(getattr(loaded, function)) not in answers:
                    provided.setdefault(module, {})[function] = getattr(loaded, function)
    return provided


def lib_imports(source: str) -> list[tuple[str, list[str]]]:
    """Which names a cell of ours imports from which modules of `lib`; all of them where empty."""
    imports = []
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.ImportFrom) or not (node.module or "").startswith("lib"):
            continue
        names = [alias.name for alias in node.names]
        whole = [name for name in names if module_path(f"{node.module}.{name}").exists()]
        imports += [(f"{node.module}.{name}", []) for name in whole]
        if rest := [name for name in names if name not in whole]:
            imports.append((node.module, rest))
    return imports


def public_functions(module: Any) -> list[str]:
    """The functions that a module of ours defines for others."""
    functions = inspect.getmembers(module, inspect.isfunction)
    return [name for name, function in functions
            if not name.startswith("_") and function.__module__ == module.__name__]  # fmt: skip


running: dict[str, SupervisedProcess] = {}


def provider_process(exercise: str) -> SupervisedProcess:
    """The process that runs what the exercise gives; students choose its arguments.

    There is one at a time.
    """
    if exercise not in running:
        while running:
            running.popitem()[1].end()
        prepare = partial(provided_functions, exercise)
        running[exercise] = SupervisedProcess(PROVIDED_MEMORY, prepare)
    return running[exercise]


def make_provider(exercise: str) -> Callable[[dict[str, Any], float], dict[str, Any]]:
    """A function that answers a request for what the exercise gives, within some seconds."""

    def provide(request: dict[str, Any], seconds: float) -> dict[str, Any]:
        process = provider_process(exercise)
        given = (request["name"], request["args"], request["kwargs"])
        return process.run(seconds, call_provided, exercise, *given)

    return provide


def call_provided(exercise: str, name: str, args: Any, kwargs: Any) -> dict[str, Any]:
    """Run what the exercise gives on a student's arguments, and reply with its value or error."""
    module, _, function = name.rpartition(".")
    try:
        given = provided_functions(exercise)[module][function]
        value = taken_apart(given(*put_together(args), **put_together(kwargs)))
        if not is_complete(value):
            raise MemoryError(f"the result of {function} has too many numbers")
        return {"value": value}
    except Exception as error:
        return {"error": type(error).__name__, "message": str(error)[:600]}


def is_complete(node: Any) -> bool:
    """Whether no array in a result was too large to be copied."""
    if isinstance(node, Numbers):
        return node.values is not None
    parts = node.entries.values() if isinstance(node, Mapping) else getattr(node, "items", ())
    return all(map(is_complete, parts))
