"""Copy what an answer returned into nodes, which run none of the learner's code."""

from __future__ import annotations

import dataclasses
import math
import re
import sys
import types
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from checks.run.nodes import KINDS, NODES, Items, Mapping, Node, Nothing, Numbers, Strange, Text

MOST_NUMBERS = 4_000_000
MOST_ITEMS = 100_000
MOST_ALTOGETHER = 200_000  # items of all lists in one value
DEEPEST = 12
LONGEST = 100  # letters of the name of a class
COMPARED_AS = {"float16": np.float64, "longdouble": np.float64, "clongdouble": np.complex128}


@dataclasses.dataclass(frozen=True)
class Walk:
    """Where a copy stands: what surrounds the value, and how many items were read before it."""

    around: tuple[int, ...] = ()
    read: list[int] = dataclasses.field(default_factory=lambda: [0])

    def into(self, value: Any) -> Walk:
        """The walk among the items of a value."""
        return Walk((*self.around, id(value)), self.read)


def plain(value: Any, walk: Walk | None = None) -> Node:
    """Copy any Python value into nodes, asking none of its own methods; a node is itself."""
    try:
        return _plain(value, walk or Walk())
    except (Exception, RecursionError):
        return Strange(f"{_strange(type(value))} that cannot be read")


def _plain(value: Any, walk: Walk) -> Node:
    kind = type(value)
    if kind in NODES:
        return value
    if value is None:
        return Nothing()
    if value is Ellipsis:
        return Strange("`...`", untouched=True)
    if len(walk.around) > DEEPEST:
        return Strange("lists nested too deeply")
    if id(value) in walk.around:
        return Strange("a list that contains itself")
    for family, copy in FAMILIES:
        if issubclass(kind, family):
            return copy(value, walk)
    if is_tensor(value):
        return _tensor(value, sys.modules["torch"])
    if dataclasses.is_dataclass(kind):
        names = tuple(field.name for field in dataclasses.fields(kind))
        inner = walk.into(value)
        items = tuple(plain(getattr(value, name, None), inner) for name in names)
        return Items(items, "dataclass", names)
    return Strange(_strange(kind))


def is_tensor(value: Any) -> bool:
    """Whether a value is a tensor of torch, which need not be loaded or installed."""
    torch = sys.modules.get("torch")
    return torch is not None and issubclass(type(value), torch.Tensor)


def _number(value: np.ndarray, home: str) -> Node:
    return Numbers(value, value.shape, str(value.dtype), home)


def _python_int(value: int, walk: Walk) -> Node:
    whole = int.__add__(value, 0)
    if -(2**63) <= whole < 2**63:
        return _number(np.array(whole), "python")
    if whole.bit_length() > 1000:
        return Strange(f"a whole number of {whole.bit_length()} binary digits")
    return _number(np.array(float(whole)), "python")


def _array(value: np.ndarray, walk: Walk) -> Node:
    if issubclass(type(value), np.matrix):
        return Strange("an np.matrix, whose * means matmul; use a plain np.array")
    if issubclass(type(value), np.ma.MaskedArray):
        return Strange("a masked array; use a plain np.array")
    shape, dtype = np.ndarray.shape.__get__(value), np.ndarray.dtype.__get__(value)
    if dtype.kind in "US":
        return plain(np.ndarray.tolist(value), walk.into(value))
    if dtype.kind not in KINDS:
        return Strange(
            f"an array of dtype {dtype}, which holds Python objects and not numbers; "
            "its rows may have different lengths"
        )
    name = dtype_name(dtype)
    if math.prod(shape) > MOST_NUMBERS:
        return Numbers(None, shape, name, "numpy")
    copy = np.array(value, dtype.newbyteorder("="), subok=False, copy=True)
    if name in COMPARED_AS:
        copy = copy.astype(COMPARED_AS[name])
    return Numbers(copy, shape, name, "numpy")


def dtype_name(dtype: np.dtype) -> str:
    """The name of a dtype, the same on every machine: numpy's longdouble may be float128."""
    longest = {np.dtype(np.longdouble): "longdouble", np.dtype(np.clongdouble): "clongdouble"}
    usual = dtype in (np.dtype(np.float64), np.dtype(np.complex128))
    return dtype.name if usual else longest.get(dtype.newbyteorder("="), dtype.name)


def _tensor(value: Any, torch: Any) -> Node:
    with torch._C.DisableTorchFunctionSubclass():
        if torch.Tensor.layout.__get__(value) != torch.strided:
            return Strange("a sparse tensor; use a dense one")
        base = torch.Tensor.as_subclass(torch.Tensor.detach(value), torch.Tensor)
        shape, dtype = tuple(base.shape), str(base.dtype).removeprefix("torch.")
        if base.device.type == "meta" or base.is_quantized:
            return Strange("a tensor that is quantised or without data")
        if math.prod(shape) > MOST_NUMBERS:
            return Numbers(None, shape, dtype, "torch")
        base = base.cpu().resolve_conj().resolve_neg()
        if dtype in ("bfloat16", "float16"):
            base = base.to(torch.float64)
        return Numbers(base.numpy().copy(), shape, dtype, "torch")


def _items(value: Any, walk: Walk) -> Node:
    kind = next(kind for kind in (tuple, list, frozenset, set) if issubclass(type(value), kind))
    if kind.__len__(value) > MOST_ITEMS:
        return Strange(f"a {kind.__name__} of more than {MOST_ITEMS} items")
    walk.read[0] += kind.__len__(value)
    if walk.read[0] > MOST_ALTOGETHER:
        return Strange(f"lists of more than {MOST_ALTOGETHER} items altogether")
    inner = walk.into(value)
    items = [plain(item, inner) for item in kind.__iter__(value)]
    if kind in (set, frozenset):
        items = [Text(item.text.upper()) if _is_label(item) else item for item in items]
        return Items(tuple(sorted(items, key=repr)), "set")
    names = getattr(type(value), "_fields", ()) if kind is tuple else ()
    return Items(tuple(items), kind.__name__, tuple(names))


def _is_label(item: Node) -> bool:
    """Whether it names one of several statements, such as a or b2, which may be written small."""
    return isinstance(item, Text) and bool(re.fullmatch(r"[a-z]\d?", item.text))


def _mapping(value: dict, walk: Walk) -> Node:
    entries, inner = {}, walk.into(value)
    for key, entry in dict.items(value):
        if type(key) not in (str, int, bool, float, tuple):
            return Strange("a dictionary whose keys are neither text nor numbers")
        entries[key] = plain(entry, inner)
    return Mapping(entries)


def _strange(kind: type) -> str:
    name = str(type.__dict__["__name__"].__get__(kind))[:LONGEST]
    article = "an" if name[:1].lower() in "aeiou" else "a"
    return f"{article} {name} object"


FAMILIES = (
    (bool, lambda value, walk: _number(np.array(value), "python")),
    (np.ndarray, _array),
    (int, _python_int),
    (float, lambda value, walk: _number(np.array(float.__add__(value, 0.0)), "python")),
    (complex, lambda value, walk: _number(np.array(complex.__add__(value, 0)), "python")),
    (np.number, lambda value, walk: _array(np.array(value), walk)),
    (np.bool_, lambda value, walk: _array(np.array(value), walk)),
    (Fraction, lambda value, walk: _number(np.array(Fraction.__float__(value)), "python")),
    (Decimal, lambda value, walk: _number(np.array(Decimal.__float__(value)), "python")),
    (str, lambda value, walk: Text(str.__str__(value))),
    (range, lambda value, walk: _items(list(value[: MOST_ITEMS + 1]), walk)),
    ((tuple, list, set, frozenset), _items),
    (dict, _mapping),
    (types.GeneratorType, lambda *_: Strange("a generator, which holds no numbers yet: use list")),
    ((map, zip, filter), lambda *_: Strange("an iterator, which holds no numbers yet: use list")),
    (
        (types.FunctionType, types.BuiltinFunctionType, types.MethodType),
        lambda *_: Strange("a function, not its result: is a pair of brackets () missing?"),
    ),
    (type, lambda *_: Strange("a class, not an instance of it")),
)
