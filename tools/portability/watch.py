"""Record, inside a notebook's kernel, what each cell prints and asserts, in full precision.

A cell that prints 0.47 hides the digits behind it, and an `assert gap < 1e-5` that passes hides the
gap. So the syntax tree of each cell is rewritten before the cell runs: every number that an
f-string or `print` shows, and both sides of every comparison in an assert, also go into RECORDS.
"""

import ast
import math
import operator
import os
import re
from collections import Counter
from typing import Any

import numpy as np

from tools.portability.settings import ROUNDING

RECORDS: list[dict[str, Any]] = []
MOST = 400  # records of one place in the code: it may stand in a loop
ORDERS = {ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge"}
CLOSE = ("allclose", "isclose", "assert_allclose")
position = {"cell": -1}
turns: Counter[tuple[int, str]] = Counter()


def numbers(value: Any) -> np.ndarray | None:
    """Return the numbers of a value as float64, or None if it is not a number or an array."""
    if hasattr(value, "detach"):
        value = value.detach().cpu()
        value = value.double().numpy() if value.is_floating_point() else value.numpy()
    if not isinstance(value, (int, float, np.ndarray, np.generic)):
        return None
    array = np.asarray(value)
    return array.astype(float) if array.size and array.dtype.kind in "fiub" else None


def record(place: str, values: list[float], scale: float, **rest: Any) -> None:
    """Keep one event of the current cell; differences between settings are relative to `scale`.

    With a `unit`, the values are shown rounded to it. Without one, they are differences, and an
    outcome changes where one of them crosses 0; `ratios` are the logarithms of the same quotients.
    """
    key = position["cell"], place
    if turns[key] < MOST:
        RECORDS.append({"cell": key[0], "place": place, "turn": turns[key], "values": values,
                        "scale": scale, **rest})  # fmt: skip
    turns[key] += 1


def unit_of(text: str) -> float | None:
    """Return the value of the last digit of a number as it is shown."""
    match = re.search(r"\d[\d,]*(?:\.(\d*))?(?:e([+-]\d+))?(%?)", text)
    if not match:
        return None
    decimals, exponent, percent = match.groups()
    return 10.0 ** (int(exponent or 0) - len(decimals or "") - 2 * bool(percent))


def show(place: str, value: Any, conversion: int, spec: str) -> str:
    """Format a value as an f-string does, and record it if it is a number."""
    convert = {ord("r"): repr, ord("s"): str, ord("a"): ascii}.get(conversion)
    text = format(convert(value) if convert else value, spec)
    array = None if isinstance(value, (str, bool)) else numbers(value)
    if array is not None and array.size == 1 and (unit := unit_of(text)):
        record(place, [array.item()], abs(array.item()), unit=unit)
    return text


def print_and_record(place: str, *values: Any, **options: Any) -> None:
    """Print, and record each number that is shown without a format of its own."""
    for index, value in enumerate(values):
        array = None if isinstance(value, (str, bool)) else numbers(value)
        if array is None or array.size > 64:
            continue
        precision = 4 if hasattr(value, "detach") else np.get_printoptions()["precision"]
        unit = 10.0**-precision if array.ndim else unit_of(str(value)) or 1.0
        scale = float(np.abs(array).max())
        record(f"{place}.{index}", array.ravel().tolist(), scale, unit=unit)
    print(*values, **options)


def distance(place: str, left: np.ndarray, right: np.ndarray) -> None:
    """Record how far the two sides of a comparison are from each other."""
    ratios = []
    if left.min() > 0 and right.min() > 0:
        ratios = extremes(np.log(left) - np.log(right))
    record(place, extremes(left - right), float(np.abs(right).max()), ratios=ratios)


def extremes(array: np.ndarray) -> list[float]:
    """Return the smallest and the largest number."""
    return [float(array.min()), float(array.max())]


def compare(place: str, orders: list[str], *sides: Any) -> Any:
    """Compare as Python does, and record the smallest and the largest difference."""
    result: Any = True
    for index, order in enumerate(orders):
        if index and not result:
            break
        left, right = sides[index : index + 2]
        a, b = numbers(left), numbers(right)
        if a is not None and b is not None:
            distance(place, a, b)
        result = getattr(operator, order)(left, right)
    return result


def close(place: str, function: Any, *sides: Any, **options: Any) -> Any:
    """Call `allclose` or its like, and record how much of its tolerance was used."""
    a, b = map(numbers, sides[:2])
    if a is not None and b is not None:
        relative, absolute = {"isclose": (1e-9, 0.0), "assert_allclose": (1e-7, 0.0)}.get(
            function.__name__, (1e-5, 1e-8)
        )
        relative = options.get("rtol", options.get("rel_tol", relative))
        absolute = options.get("atol", options.get("abs_tol", absolute))
        with np.errstate(all="ignore"):
            used = np.where(a == b, 0, np.abs(a - b) / (absolute + relative * np.abs(b)))
        largest = float(np.nan_to_num(used, nan=0, posinf=math.inf).max())
        distance(place, np.array(min(largest, 1e300)), np.array(1.0))
    return function(*sides, **options)


class Watch(ast.NodeTransformer):
    """Put the functions above in place of what they stand for."""

    asserted = False

    def call(self, name: str, place: ast.AST, *arguments: ast.expr, keywords: Any = ()) -> ast.Call:
        where = ast.Constant(f"{place.lineno}:{place.col_offset}")
        return ast.Call(ast.Name(name, ast.Load()), [where, *arguments], list(keywords))

    def visit_Module(self, node: ast.Module) -> ast.Module:
        return ast.fix_missing_locations(self.generic_visit(node))

    def visit_Assert(self, node: ast.Assert) -> ast.Assert:
        self.asserted = True
        node.test = self.visit(node.test)
        self.asserted = False
        return node

    def visit_FormattedValue(self, node: ast.FormattedValue) -> ast.FormattedValue:
        self.generic_visit(node)
        spec = node.format_spec or ast.Constant("")
        shown = self.call("_show", node, node.value, ast.Constant(node.conversion), spec)
        return ast.FormattedValue(shown, -1, None)

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        self.generic_visit(node)
        if not self.asserted or not all(type(order) in ORDERS for order in node.ops):
            return node
        orders = ast.List([ast.Constant(ORDERS[type(order)]) for order in node.ops], ast.Load())
        return self.call("_compare", node, orders, node.left, *node.comparators)

    def visit_Call(self, node: ast.Call) -> ast.Call:
        self.generic_visit(node)
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        if isinstance(node.func, ast.Name) and name == "print":
            return self.call("_print", node, *node.args, keywords=node.keywords)
        if self.asserted and name in CLOSE:
            return self.call("_close", node, node.func, *node.args, keywords=node.keywords)
        return node


def round_each_step(bit: int) -> None:
    """Flip the last bit of each parameter whose bit of that number is set, after each step.

    So every step ends with another rounding, and two equal runs still stay equal.
    """
    import torch
    from torch.optim.optimizer import register_optimizer_step_post_hook

    integers = {torch.float32: torch.int32, torch.float64: torch.int64}

    @torch.no_grad()
    def hook(optimizer: torch.optim.Optimizer, *_: Any) -> None:
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                bits = parameter.view(integers[parameter.dtype])
                bits.bitwise_xor_(bits.bitwise_right_shift(bit).bitwise_and(1))

    register_optimizer_step_post_hook(hook)


def names() -> dict[str, Any]:
    """Return the names under which rewritten cells call this module."""
    return {"_show": show, "_print": print_and_record, "_compare": compare, "_close": close}


def start(shell: Any) -> None:
    """Watch all cells that follow; the setting says whether training steps are rounded."""
    shell.user_ns.update(names())
    shell.ast_transformers.append(Watch())
    shell.events.register("pre_run_cell", lambda info: position.update(cell=position["cell"] + 1))
    if seed := os.environ.get(ROUNDING):
        round_each_step(int(seed))
