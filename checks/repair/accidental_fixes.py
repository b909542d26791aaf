"""Changes that are right by accident: those never tried, and those told only for want of others."""

from __future__ import annotations

import ast
import re
import types
from collections.abc import Iterator, Sequence
from typing import Any

from checks.repair.changes import is_range
from checks.repair.edits import Edit, Put

GUESSED = {  # what is put in is guessed, so that several guesses may be right by accident
    "functions", "missing_parts", "missing_factors", "functions_of",
}  # fmt: skip
IDLE_WITH_1 = ast.Mult | ast.Div | ast.FloorDiv | ast.Pow
SWAPS = ("swapaxes", "transpose", "movedim", "moveaxis")
TURNING = ast.Sub | ast.Div | ast.FloorDiv
ONE_HOT = re.compile(r"\b(eye|identity|one_hot)\(")
SHAPE_ALONE = re.compile(r"does `\.(squeeze|unsqueeze|reshape|view|copy|clone|ravel)` belong")
LOGARITHM = re.compile(r"\blog(\d+|_softmax)?\(")
OF_INDICES = {"indices", "nonzero", "unravel_index", "where"}  # the rows come first
SIGN = re.compile(
    r"is the sign of|sides of `[-/]` comes|does the `-` belong|or 1 minus it|the right way round"
)
MOVED = re.compile(r"this line is (in|before) the loop; should it come")


def is_vain(edit: Edit, world: dict[str, Any]) -> bool:
    """Whether a change leaves a library where a value was, or multiplies or divides by 1.

    Nor is one told that turns one-hot rows upside down, where one slip more undoes what another
    did, that begins a loop in front of the first row (-1 is the last one), that subtracts an
    array from its copy, divides a fixed number by another without its rest, or swaps an axis with
    itself.
    """
    if any(_begins_in_front(put) or _swaps_nothing(put) for put in edit.puts):
        return True
    return any(_is_idle(new, world) for put in edit.puts for new in _put_in(put))


def _begins_in_front(put: Put) -> bool:
    owner, field, new = put
    if not (is_range(owner) and field == "args" and len(new) == 2) or new[0] is owner.args[0]:
        return False
    return isinstance(new[0], ast.UnaryOp) and isinstance(new[0].op, ast.USub)


def _swaps_nothing(put: Put) -> bool:
    owner, field, new = put
    swaps = isinstance(owner, ast.Call) and getattr(owner.func, "attr", "") in SWAPS
    return swaps and field == "args" and len({*map(ast.unparse, new[-2:])}) == 1


def _put_in(put: Put) -> list[ast.AST]:
    """What a change puts in, without the neighbours in its list that stay."""
    owner, field, new = put
    if not isinstance(new, list):
        return [new]
    before = getattr(owner, field)
    return [item for item in new if not any(item is old for old in before)]


def _is_idle(new: ast.AST, world: dict[str, Any]) -> bool:
    by_1 = isinstance(new, ast.BinOp) and isinstance(new.op, IDLE_WITH_1)
    idle = by_1 and 1 in [getattr(side, "value", None) for side in _neutral(new)]
    return idle or _is_library(new, world) or _is_turned_one_hot(new) or _is_nothing(new)


def _is_nothing(new: ast.AST) -> bool:
    """Whether a name is subtracted from its copy, or a fixed number divided without its rest."""
    if isinstance(new, ast.BinOp) and isinstance(new.op, ast.FloorDiv):
        return isinstance(new.left, ast.Constant)
    if not (isinstance(new, ast.BinOp) and isinstance(new.op, ast.Sub)):
        return False
    left, right = ast.unparse(new.left), ast.unparse(new.right)
    return left in (right, f"{right}.copy()", f"{right}.clone()")


def stays_0(edit: Edit, statements: Sequence[ast.stmt]) -> bool:
    """Whether a sum that begins at 0 is multiplied in place of added to."""
    new = [new for put in edit.puts for new in _put_in(put)]
    names = {
        node.target.id for node in new if isinstance(node, ast.AugAssign)
        and isinstance(node.op, ast.Mult) and isinstance(node.target, ast.Name)
    }  # fmt: skip
    assigned = (
        node for statement in statements for node in ast.walk(statement)
        if names and isinstance(node, ast.Assign)
    )  # fmt: skip
    return any(begun in names for node in assigned for begun in _begun_at_0(node))


def _begun_at_0(node: ast.Assign) -> Iterator[str]:
    """The names that a line gives the value 0, one or several side by side."""
    target, value = node.targets[0], node.value
    pairs = zip(getattr(target, "elts", [target]), getattr(value, "elts", [value]), strict=False)
    for name, number in pairs:
        if isinstance(name, ast.Name) and getattr(number, "value", None) == 0:
            yield name.id


def _neutral(new: ast.BinOp) -> list[ast.expr]:
    """The sides at which a 1 does nothing."""
    return [new.right, new.left] if isinstance(new.op, ast.Mult) else [new.right]


def turns_probe(edit: Edit, statements: Sequence[ast.stmt]) -> bool:
    """Whether rows, or a number that is assigned, are turned round.

    Where a function is given, which an answer tries out, their size is a choice of its own.
    """
    if is_of_sign(edit) and set(edit.lines) <= {*_lines_of_rows(statements)}:
        return True
    return any(
        isinstance(getattr(new, "op", None), ast.USub)
        and (
            (edit.kind == "numbers" and isinstance(owner, ast.Assign))
            or ONE_HOT.search(ast.unparse(owner))
        )
        for owner, _, new in edit.puts
    )


def _lines_of_rows(statements: Sequence[ast.stmt]) -> Iterator[int]:
    """The lines in which a part of an array is assigned."""
    for statement in statements:
        for node in ast.walk(statement):
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
                yield node.lineno


def _is_turned_one_hot(new: ast.AST) -> bool:
    """Whether a number is divided by one-hot rows, or these are subtracted from it."""
    if not (isinstance(new, ast.BinOp) and isinstance(new.op, TURNING)):
        return False
    return isinstance(new.left, ast.Constant) and bool(ONE_HOT.search(ast.unparse(new.right)))


def _is_library(node: ast.AST, world: dict[str, Any]) -> bool:
    return isinstance(node, ast.Name) and isinstance(world.get(node.id), types.ModuleType)


def is_last_resort(edit: Edit, statements: Sequence[ast.stmt]) -> bool:
    """Whether a change is right more often by accident than because a mistake was made there.

    A shape that was cut to size does no harm by itself, a loss is minus a logarithm, and a
    part is divided by its whole; in a logarithm the reverse changes the sign. Names that are
    bound in another order stand for the wrong things afterwards.
    """
    in_front = any(_is_index_in_front(put, statements) for put in edit.puts)
    minus_log = edit.kind == "signs" and LOGARITHM.search(edit.text)
    turned = any(_whole_by_part(new) for put in edit.puts for new in _put_in(put))
    bound = binds_side_by_side(edit) or any(_binds_indices(put) for put in edit.puts)
    if in_front or minus_log or turned or bound or SHAPE_ALONE.search(edit.question):
        return True
    within = _within_squeezes(statements)
    return all(id(owner) in within for owner, _, _ in edit.puts)


def _is_index_in_front(put: Put, statements: Sequence[ast.stmt]) -> bool:
    """Whether an index begins at -1, the last place, in place of 0."""
    owner, _, new = put
    if not (isinstance(owner, ast.Assign) and ast.unparse(new) == "-1"):
        return False
    indices = (
        node.slice for statement in statements for node in ast.walk(statement)
        if isinstance(node, ast.Subscript)
    )  # fmt: skip
    names = {part.id for index in indices for part in ast.walk(index) if isinstance(part, ast.Name)}
    return any(getattr(target, "id", "") in names for target in owner.targets)


def binds_side_by_side(edit: Edit) -> bool:
    """Whether several names are bound in a line to several values, in another order than before."""
    pairs = (owner for owner, _, _ in edit.puts if isinstance(owner, ast.Assign))
    return edit.kind == "orders" and any(
        isinstance(owner.value, ast.Tuple) and isinstance(owner.targets[0], ast.Tuple)
        for owner in pairs
    )


def _binds_indices(put: Put) -> bool:
    """Whether the indices of rows and of columns come under each other's name."""
    owner = put[0]
    made = isinstance(owner, ast.Assign) and getattr(owner.value, "func", None)
    bound = any(isinstance(getattr(new, "ctx", None), ast.Store) for new in _put_in(put))
    return bool(made and bound and getattr(made, "attr", "") in OF_INDICES)


def _whole_by_part(new: ast.AST) -> bool:
    """Whether a sum is divided by what is summed up."""
    quotient = isinstance(new, ast.BinOp) and isinstance(new.op, ast.Div)
    return quotient and ast.unparse(new.left).startswith(f"{ast.unparse(new.right)}.sum(")


def _within_squeezes(statements: Sequence[ast.stmt]) -> set[int]:
    """The calls of `squeeze`, and what stands in their brackets."""
    calls = [
        node
        for statement in statements
        for node in ast.walk(statement)
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") in ("squeeze", "unsqueeze")
    ]
    inner = (part for call in calls for argument in call.args for part in ast.walk(argument))
    return {id(node) for node in (*calls, *inner)}


def sign_rank(edit: Edit) -> tuple[bool, tuple[int, ...]]:
    """What orders changes that turn a sign: a difference before all else, and the last line."""
    return "sides of `-` comes" in edit.question, edit.lines


def are_differences(*edits: Edit) -> bool:
    """Whether each of some changes turns a difference of its own."""
    questions = {edit.question for edit in edits if "sides of `-` comes" in edit.question}
    return len(questions) == len(edits)


def is_of_sign(edit: Edit) -> bool:
    """Whether a change turns a sign, which may be turned wherever it passes by."""
    turned = edit.kind == "functions_of" and edit.text.startswith("abs(")
    return turned or bool(SIGN.search(edit.question))


def needs_the_whole(edit: Edit, statements: Sequence[ast.stmt]) -> bool:
    """Whether a change is worth telling only if it makes the whole answer right.

    So it is with another name for a variable that is read elsewhere too: its value may be wrong.
    """
    return bool(MOVED.search(edit.question)) or (
        "the variable that belongs" in edit.question
        and any(_is_read_again(put, statements) for put in edit.puts)
    )


def _is_read_again(put: Put, statements: Sequence[ast.stmt]) -> bool:
    owner, field, new = put
    old = getattr(owner, field)
    gone = [item for item in old if item not in new] if isinstance(old, list) else [old]
    names = [
        node for statement in statements for node in ast.walk(statement)
        if isinstance(node, ast.Name) and gone and node.id == getattr(gone[0], "id", "")
    ]  # fmt: skip
    stored = [node for node in names if isinstance(node.ctx, ast.Store)]
    return bool(stored) and len(names) - len(stored) > 1
