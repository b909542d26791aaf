"""Run an answer once more, and note the value of every step of its code."""

from __future__ import annotations

import ast
import functools
import linecache
import types
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from checks.run.call import convert
from checks.run.clock import time_limit
from checks.run.plain_data import plain
from checks.run.world import quiet_world
from checks.task import Case

SECONDS = 2.0
MOST_NUMBERS = 5_000  # in one array
MOST_NOTES = 3_000
MOST_OF_A_STEP = 200  # one turn of a loop each
RECORDER = "__note_step__"


@dataclass
class Step:
    """An expression of the learner's code, and the values that it had, one for each time."""

    text: str
    line: int
    column: int
    values: list[np.ndarray] = field(default_factory=list)

    @property
    def place(self) -> tuple[str, int, int]:
        """Where it stands."""
        return self.text, self.line, self.column


def steps_of(answer: Any, case: Case, library: str, call: Callable | None) -> list[Step]:
    """The steps of a call, in the order of their first values; none where the code cannot be read.

    What the call returns or raises is known already, and does not matter here.
    """
    noted = Notes()
    traced = with_notes(answer, noted)
    if traced is None:
        return []
    args, kwargs = convert(case.args, library), convert(case.kwargs, library)
    try:
        with quiet_world(), time_limit(SECONDS):
            call(traced, *args, **kwargs) if call else traced(*args, **kwargs)
    except KeyboardInterrupt:
        raise
    except BaseException:
        pass
    return list(noted.steps.values())


class Notes:
    """What was noted: the steps by their place in the code."""

    def __init__(self) -> None:
        self.steps: dict[tuple[str, int, int], Step] = {}
        self.count = 0

    def note(self, value: Any, text: str, line: int, column: int) -> Any:
        """Keep a copy of the value if it is made of numbers, and hand the value itself on."""
        array = array_of(value) if self.count < MOST_NOTES else None
        if array is not None:
            self.count += 1
            step = self.steps.setdefault((text, line, column), Step(text, line, column))
            if len(step.values) < MOST_OF_A_STEP:
                step.values.append(array)
        return value


def overflows(steps: Sequence[Step]) -> bool:
    """Whether some value holds an infinity, or what no number comes out of."""
    values = (value for step in steps for value in step.values if value.dtype.kind == "f")
    return any(bool((np.isnan(value) | np.isposinf(value)).any()) for value in values)


def is_scaled_on(step: Step, steps: Sequence[Step]) -> bool:
    """Whether a step is multiplied or divided by something in its own line: a factor may follow."""
    return any(
        isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.Mult | ast.Div | ast.FloorDiv)
        and ast.unparse(node.left) == ast.unparse(ast.parse(step.text).body[0])
        for other in steps
        if other.line == step.line and other.text != step.text
        for node in ast.walk(ast.parse(other.text))
    )


def array_of(value: Any) -> np.ndarray | None:
    """A copy of the numbers of a value, unless it holds none or too many."""
    numbers = plain(value).as_numbers()
    if numbers is None or numbers.values is None or not 0 < numbers.values.size <= MOST_NUMBERS:
        return None
    return np.asarray(numbers.values)


def with_notes(answer: Any, noted: Notes) -> types.FunctionType | None:
    """The same function, noting its steps and those of the functions defined beside it."""
    if not isinstance(answer, types.FunctionType):
        return None
    world = dict(answer.__globals__)
    world[RECORDER] = noted.note
    beside = {
        name: value
        for name, value in answer.__globals__.items()
        if isinstance(value, types.FunctionType) and value.__globals__ is answer.__globals__
    }
    for name, function in beside.items():
        world[name] = _rebuilt(function, world) or function
    return _rebuilt(answer, world)


def _rebuilt(function: types.FunctionType, world: dict[str, Any]) -> types.FunctionType | None:
    """A function from rewritten source, with the same defaults and the same closure."""
    code = _noting_code(function.__code__)
    if code is None or code.co_freevars != function.__code__.co_freevars:
        return None
    made = types.FunctionType(
        code, world, function.__name__, function.__defaults__, function.__closure__
    )
    made.__kwdefaults__ = function.__kwdefaults__
    return made


def _noting_code(code: types.CodeType) -> types.CodeType | None:
    """The rewritten code that stands in the place of this one in its file."""
    source = "".join(linecache.getlines(code.co_filename))
    same = [
        noting
        for as_written, noting in _both_codes(source, code.co_filename)
        if (as_written.co_name, as_written.co_firstlineno) == (code.co_name, code.co_firstlineno)
        and as_written.co_varnames == code.co_varnames
        and as_written.co_code == code.co_code
    ]
    return same[0] if len(same) == 1 else None


@functools.lru_cache(maxsize=16)
def _both_codes(source: str, file: str) -> list[tuple[types.CodeType, types.CodeType]]:
    """Every function of a file as it was written, and as it notes its steps."""
    try:
        as_written = compile(source, file, "exec", dont_inherit=True)
        tree = ast.fix_missing_locations(_Noting(source).visit(ast.parse(source)))
        noting = compile(tree, file, "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return []
    return list(zip(_codes(as_written), _codes(noting), strict=True))


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """All code objects within this one, in order."""
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield constant
            yield from _codes(constant)


class _Noting(ast.NodeTransformer):
    """Pass the value of each step through the recorder."""

    def __init__(self, source: str) -> None:
        self.lines = source.encode().splitlines(keepends=True)
        self.statements: dict[ast.expr, ast.stmt] = {}

    def _text(self, node: ast.expr | ast.stmt) -> str:
        first, last = node.lineno - 1, node.end_lineno or node.lineno
        lines = self.lines[first:last]  # a tree counts in bytes, and ast's own function is slow
        lines[-1] = lines[-1][: node.end_col_offset]
        lines[0] = lines[0][node.col_offset :]
        return " ".join(b"".join(lines).decode().split())

    def _noted(self, node: ast.expr) -> ast.expr:
        """The node within a call of the recorder."""
        text = self._text(self.statements.get(node, node))
        self.generic_visit(node)
        return self._call(node, text)

    def _call(self, node: ast.expr, text: str) -> ast.expr:
        about = [ast.Constant(value) for value in (text, node.lineno, node.col_offset)]
        made = ast.Call(ast.Name(RECORDER, ast.Load()), [node, *about], [])
        return ast.copy_location(made, node)

    # The names are ast's.
    visit_Call = visit_BinOp = visit_UnaryOp = visit_Compare = _noted  # noqa: N815
    visit_IfExp = visit_ListComp = _noted  # noqa: N815

    def _noted_if_read(self, node: ast.List | ast.Tuple | ast.Subscript) -> ast.expr:
        """What is assigned to is no step."""
        return self._noted(node) if isinstance(node.ctx, ast.Load) else node

    visit_List = visit_Tuple = visit_Subscript = _noted_if_read  # noqa: N815

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        """Only a transpose is a step."""
        if isinstance(node.ctx, ast.Load) and node.attr in ("T", "mT"):
            return self._noted(node)
        return self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> list[ast.stmt]:
        """The text of a step that has a name is its whole line."""
        self.statements[node.value] = node
        node.value = self.visit(node.value)
        return [node, *self._after(node, node.targets)]

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        """An annotation is no step."""
        node.value = node.value and self.visit(node.value)
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> list[ast.stmt]:
        """What changes in place is a step when it has changed."""
        node.value = self.visit(node.value)
        return [node, *self._after(node, [node.target])]

    def visit_Return(self, node: ast.Return) -> ast.stmt:
        """What is returned under its name."""
        if isinstance(node.value, ast.Name):
            node.value = self._call(node.value, self._text(node))
        else:
            self.generic_visit(node)
        return node

    def visit_arguments(self, node: ast.arguments) -> ast.arguments:
        """Defaults and annotations of a function within are left alone."""
        return node

    def _after(self, statement: ast.stmt, targets: list[ast.expr]) -> list[ast.stmt]:
        """Note the array whose part a statement has changed."""
        changed = [t for t in targets if isinstance(t, ast.Subscript)]
        if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
            changed = [statement.target]
        bases = [t.value if isinstance(t, ast.Subscript) else t for t in changed]
        named = [base.id for base in bases if isinstance(base, ast.Name)]
        text = self._text(statement)
        calls = [
            self._call(ast.copy_location(ast.Name(name, ast.Load()), statement), text)
            for name in named
        ]
        return [ast.copy_location(ast.Expr(call), statement) for call in calls]
