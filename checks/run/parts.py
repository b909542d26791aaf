"""The parts of a result that can be right or wrong each on its own."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import numpy as np

from checks.run.compare import compare
from checks.run.nodes import Items, Mapping, Node, Numbers, Text

SEPARATOR = re.compile(r"[,;\s]+")
MOST_COUNTS = 12  # of a row of whole numbers that are looked at one by one
Part = tuple[str, Node, Node]  # its name, what is right there, and what came


def compared_parts(expected: Node | None, got: Node | None, counts: bool = False) -> list[Part]:
    """The parts of a result with several, each with what came in its place.

    With `counts` the numbers of a short row or table of whole numbers are parts too.
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
    """The numbers of a short row or table of whole ones, by index; of a tuple, as its results."""
    wanted, came = (node and node.as_numbers() for node in (expected, got))
    if not wanted or not came or wanted.shape != came.shape:
        return []
    if len(wanted.shape) not in (1, 2) or not 1 < math.prod(wanted.shape) <= MOST_COUNTS:
        return []
    if not _are_counts(wanted) or came.values is None or came.kind not in ("int", "float"):
        return []
    results = isinstance(expected, Items) and expected.kind == "tuple" and len(wanted.shape) == 1
    places = list(np.ndindex(wanted.shape))
    names = expected.item_names if results else [str(list(place)) for place in places]
    pairs = zip(names, places, strict=True)
    return [(name, _entry(wanted, place), _entry(came, place)) for name, place in pairs]


def _are_counts(numbers: Numbers) -> bool:
    """Whether all are whole; only a table may hold them as floats."""
    if numbers.kind != "float" or len(numbers.shape) != 2 or numbers.values is None:
        return numbers.kind == "int" and numbers.values is not None
    values = numbers.values
    return bool(np.isfinite(values).all() and (values == np.round(values)).all())


def _entry(numbers: Numbers, place: tuple[int, ...]) -> Numbers:
    return Numbers(np.asarray(numbers.values[place]), (), numbers.dtype, numbers.home)


def _membership(expected: Items, got: Items) -> list[Part]:
    """For each word that stands in one of two sets: whether it stands in each."""
    sides = [
        {item.text for item in node.items if isinstance(item, Text)} for node in (expected, got)
    ]
    if several_in_one(*sides):
        return []
    return [
        (word, *(Text("in" if word in side else "out") for side in sides))
        for word in sorted(set.union(*sides))
    ]


def several_in_one(wanted: set[str], came: set[str]) -> str:
    """A text that holds several of the words that are expected each as a text of its own."""
    others = sorted(came - wanted)
    return next((text for text in others if len(wanted & {*SEPARATOR.split(text)}) > 1), "")


def wrong_parts(parts: Sequence[Part], tolerance: float | None) -> set[str]:
    """The names of the parts that are wrong."""
    return {name for name, own, came in parts if compare(own, came, tolerance) is not None}
