"""What to say where a library stops: arrays that do not fit, NumPy's words for torch's arrays."""

from __future__ import annotations

import importlib
import re

from checks.run.call import Mistake
from checks.task import Task

NAMES = {"numpy": "NumPy", "torch": "torch"}
METHOD = re.compile(r"'(?:numpy\.)?(ndarray|Tensor)' object has no attribute '(\w+)'")
FUNCTION = re.compile(r"module '(numpy|torch)' has no attribute '(\w+)'")
ARGUMENT = re.compile(r"unexpected keyword argument '(dim|keepdim|axis|keepdims)'")
MIXED = re.compile(
    r"must be Tensor, not numpy\.ndarray|got (numpy\.ndarray|Tensor)\b|Multiple namespaces"
    r"|'(torch\.)?Tensor' and 'numpy\.ndarray'|'numpy\.ndarray' and '(torch\.)?Tensor'"
    r"|np\.ndarray \(got Tensor\)|combination of arguments - got \(.*numpy\.ndarray"
)
NUMPY_PRODUCT = re.compile(r"matmul: .*core dimension 0.*size (\d+) is different from (\d+)")
TORCH_PRODUCT = re.compile(r"shapes cannot be multiplied \(\d+x(\d+) and (\d+)x\d+\)")
BROADCAST = re.compile(r"could not be broadcast together with shapes (\([\d,]*\)) (\([\d,]*\))")


def about_library(task: Task, mistake: Mistake) -> str:
    """A sentence if the error comes from taking NumPy for torch or torch for NumPy, or nothing."""
    foreign = _foreign(mistake)
    if not foreign:
        return ""
    if len(task.arrays) > 1:
        return f"{foreign} Answer in NumPy or in torch, but all of it in one of them."
    name = NAMES[task.arrays[0]]
    return f"{foreign} The arrays of this task are {name}'s: answer in {name}."


def _foreign(mistake: Mistake) -> str:
    if mistake.type not in ("AttributeError", "TypeError"):
        return ""
    method = METHOD.search(mistake.message)
    if method:
        home = "numpy" if method[1] == "ndarray" else "torch"
        return _belongs(home, method[2], f"`.{method[2]}`", "ndarray", "Tensor")
    function = FUNCTION.search(mistake.message)
    if function:
        return _belongs(function[1], function[2], f"`{function[2]}`")
    argument = ARGUMENT.search(mistake.message)
    if argument:
        torchs = argument[1] in ("dim", "keepdim")
        home, other = ("torch", "NumPy") if torchs else ("NumPy", "torch")
        return f"`{argument[1]}=` is {home}'s word, and this array is {other}'s."
    return "Your answer mixes NumPy and torch." if MIXED.search(mistake.message) else ""


def _belongs(asked: str, name: str, written: str, *classes: str) -> str:
    """A sentence if the library that was not asked has this name."""
    other = "torch" if asked == "numpy" else "numpy"
    owner = importlib.import_module(other)
    if classes:
        owner = getattr(owner, classes[1] if other == "torch" else classes[0])
    if not hasattr(owner, name):
        return ""
    what = f"this array is {NAMES[asked]}'s" if classes else f"{NAMES[asked]} has none"
    return f"{written} is {NAMES[other]}'s, and {what}."


def about_shapes(mistake: Mistake) -> str:
    """A sentence on shapes that do not fit, or nothing."""
    product = NUMPY_PRODUCT.search(mistake.message)
    if product:
        return _about_product(product[2], product[1])
    product = TORCH_PRODUCT.search(mistake.message)
    if product:
        return _about_product(product[1], product[2])
    pair = BROADCAST.search(mistake.message)
    return _about_pair(*map(_shape, pair.groups())) if pair else ""


def _about_product(columns: str, rows: str) -> str:
    return (
        "In `A @ B`, A needs as many columns as B has rows; "
        f"here the columns are {columns} and the rows {rows}."
    )


def _about_pair(first: tuple[int, ...], second: tuple[int, ...]) -> str:
    text = (
        f"Arrays of shapes {first} and {second} cannot be combined number by number: counted from "
        "the last axis, each axis must be equally long in both, or have the length 1."
    )
    if first[:-1] == second or second[:-1] == first:
        text += " Did a sum or a maximum lose its axis? `keepdims=True` keeps it."
    return text


def _shape(text: str) -> tuple[int, ...]:
    return tuple(int(size) for size in re.findall(r"\d+", text))
