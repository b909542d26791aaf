"""What is easily taken for what: operators, comparisons, functions."""

from __future__ import annotations

import ast

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
