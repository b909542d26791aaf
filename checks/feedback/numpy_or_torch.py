"""What to say where an answer speaks to the arrays of one library in the words of the other."""

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
