"""What to say where Python stops: a name, an index, a truth, a call or a loop that does not fit."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator

import numpy as np

from checks.run.errors import Mistake
from checks.task import Task

EMPTY = re.compile(
    r"\(\) (?:arg is an empty sequence|iterable argument is empty)|zero-size array to reduction"
    r"|arg(?:max|min) of an empty sequence|reduction dim to be specified for input\.numel\(\) == 0"
)
UNKNOWN = re.compile(r"name '(\w+)' is not defined")
OUTSIDE = re.compile(r"index (\d+) is out of bounds for (?:axis|dimension) \d+ with size (\d+)")
OF_ARRAYS = re.compile(
    r"truth value of an array with more than one|Boolean value of Tensor with more than one"
)
OF_ONE_NUMBER = re.compile(
    r"(?:arrays|tensors) can be converted to Python scalars|Tensor with \d+ elements cannot be"
)
OF_MATH = re.compile(r"\bmath\.(\w+)\(")
NOT_CALLED = re.compile(
    r"'(?:builtin_function_or_method|method|function|method-wrapper)' object is not subscriptable"
    r"|unsupported operand.*'(?:builtin_function_or_method|method|function)'"
)
NO_ARRAY = re.compile(r"'(?:int|float)' object is not subscriptable")
EXTREME = re.compile(r"(?<![.\w])(max|min)\([^()=,]+, [^()=,]+\)")  # Python's own, of two arrays
NO_CALL = re.compile(r"'(\w+)' object is not callable")
ATTRIBUTE = re.compile(r"object has no attribute '(\w+)'")
NO_FUNCTION = re.compile(
    r"'(?:numpy\.\w+|ndarray|Tensor|tuple|list|dict|int|float|str)' object is not callable"
)
NO_METHOD = re.compile(r"\.(T|mT|shape|ndim|dtype|size)\(")
OF_NUMBER = re.compile(r"'(?:int|float)' object has no attribute '(\w+)'")
WORDS = {"and": "&", "or": "|", "not": "~"}
GROWN = re.compile(r"'(?:numpy\.ndarray|Tensor)' object has no attribute '(append|extend)'")
IMPORTS = {
    "torch": "import torch", "np": "import numpy as np", "math": "import math",
    "nn": "from torch import nn", "F": "import torch.nn.functional as F",
}  # fmt: skip
KNOWN = [
    (re.compile(error), sentence)
    for error, sentence in (
        ("does not require grad and does not have a grad_fn",
         "From here no way leads back to a parameter. `nn.Parameter` makes one of a tensor, or "
         "`tensor.requires_grad_()`, with `_` at its end and before the forward pass; `detach` "
         "and `no_grad` cut the way."),
        ("can't optimize a non-leaf Tensor",
         "A tensor that is computed from others is no parameter, not even `0.07 * w` with "
         "`requires_grad`. Compute it first, then call `requires_grad_()` on the result."),
        ("optimizer can only optimize Tensors, but one of the params is str",
         "An optimizer takes a list of tensors; of a dictionary it sees the names alone. Give it "
         "`list(parameters.values())`."),
        (r"torch\.nn\.Parameter or None expected",
         "What is computed from a parameter, its transpose for example, is a tensor. Two "
         "modules share a parameter where both hold the `nn.Parameter` itself."),
        ("'AttentionOutput'",
         "Attention returns the output and the weights together: take its `.output`."),
        (r"Cannot interpret '[\d.]+' as a data type",
         "The shape is one argument, in brackets of its own, as in `np.zeros((rows, columns))`; "
         "the one after it is the type of the numbers."),
        ("^OverflowError: .*(to float|out of range)",
         "A float ends near 1.8e308. Whole numbers do not: keep them whole (`2 ** n` and `//`, no "
         "`2.0` and no `/`), or compute with logarithms; those of `math` take whole numbers of "
         "any length."),
        ("^KeyError: ",
         "The dictionary has no such key: `.get(key)` gives None then, and `key in d` asks first."),
    )
]  # fmt: skip
LEFT_NONE = "which condition or slice left none?"


def about_python(task: Task, mistake: Mistake) -> Iterator[str]:
    """What can be said of an error, each in a sentence."""
    yield about_own_names(task, mistake)
    yield about_objects(task, mistake)
    asked = (
        about_nothing, about_index, about_truth, about_one_number, about_calls, about_pairs,
        about_growth, about_raise, about_brackets, about_numbers, about_known, about_import,
    )  # fmt: skip
    yield from (about(mistake) for about in asked)


def about_nothing(mistake: Mistake) -> str:
    """A sentence on the smallest or largest of no numbers."""
    if not EMPTY.search(mistake.message):
        return ""
    return f"The smallest or largest of no numbers was asked for: {LEFT_NONE}"


def about_truth(mistake: Mistake) -> str:
    """A sentence on `and`, `or`, `not`, `max` and `min`, which ask arrays for one True or False."""
    if not OF_ARRAYS.search(mistake.message):
        return ""
    line = mistake.line or ""
    used = [word for word in WORDS if re.search(rf"\b{word}\b(?! in\b)", line)]
    extreme = EXTREME.search(line)
    if extreme and not used and not re.search(r"\b(if|while)\b", line):
        entrywise = f"`np.{extreme[1]}imum` compares them entry by entry."
        return f"Python's `{extreme[1]}` asks which of two whole arrays comes first; {entrywise}"
    if not used:
        return ""
    symbol = WORDS[used[0]]
    return (
        f"`{used[0]}` asks for one True or False; `{symbol}` works on arrays element by element. "
        f"`{symbol}` binds before comparisons: put these in brackets."
    )


def about_one_number(mistake: Mistake) -> str:
    """A sentence on a function that takes one number and got an array, or the other way round."""
    of_math = OF_MATH.search(mistake.line or "")
    if of_math and OF_ONE_NUMBER.search(mistake.message) and hasattr(np, of_math[1]):
        own, of_numpy = (f"`{home}.{of_math[1]}`" for home in ("math", "np"))
        return f"Functions of `math`, such as {own}, take one number; {of_numpy} takes arrays."
    entries = re.sub(r"\.shape\[-?\d\]", "", mistake.line or "[")
    if NO_ARRAY.search(mistake.message) and "[" not in entries:
        return (
            "A function that this line calls takes an entry of what is a single number here: "
            "where it asks for an array, give it `np.array([number])`."
        )
    if "Axis must be specified when shapes of a and weights differ" in mistake.message:
        return "`np.average` needs the axis along which the weights count: `axis=0` is the first."
    return ""


def about_calls(mistake: Mistake) -> str:
    """A sentence on a function that was not called."""
    if not NOT_CALLED.search(mistake.message):
        return ""
    return (
        "A function stands where its result is needed: are the brackets missing that call it, as "
        "in `a.transpose()`, in this line or where the name was bound?"
    )


def about_pairs(mistake: Mistake) -> str:
    """A sentence on a loop over a dictionary as if it gave pairs."""
    pairs = re.search(r"\bfor \w+, \w+ in (\w+)\b(?![.(\[])", mistake.line or "")
    if not (pairs and "values to unpack (expected 2" in mistake.message):
        return ""
    over = f"`{pairs[1]}`"
    return f"If {over} is a dictionary, a loop over it gives its keys; `.items()` gives pairs."


def about_growth(mistake: Mistake) -> str:
    """A sentence on an array that is to grow as a list does."""
    if not GROWN.search(mistake.message):
        return ""
    joined = "`torch.cat`" if "Tensor" in mistake.message else "`np.concatenate`"
    return f"An array does not grow as a list does: {joined} makes a longer one of two."


def about_known(mistake: Mistake) -> str:
    """The sentence on an error that always says the same."""
    error = f"{mistake.type}: {mistake.message}"
    return next((sentence for pattern, sentence in KNOWN if pattern.search(error)), "")


def about_import(mistake: Mistake) -> str:
    """A sentence on the name of a library that no line has imported."""
    name = UNKNOWN.search(mistake.message)
    line = IMPORTS.get(name[1], "") if name else ""
    return f"No line has imported it: write `{line}` at the head of the cell." if line else ""


def about_raise(mistake: Mistake) -> str:
    """A sentence on an error that the answer raises itself where a result is expected."""
    if not mistake.by_hand:
        return ""
    return "Your own `raise` stops here, where a result is expected: which condition leads to it?"


def about_brackets(mistake: Mistake) -> str:
    """A sentence on round brackets behind what is no function."""
    if not NO_FUNCTION.search(mistake.message):
        return ""
    known = NO_METHOD.search(mistake.line or "")
    if known:
        return f"`.{known[1]}` is a value and no method: read it without round brackets."
    return (
        "Round brackets behind a value call it as a function: square ones read an entry, and a "
        "product needs its `*`."
    )


def about_numbers(mistake: Mistake) -> str:
    """A sentence on a method of arrays that is asked of a number of Python's."""
    asked = OF_NUMBER.search(mistake.message)
    if not (asked and hasattr(np, asked[1])):
        return ""
    return (
        f"A number of Python's has no method `{asked[1]}`; `np.{asked[1]}(...)` takes numbers too."
    )


def about_own_names(task: Task, mistake: Mistake) -> str:
    """A sentence on what `__init__` knows, and another method asks for."""
    lacking = ATTRIBUTE.search(mistake.message)
    if lacking and f"self.{lacking[1]}" in (mistake.line or ""):
        return (
            f"An object has what `__init__` gives it, `self.{lacking[1]} = ...`, and the methods "
            "of its class: is it spelled so there? Without `self.`, a name is forgotten when "
            "`__init__` ends."
        )
    name = UNKNOWN.search(mistake.message)
    if not (name and mistake.type == "NameError" and isinstance(task.reference, type)):
        return ""
    if name[1] not in inspect.signature(task.reference).parameters:
        return f"If `__init__` keeps it, as `self.{name[1]} = ...`, write `self.{name[1]}` here."
    return (
        f"`{name[1]}` comes to `__init__`; another method sees only what is kept: "
        f"write `self.{name[1]} = {name[1]}` there, and `self.{name[1]}` here."
    )


def about_objects(task: Task, mistake: Mistake) -> str:
    """A sentence on an object that is called and has no method for it."""
    uncalled = NO_CALL.search(mistake.message)
    if not (uncalled and isinstance(task.reference, type) and uncalled[1] == task.name):
        return ""
    return (
        "An object is called by its method `__call__`, and your class has none; only a subclass of "
        "`torch.nn.Module` passes a call on to `forward`."
    )


def about_index(mistake: Mistake) -> str:
    """A sentence on an index behind the last one."""
    outside = OUTSIDE.search(mistake.message)
    if not outside:
        return ""
    index, size = map(int, outside.groups())
    if size == 0:
        return f"Index {index} was asked for where nothing is left: {LEFT_NONE}"
    return f"There are {size} along this axis, from index 0 to {size - 1}; {index} was asked for."
