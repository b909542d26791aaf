"""An exception of the learner's code in plain data: where it was raised, and by which arrays."""

from __future__ import annotations

import ast
import itertools
import linecache
import re
import types
from dataclasses import dataclass
from typing import Any

from checks.run.plain_data import plain

LONGEST = 60  # letters of an expression that is quoted


@dataclass(frozen=True)
class Mistake:
    """An exception of the learner's code: its type, its message and the line it came from.

    `operands` quotes the expression that stopped, and the shapes of the arrays in it.
    """

    type: str
    message: str
    line: str = ""
    number: int = 0
    operands: str = ""

    @property
    def by_hand(self) -> bool:
        """Whether the learner's own `raise` raised it."""
        return bool(re.search(rf"\braise {re.escape(self.type)}\b", self.line))


def source_file(answer: Any) -> str | None:
    """The file, or the notebook cell, in which a function or a class was written."""
    holders = [answer, *(getattr(answer, name, None) for name in ("__init__", "__call__"))]
    codes = (getattr(holder, "__code__", None) for holder in holders)
    return next((code.co_filename for code in codes if isinstance(code, types.CodeType)), None)


def remember_source(file: str, source: str) -> None:
    """Make the lines of a text available to tracebacks."""
    lines = source.splitlines(keepends=True)
    linecache.cache[file] = (len(source), None, lines, file)


def describe_error(error: BaseException, file: str | None, closely: bool = True) -> Mistake:
    """Put an exception into plain data: the last line of the learner's own code and the message.

    `closely` tells the arrays of the expression, too.
    """
    try:
        message = str(error)[:600].encode("utf8", "backslashreplace").decode("utf8")
    except BaseException:
        message = "(its message cannot be shown)"
    last, step = None, error.__traceback__
    while step is not None:
        if step.tb_frame.f_code.co_filename == file:
            last = step
        step = step.tb_next
    if last is None:
        return Mistake(type(error).__name__, message)
    line = linecache.getline(file, last.tb_lineno).strip()
    number = last.tb_lineno if line else 0
    return Mistake(type(error).__name__, message, line, number, _operands(last) if closely else "")


def _operands(step: types.TracebackType) -> str:
    """The expression that stopped, with the shapes of the arrays that it names; or nothing."""
    try:
        text = _expression(step)
        node = ast.parse(text, mode="eval").body
        parts = [node.left, node.right] if isinstance(node, ast.BinOp) else node.args
        shapes = [_shape_words(part, step.tb_frame) for part in parts]
    except Exception:
        return ""
    quoted = text if len(text) <= LONGEST else text[: LONGEST - 4] + " ..."
    return "; ".join([f"`{quoted}`", *dict.fromkeys(filter(None, shapes))])


def _expression(step: types.TracebackType) -> str:
    """The source of the expression that was being computed."""
    positions = step.tb_frame.f_code.co_positions()
    first, last, start, end = next(itertools.islice(positions, step.tb_lasti // 2, None))
    file = step.tb_frame.f_code.co_filename
    lines = [linecache.getline(file, n).encode() for n in range(first, last + 1)]
    lines[-1] = lines[-1][:end]
    lines[0] = lines[0][start:]
    return " ".join(b"".join(lines).decode().split())


def _shape_words(node: ast.expr, frame: types.FrameType) -> str:
    """`q.T` has shape (3, 2): of a name, or of its transpose; nothing that runs is run again."""
    text, turns = ast.unparse(node), []
    while isinstance(node, ast.Attribute) and node.attr in ("T", "mT"):
        turns.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    value = frame.f_locals.get(node.id, frame.f_globals.get(node.id))
    shape = getattr(plain(value), "shape", ()) if value is not None else ()
    for turn in reversed(turns):
        shape = shape[::-1] if turn == "T" else (*shape[:-2], *shape[-2:][::-1])
    return f"`{text}` has shape {shape}" if shape else ""
