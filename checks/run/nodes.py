"""The nodes that every compared value is copied into, and what each can say about itself.

They hold NumPy arrays, text and tuples of nodes, and nothing that runs the learner's code.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

DEFAULT_INTEGER = np.dtype(int)  # of 32 bits in a browser, where larger numbers wrap around
LARGE = 1e6  # from here on a number is written with an exponent
KINDS = {"b": "bool", "i": "int", "u": "int", "f": "float", "c": "complex"}


def number(value: Any, digits: int = 3) -> str:
    """A number as it is printed: three significant digits, or all that stand before the point."""
    if isinstance(value, np.ndarray):
        value = value[()]
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value))
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if np.iscomplexobj(value):
        return format(complex(value), f".{digits}g")
    value = float(value) + 0.0
    if 1 <= abs(value) < LARGE:
        # Digits before the point are never cut off: 1800 is not shown as 1.8e+03.
        digits = max(digits, len(str(round(abs(value)))))
    return format(value, f".{digits}g")


def both_sides(expected: Any, got: Any) -> str:
    """Both sides, with as many digits as it takes to see that they differ."""
    for digits in (3, 6, 17):
        wanted, came = (_written(value, digits) for value in (expected, got))
        if wanted != came:
            break
    return f"{came} where {wanted} is expected"


def _written(value: Any, digits: int) -> str:
    if getattr(value, "shape", ()):
        return f"({', '.join(number(component, digits) for component in value)})"
    return number(value, digits)


class Node:
    """A value as plain data."""

    def as_numbers(self) -> Numbers | None:
        """Read the node as one array, if it is an array or a list of equal rows of numbers."""
        return None

    def count_of(self, shape: tuple[int, ...]) -> int:
        """How many arrays of one shape it is, as a tuple of them and nothing else."""
        return 0

    def equals(self, other: Node) -> bool:
        """Whether two nodes are equal to the last bit; NaN equals NaN."""
        return self == other

    @property
    def words(self) -> str:
        """The kind of the value, as a message names it."""
        raise NotImplementedError


@dataclass(frozen=True)
class Numbers(Node):
    """An array, a tensor or a number; `values` is None where there are too many to copy."""

    values: np.ndarray | None
    shape: tuple[int, ...]
    dtype: str
    home: str

    @property
    def kind(self) -> str:
        """bool, int, float or complex."""
        return KINDS[self.values.dtype.kind] if self.values is not None else self.dtype

    def as_numbers(self) -> Numbers:
        """Return the array itself."""
        return self

    def same_integers(self, other: Numbers) -> np.ndarray:
        """Which whole numbers are equal; those of 32 bits may have wrapped around, in a browser."""
        differences = np.asarray(self.values.astype(np.int64) - other.values.astype(np.int64))
        wraps = DEFAULT_INTEGER.itemsize == 4 and self.dtype == "int32"
        return np.asarray((differences % 2**32 if wraps else differences) == 0)

    def equals(self, other: Node) -> bool:
        """Whether shape, dtype and every bit are equal."""
        if type(other) is not Numbers or self.shape != other.shape:
            return False
        if self.values is None or other.values is None:
            return True
        return self.dtype == other.dtype and self.values.tobytes() == other.values.tobytes()

    @property
    def words(self) -> str:
        """A number, or an array or list and its shape."""
        if self.shape == ():
            return {"bool": "True or False", "int": "a whole number"}.get(self.kind, "a number")
        return f"an array or list of shape {self.shape}"


@dataclass(frozen=True)
class Items(Node):
    """A tuple, list or set; a named tuple or a dataclass also has `names`."""

    items: tuple
    kind: str
    names: tuple[str, ...] = ()

    def as_numbers(self) -> Numbers | None:
        """Stack the rows, if all are numbers of one shape; a set has no order to stack."""
        if not self.items or self.kind == "set":
            return None
        rows = [item.as_numbers() for item in self.items]
        if any(row is None or row.values is None for row in rows):
            return None
        if len({row.shape for row in rows}) > 1 or len({row.kind == "bool" for row in rows}) > 1:
            return None
        stacked = np.stack([row.values for row in rows])
        dtypes = {row.dtype for row in rows}
        dtype = dtypes.pop() if len(dtypes) == 1 else str(stacked.dtype)
        return Numbers(stacked, stacked.shape, dtype, rows[0].home)

    def count_of(self, shape: tuple[int, ...]) -> int:
        """How many arrays of a shape it holds, if it is a tuple and holds nothing else."""
        if self.kind != "tuple" or not shape:
            return 0
        arrays = [item.as_numbers() for item in self.items]
        whole = all(array is not None and array.shape == shape for array in arrays)
        return len(arrays) if whole else 0

    def equals(self, other: Node) -> bool:
        """Whether every item is equal."""
        if type(other) is not Items or len(self.items) != len(other.items):
            return False
        return all(mine.equals(its) for mine, its in zip(self.items, other.items, strict=True))

    @property
    def words(self) -> str:
        """The kind of the collection, how many items it has, and their names."""
        if self.kind == "set":
            return "a set"  # how many it holds is a part of the answer
        named = f" ({', '.join(self.names)})" if self.names else ""
        return f"a {self.kind} of {len(self.items)}{named}"

    @property
    def item_names(self) -> tuple[str, ...]:
        """The names of the items; `result 1` and so on where they have none."""
        return self.names or tuple(f"result {n + 1}" for n in range(len(self.items)))


@dataclass(frozen=True)
class Mapping(Node):
    """A dictionary."""

    entries: dict

    def equals(self, other: Node) -> bool:
        """Whether keys, their order and every value are equal."""
        if type(other) is not Mapping or list(self.entries) != list(other.entries):
            return False
        return all(value.equals(other.entries[key]) for key, value in self.entries.items())

    @property
    def words(self) -> str:
        """A dictionary."""
        return "a dictionary"


@dataclass(frozen=True)
class Text(Node):
    """A string."""

    text: str

    @property
    def words(self) -> str:
        """Text."""
        return "text"


@dataclass(frozen=True)
class Nothing(Node):
    """None."""

    @property
    def words(self) -> str:
        """None."""
        return "None"


@dataclass(frozen=True)
class Strange(Node):
    """Something that no check compares, with the words that say what it is."""

    what: str
    untouched: bool = False

    @property
    def words(self) -> str:
        """What it is."""
        return self.what


NODES = (Numbers, Items, Mapping, Text, Nothing, Strange)
