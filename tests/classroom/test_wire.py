"""What crosses the wire comes out equal to the last bit, or is called garbage."""

from __future__ import annotations

import io
import json
import struct
from typing import NamedTuple

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from checks.run.nodes import Nothing, Numbers, Strange
from checks.run.plain_data import plain
from checks.wire.messages import HEADER, GarbageError, packed, receive
from checks.wire.values import MOST_BYTES, Lent, fits, put_together, taken_apart


def read_from(raw: bytes):
    stream = io.BytesIO(raw)

    def read(count: int) -> bytes:
        data = stream.read(count)
        if len(data) < count:
            raise EOFError
        return data

    return read


def there(message):
    return receive(read_from(packed(message)))


class Pair(NamedTuple):
    output: np.ndarray
    weights: np.ndarray


VALUES = [
    None, True, 3, -(2**40), 2.5, float("inf"), 1 + 2j, "text \u2713", "", (), [], {},
    np.arange(6.0).reshape(2, 3), np.array(7.0), np.zeros((0, 3)), np.array([True, False]),
    np.arange(5, dtype=np.int32), np.float32([0.1, 0.2]), np.float16([0.1]), np.array([1j]),
    torch.arange(6).reshape(2, 3), torch.tensor([0.1, 0.2]), torch.tensor([0.5]).bfloat16(),
    torch.tensor(2.0, dtype=torch.float64), (1, [2.0, {"a": np.eye(2), ("b", 3): None}]),
    Pair(np.eye(2), np.ones((2, 2))),
    *(np.array([1, 0, 1]).astype(name) for name in (
        "float16", "longdouble", "clongdouble", "complex64", "int8", "uint8", "int16", "uint16",
        "uint32", "uint64",
    )),
    *(torch.tensor([1, 0, 1]).to(getattr(torch, name)) for name in (
        "float16", "bfloat16", "complex64", "complex128", "int8", "uint8", "int16", "bool",
    )),
    np.longdouble(0.5), np.clongdouble(1j),
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES, ids=lambda value: str(value)[:30].replace("\n", " "))
def test_a_value_arrives_equal_and_of_its_kind(value):
    node = taken_apart(value)
    arrived = there({"value": node})["value"]
    assert node.equals(arrived) or arrived == node
    again = put_together(arrived)
    assert node.equals(plain(again)) or plain(again) == node
    if isinstance(value, (np.ndarray, torch.Tensor)) and value.shape:
        assert type(again) is type(value)
        assert again.dtype == value.dtype


def test_the_order_of_bytes_is_no_difference():
    usual, other = np.arange(3.0), np.arange(3.0).astype(">f8")
    assert plain(usual).equals(plain(other))
    assert plain(usual).equals(there({"value": plain(other)})["value"])


@given(st.recursive(
    st.none() | st.booleans() | st.integers(-(2**62), 2**62) | st.floats(allow_nan=False)
    | st.text(max_size=20),
    lambda held: st.lists(held, max_size=4) | st.dictionaries(st.text(), held, max_size=4),
    max_leaves=12,
))  # fmt: skip
def test_whatever_python_holds_arrives(value):
    assert put_together(there({"value": taken_apart(value)})["value"]) == value


def test_a_function_is_lent_and_borrowed_by_its_number():
    lent = []
    node = taken_apart((abs, [2], {"f": max}), lambda value: lent.append(value) or len(lent) - 1)
    assert lent == [abs, max]
    assert node.items[0] == Lent(0)
    back = put_together(there({"value": node})["value"], lent.__getitem__)
    assert back == (abs, [2], {"f": max})


def test_text_that_no_file_takes_is_spelled_out():
    assert there({"value": plain("\ud800")})["value"].text == "\\ud800"


def test_an_array_too_large_to_copy_travels_without_its_numbers():
    node = plain(np.broadcast_to(np.float64(1), (10**5, 10**5, 10**5)))
    assert there({"value": node})["value"] == Numbers(None, (10**5,) * 3, "float64", "numpy")


def forged(value, *buffers: bytes) -> bytes:
    text = json.dumps({"value": value}).encode()
    sizes = struct.pack(f"<{len(buffers)}Q", *map(len, buffers))
    header = HEADER.pack(len(text), len(buffers), sum(map(len, buffers)))
    return b"".join([header, text, sizes, *buffers])


ARRAY = {"~": "numbers", "shape": [2], "dtype": "float64", "home": "numpy", "stored": "float64"}
ARRAY["buffer"] = 0

PIECE = {"~": "nothing"}
ITEMS = {"~": "items", "kind": "list", "names": []}
GARBAGE = {
    "a text of 4 GiB": HEADER.pack(2**32 - 1, 0, 0),
    "a million buffers": HEADER.pack(2, 10**6, 0) + b"{}",
    "more bytes than any answer": HEADER.pack(2, 1, MOST_BYTES + 1) + b"{}",
    "sizes that do not add up": HEADER.pack(2, 1, 5) + b"{}" + struct.pack("<Q", 4) + b"abcd",
    "no JSON": HEADER.pack(3, 0, 0) + b"?!?",
    "no UTF-8": HEADER.pack(1, 0, 0) + b"\xff",
    "an unknown kind": forged({"~": "pickle"}),
    "bytes that do not fill the shape": forged(ARRAY, b"1234567"),
    "a shape of 10**15 numbers": forged(ARRAY | {"shape": [10**15]}, b"12345678"),
    "a negative axis": forged(ARRAY | {"shape": [-1]}, b""),
    "an axis that is no number": forged(ARRAY | {"shape": [True]}, b"12345678"),
    "too many axes": forged(ARRAY | {"shape": [1] * 33}, b"12345678"),
    "a type of Python objects": forged(ARRAY | {"dtype": "object"}, bytes(16)),
    "a home of its own": forged(ARRAY | {"home": "os"}, bytes(16)),
    "a buffer that is not there": forged(ARRAY | {"buffer": 7}, bytes(16)),
    "no shape": forged({"~": "numbers"}),
    "lists in lists in lists": forged(json.loads("[" * 40 + "]" * 40)),
    "two arrays of one buffer": forged([ARRAY, ARRAY], bytes(16)),
    "a buffer from the end": forged(ARRAY | {"buffer": -1}, bytes(16)),
    "numbers stored as another kind": forged(ARRAY | {"dtype": "bool"}, bytes(16)),
    "a small array without numbers": forged(ARRAY | {"stored": None}),
    "a number among the items": forged(ITEMS | {"items": [7]}),
    "a text among the items": forged(ITEMS | {"items": ["text"]}),
    "a dictionary among the items": forged(ITEMS | {"items": [{"status": "returned"}]}),
    "a list among the items": forged(ITEMS | {"items": [[PIECE]]}),
    "a number in a mapping": forged({"~": "mapping", "pairs": [["key", 7]]}),
    "a key of keys without end": forged({"~": "mapping", "pairs": [[{"tuple": [None]}, PIECE]]}),
    "names of other items": forged(ITEMS | {"items": [PIECE], "names": ["a", "b"]}),
    "80,000 parts": forged(ITEMS | {"items": [PIECE] * 80_000}),
    "a million empty lists": forged([[]] * 10**6),
    "a key that is a list": forged({"~": "mapping", "pairs": [[[1], {"~": "nothing"}]]}),
}


@pytest.mark.parametrize("raw", GARBAGE.values(), ids=GARBAGE)
def test_what_is_no_message_is_called_garbage_before_it_is_believed(raw):
    with pytest.raises(GarbageError):
        receive(read_from(raw))


def test_nodes_are_themselves_and_what_cannot_be_compared_stays_strange():
    node = Strange("a socket object")
    assert plain(node) is node
    assert put_together(there({"value": node})["value"]) == node
    assert put_together(Nothing()) is None


def test_a_value_that_fits_arrives_and_one_of_more_parts_or_bytes_does_not_fit():
    most = plain([0.5] * 9_000)
    assert fits(most)
    assert there({"value": most})["value"] == most
    assert not fits(plain([0.5] * 11_000))
    assert not fits(plain(["text" * 10**5] * 9))
    assert not fits(plain([np.zeros(2 * 10**6)] * 5))
