"""Messages of JSON and raw bytes, between the process that grades and the one that runs answers.

Nothing that is read here can run: no pickle, no names looked up, every size checked before it is
believed. Both processes hold this file, and neither trusts the other's frames.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Callable
from typing import Any

import numpy as np

from checks.run.nodes import NODES, Items, Mapping, Nothing, Numbers, Strange, Text
from checks.run.plain_data import MOST_NUMBERS
from checks.wire.values import MOST_BYTES, MOST_NODES, MOST_TEXT, Lent

DEEPEST = 16
DTYPES = {"bool": "?", "int64": "<i8", "float64": "<f8", "float32": "<f4", "complex128": "<c16"}
NARROWED = {"int8", "int16", "int32", "uint8", "uint16", "uint32", "uint64", "complex64"}
WIDENED = {"float16": "f", "bfloat16": "f", "longdouble": "f", "clongdouble": "c"}
KIND_OF_DTYPE = {name: np.dtype(name).kind for name in (*DTYPES, *NARROWED)} | WIDENED
LONGEST = 200  # letters of a name
HEADER = struct.Struct("<IIQ")


class GarbageError(ValueError):
    """What came over the wire is not a message."""


def packed(message: dict[str, Any]) -> bytes:
    """One message as bytes; the numbers of its nodes stand raw behind the JSON."""
    buffers: list[bytes] = []
    text = json.dumps(_written(message, buffers)).encode()
    sizes = struct.pack(f"<{len(buffers)}Q", *map(len, buffers))
    header = HEADER.pack(len(text), len(buffers), sum(map(len, buffers)))
    return b"".join([header, text, sizes, *buffers])


def receive(read: Callable[[int], bytes | bytearray]) -> dict[str, Any]:
    """Read one message; `read(n)` gives exactly n bytes."""
    length, count, total = HEADER.unpack(read(HEADER.size))
    if length > MOST_TEXT or count > MOST_NODES or total > MOST_BYTES:
        raise GarbageError("a message that claims to be larger than any answer")
    text = read(length)
    sizes = struct.unpack(f"<{count}Q", read(8 * count))
    if sum(sizes) != total:
        raise GarbageError("a message whose sizes do not add up")
    buffers: list[bytes | bytearray | None] = [read(size) for size in sizes]
    if text.count(b"{") > 2 * MOST_NODES or text.count(b"[") > 3 * MOST_NODES:
        raise GarbageError("a message of more parts than any answer")
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


def _read_node(value: Any, buffers: list, depth: int) -> Any:
    """Read a part of a value, which must be a node itself."""
    node = _read(value, buffers, depth)
    if not isinstance(node, (*NODES, Lent)):
        raise GarbageError("a value that is no node")
    return node


def _read(value: Any, buffers: list, depth: int) -> Any:
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


def _read_numbers(form: dict, buffers: list, depth: int) -> Numbers:
    shape = tuple(form["shape"])
    if not all(type(size) is int and 0 <= size < 2**62 for size in shape) or len(shape) > 32:
        raise GarbageError("an array of an impossible shape")
    if form["dtype"] not in KIND_OF_DTYPE or form["home"] not in ("python", "numpy", "torch"):
        raise GarbageError("an array of an unknown kind")
    if form["stored"] is None:
        if math.prod(shape) <= MOST_NUMBERS:
            raise GarbageError("a small array without its numbers")
        return Numbers(None, shape, form["dtype"], form["home"])
    dtype, number = np.dtype(DTYPES[form["stored"]]), form["buffer"]
    if dtype.kind != KIND_OF_DTYPE[form["dtype"]].replace("u", "i"):
        raise GarbageError("an array stored as another kind")
    if type(number) is not int or not 0 <= number < len(buffers) or buffers[number] is None:
        raise GarbageError("an array whose numbers are not there, or belong to another")
    # Each buffer is used once, so that a message is never larger than what was sent.
    raw, buffers[number] = buffers[number], None
    if math.prod(shape) * dtype.itemsize != len(raw):
        raise GarbageError("an array whose bytes do not fill its shape")
    values = np.frombuffer(raw, dtype).reshape(shape)
    if form["dtype"] in NARROWED:
        values = values.astype(form["dtype"])
    return Numbers(values, shape, form["dtype"], form["home"])


def _read_items(form: dict, buffers: list, depth: int) -> Items:
    if form["kind"] not in ("tuple", "list", "set", "dataclass"):
        raise GarbageError("a collection of an unknown kind")
    items = tuple(_read_node(item, buffers, depth + 1) for item in form["items"])
    names = tuple(str(name)[:LONGEST] for name in form["names"])
    if names and len(names) != len(items):
        raise GarbageError("a collection with names for other items")
    return Items(items, form["kind"], names)


def _read_mapping(form: dict, buffers: list, depth: int) -> Mapping:
    pairs = form["pairs"]
    return Mapping({_unkey(key): _read_node(entry, buffers, depth + 1) for key, entry in pairs})


def _unkey(key: Any, depth: int = 0) -> Any:
    if isinstance(key, dict) and depth < DEEPEST:
        return tuple(_unkey(part, depth + 1) for part in key["tuple"])
    if type(key) not in (str, int, bool, float):
        raise GarbageError("a key that is neither text nor a number")
    return key


READERS: dict[str, Callable[[dict, list, int], Any]] = {
    "numbers": _read_numbers,
    "items": _read_items,
    "mapping": _read_mapping,
    "text": lambda form, *_: Text(str(form["text"])),
    "nothing": lambda *_: Nothing(),
    "strange": lambda form, *_: Strange(str(form["what"])[:LONGEST], bool(form["untouched"])),
    "lent": lambda form, *_: Lent(int(form["number"])),
}
