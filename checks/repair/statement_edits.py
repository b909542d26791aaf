"""Small changes of statements: one left out, moved out of a loop or into it, added or replaced."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from checks.repair.changes import ARITHMETIC, SYMBOLS, as_code

Block = list[ast.stmt]
LOOPS = (ast.For, ast.While)
NEAR = 3  # statements before a loop, of which one may belong in it
EACH_TURN = "this line is before the loop; should it come again in each turn?"


def block_changes(block: Block, in_loop: bool) -> Iterator[tuple[Block, ast.stmt, str]]:
    """Blocks with one change, each with the statement that changed and a question."""
    for n, statement in enumerate(block):
        before, after = block[:n], block[n + 1 :]
        for new, question in _changed(statement, in_loop):
            yield [*before, *new, *after], statement, question
        if isinstance(statement, LOOPS):
            for new, moved, question in _moved_out(statement):
                yield [*before, *new, *after], moved, question
            for start in range(max(0, n - NEAR), n):
                if isinstance(block[start], ast.Assign):
                    body = [block[start], *statement.body]
                    others = [*block[:start], *block[start + 1 : n]]
                    yield [*others, _with_body(statement, body), *after], block[start], EACH_TURN


def _changed(statement: ast.stmt, in_loop: bool) -> Iterator[tuple[Block, str]]:
    if isinstance(statement, ast.Assign):
        yield from _assigned(statement, in_loop)
    elif isinstance(statement, ast.AugAssign):
        yield from _added(statement)
        yield [], "is this line needed?"
    elif isinstance(statement, ast.Expr) and not isinstance(statement.value, ast.Constant):
        yield [], "is this line needed?"
    elif isinstance(statement, ast.If):
        yield from _chosen(statement)
    elif isinstance(statement, ast.Break):
        yield [ast.Pass()], "must the loop end there?"


def _assigned(statement: ast.Assign, in_loop: bool) -> Iterator[tuple[Block, str]]:
    target = statement.targets[0]
    if isinstance(statement.value, ast.Name):
        copied = ast.Call(ast.Attribute(statement.value, "copy", ast.Load()), [], [])
        question = f"{as_code(target)} is the same array by another name; must it be a copy?"
        yield [ast.Assign(statement.targets, copied)], question
    if in_loop and isinstance(target, ast.Name | ast.Subscript) and not _reorders(statement):
        yield (
            [ast.AugAssign(target, ast.Add(), statement.value)],
            (
                f"each turn of the loop replaces {as_code(target)}; "
                "is what was there before still needed?"
            ),
        )
    if isinstance(target, ast.Subscript) or (
        isinstance(target, ast.Name) and _reads(statement.value, target.id)
    ):
        yield [], "is this line needed?"


def _reorders(statement: ast.Assign) -> bool:
    """Whether a part of an array is given its own entries in another order."""
    target, value = statement.targets[0], statement.value
    own = isinstance(value, ast.Subscript) and isinstance(target, ast.Subscript)
    return own and ast.unparse(value).startswith(ast.unparse(target))


def _reads(value: ast.expr, name: str) -> bool:
    return any(isinstance(node, ast.Name) and node.id == name for node in ast.walk(value))


def _added(statement: ast.AugAssign) -> Iterator[tuple[Block, str]]:
    symbol = f"{SYMBOLS[type(statement.op)]}="
    for other in ARITHMETIC.get(type(statement.op), ()):
        new = ast.AugAssign(statement.target, other(), statement.value)
        yield [new], f"is `{symbol}` right there?"
    question = f"`{symbol}` keeps what {as_code(statement.target)} was; should it?"
    yield [ast.Assign([statement.target], statement.value)], question


def _chosen(statement: ast.If) -> Iterator[tuple[Block, str]]:
    opposite = ast.UnaryOp(ast.Not(), statement.test)
    yield (
        [ast.If(opposite, statement.body, statement.orelse)],
        (f"is the condition {as_code(statement.test)} the right way round?"),
    )
    yield statement.body, f"is the condition {as_code(statement.test)} needed?"
    yield statement.orelse, f"is what follows {as_code(statement.test)} needed?"


def _moved_out(loop: ast.For | ast.While) -> Iterator[tuple[Block, ast.stmt, str]]:
    """A loop whose last statement comes after it, or whose first comes before it."""
    if len(loop.body) < 2:
        return
    first, last = loop.body[0], loop.body[-1]
    kept = _with_body(loop, loop.body[:-1])
    question = "this line is in the loop; should it come once, after the loop?"
    yield [kept, last], last, question
    if isinstance(first, ast.Assign):
        kept = _with_body(loop, loop.body[1:])
        question = "this line is in the loop; should it come once, before the loop?"
        yield [first, kept], first, question


def _with_body(loop: ast.For | ast.While, body: Block) -> ast.stmt:
    if isinstance(loop, ast.While):
        return ast.While(loop.test, body, loop.orelse)
    return ast.For(loop.target, loop.iter, body, loop.orelse)
