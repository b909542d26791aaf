"""Compare what came back with the truth: first the structure, then the values, then the dtype."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from checks.run.plain_data import Items, Mapping, Nothing, Numbers, Strange, Text, as_numbers

TOLERANCE = {"float32": 1e-5, "complex64": 1e-5, "float16": 1e-2, "bfloat16": 6e-2}


@dataclass(frozen=True)
class Difference:
    """The first thing that differs: `kind` is structure, shape, values or dtype."""

    kind: str
    sentence: str
    where: str = ""
    expected: Any = None
    got: Any = None


def compare(expected: Any, got: Any, tolerance: float | None = None) -> Difference | None:
    """The difference between two nodes, or None where the answer is right."""
    leaves: list[tuple[str, Numbers, Numbers]] = []
    difference = _walk(expected, got, "", leaves)
    if difference:
        return difference
    checks = (_shapes, _values, _kinds)
    for check in checks:
        for where, one, other in leaves:
            difference = check(where, one, other, tolerance)
            if difference:
                return difference
    return None


def _walk(expected: Any, got: Any, where: str, leaves: list) -> Difference | None:
    """Match two trees; numbers that must be compared are gathered in `leaves`."""

    subject = f"`{where}` is" if where else "your answer is"
    other = f"{subject} {kind_of(got)}; {kind_of(expected)} is expected"
    numbers, read = _as_one(expected), as_numbers(got)
    if numbers is not None and read is not None:
        leaves.append((where, numbers, read))
        return None
    if numbers is not None or type(expected) is not type(got) or isinstance(got, Strange):
        return Difference("structure", other, where, expected, got)
    if isinstance(expected, Items):
        return _walk_items(expected, got, where, leaves)
    if isinstance(expected, Mapping):
        missing = [key for key in expected.entries if key not in got.entries]
        extra = [key for key in got.entries if key not in expected.entries]
        if missing or extra:
            keys = f"{subject} a dictionary {_keys_words(missing, extra)}"
            return Difference("structure", keys, where, expected, got)
        return _first(
            _walk(one, got.entries[key], _entry_name(key, where), leaves)
            for key, one in expected.entries.items()
        )
    if isinstance(expected, Text) and expected != got:
        return Difference("values", f"{subject} {got.text!r}", where, expected, got)
    return None


def _count_words(expected: Items, got: Items, where: str) -> str:
    """Say how many came and how many should; of a set, whose size is part of the answer, less."""
    found, wanted = len(got.items), len(expected.items)
    if got.kind == "set":
        return f"your set has {found} elements: some are missing or too many"
    if where or got.kind == "list":
        subject = f"`{where}`" if where else "your list"
        return f"{subject} has {found} elements; {wanted} are expected"
    listed = f" ({', '.join(expected.names)})" if expected.names else ""
    return f"{found} results came back; {wanted} {'is' if wanted == 1 else 'are'} expected{listed}"


def _walk_items(expected: Items, got: Items, where: str, leaves: list) -> Difference | None:
    if (expected.kind == "set") != (got.kind == "set"):
        kinds = f"a {got.kind} came back; a {expected.kind} is expected"
        return Difference("structure", kinds, where, expected, got)
    if len(expected.items) != len(got.items):
        return Difference("structure", _count_words(expected, got, where), where, expected, got)
    names = [part_name(expected, n, where) for n in range(len(expected.items))]
    pairs = zip(expected.items, got.items, names, strict=True)
    return _first(_walk(one, other, name, leaves) for one, other, name in pairs)


def _first(differences: Any) -> Difference | None:
    return next((one for one in differences if one is not None), None)


def _keys_words(missing: list, extra: list) -> str:
    lacks = f"without {', '.join(map(repr, missing))}" if missing else ""
    owns = f"with {', '.join(map(repr, extra))}, which is not asked for" if extra else ""
    return " and ".join(filter(None, (lacks, owns)))


def _entry_name(key: Any, where: str) -> str:
    """What to call an entry of a dictionary: its key, if that is a word."""
    return key if isinstance(key, str) and not where else f"{where}[{key!r}]"


def part_name(node: Items, n: int, where: str = "") -> str:
    """What to call the n-th part of a tuple: its name, or `result 2`."""
    own = node.names[n] if n < len(node.names) else f"[{n}]" if where else f"result {n + 1}"
    return own if not where else f"{where}{own}" if own.startswith("[") else f"{where}.{own}"


def _as_one(node: Any) -> Numbers | None:
    """Read the truth as one array, unless it is a named tuple or a tuple of arrays."""
    if isinstance(node, Items):
        if node.names:
            return None
        if node.kind == "tuple" and any(getattr(one, "shape", (0,)) for one in node.items):
            return None
    return as_numbers(node)


def _shapes(where: str, expected: Numbers, got: Numbers, _: Any) -> Difference | None:
    if expected.shape == got.shape:
        return None
    subject = f"`{where}`" if where else "the result"
    sentence = f"{subject} has shape {got.shape}; {expected.shape} is expected"
    return Difference("shape", sentence, where, expected, got)


def _values(where: str, expected: Numbers, got: Numbers, tolerance: Any) -> Difference | None:
    if got.values is None or expected.values is None:
        return Difference("structure", "the result is too large to compare", where, expected, got)
    right = agree(expected, got, tolerance)
    if right.all():
        return None
    subject = f"in `{where}`, " if where else ""
    if not right.shape or (_short(expected) and _short(got)):
        owner = f"`{where}`" if where else "your answer"
        sentence = f"{owner} is {_both(expected.values, got.values)}"
        return Difference("values", sentence, where, expected, got)
    index = tuple(int(n) for n in np.argwhere(~right)[0])
    place = f"[{', '.join(map(str, index))}]"
    wrong = int((~right).sum())
    sentence = (
        f"{subject}{wrong} of {right.size} numbers differ; the first is at {place}: "
        f"{_both(expected.values[index], got.values[index])}"
    )
    return Difference("values", sentence, where, expected, got)


def _short(numbers: Numbers) -> bool:
    """Whether it is a shape, or as few whole numbers as a shape has, which are told together."""
    return numbers.kind == "int" and len(numbers.shape) == 1 and numbers.shape[0] <= 4


def _both(expected: Any, got: Any) -> str:
    """Both sides, with as many digits as it takes to see that they differ."""
    for digits in (3, 6, 17):
        one, other = (_written(value, digits) for value in (expected, got))
        if one != other:
            break
    return f"{other} where {one} is expected"


def _written(value: Any, digits: int) -> str:
    if getattr(value, "shape", ()):
        return f"({', '.join(number(one, digits) for one in value)})"
    return number(value, digits)


def _kinds(where: str, expected: Numbers, got: Numbers, _: Any) -> Difference | None:
    if expected.kind == got.kind or (expected.kind, got.kind) == ("float", "int"):
        return None
    if got.shape == () and {expected.kind, got.kind} <= {"int", "float"}:
        return None
    subject = f"the values of `{where}`" if where else "the values"
    advice = {"bool": "a mask is boolean: True where the query may attend"}.get(expected.kind, "")
    sentence = f"{subject} are right, but as {got.dtype}; {expected.kind} is expected"
    sentence = f"{sentence} ({advice})" if advice else sentence
    return Difference("dtype", sentence, where, expected, got)


def agree(expected: Numbers, got: Numbers, tolerance: float | None = None) -> np.ndarray:
    """Which numbers are equal, within the precision of the less precise of the two."""
    one, other = expected.values, got.values
    if "float" not in (expected.kind, got.kind) and "complex" not in (expected.kind, got.kind):
        return np.asarray(one.astype(np.int64) == other.astype(np.int64))
    allowed = tolerance_for(expected, got, tolerance)
    if expected.kind == "int" and tolerance is None:
        # A count may come as a float, but it must be that count.
        allowed = min(allowed, 1e-9)
    kind = np.complex128 if "complex" in (expected.kind, got.kind) else np.float64
    one, other = one.astype(kind), other.astype(kind)
    with np.errstate(all="ignore"):
        finite = np.abs(one[np.isfinite(one)])
        scale = min(1.0, float(finite.max())) if finite.size and finite.max() > 0 else 1.0
        near = np.abs(one - other) <= allowed * (scale + np.abs(one))
    both_nan = np.isnan(one) & np.isnan(other)
    return np.where(np.isfinite(one), near & np.isfinite(other), (one == other) | both_nan)


def tolerance_for(expected: Numbers, got: Numbers, tolerance: float | None) -> float:
    """The allowed relative error: by precision, or wider where the task says so."""
    precision = max(TOLERANCE.get(expected.dtype, 1e-6), TOLERANCE.get(got.dtype, 1e-6))
    return precision if tolerance is None else max(tolerance, precision if precision > 1e-6 else 0)


def error(expected: Any, got: Any) -> float:
    """The largest absolute difference of two nodes of the same structure."""
    leaves: list[tuple[str, Numbers, Numbers]] = []
    if _walk(expected, got, "", leaves) or any(one.shape != two.shape for _, one, two in leaves):
        return float("inf")
    gaps = [
        np.abs(np.nan_to_num(one.values.astype(float)) - np.nan_to_num(two.values.astype(float)))
        for _, one, two in leaves
        if one.values is not None and two.values is not None and one.values.size
    ]
    return max((float(gap.max()) for gap in gaps), default=0.0)


def number(value: Any, digits: int = 3) -> str:
    """A number as it is printed in a message: three significant digits, no negative zero."""
    if isinstance(value, np.ndarray):
        value = value[()]
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value))
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    form = f".{digits}g"
    return format(complex(value) if np.iscomplexobj(value) else float(value) + 0.0, form)


def kind_of(node: Any) -> str:
    """What a node is, in words."""
    if isinstance(node, Numbers):
        if node.shape == ():
            return {"bool": "True or False", "int": "a whole number"}.get(node.kind, "a number")
        return f"an array of shape {node.shape}"
    if isinstance(node, Items):
        named = f" ({', '.join(node.names)})" if node.names else ""
        return f"a {node.kind} of {len(node.items)}{named}"
    if isinstance(node, Mapping):
        return "a dictionary"
    if isinstance(node, Text):
        return "text"
    return "None" if isinstance(node, Nothing) else node.what
