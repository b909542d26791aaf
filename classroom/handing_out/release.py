"""What a class gets: unsolved notebooks with checks that hold numbers, and no answer anywhere."""

from __future__ import annotations

import ast
import importlib.metadata
import inspect
import json
import re
import shutil
import sys
import textwrap
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import nbformat
import yaml

from checks import Exercise
from checks.feedback.misconceptions import ADDRESS, misconceptions
from checks.released import exercise_bytes
from classroom.handing_out.extract import extract_definitions
from classroom.handing_out.notebook import for_engine, handed_out, unsolved_notebook
from classroom.provided import exercise_named, provided_functions
from classroom.sandbox.isolation import ROOT
from classroom.unpacking.notebook_code import code_sources

READ_ME = """# {titles}

1. Install Python 3.11, 3.12 or 3.13.
   Then say in this folder: `python -m pip install -r requirements.txt`
2. Start with `jupyter lab`, and open {notebooks}.
   Leave it in this folder: the checks lie beside it.
3. Write your answers into the cells that wait for them, and run the check below each.
4. Save, and hand in this one file: {notebooks}.
   Change its name only if you were told to.

A check shows what is right on a few small cases.
Your work is graded on others.
"""


def release(names: list[str], out: Path, engine: str = "", book: str = "") -> list[Path]:
    """Write the bundle of some exercises into a new folder, and scan it; the files that it holds.

    With an engine, nbgrader or otter, it is the source of an assignment there: its notebooks stand
    at the top, beside all that they need. With the address of a book, links lead there.

    Raises: FileExistsError where something is there already, ValueError where one exercise gives
    what another asks for, and where the scan finds an answer.
    """
    if out.exists() and any(out.iterdir()):
        raise FileExistsError(f"the folder must be new or empty; {out} is not empty. Name another")
    exercises = {name: exercise_named(name) for name in names}
    given = merge_provided(exercises)
    pages = {name: Path("" if engine else "exercises") / f"{name}.ipynb" for name in names}
    for name, exercise in exercises.items():
        write_file(out / "exercises" / f"{name}.checks", exercise_bytes(exercise))
        notebook = for_engine(handed_out(unsolved_notebook(name), book), out, name, engine)
        write_file(out / pages[name], nbformat.writes(notebook) + "\n")
    write_course(out, list(exercises.values()), given)
    write_file(out / ADDRESS, f"{book}\n")
    write_file(out / "requirements.txt", "\n".join(required_pins(out)) + "\n")
    titles = ", ".join(exercise.title for exercise in exercises.values())
    notebooks = ", ".join(f"`{page.as_posix()}`" for page in pages.values())
    write_file(out / "README.md", READ_ME.format(titles=titles, notebooks=notebooks))
    leaked = leaked_answers(out, list(exercises.values()))
    if leaked:
        shutil.rmtree(out)
        raise ValueError(f"a release must hold no answer; got those of {', '.join(leaked)}")
    return sorted(path for path in out.rglob("*") if path.is_file())


def write_course(out: Path, exercises: list[Exercise], given: dict[str, set[str]]) -> None:
    """Write the checks, and the definitions of the course that the exercises give."""
    write_file(out / "exercises" / "__init__.py", "")
    write_file(out / "lib" / "__init__.py", "")
    for path in sorted((ROOT / "checks").rglob("*.py")):
        write_file(out / path.relative_to(ROOT), path.read_bytes())
    write_file(out / "checks/feedback/misconceptions.yml", misconceptions_of(exercises))
    for module, text in extract_definitions(given).items():
        write_file(out / (module.replace(".", "/") + ".py"), text)
        for package in Path(module.replace(".", "/")).parents[:-1]:
            write_file(out / package / "__init__.py", "")


def write_file(path: Path, content: str | bytes) -> None:
    """Write a file, with the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)


def merge_provided(exercises: dict[str, Exercise]) -> dict[str, set[str]]:
    """What the exercises give, by module; nothing of it may answer another of them."""
    given: dict[str, set[str]] = {}
    for name in exercises:
        own = {
            id(function)
            for functions in provided_functions(name).values()
            for function in functions.values()
        }
        for other, exercise in exercises.items():
            for module, functions in provided_functions(other).items():
                given.setdefault(module, set()).update(functions)
                foreign = {
                    id(function): key
                    for key, function in functions.items()
                    if id(function) not in own
                }
                for task in exercises[name].tasks if other != name else ():
                    for key in functions_used(task.reference) & set(foreign):
                        raise ValueError(
                            f"{other} ({exercise.title}) gives {module}.{foreign[key]}, with which "
                            f"task {task.id} is answered: hand the two out apart"
                        )
    return given


def functions_used(thing: Any, seen: frozenset[int] = frozenset()) -> set[int]:
    """The functions that a function is made of, and itself, by their ids."""
    used = {id(thing)}
    code = getattr(thing, "__code__", None)
    if code is None or id(thing) in seen:
        return used
    around = thing.__globals__
    for name in code.co_names:
        value = around.get(name)
        if inspect.ismodule(value):
            # `ops.softmax` mentions the module and then its attribute.
            used |= {id(getattr(value, other)) for other in code.co_names if hasattr(value, other)}
        elif inspect.isfunction(value):
            used |= functions_used(value, seen | {id(thing)})
    return used


def misconceptions_of(exercises: list[Exercise]) -> str:
    """Write the part of the catalogue of misconceptions that these exercises know."""
    wanted = {
        key for exercise in exercises for task in exercise.tasks
        for wrong in task.wrong for key in wrong.ids
    }  # fmt: skip
    entries = {
        key: {"name": entry.name, "sentence": entry.sentence}
        | ({"read": entry.read} if entry.read else {})
        for key, entry in misconceptions().items() if key in wanted
    }  # fmt: skip
    return yaml.safe_dump(entries, allow_unicode=True, sort_keys=False)


def required_pins(folder: Path) -> Iterator[str]:
    """The pinned packages that the bundle imports, and JupyterLab to open it."""
    imported = {"jupyterlab", "ipykernel"}.union(*map(imports_of, code_in(folder)))
    known = installed_packages()
    wanted = {package.lower().replace("_", "-") for name in imported - set(sys.stdlib_module_names)
              for package in known.get(name, [])}  # fmt: skip
    for line in (ROOT / "requirements.txt").read_text("utf8").splitlines():
        if re.split(r"[=\[]", line)[0].lower().replace("_", "-") in wanted:
            yield line


@cache  # most files are the same in every bundle
def imports_of(text: str) -> frozenset[str]:
    """The packages and modules at the top that a source imports."""
    names = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names.update(package.name for package in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
    return frozenset(name.partition(".")[0] for name in names)


@cache
def installed_packages() -> dict[str, list[str]]:
    """The packages of this environment by the modules that they bring: a slow reading."""
    return dict(importlib.metadata.packages_distributions())


def code_in(folder: Path) -> Iterator[str]:
    """All code in a bundle: its modules, and the cells of its notebooks."""
    for path in sorted(folder.rglob("*.py")):
        yield path.read_text("utf8")
    for path in sorted(folder.rglob("*.ipynb")):
        yield from code_sources(path.read_bytes())


def leaked_answers(folder: Path, exercises: list[Exercise]) -> list[str]:
    """The tasks whose reference, or the body of it, stands somewhere in a bundle."""
    there = {body for text in code_in(folder) for body in function_bodies(text)}
    leaked = []
    for exercise in exercises:
        for task in exercise.tasks:
            text = source_text(task.reference)
            if any(body in there for body in function_bodies(text)):
                leaked.append(f"{task.id} ({task.name})")
    return leaked


@cache
def function_bodies(text: str) -> tuple[str, ...]:
    """The bodies of all functions in a source, without docstrings, names or layout."""
    try:
        parsed = ast.parse(text)
    except SyntaxError:
        return ()
    return tuple(bodies_in(parsed))


def bodies_in(parsed: ast.Module) -> Iterator[str]:
    """Yield the bodies of all functions in a parsed source."""
    for node in ast.walk(parsed):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            body = node.body[1:] if ast.get_docstring(node) is not None else node.body
            dumped = [ast.dump(statement) for statement in body]
            if dumped and not (len(body) == 1 and isinstance(body[0], (ast.Raise, ast.Pass))):
                yield json.dumps([ast.dump(node.args), *dumped])


def source_text(thing: Any) -> str:
    """The source of a function or a class; nothing where there is none."""
    try:
        return textwrap.dedent(inspect.getsource(thing))
    except (OSError, TypeError):
        return ""
