"""The parts of a result that can be right or wrong each on its own."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from checks.run.compare import compare
from checks.run.nodes import Items, Mapping, Node, Numbers, Text

MOST_COUNTS = 12  # of a row of whole numbers that are looked at one by one
Part = tuple[str, Node, Node]  # its name, what is right there, and what came


def compared_parts(expected: Node | None, got: Node | None, counts: bool = False) -> list[Part]:
    """The parts of a result with several, each with what came in its place.

    With `counts` the numbers of a short row of whole numbers are parts too.
    """
    if isinstance(expected, Mapping) and isinstance(got, Mapping):
        entries = expected.entries.items()
        return [(str(key), own, got.entries[key]) for key, own in entries if key in got.entries]
    row = _row_parts(expected, got) if counts else []
    if row:
        return row
    if not isinstance(expected, Items) or not isinstance(got, Items):
        return []
    if expected.kind == got.kind == "set":
        return _membership(expected, got)
    in_order = "set" not in (expected.kind, got.kind) and expected.kind != "list"
    if not in_order or len(expected.items) != len(got.items):
        return []
    return list(zip(expected.item_names, expected.items, got.items, strict=True))


def _row_parts(expected: Node | None, got: Node | None) -> list[Part]:
    """The numbers of a short row of whole numbers, by index; of a tuple, as its results."""
    wanted, came = (node and node.as_numbers() for node in (expected, got))
    if not wanted or not came or wanted.kind != "int" or wanted.shape != came.shape:
        return []
    if len(wanted.shape) != 1 or not 1 < wanted.shape[0] <= MOST_COUNTS:
        return []
    if wanted.values is None or came.values is None or came.kind not in ("int", "float"):
        return []
    count = wanted.shape[0]
    results = isinstance(expected, Items) and expected.kind == "tuple"
    names = expected.item_names if results else [f"[{n}]" for n in range(count)]
    return [(names[n], _entry(wanted, n), _entry(came, n)) for n in range(count)]


def _entry(row: Numbers, n: int) -> Numbers:
    return Numbers(np.asarray(row.values[n]), (), row.dtype, row.home)


def _membership(expected: Items, got: Items) -> list[Part]:
    """For each word that stands in one of two sets: whether it stands in each."""
    sides = [
        {item.text for item in node.items if isinstance(item, Text)} for node in (expected, got)
    ]
    return [
        (word, *(Text("in" if word in side else "out") for side in sides))
        for word in sorted(set.union(*sides))
    ]


def wrong_parts(parts: Sequence[Part], tolerance: float | None) -> set[str]:
    """The names of the parts that are wrong."""
    return {name for name, own, came in parts if compare(own, came, tolerance) is not None}
