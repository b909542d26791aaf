"""All small changes of a definition, each with the question that leads to it."""

from __future__ import annotations

import ast
import contextlib
import functools
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from checks.repair import arithmetic, calls, terms
from checks.repair.changes import Around
from checks.repair.statement_edits import LOOPS, block_changes

FIRST: Sequence[tuple[Any, Callable]] = (
    (ast.BinOp, arithmetic.queries_first),
    (ast.BinOp, arithmetic.ends),
    (ast.Call, calls.sorting),
)
LEFT_ALONE = ("annotation", "returns", "decorator_list", "bases")
CHANGES: Sequence[tuple[Any, Callable]] = (
    (ast.BinOp, arithmetic.operators),
    (ast.BinOp, arithmetic.brackets),
    (ast.BinOp, arithmetic.parts),
    (ast.Constant, arithmetic.numbers),
    (ast.UnaryOp, arithmetic.signs),
    (ast.Compare, arithmetic.comparisons),
    (ast.BoolOp, arithmetic.conditions),
    (ast.IfExp, arithmetic.branches),
    (ast.Attribute | ast.Name, calls.functions),
    (ast.Call, calls.shapes),
    (ast.Call, calls.reductions),
    (ast.Call, calls.arguments),
    (ast.Call, calls.without_call),
    (ast.Slice, calls.slices),
    (ast.Tuple | ast.List, calls.orders),
    (ast.Subscript, calls.indices),
    (ast.Constant, calls.einsum_letters),
    (ast.Constant, terms.axes_of_shapes),
    (ast.Call, terms.kept_axes),
    (ast.BinOp, terms.mirrored_terms),
)
SUMS: Sequence[tuple[Any, Callable]] = ((ast.BinOp, terms.missing_terms),)
LATER: Sequence[tuple[Any, Callable]] = (  # many, and less likely
    (ast.Name, calls.other_names),
    (ast.expr, calls.missing_parts),
)
LAST: Sequence[tuple[Any, Callable]] = (
    (ast.Call, terms.loop_ends),
    (ast.expr, terms.missing_factors),
    (ast.Name | ast.BinOp, terms.functions_of),
    (ast.Name, terms.opposites),
    (ast.Name, terms.shortened),
    (ast.Subscript, terms.ranges),
    (ast.Subscript, terms.whole_axes),
    (ast.Constant, terms.numbers_by_name),
)


Put = tuple[ast.AST, str, Any]  # whose field, and what becomes of it
Place = tuple[ast.AST, str, ast.expr, Callable]


@dataclass(frozen=True)
class Edit:
    """One change: which fields become what, in which lines, and the question that leads to it."""

    puts: tuple[Put, ...]
    lines: tuple[int, ...]
    question: str
    kind: str = "statement"

    @property
    def text(self) -> str:
        """What is put in, as it is written."""
        parts = (part for _, _, new in self.puts for part in (new if type(new) is list else [new]))
        return "\n".join(map(ast.unparse, parts))

    @contextlib.contextmanager
    def made(self) -> Iterator[None]:
        """The tree with this change, for a while."""
        before = [(owner, field, getattr(owner, field)) for owner, field, _ in self.puts]
        for owner, field, new in self.puts:
            setattr(owner, field, new)
        try:
            yield
        finally:
            for owner, field, old in reversed(before):
                setattr(owner, field, old)


def edits_of(statements: Sequence[ast.stmt]) -> Iterator[Edit]:
    """All changes of some statements, the likeliest first."""
    for statement in statements:
        yield from _block_edits(statement)
    for changes in (FIRST, CHANGES):
        for statement in statements:
            yield from _expression_edits(statement, changes)
    for statement in statements:
        yield from _edits_everywhere(statement)
    for changes in (SUMS, LATER, LAST):
        for statement in statements:
            yield from _expression_edits(statement, changes)


def _block_edits(root: ast.stmt) -> Iterator[Edit]:
    for owner, in_loop in _with_loops(root, False):
        for field in ("body", "orelse"):
            block = getattr(owner, field, None)
            if not isinstance(block, list):
                continue
            inside = in_loop or isinstance(owner, LOOPS)
            for changed, statement, question in block_changes(block, inside):
                new = [_located(part, statement) for part in changed or [ast.Pass()]]
                yield Edit(((owner, field, new),), (statement.lineno,), question)


def _with_loops(node: ast.AST, in_loop: bool) -> Iterator[tuple[ast.AST, bool]]:
    yield node, in_loop
    for child in ast.iter_child_nodes(node):
        yield from _with_loops(child, in_loop or isinstance(node, LOOPS))


def _located(new: ast.AST, near: ast.AST) -> ast.AST:
    if not hasattr(new, "lineno"):
        ast.copy_location(new, near)
    return ast.fix_missing_locations(new)


def _expression_edits(root: ast.stmt, changes: Sequence[tuple[Any, Callable]]) -> Iterator[Edit]:
    known = (_names_in(root), _loop_names_in(root), _indices_in(root))
    for owner, field, node, put in _expressions(root):
        around = Around(owner, field, *known)
        line = getattr(node, "lineno", getattr(owner, "lineno", 1))
        for new, question, kind in _made(changes, node, around):
            words = question + _which(root, node, question)
            yield Edit(((owner, field, put(_located(new, node))),), (line,), words, kind)


def _which(root: ast.stmt, node: ast.expr, question: str) -> str:
    """Which of the equal numbers, names, slices or calls of its line one of these is."""
    calls = isinstance(node, ast.Call) and f"`{ast.unparse(node.func)}`" in question
    if not calls and not isinstance(node, ast.Constant | ast.Name | ast.Slice):
        return ""
    shown = _called(node)
    alike = [other for other in ast.walk(root) if isinstance(other, type(node))
             and other.lineno == node.lineno and _called(other) == shown]  # fmt: skip
    alike.sort(key=lambda other: other.col_offset)
    return f" Of the {len(alike)} in this line, it is the {_ordinal(alike.index(node) + 1)}." * (
        len(alike) > 1
    )


def _called(node: ast.expr) -> str:
    return ast.unparse(node.func if isinstance(node, ast.Call) else node)


def _ordinal(n: int) -> str:
    ending = "th" if 10 < n % 100 < 14 else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return f"{n}{ending}"


def _made(changes: Sequence[tuple[Any, Callable]], node: ast.expr, around: Around) -> Iterator:
    """What each kind of change makes of an expression."""
    for kind, change in changes:
        if isinstance(node, kind):
            for new, question in change(node, around):
                yield new, question, change.__name__


def _edits_everywhere(root: ast.stmt) -> Iterator[Edit]:
    """The same change where an expression stands several times: in a line, then in all lines."""
    places: dict[str, dict[int, list[Place]]] = {}
    for place in _expressions(root):
        if isinstance(place[2], ast.BinOp | ast.UnaryOp | ast.Constant | ast.Compare | ast.Call):
            lines = places.setdefault(ast.dump(place[2]), {})
            lines.setdefault(place[2].lineno, []).append(place)
    for lines in places.values():
        everywhere = [[*itertools.chain(*lines.values())]] if len(lines) > 1 else []
        for same in [*lines.values(), *everywhere]:
            if len(same) > 1:
                yield from _edits_of_all(same)


def _edits_of_all(same: Sequence[Place]) -> Iterator[Edit]:
    """The same change at all of some places."""
    owner, field, node, _ = same[0]
    lines = tuple(sorted({place[2].lineno for place in same}))
    for new, question, kind in _made(CHANGES, node, Around(owner, field)):
        puts = tuple((own, name, put(_located(new, node))) for own, name, _, put in same)
        yield Edit(puts, lines, f"{question} It stands there {len(same)} times.", kind)


def _expressions(root: ast.stmt) -> Iterator[Place]:
    for owner in ast.walk(root):
        docstring = isinstance(owner, ast.Expr) and isinstance(owner.value, ast.Constant)
        if not (docstring or isinstance(owner, ast.arguments | ast.arg)):
            for field, node, put in _children(owner):
                yield owner, field, node, put


def _children(owner: ast.AST) -> Iterator[tuple[str, ast.expr, Callable]]:
    """The expressions of a node, each with what puts another in its place."""
    for field, value in ast.iter_fields(owner):
        if field in LEFT_ALONE:
            continue
        if isinstance(value, ast.expr):
            yield field, value, lambda new: new
        elif isinstance(value, list):
            for n, item in enumerate(value):
                if isinstance(item, ast.expr):
                    yield field, item, functools.partial(_with_item, owner, field, n)


def _with_item(owner: ast.AST, field: str, n: int, new: ast.AST) -> list:
    items = getattr(owner, field)
    return [*items[:n], new, *items[n + 1 :]]


def _names_in(root: ast.stmt) -> list[str]:
    """The names that a definition binds."""
    arguments = [node.arg for node in ast.walk(root) if isinstance(node, ast.arg)]
    stored = [
        node.id
        for node in ast.walk(root)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    ]
    return [name for name in dict.fromkeys([*arguments, *stored]) if name != "self"]


def _loop_names_in(root: ast.stmt) -> list[str]:
    """The names that loops bind."""
    loops = (node for node in ast.walk(root) if isinstance(node, ast.For | ast.comprehension))
    targets = (target for loop in loops for target in ast.walk(loop.target))
    return list(dict.fromkeys(node.id for node in targets if isinstance(node, ast.Name)))


def _indices_in(root: ast.stmt) -> list[ast.expr]:
    """The different indices that a definition reads."""
    read = (
        node.slice
        for node in ast.walk(root)
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load)
    )
    return list({ast.dump(index): index for index in read}.values())
