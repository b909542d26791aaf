"""What a small change of an expression is made with: its surroundings, and how it is shown."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

Change = tuple[ast.AST, str]  # what to put there, and the question that leads to it


@dataclass(frozen=True)
class Around:
    """What surrounds an expression: where it stands, and what else could be used there."""

    parent: ast.AST
    field: str
    names: Sequence[str] = ()
    loop_names: Sequence[str] = ()
    indices: Sequence[ast.expr] = ()  # those of the whole definition


def as_code(node: ast.AST) -> str:
    """The text of a part of an expression."""
    return f"`{ast.unparse(node)}`"


def missing_beside(node: ast.AST, op: ast.operator) -> str:
    """The question on a factor or a term that is missing."""
    if isinstance(op, ast.Mult | ast.Div):
        return f"what else must {as_code(node)} be multiplied or divided by?"
    return f"which term is missing in {as_code(node)}?"


def constant(value: int | float) -> ast.expr:
    """A number as an expression."""
    if value >= 0:
        return ast.Constant(value)
    return ast.UnaryOp(ast.USub(), ast.Constant(-value))


def swapped_axes(node: ast.expr) -> ast.expr:
    """The expression with its last two axes swapped."""
    method = ast.Attribute(node, "swapaxes", ast.Load())
    return ast.Call(method, [constant(-1), constant(-2)], [])


def neighbours_swapped(items: list[ast.expr]) -> list[list[ast.expr]]:
    """The lists in which two neighbours are exchanged."""
    return [[*items[:n], items[n + 1], items[n], *items[n + 2 :]] for n in range(len(items) - 1)]
