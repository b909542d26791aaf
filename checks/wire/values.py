"""Values as nodes, and nodes as values: what one process hands to the other."""

from __future__ import annotations

import builtins
import sys
from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from checks.run.nodes import Items, Mapping, Nothing, Numbers, Text
from checks.run.plain_data import plain

MOST_TEXT = 4 * 2**20
MOST_BYTES = 24 * 2**20
MOST_NODES = 10_000
ABSENT = "is the course's own answer, which is not here while work is graded: write it yourself"


@dataclass(frozen=True)
class Lent:
    """Something that stays on the other side and can be called there."""

    number: int


def taken_apart(value: Any, lend: Callable[[Any], int] | None = None) -> Any:
    """A value as nodes; a function in it is lent under a number, if it may be."""
    if lend and callable(value) and not isinstance(value, type):
        return Lent(lend(value))
    if lend and type(value) in (tuple, list):
        return Items(tuple(taken_apart(item, lend) for item in value), type(value).__name__)
    if lend and type(value) is dict:
        return Mapping({key: taken_apart(entry, lend) for key, entry in value.items()})
    return plain(value)


def put_together(node: Any, borrow: Callable[[int], Any] | None = None) -> Any:
    """The value that nodes describe: numbers, arrays, tensors, tuples, lists, dictionaries."""
    build = BUILDERS.get(type(node))
    return build(node, borrow) if build else node


def _build_items(node: Items, borrow: Callable | None) -> Any:
    items = [put_together(item, borrow) for item in node.items]
    if node.names and len(node.names) == len(items):
        return namedtuple("Result", node.names, rename=True)(*items)
    return {"list": list, "set": set}.get(node.kind, tuple)(items)


def _build_mapping(node: Mapping, borrow: Callable | None) -> dict:
    return {key: put_together(entry, borrow) for key, entry in node.entries.items()}


BUILDERS: dict[type, Callable[[Any, Callable | None], Any]] = {
    Numbers: lambda node, _: node if node.values is None else _revived(node),
    Items: _build_items,
    Mapping: _build_mapping,
    Text: lambda node, _: node.text,
    Nothing: lambda *_: None,
    Lent: lambda node, borrow: borrow(node.number) if borrow else node,
}


def _revived(node: Numbers) -> Any:
    values = np.array(node.values)
    if node.home == "python":
        return values[()].item()
    if node.home == "numpy":
        return values.astype(node.dtype, copy=False)[()]
    import torch

    return torch.from_numpy(values).to(getattr(torch, node.dtype))


def knows_torch() -> bool:
    """Whether this process has loaded torch."""
    return "torch" in sys.modules


def error_named(name: str, message: str) -> Exception:
    """An exception of Python's own by its name; any other is a RuntimeError of that name."""
    kind = getattr(builtins, name, None)
    if isinstance(kind, type) and issubclass(kind, Exception):
        return kind(message)
    return type(name[:60], (RuntimeError,), {})(message)


def fits(node: Any) -> bool:
    """Whether a value is small enough for one message."""
    nodes, size, text = _extent(node)
    return nodes < MOST_NODES and size < MOST_BYTES and text < MOST_TEXT // 2


def _extent(node: Any) -> tuple[int, int, int]:
    """The nodes, the bytes of the numbers, and the letters of a value."""
    if isinstance(node, Numbers):
        return 1, 0 if node.values is None else 2 * node.values.nbytes, 100
    if isinstance(node, Items):
        parts, letters = node.items, sum(map(len, node.names))
    elif isinstance(node, Mapping):
        parts, letters = node.entries.values(), sum(len(repr(key)) for key in node.entries)
    else:
        return 1, 0, 6 * len(getattr(node, "text", "")) + 50
    extents = [(1, 0, letters), *map(_extent, parts)]
    return tuple(map(sum, zip(*extents, strict=True)))
