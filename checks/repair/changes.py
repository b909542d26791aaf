"""What small changes are made with: what is easily taken for what, and how it is shown."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

Change = tuple[ast.AST, str]  # what to put there, and the question that leads to it
SYMBOLS = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%",
    ast.Pow: "**", ast.MatMult: "@", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^",
    ast.LShift: "<<", ast.RShift: ">>", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
    ast.Eq: "==", ast.NotEq: "!=",
}  # fmt: skip
ARITHMETIC = {
    ast.Add: (ast.Sub, ast.Mult),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div, ast.Add, ast.MatMult, ast.FloorDiv),
    ast.Div: (ast.Mult, ast.FloorDiv),
    ast.FloorDiv: (ast.Mod, ast.Mult, ast.Div),
    ast.Mod: (ast.FloorDiv,),
    ast.Pow: (ast.Mult,),
    ast.MatMult: (ast.Mult,),
    ast.BitAnd: (ast.BitOr,),
    ast.BitOr: (ast.BitAnd,),
}
BOUNDARY = {
    ast.Lt: (ast.LtE,),
    ast.LtE: (ast.Lt,),
    ast.Gt: (ast.GtE,),
    ast.GtE: (ast.Gt,),
    ast.Eq: (),
    ast.NotEq: (),
}
COMPARED = {
    ast.Lt: (ast.LtE, ast.Gt, ast.GtE),
    ast.LtE: (ast.Lt, ast.GtE, ast.Gt),
    ast.Gt: (ast.GtE, ast.Lt, ast.LtE),
    ast.GtE: (ast.Gt, ast.LtE, ast.Lt),
    ast.Eq: (ast.NotEq, ast.LtE, ast.GtE),
    ast.NotEq: (ast.Eq,),
}
ALIKE = (
    ("sum", "mean", "max", "prod"),
    ("max", "min"),
    ("argmax", "argmin"),
    ("maximum", "minimum"),
    ("amax", "amin"),
    ("any", "all"),
    ("tril", "triu"),
    ("repeat", "tile", "repeat_interleave"),
    ("floor", "ceil", "round"),
    ("zeros", "ones"),
    ("vstack", "hstack"),
    ("concatenate", "stack"),
    ("cat", "stack"),
    ("log", "log2", "log10"),
    ("sin", "cos"),
    ("var", "std"),
    ("append", "extend"),
    ("logical_and", "logical_or"),
    ("linspace", "arange"),
    ("cumsum", "sum"),
    ("sqrt", "square"),
    ("median", "mean"),
)
FUNCTIONS: dict[str, tuple[str, ...]] = {
    own: tuple(dict.fromkeys(other for row in ALIKE if own in row for other in row if other != own))
    for own in {name for row in ALIKE for name in row}
}


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


def is_range(node: ast.AST) -> bool:
    """Whether a part of an expression counts for a loop."""
    return isinstance(node, ast.Call) and ast.unparse(node.func) == "range"


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
