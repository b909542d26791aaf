"""Small changes of calls, names and indices."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from checks.repair.changes import (
    FUNCTIONS,
    Around,
    Change,
    as_code,
    constant,
    missing_beside,
    neighbours_swapped,
    swapped_axes,
)

REDUCED = ("sum", "mean", "max", "min", "var", "std", "argmax", "argmin", "any", "all")
DIAGONAL = ("tri", "tril", "triu", "diag")


def functions(node: ast.Attribute | ast.Name, around: Around) -> Iterator[Change]:
    """A function that is easily taken for this one; a transposed matrix as it was."""
    if isinstance(node, ast.Attribute) and node.attr in ("T", "mT"):
        yield node.value, f"must {as_code(node.value)} be transposed there?"
    if not (isinstance(around.parent, ast.Call) and around.field == "func"):
        return
    own = node.attr if isinstance(node, ast.Attribute) else node.id
    for other in FUNCTIONS.get(own, ()):
        question = f"is `{own}` the function that belongs there?"
        if isinstance(node, ast.Attribute):
            yield ast.Attribute(node.value, other, ast.Load()), question
        else:
            yield ast.Name(other, ast.Load()), question


def without_call(node: ast.Call, around: Around) -> Iterator[Change]:
    """What a function is called on, without the call."""
    own = ast.unparse(node.func)
    if len(node.args) == 1 and not isinstance(node.args[0], ast.Starred):
        yield node.args[0], f"does `{own}` belong there?"
    if isinstance(node.func, ast.Attribute):
        yield node.func.value, f"does `.{node.func.attr}` belong there?"


def shapes(node: ast.Call, around: Around) -> Iterator[Change]:
    """Axes swapped where the numbers were dealt out again; another axis than the first."""
    short = _short(node)
    if short in ("reshape", "view") and isinstance(node.func, ast.Attribute):
        yield (
            swapped_axes(node.func.value),
            (
                f"`{short}` keeps the numbers in their order and cuts the rows elsewhere; "
                "is that what is needed?"
            ),
        )
    if short == "len" and node.args:
        shape = ast.Attribute(node.args[0], "shape", ast.Load())
        yield (
            ast.Subscript(shape, constant(-1), ast.Load()),
            (f"{as_code(node)} is the length of the first axis; which axis is needed?"),
        )


def arguments(node: ast.Call, around: Around) -> Iterator[Change]:
    """Arguments exchanged or left out."""
    own = ast.unparse(node.func)
    for n, args in enumerate(neighbours_swapped(node.args)):
        first, second = as_code(node.args[n]), as_code(node.args[n + 1])
        question = f"which of {first} and {second} comes first in the call of `{own}`?"
        yield ast.Call(node.func, args, node.keywords), question
    for keyword in node.keywords:
        others = [other for other in node.keywords if other is not keyword]
        question = f"does `{ast.unparse(keyword)}` belong there?"
        yield ast.Call(node.func, node.args, others), question
    if _short(node) in DIAGONAL and len(node.args) == 1:
        for off in (1, -1):
            moved = ast.Call(node.func, node.args, [ast.keyword("k", constant(off))])
            yield moved, f"which diagonal is the edge of {as_code(node)}?"


def reductions(node: ast.Call, around: Around) -> Iterator[Change]:
    """A sum, a mean or a maximum of everything, where one of each row is needed; ddof."""
    short = _short(node)
    if short in ("var", "std"):
        more = [*node.keywords, ast.keyword("ddof", ast.Constant(1))]
        question = f"by what does `{short}` divide, n or n - 1?"
        yield ast.Call(node.func, node.args, more), question
    named = {keyword.arg for keyword in node.keywords}
    if short not in REDUCED or named & {"axis", "dim"}:
        return
    for axis in (-1, 0):
        over = [*node.keywords, ast.keyword("axis", constant(axis))]
        question = f"{as_code(node)} is taken over all numbers at once; which axis is needed?"
        yield ast.Call(node.func, node.args, over), question
        kept = [*over, ast.keyword("keepdims", ast.Constant(True))]
        yield ast.Call(node.func, node.args, kept), question


def _short(node: ast.Call) -> str:
    return ast.unparse(node.func).rsplit(".", 1)[-1]


def sorting(node: ast.Call, around: Around) -> Iterator[Change]:
    """The other order of sorting, where the smallest comes first."""
    if _short(node) != "argsort":
        return
    question = "`argsort` puts the smallest first; is this the order that is needed?"
    if node.args and not isinstance(node.args[0], ast.UnaryOp):
        turned = [ast.UnaryOp(ast.USub(), node.args[0]), *node.args[1:]]
        yield ast.Call(node.func, turned, node.keywords), question
    elif not node.args and isinstance(node.func, ast.Attribute):
        turned = ast.Attribute(ast.UnaryOp(ast.USub(), node.func.value), "argsort", ast.Load())
        yield ast.Call(turned, [], node.keywords), question


def slices(node: ast.Slice, around: Around) -> Iterator[Change]:
    """Other ends of a slice."""
    lower, upper = node.lower, node.upper
    question = f"where does `[{ast.unparse(node)}]` begin and end?"
    for start in _starts(lower) if upper is not None else ():
        yield (
            ast.Slice(lower, ast.BinOp(start, ast.Add(), upper), node.step),
            (f"in `[{ast.unparse(node)}]`, is the second number a length or an index?"),
        )
    for off in (ast.Add(), ast.Sub()):
        if lower is not None:
            moved = ast.BinOp(lower, off, ast.Constant(1))
            yield ast.Slice(moved, upper, node.step), question
        if upper is not None:
            moved = ast.BinOp(upper, off, ast.Constant(1))
            yield ast.Slice(lower, moved, node.step), question
    for first, last in (
        (upper, None),
        (None, lower),
        (_opposite(upper), None),
        (None, _opposite(lower)),
    ):
        yield ast.Slice(first, last, node.step), question


def _starts(lower: ast.expr | None) -> list[ast.expr]:
    """Where a slice starts, and of `start + 1` the start, which the end may lack."""
    first = [lower.left] if isinstance(lower, ast.BinOp) and isinstance(lower.op, ast.Add) else []
    return [] if lower is None else [lower, *first]


def _opposite(end: ast.expr | None) -> ast.expr | None:
    """The same number of entries, counted from the other end."""
    if end is None or isinstance(end, ast.UnaryOp):
        return end and end.operand
    return ast.UnaryOp(ast.USub(), end)


def indices(node: ast.Subscript, around: Around) -> Iterator[Change]:
    """The whole in the place of a part, and a part that the code takes elsewhere."""
    if not isinstance(node.ctx, ast.Load):
        return
    yield node.value, f"must a part of {as_code(node.value)} be taken there?"
    for other in around.indices:
        if ast.dump(other) != ast.dump(node.slice):
            new = ast.Subscript(node.value, other, ast.Load())
            yield new, f"is the index right in {as_code(node)}?"


def orders(node: ast.Tuple | ast.List, around: Around) -> Iterator[Change]:
    """Two neighbours exchanged: results, sizes of a shape, axes of an index, names for parts."""
    if not isinstance(node.ctx, ast.Del):
        for items in neighbours_swapped(node.elts):
            new = type(node)(items, node.ctx)
            inner = ", ".join(map(ast.unparse, node.elts))
            yield new, f"is the order right in `{inner}`?"


def other_names(node: ast.Name, around: Around) -> Iterator[Change]:
    """One more or less, the other sign, 1 minus it, and the other names of the definition."""
    if not isinstance(node.ctx, ast.Load) or around.field == "func":
        return
    for off in (ast.Add(), ast.Sub()):
        question = f"is {as_code(node)} right there, or off by one?"
        yield ast.BinOp(node, off, ast.Constant(1)), question
    yield ast.UnaryOp(ast.USub(), node), f"is the sign of {as_code(node)} right there?"
    if isinstance(around.parent, ast.BinOp):
        rest = ast.BinOp(ast.Constant(1), ast.Sub(), node)
        yield rest, f"is it {as_code(node)} that belongs there, or what is left of 1?"
    for name in around.names:
        if name != node.id:
            question = f"is {as_code(node)} the variable that belongs there?"
            yield ast.Name(name, ast.Load()), question


def missing_parts(node: ast.expr, around: Around) -> Iterator[Change]:
    """A result or a value with a name, times or plus something that is forgotten."""
    whole = isinstance(around.parent, ast.Return | ast.Assign) and around.field == "value"
    in_pair = isinstance(around.parent, ast.Tuple | ast.List) and around.field == "elts"
    if not (whole or in_pair) or isinstance(node, ast.Constant | ast.Tuple):
        return
    yield ast.UnaryOp(ast.USub(), node), f"is the sign of {as_code(node)} right?"
    yield ast.BinOp(ast.Constant(1), ast.Sub(), node), f"is {as_code(node)} right, or 1 minus it?"
    for name in around.names:
        other = ast.Name(name, ast.Load())
        for op in (ast.Mult(), ast.Div(), ast.Add(), ast.Sub()):
            yield ast.BinOp(node, op, other), missing_beside(node, op)
    for name in around.names:
        part = ast.Subscript(ast.Name(name, ast.Load()), node, ast.Load())
        yield part, f"{as_code(node)} is an index; is it asked for, or what stands there?"


def einsum_letters(node: ast.Constant, around: Around) -> Iterator[Change]:
    """Another letter at one place of an einsum."""
    text = node.value
    if not isinstance(text, str) or not ("->" in text or _is_einsum(around.parent)):
        return
    letters = dict.fromkeys(letter for letter in text if letter.isalpha())
    for n, own in enumerate(text):
        for other in letters if own.isalpha() else ():
            if other != own:
                new = ast.Constant(text[:n] + other + text[n + 1 :])
                yield new, f"which axes have the same letter in {as_code(node)}, and should they?"


def _is_einsum(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func).endswith("einsum")
