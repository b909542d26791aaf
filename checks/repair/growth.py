"""Products and powers of a changed answer that would fill the memory: they stop with an error.

A list times a number repeats it, and a power of whole numbers may have millions of digits. Neither
ends within the limit on time, which cannot interrupt one operation.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

LONGEST = 10**6  # items of a repeated list
MOST_BITS = 10**6  # of a power
REPEATED = (list, tuple, str, bytes)
WHOLE = (int, np.integer)


def bounded_product(left: Any, right: Any) -> Any:
    """Multiply, unless a list would be repeated too often."""
    for part, times in ((left, right), (right, left)):
        if type(part) in REPEATED and isinstance(times, WHOLE) and len(part) * int(times) > LONGEST:
            raise MemoryError("a list is repeated too often")
    return left * right


def bounded_power(left: Any, right: Any) -> Any:
    """Raise to a power, unless whole numbers would give too many digits."""
    if type(left) is type(right) is int and left.bit_length() * right > MOST_BITS:
        raise OverflowError("a power has too many digits")
    return left**right


def may_overfill(values: Iterable[Any]) -> bool:
    """Whether whole numbers that an answer is given, multiplied, would repeat a list too often."""
    return math.prod(max(1, abs(number)) for number in _whole_numbers(values)) > LONGEST


def _whole_numbers(values: Iterable[Any]) -> Iterator[int]:
    for value in values:
        if isinstance(value, dict):
            yield from _whole_numbers(value.values())
        elif isinstance(value, list | tuple):
            yield from _whole_numbers(value)
        elif isinstance(value, WHOLE):
            yield int(value)


NAMES = {"__product__": bounded_product, "__power__": bounded_power}
LEAVES = {ast.Name, ast.Constant, ast.Load, ast.Store, ast.Add, ast.Sub, ast.Mult, ast.Div}
BY_OPERATOR = {ast.Mult: "__product__", ast.Pow: "__power__"}


@contextmanager
def growth_bounded(statements: Sequence[ast.stmt]) -> Iterator[None]:
    """The statements with calls of these functions in the place of such operators, for a while."""
    places = [place for statement in statements for place in _places(statement)]
    for holder, key, node in reversed(places):
        name = ast.copy_location(ast.Name(BY_OPERATOR[type(node.op)], ast.Load()), node)
        holder[key] = ast.copy_location(ast.Call(name, [node.left, node.right], []), node)
    try:
        yield
    finally:
        for holder, key, node in places:
            holder[key] = node


def _places(statement: ast.stmt) -> Iterator[tuple[Any, Any, ast.BinOp]]:
    """Where such operators stand, the outer ones first: what holds each, and under which key."""
    waiting, seen = [statement], set()
    while waiting:
        owner = waiting.pop()
        if id(owner) in seen:
            continue  # a change may put the same part in twice, or into itself
        seen.add(id(owner))
        for holder, key, node in _held(owner.__dict__):
            waiting.append(node)
            if type(node) is ast.BinOp and _may_grow(node):
                yield holder, key, node


def _held(fields: dict[str, Any]) -> Iterator[tuple[Any, Any, ast.AST]]:
    """The parts of a node that have parts, with what holds each and its key there."""
    for field, value in fields.items():  # this is done for every change: ast's walk is slower
        if isinstance(value, list):
            for n, item in enumerate(value):
                if isinstance(item, ast.AST) and type(item) not in LEAVES:
                    yield value, n, item
        elif isinstance(value, ast.AST) and type(value) not in LEAVES:
            yield fields, field, value


def _may_grow(node: ast.BinOp) -> bool:
    """Whether an operator may repeat a list or make a large power: not with a small number."""
    if type(node.op) not in BY_OPERATOR:
        return False
    sides = [node.right] if isinstance(node.op, ast.Pow) else [node.left, node.right]
    return not any(isinstance(side, ast.Constant) for side in sides)
