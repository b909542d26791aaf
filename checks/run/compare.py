"""Compare what came back with the truth: first the structure, then the values, then the dtype."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from checks.run.nodes import Items, Mapping, Node, Numbers, Strange, Text, both_sides

TOLERANCE = {"float32": 1e-5, "complex64": 1e-5, "float16": 1e-2, "bfloat16": 6e-2}
Leaf = tuple[str, Numbers, Numbers]  # where it stands, what is expected there, what came


@dataclass(frozen=True)
class Difference:
    """The first thing that differs: `kind` is structure, keys, length, shape, values or dtype."""

    kind: str
    sentence: str
    where: str = ""
    expected: Any = None
    got: Any = None


def compare(expected: Node, got: Node, tolerance: float | None = None) -> Difference | None:
    """The difference between two nodes, or None where the answer is right."""
    leaves: list[Leaf] = []
    difference = _match(expected, got, "", leaves)
    if difference:
        return difference
    return _first(
        look(where, wanted, came, tolerance)
        for look in (_shapes, _values, _kinds)
        for where, wanted, came in leaves
    )


def _match(expected: Node, got: Node, where: str, leaves: list[Leaf]) -> Difference | None:
    """Match two trees; numbers that must be compared are gathered in `leaves`."""
    wanted, came = _as_one(expected), got.as_numbers()
    if wanted is not None and came is not None:
        if count := got.count_of(wanted.shape):
            results = f"{count} results of shape {wanted.shape} came back; one is expected"
            return Difference("shape", results, where, expected, got)
        leaves.append((where, wanted, came))
        return None
    if wanted is not None or type(expected) is not type(got) or isinstance(got, Strange):
        sentence = f"{_subject(where)} {got.words}; {expected.words} is expected"
        kind = "length" if _is_empty_row(wanted, got) else "structure"
        return Difference(kind, sentence, where, expected, got)
    match_parts = MATCHERS.get(type(expected))
    return match_parts(expected, got, where, leaves) if match_parts else None


def _match_items(expected: Items, got: Items, where: str, leaves: list[Leaf]) -> Difference | None:
    if (expected.kind == "set") != (got.kind == "set"):
        kinds = f"a {got.kind} came back; a {expected.kind} is expected"
        return Difference("structure", kinds, where, expected, got)
    if len(expected.items) != len(got.items):
        kind = "length" if expected.kind == got.kind == "list" else "structure"
        return Difference(kind, _count_words(expected, got, where), where, expected, got)
    return _first(
        _match(wanted, came, part_name(expected, n, where), leaves)
        for n, (wanted, came) in enumerate(zip(expected.items, got.items, strict=True))
    )


def _match_entries(
    expected: Mapping, got: Mapping, where: str, leaves: list[Leaf]
) -> Difference | None:
    missing = [key for key in expected.entries if key not in got.entries]
    extra = [key for key in got.entries if key not in expected.entries]
    if missing or extra:
        keys = f"{_subject(where)} a dictionary {_keys_words(missing, extra)}"
        return Difference("keys", keys, where, expected, got)
    return _first(
        _match(wanted, got.entries[key], _entry_name(key, where), leaves)
        for key, wanted in expected.entries.items()
    )


def _match_text(expected: Text, got: Text, where: str, leaves: list[Leaf]) -> Difference | None:
    if expected == got:
        return None
    came, wanted = (repr(textwrap.shorten(node.text, 60)) for node in (got, expected))
    sentence = f"{_subject(where)} {came} where {wanted} is expected"
    return Difference("values", sentence, where, expected, got)


def _is_empty_row(wanted: Numbers | None, got: Node) -> bool:
    """Whether an empty list came where numbers in a row are expected."""
    row = wanted is not None and len(wanted.shape) == 1
    return row and isinstance(got, Items) and got.kind == "list" and not got.items


MATCHERS = {Items: _match_items, Mapping: _match_entries, Text: _match_text}


def _subject(where: str) -> str:
    return f"`{where}` is" if where else "your answer is"


def _first(differences: Iterable[Difference | None]) -> Difference | None:
    return next(filter(None, differences), None)


def _count_words(expected: Items, got: Items, where: str) -> str:
    """Say how many came and how many should; of a set, whose size is part of the answer, less."""
    count, wanted = len(got.items), len(expected.items)
    are = "is" if wanted == 1 else "are"
    if got.kind == "set":
        return f"your set has {_elements(count)}: some are missing or too many"
    if where or got.kind == "list":
        subject = f"`{where}`" if where else "your list"
        return (
            f"{subject} has {_elements(count)}; {wanted} {'is' if wanted == 1 else 'are'} expected"
        )
    listed = f" ({', '.join(expected.names)})" if expected.names else ""
    return f"{count} results came back; {wanted} {are} expected{listed}"


def _elements(count: int) -> str:
    return f"{count} element{'' if count == 1 else 's'}"


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


def _as_one(node: Node) -> Numbers | None:
    """Read the truth as one array, unless it is a named tuple or a tuple of arrays."""
    if isinstance(node, Items):
        if node.names:
            return None
        if node.kind == "tuple" and any(getattr(item, "shape", (0,)) for item in node.items):
            return None
    return node.as_numbers()


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
        sentence = f"{owner} is {both_sides(expected.values, got.values)}"
        return Difference("values", sentence, where, expected, got)
    index = tuple(int(n) for n in np.argwhere(~right)[0])
    place = f"[{', '.join(map(str, index))}]"
    wrong = int((~right).sum())
    sentence = (
        f"{subject}{wrong} of {right.size} numbers differ; the first is at {place}: "
        f"{both_sides(expected.values[index], got.values[index])}"
    )
    return Difference("values", sentence, where, expected, got)


def _short(numbers: Numbers) -> bool:
    """Whether it is a shape, or as few whole numbers as a shape has, which are shown together."""
    return numbers.kind == "int" and len(numbers.shape) == 1 and numbers.shape[0] <= 4


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
    wanted, came = expected.values, got.values
    if "float" not in (expected.kind, got.kind) and "complex" not in (expected.kind, got.kind):
        return got.same_integers(expected)
    allowed = tolerance_for(expected, got, tolerance)
    if expected.kind == "int" and tolerance is None:
        # A count may come as a float, but it must be that count.
        allowed = min(allowed, 1e-9)
    kind = np.complex128 if "complex" in (expected.kind, got.kind) else np.float64
    wanted, came = wanted.astype(kind), came.astype(kind)
    with np.errstate(all="ignore"):
        finite = np.abs(wanted[np.isfinite(wanted)])
        scale = min(1.0, float(finite.max())) if finite.size and finite.max() > 0 else 1.0
        near = np.abs(wanted - came) <= allowed * (scale + np.abs(wanted))
    both_nan = np.isnan(wanted) & np.isnan(came)
    same_infinity = (wanted == came) | both_nan
    return np.where(np.isfinite(wanted), near & np.isfinite(came), same_infinity)


def tolerance_for(expected: Numbers, got: Numbers, tolerance: float | None) -> float:
    """The allowed relative error: by precision, or wider where the task says so."""
    precision = max(TOLERANCE.get(expected.dtype, 1e-6), TOLERANCE.get(got.dtype, 1e-6))
    return precision if tolerance is None else max(tolerance, precision if precision > 1e-6 else 0)


def largest_gap(expected: Node, got: Node) -> float:
    """The largest absolute difference of two nodes of the same structure."""
    leaves: list[Leaf] = []
    differs = _match(expected, got, "", leaves)
    if differs or any(wanted.shape != came.shape for _, wanted, came in leaves):
        return float("inf")
    gaps = [
        np.abs(_finite(wanted) - _finite(came))
        for _, wanted, came in leaves
        if wanted.values is not None and came.values is not None and wanted.values.size
    ]
    return max((float(gap.max()) for gap in gaps), default=0.0)


def _finite(numbers: Numbers) -> np.ndarray:
    return np.asarray(np.nan_to_num(numbers.values.astype(float)))
