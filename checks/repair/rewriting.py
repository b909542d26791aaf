"""The definition of an answer as a syntax tree that can be changed and defined again."""

from __future__ import annotations

import ast
import inspect
import linecache
import types
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from checks.repair.growth import NAMES, growth_bounded

DEFINITIONS = (ast.FunctionDef, ast.ClassDef)


@dataclass(frozen=True)
class Definition:
    """The statements that define an answer and what stands beside it, and their world."""

    name: str
    file: str
    lines: tuple[str, ...]
    statements: list[ast.stmt]
    world: dict[str, Any]
    overfills: bool = False  # whether a product of what it is given may repeat a list too often

    def compiled(self) -> types.CodeType:
        """The statements as they are now; to compile them takes longer than a small call."""
        tree = ast.Module(self.statements, [])
        with growth_bounded(self.statements if self.overfills else ()):
            return compile(tree, self.file, "exec", dont_inherit=True)

    def made(self, code: types.CodeType | None = None) -> Any:
        """The answer, defined once more in a world of its own."""
        world = {**self.world, **NAMES}
        exec(code or self.compiled(), world)
        return world[self.name]

    def line(self, number: int) -> str:
        """The text of a line."""
        return self.lines[number - 1].strip()


def definition_of(answer: Any, name: str) -> Definition | None:
    """Where an answer is defined; None if its source is not there."""
    code, world = _code_and_world(answer)
    if code is None:
        return None
    source = "".join(linecache.getlines(code.co_filename))
    return _read(source, code.co_filename, name, world, (), code.co_firstlineno)


def value_definition(source: str, name: str) -> Definition | None:
    """Where a value is computed; None if its source cannot be read."""
    return _read(source, "<answer>", name, {}, (ast.Import, ast.ImportFrom, ast.Assign))


def _read(
    source: str,
    file: str,
    name: str,
    world: dict[str, Any],
    besides: tuple[type, ...],
    line: int = 0,
) -> Definition | None:
    """The statements that a name needs, and those of some kinds besides.

    Of several definitions of a function, the one that stands at the line is meant.
    """
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError):
        return None
    if line:
        body = [part for part in body if name not in _bound_by(part) or _holds(part, line)]
    by_name = {bound: statement for statement in body for bound in _bound_by(statement)}
    wanted = set(_reached(name, by_name)) if name in by_name else set()
    statements = [part for part in body if part in wanted or isinstance(part, besides)]
    return Definition(name, file, tuple(source.splitlines()), statements, world)


def _holds(statement: ast.stmt, line: int) -> bool:
    first = min(part.lineno for part in (statement, *getattr(statement, "decorator_list", ())))
    return first <= line <= (statement.end_lineno or line)


def _code_and_world(answer: Any) -> tuple[types.CodeType | None, dict[str, Any]]:
    """The code of a function, or of a method of a class, and its globals."""
    candidates = vars(answer).values() if isinstance(answer, type) else [inspect.unwrap(answer)]
    functions = (value for value in candidates if isinstance(value, types.FunctionType))
    function = next(functions, None)
    return (function.__code__, function.__globals__) if function else (None, {})


def _bound_by(statement: ast.stmt) -> Iterator[str]:
    """The name that a definition binds, or an assignment of something that calls nothing."""
    if isinstance(statement, DEFINITIONS):
        yield statement.name
    elif isinstance(statement, ast.Assign) and _calls_nothing(statement.value):
        yield from (target.id for target in statement.targets if isinstance(target, ast.Name))


def _calls_nothing(value: ast.expr) -> bool:
    if isinstance(value, ast.Lambda):
        return True
    return not any(isinstance(node, ast.Call | ast.Await) for node in ast.walk(value))


def _reached(name: str, by_name: dict[str, ast.stmt]) -> list[ast.stmt]:
    """The statement that binds a name, and those that it needs."""
    reached: list[ast.stmt] = []
    waiting = [name]
    while waiting:
        statement = by_name.get(waiting.pop())
        if statement is None or statement in reached:
            continue
        reached.append(statement)
        waiting += [node.id for node in ast.walk(statement) if isinstance(node, ast.Name)]
    return reached
