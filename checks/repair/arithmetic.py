"""Small changes of arithmetic and of conditions."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator

from checks.repair.changes import (
    ARITHMETIC,
    BOUNDARY,
    COMPARED,
    SYMBOLS,
    Around,
    Change,
    as_code,
    constant,
    is_range,
    swapped_axes,
)

ONE_WAY = ast.Sub | ast.Div | ast.MatMult | ast.FloorDiv | ast.Mod | ast.Pow
LARGEST = 1e6  # a number that is changed


def operators(node: ast.BinOp, around: Around) -> Iterator[Change]:
    """A different operator, and the two sides exchanged."""
    symbol = SYMBOLS[type(node.op)]
    for other in ARITHMETIC.get(type(node.op), ()):
        yield (
            ast.BinOp(node.left, other(), node.right),
            f"is `{symbol}` the right operator in {as_code(node)}?",
        )
    if isinstance(node.op, ONE_WAY):
        yield (
            ast.BinOp(node.right, node.op, node.left),
            f"which of the two sides of `{symbol}` comes first in {as_code(node)}?",
        )


def queries_first(node: ast.BinOp, around: Around) -> Iterator[Change]:
    """A product whose names say that the keys stand where the queries should."""
    if not isinstance(node.op, ast.MatMult):
        return
    keys, queries = (_only_name(side) for side in (node.left, node.right))
    if keys and queries and (keys.lower()[0], queries.lower()[0]) == ("k", "q"):
        new = ast.BinOp(_renamed(node.left, queries), node.op, _renamed(node.right, keys))
        yield new, f"which of `{keys}` and `{queries}` comes first in {as_code(node)}?"


def _only_name(node: ast.expr) -> str:
    names = [part.id for part in ast.walk(node) if isinstance(part, ast.Name)]
    return names[0] if len(names) == 1 else ""


def _renamed(node: ast.expr, name: str) -> ast.expr:
    other = copy.deepcopy(node)
    for part in ast.walk(other):
        if isinstance(part, ast.Name):
            part.id = name
    return other


def brackets(node: ast.BinOp, around: Around) -> Iterator[Change]:
    """The same operators, taken in another order; not so that 1 // 2 stands there, which is 0."""
    yield from (change for change in _regrouped(node) if not _is_vain(change[0]))


def _is_vain(new: ast.BinOp) -> bool:
    quotients = (part for part in ast.walk(new)
                 if isinstance(part, ast.BinOp) and isinstance(part.op, ast.FloorDiv))  # fmt: skip
    return any(
        isinstance(part.left, ast.Constant) and isinstance(part.right, ast.Constant)
        for part in quotients
    )


def _regrouped(node: ast.BinOp) -> Iterator[Change]:
    question = f"where must the brackets stand in {as_code(node)}?"
    left, right = node.left, node.right
    if isinstance(left, ast.BinOp):
        yield ast.BinOp(left.left, left.op, ast.BinOp(left.right, node.op, right)), question
        middle = left.right
        if isinstance(middle, ast.BinOp):
            deeper = ast.BinOp(middle.left, middle.op, ast.BinOp(middle.right, node.op, right))
            yield ast.BinOp(left.left, left.op, deeper), question
    if isinstance(right, ast.BinOp):
        yield ast.BinOp(ast.BinOp(left, node.op, right.left), right.op, right.right), question


def parts(node: ast.BinOp, around: Around) -> Iterator[Change]:
    """One of the two sides alone."""
    for part, other in ((node.left, node.right), (node.right, node.left)):
        yield part, f"does {as_code(other)} belong in {as_code(node)}?"
        if not isinstance(part, ast.Constant) and isinstance(node.op, ast.MatMult | ast.Mult):
            sides = [
                swapped_axes(side) if side is part else side for side in (node.left, node.right)
            ]
            new = ast.BinOp(sides[0], node.op, sides[1])
            yield new, f"must {as_code(part)} be transposed in {as_code(node)}?"


def ends(node: ast.BinOp, around: Around) -> Iterator[Change]:
    """The end of a range without what is added to it."""
    added = isinstance(node.op, ast.Add | ast.Sub) and isinstance(node.right, ast.Constant)
    if added and is_range(around.parent):
        yield node.left, f"does {as_code(node.right)} belong in {as_code(node)}?"


def numbers(node: ast.Constant, around: Around) -> Iterator[Change]:
    """A number near this one, and a loop's variable in the place of a fixed index."""
    value = node.value
    if isinstance(value, bool):
        yield ast.Constant(not value), f"should this be `{value}`?"
    elif isinstance(value, int | float) and abs(value) <= LARGEST:
        question = _number_question(node, around)
        yield from ((constant(other), question) for other in _near(value))
        if isinstance(around.parent, ast.Subscript) and around.field == "slice":
            for name in around.loop_names:
                yield ast.Name(name, ast.Load()), f"is {value} the right index there?"


def _near(value: int | float) -> list[int | float]:
    others = [value + 1, value - 1, -value, 2 * value, -value - 1]
    others += [value / 2, 0.5] if isinstance(value, float) else []
    return [other for other in dict.fromkeys(others) if other != value]


def _number_question(node: ast.Constant, around: Around) -> str:
    if isinstance(around.parent, ast.keyword) and around.parent.arg in ("axis", "dim"):
        return f"is `{around.parent.arg}={node.value}` the right axis?"
    return f"is the number {node.value} right there?"


def signs(node: ast.UnaryOp, around: Around) -> Iterator[Change]:
    """Without its sign, or a number near a negative one."""
    symbol = {ast.USub: "-", ast.Not: "not ", ast.Invert: "~"}.get(type(node.op))
    negative = getattr(node.operand, "value", None) if symbol == "-" else None
    if isinstance(negative, int | float):
        yield from numbers(ast.Constant(-negative), around)
    elif symbol:
        whole = f"`{symbol}{ast.unparse(node.operand)}`"
        yield node.operand, f"does the `{symbol.strip()}` belong there, in {whole}?"


def comparisons(node: ast.Compare, around: Around) -> Iterator[Change]:
    """Another comparison, or one with a limit that grows with the numbers."""
    for n, op in enumerate(node.ops):
        for other in COMPARED.get(type(op), ()):
            if _of_words(node) and other not in (ast.Eq, ast.NotEq):
                continue
            changed = ast.Compare(node.left, [*node.ops[:n], other(), *node.ops[n + 1 :]],
                                  node.comparators)  # fmt: skip
            if other in BOUNDARY[type(op)]:
                yield changed, f"in {as_code(node)}, on which side do equal values belong?"
            else:
                yield changed, f"is `{SYMBOLS[type(op)]}` the right comparison in {as_code(node)}?"
    limit = node.comparators[-1]
    if isinstance(limit, ast.Constant) and isinstance(limit.value, float) and len(node.ops) == 1:
        largest = ast.Call(ast.Attribute(node.left, "max", ast.Load()), [], [])
        grown = ast.BinOp(limit, ast.Mult(), largest)
        yield (
            ast.Compare(node.left, node.ops, [grown]),
            (f"is the limit {limit.value} right for numbers of every size?"),
        )


def _of_words(node: ast.Compare) -> bool:
    """Whether words are compared, of which none is larger."""
    sides = (node.left, *node.comparators)
    return any(isinstance(side, ast.Constant) and isinstance(side.value, str) for side in sides)


def conditions(node: ast.BoolOp, around: Around) -> Iterator[Change]:
    """The other word, or one condition less."""
    other = ast.Or if isinstance(node.op, ast.And) else ast.And
    yield ast.BoolOp(other(), node.values), f"is it `and` or `or` in {as_code(node)}?"
    for n, value in enumerate(node.values):
        rest = [*node.values[:n], *node.values[n + 1 :]]
        new = rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest)
        yield new, f"does {as_code(value)} belong in this condition?"


def branches(node: ast.IfExp, around: Around) -> Iterator[Change]:
    """The two values exchanged, or one of them always."""
    exchanged = ast.IfExp(node.test, node.orelse, node.body)
    yield exchanged, f"which of the two values belongs to {as_code(node.test)}?"
    for branch in (node.body, node.orelse):
        yield branch, f"is the condition {as_code(node.test)} needed?"
