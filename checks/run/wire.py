"""Values as JSON and raw bytes, between the process that grades and the one that runs answers.

Nothing that is read here can run: no pickle, no names looked up, every size checked before it is
believed. Both processes hold this file, and neither trusts the other's frames.
"""

from __future__ import annotations

import builtins
import json
import math
import struct
import sys
from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from checks.run.nodes import Items, Mapping, Nothing, Numbers, Strange, Text
from checks.run.plain_data import plain

MOST_TEXT = 8 * 2**20
MOST_BYTES = 256 * 2**20
MOST_BUFFERS = 10_000
DEEPEST = 16
DTYPES = {"bool": "?", "int64": "<i8", "float64": "<f8", "float32": "<f4", "complex128": "<c16"}
NARROWED = {"int8", "int16", "int32", "uint8", "uint16", "uint32", "uint64", "complex64"}
NAMES_OF_DTYPES = {*DTYPES, *NARROWED, "float16", "bfloat16", "longdouble"}
ABSENT = "is the course's own answer, which is not here while work is graded: write it yourself"
HEADER = struct.Struct("<IIQ")


class GarbageError(ValueError):
    """What came over the wire is not a message."""


@dataclass(frozen=True)
class Lent:
    """Something that stays on the other side and can be called there."""

    number: int


def packed(message: dict[str, Any]) -> bytes:
    """One message as bytes; the numbers of its nodes stand raw behind the JSON."""
    buffers: list[bytes] = []
    text = json.dumps(_written(message, buffers)).encode()
    sizes = struct.pack(f"<{len(buffers)}Q", *map(len, buffers))
    header = HEADER.pack(len(text), len(buffers), sum(map(len, buffers)))
    return b"".join([header, text, sizes, *buffers])


def receive(read: Callable[[int], bytes]) -> dict[str, Any]:
    """Read one message; `read(n)` gives exactly n bytes."""
    length, count, total = HEADER.unpack(read(HEADER.size))
    if length > MOST_TEXT or count > MOST_BUFFERS or total > MOST_BYTES:
        raise GarbageError("a message that claims to be larger than any answer")
    text = read(length)
    sizes = struct.unpack(f"<{count}Q", read(8 * count))
    if sum(sizes) != total:
        raise GarbageError("a message whose sizes do not add up")
    buffers = [read(size) for size in sizes]
    try:
        return _read(json.loads(text), buffers, 0)
    except (ValueError, TypeError, KeyError, IndexError, RecursionError) as error:
        raise GarbageError(f"a message that cannot be read: {type(error).__name__}") from None


def _written(value: Any, buffers: list[bytes]) -> Any:
    """JSON for a message: `{"~": kind, ...}` where it is a node, itself where it is plain."""
    write = WRITERS.get(type(value))
    if write:
        return write(value, buffers)
    if isinstance(value, dict):
        return {key: _written(entry, buffers) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_written(item, buffers) for item in value]
    return _clean(value) if isinstance(value, str) else value


def _write_numbers(value: Numbers, buffers: list[bytes]) -> dict[str, Any]:
    form = {"~": "numbers", "shape": list(value.shape), "dtype": value.dtype, "home": value.home}
    if value.values is None:
        return form | {"stored": None, "buffer": None}
    stored = {"b": "bool", "i": "int64", "u": "int64", "c": "complex128"}.get(
        value.values.dtype.kind, "float32" if value.values.dtype == np.float32 else "float64"
    )
    buffers.append(np.ascontiguousarray(value.values, DTYPES[stored]).tobytes())
    return form | {"stored": stored, "buffer": len(buffers) - 1}


def _write_items(value: Items, buffers: list[bytes]) -> dict[str, Any]:
    items = [_written(item, buffers) for item in value.items]
    return {"~": "items", "items": items, "kind": value.kind, "names": list(value.names)}


def _write_mapping(value: Mapping, buffers: list[bytes]) -> dict[str, Any]:
    pairs = [[_key(key), _written(entry, buffers)] for key, entry in value.entries.items()]
    return {"~": "mapping", "pairs": pairs}


WRITERS: dict[type, Callable[[Any, list], dict[str, Any]]] = {
    Numbers: _write_numbers,
    Items: _write_items,
    Mapping: _write_mapping,
    Text: lambda value, _: {"~": "text", "text": _clean(value.text)},
    Nothing: lambda *_: {"~": "nothing"},
    Strange: lambda value, _: {
        "~": "strange", "what": _clean(value.what), "untouched": value.untouched
    },
    Lent: lambda value, _: {"~": "lent", "number": value.number},
}  # fmt: skip


def _key(key: Any) -> Any:
    return {"tuple": [_key(part) for part in key]} if isinstance(key, tuple) else key


def _clean(text: str) -> str:
    """Without lone surrogates, which no file takes."""
    return text.encode("utf8", "backslashreplace").decode("utf8")


def _read(value: Any, buffers: list[bytes], depth: int) -> Any:
    if depth > DEEPEST:
        raise GarbageError("lists nested too deeply")
    if isinstance(value, list):
        return [_read(item, buffers, depth + 1) for item in value]
    if not isinstance(value, dict):
        return value
    kind = value.get("~")
    if kind is None:
        return {key: _read(entry, buffers, depth + 1) for key, entry in value.items()}
    return READERS[kind](value, buffers, depth)


def _read_numbers(form: dict, buffers: list[bytes], depth: int) -> Numbers:
    shape = tuple(form["shape"])
    if not all(type(size) is int and 0 <= size < 2**62 for size in shape) or len(shape) > 32:
        raise GarbageError("an array of an impossible shape")
    if form["dtype"] not in NAMES_OF_DTYPES or form["home"] not in ("python", "numpy", "torch"):
        raise GarbageError("an array of an unknown kind")
    if form["stored"] is None:
        return Numbers(None, shape, form["dtype"], form["home"])
    dtype, raw = np.dtype(DTYPES[form["stored"]]), buffers[form["buffer"]]
    if math.prod(shape) * dtype.itemsize != len(raw):
        raise GarbageError("an array whose bytes do not fill its shape")
    values = np.frombuffer(raw, dtype).reshape(shape)
    if form["dtype"] in NARROWED:
        values = values.astype(form["dtype"])
    return Numbers(values, shape, form["dtype"], form["home"])


def _read_items(form: dict, buffers: list[bytes], depth: int) -> Items:
    if form["kind"] not in ("tuple", "list", "set", "dataclass"):
        raise GarbageError("a collection of an unknown kind")
    items = tuple(_read(item, buffers, depth + 1) for item in form["items"])
    return Items(items, form["kind"], tuple(str(name) for name in form["names"]))


def _read_mapping(form: dict, buffers: list[bytes], depth: int) -> Mapping:
    pairs = form["pairs"]
    return Mapping({_unkey(key): _read(entry, buffers, depth + 1) for key, entry in pairs})


def _unkey(key: Any) -> Any:
    return tuple(_unkey(part) for part in key["tuple"]) if isinstance(key, dict) else key


READERS: dict[str, Callable[[dict, list, int], Any]] = {
    "numbers": _read_numbers,
    "items": _read_items,
    "mapping": _read_mapping,
    "text": lambda form, *_: Text(str(form["text"])),
    "nothing": lambda *_: Nothing(),
    "strange": lambda form, *_: Strange(str(form["what"]), bool(form["untouched"])),
    "lent": lambda form, *_: Lent(int(form["number"])),
}


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
        dtype = np.longdouble if node.dtype == "longdouble" else node.dtype
        return values.astype(dtype)[()]
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
