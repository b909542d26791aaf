"""Small changes of what a formula is made of: a term, a range, a number, a function of it."""

from __future__ import annotations

import ast
import copy
import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from checks.repair.changes import Around, Change, as_code, constant, is_range, missing_beside

WRAPPERS = {ast.Name: ("abs", "np.log", "np.sqrt", "np.exp", "np.square"), ast.Sub: ("abs",)}
SUMS = ast.Add | ast.Sub
AXES = (-3, -2, -1, 0, 1, 2)
ALONG = {  # how many arguments stand before the axis, and what is done along it
    **dict.fromkeys(("concatenate", "stack", "cat"), (1, "put them together")),
    **dict.fromkeys(("split", "array_split"), (2, "cut")),
}


def mirrored_terms(node: ast.BinOp, around: Around) -> Iterator[Change]:
    """A product, and the same with two names exchanged beside it, as in a sum over two sides."""
    inner = isinstance(around.parent, ast.BinOp) and isinstance(around.parent.op, ast.Mult)
    if not isinstance(node.op, ast.Mult) or inner:
        return
    for first, second in _exchangeable(around.names):
        other = _exchanged(node, first, second)
        if ast.dump(other) != ast.dump(node):
            yield (
                ast.BinOp(node, ast.Add(), other),
                f"which term is missing beside {as_code(node)}?",
            )


def _exchangeable(names: Sequence[str]) -> list[tuple[str, str]]:
    """The words in which two names differ that are alike otherwise, as q and k in d_q and d_k."""
    pairs = {}
    for a, b in itertools.combinations(names, 2):
        words = [*zip(a.split("_"), b.split("_"), strict=False)]
        differ = [pair for pair in words if pair[0] != pair[1]]
        if a.count("_") == b.count("_") > 0 and len(differ) == 1:
            pairs[differ[0]] = None
    return list(pairs)


def _exchanged(node: ast.expr, first: str, second: str) -> ast.expr:
    other = copy.deepcopy(node)
    swap = {first: second, second: first}
    for part in ast.walk(other):
        if isinstance(part, ast.Name):
            part.id = "_".join(swap.get(word, word) for word in part.id.split("_"))
    return other


def missing_terms(node: ast.BinOp, around: Around) -> Iterator[Change]:
    """A whole sum, and a name that is forgotten in it."""
    whole = isinstance(around.parent, ast.Return | ast.Assign | ast.Tuple | ast.List)
    if not (whole and isinstance(node.op, ast.Add)):
        return
    read = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    for name in around.names:
        if name not in read:
            longer = ast.BinOp(node, ast.Add(), ast.Name(name, ast.Load()))
            yield longer, missing_beside(node, ast.Add())


def missing_factors(node: ast.expr, around: Around) -> Iterator[Change]:
    """A term of a sum, times or divided by something that is forgotten."""
    in_sum = isinstance(around.parent, ast.BinOp) and isinstance(around.parent.op, SUMS)
    in_sum = in_sum and not isinstance(node, ast.Constant)  # the 1 of n + 1 lacks no factor
    for name in around.names if in_sum else ():
        for op in (ast.Mult(), ast.Div()):
            new = ast.BinOp(node, op, ast.Name(name, ast.Load()))
            yield new, missing_beside(node, op)


def ranges(node: ast.Subscript, around: Around) -> Iterator[Change]:
    """Several entries in the place of one."""
    index = node.slice
    if not isinstance(node.ctx, ast.Load) or not isinstance(index, ast.Name | ast.Constant):
        return
    question = f"{as_code(node)} is one entry; which are needed?"
    ends = [ast.Slice(index, None), ast.Slice(None, index)]
    for name in around.names:
        own = ast.Name(name, ast.Load())
        axis = ast.Subscript(ast.Attribute(own, "shape", ast.Load()), constant(-1), ast.Load())
        for length in (own, axis):
            ends.append(ast.Slice(index, ast.BinOp(index, ast.Add(), length)))
    yield from ((ast.Subscript(node.value, end, ast.Load()), question) for end in ends)


def whole_axes(node: ast.Subscript, around: Around) -> Iterator[Change]:
    """What is assigned to: all along an axis, where one index of it is named."""
    places = node.slice
    if not (isinstance(node.ctx, ast.Store) and isinstance(places, ast.Tuple)):
        return
    for n, index in enumerate(places.elts):
        if isinstance(index, ast.Constant):
            every = [*places.elts[:n], ast.Slice(None, None), *places.elts[n + 1 :]]
            new = ast.Subscript(node.value, ast.Tuple(every, ast.Load()), ast.Store())
            yield new, f"{as_code(node)} is one place along axis {n}; which are needed?"


def axes_of_shapes(node: ast.Constant, around: Around) -> Iterator[Change]:
    """Another axis of a shape."""
    value = getattr(around.parent, "value", None)
    if isinstance(value, ast.Attribute) and value.attr == "shape" and around.field == "slice":
        for axis in AXES:
            if axis != node.value:
                yield constant(axis), f"which axis of {as_code(value.value)} is meant?"


def numbers_by_name(node: ast.Constant, around: Around) -> Iterator[Change]:
    """A number that grows with an argument, where it is the same for all."""
    if type(node.value) is not int or not isinstance(around.parent, ast.BinOp):
        return
    for name in around.names:
        own = ast.Name(name, ast.Load())
        question = f"is the number {node.value} right there, whatever `{name}` is?"
        for op in (ast.Sub(), ast.Add()):
            yield ast.BinOp(own, op, node), question


def functions_of(node: ast.Name | ast.BinOp, around: Around) -> Iterator[Change]:
    """A function of a value, where the value itself is used."""
    if not isinstance(getattr(node, "ctx", ast.Load()), ast.Load) or around.field == "func":
        return
    if not isinstance(around.parent, ast.BinOp | ast.Return | ast.Assign | ast.AugAssign):
        return
    question = f"is it {as_code(node)} itself that belongs there, or a function of it?"
    kind = type(node.op) if isinstance(node, ast.BinOp) else type(node)
    for wrapper in WRAPPERS.get(kind, ()):
        function = ast.parse(wrapper, mode="eval").body
        yield ast.Call(function, [node], []), question


def loop_ends(node: ast.Call, around: Around) -> Iterator[Change]:
    """A range with another beginning or end."""
    if not is_range(node) or not 0 < len(node.args) < 3:
        return
    question = f"where does {as_code(node)} begin and end?"
    *first, last = node.args
    if first:
        yield ast.Call(node.func, [last], []), question
    for op in (ast.Add(), ast.Sub()):
        moved = ast.BinOp(last, op, ast.Constant(1))
        yield ast.Call(node.func, [*first, moved], []), question
    if not first:
        yield ast.Call(node.func, [ast.Constant(1), last], []), question
        moved = ast.BinOp(last, ast.Add(), ast.Constant(1))
        yield ast.Call(node.func, [ast.Constant(1), moved], []), question


def kept_axes(node: ast.Call, around: Around) -> Iterator[Change]:
    """A reduction that keeps its axis, and arrays put together along another axis."""
    short = ast.unparse(node.func).rsplit(".", 1)[-1]
    named = {keyword.arg for keyword in node.keywords}
    if named & {"axis", "dim"} and not named & {"keepdims", "keepdim"}:
        kept = [*node.keywords, ast.keyword("keepdims", ast.Constant(True))]
        question = f"which shape does {as_code(node)} have, and which is needed?"
        yield ast.Call(node.func, node.args, kept), question
    if short in ALONG and not named & {"axis", "dim"}:
        kept, what = ALONG[short]
        question = f"along which axis does `{short}` {what}?"
        for axis in (-1, 1):
            along = [*node.keywords, ast.keyword("axis", constant(axis))]
            yield ast.Call(node.func, node.args[:kept], along), question


def opposites(node: ast.Name, around: Around) -> Iterator[Change]:
    """A mask the other way round."""
    counts = isinstance(getattr(around.parent, "op", None), SUMS) or is_range(around.parent)
    if _is_read(node, around, ast.Call | ast.BinOp) and not counts:
        question = f"is {as_code(node)} the right way round, or its opposite?"
        yield ast.UnaryOp(ast.Invert(), node), question


def shortened(node: ast.Name, around: Around) -> Iterator[Change]:
    """All but the first, or all but the last."""
    if _is_read(node, around, ast.Call | ast.For):
        question = f"must all of {as_code(node)} be used there?"
        for end in (ast.Slice(constant(1), None), ast.Slice(None, constant(-1))):
            yield ast.Subscript(node, end, ast.Load()), question


def _is_read(node: ast.Name, around: Around, by: Any) -> bool:
    """Whether a name is read by an expression of some kinds, and not called."""
    read = isinstance(node.ctx, ast.Load) and around.field != "func"
    return read and isinstance(around.parent, by)
