"""What to say where a library stops: a word of NumPy for an array of torch, a too large number."""

from __future__ import annotations

import importlib
import re

from checks.run import nodes
from checks.run.errors import Mistake
from checks.run.installed import is_installed
from checks.run.trial import OTHER_MEANING
from checks.task import Task

NAMES = {"numpy": "NumPy", "torch": "torch"}
METHOD = re.compile(
    r"'(?:numpy\.)?(ndarray|float\d+|int\d+|bool|Tensor)' object has no attribute '(\w+)'"
)
FUNCTION = re.compile(r"module '(numpy|torch)' has no attribute '(\w+)'")
ARGUMENT = re.compile(r"unexpected keyword argument '(dim|keepdim|axis|keepdims)'")
MIXED = re.compile(
    r"must be Tensor, not numpy\.ndarray|got (numpy\.ndarray|Tensor)\b|Multiple namespaces"
    r"|'(torch\.)?Tensor' and 'numpy\.ndarray'|'numpy\.ndarray' and '(torch\.)?Tensor'"
    r"|np\.ndarray \(got Tensor\)|combination of arguments - got \(.*numpy\.ndarray"
)
LACKING = re.compile(r"No module named '(torch|scipy)\b")
# What learners write of torch and NumPy lacks, for where torch is not installed.
METHODS = """
H abs abs_ add add_ addmm allclose amax amin backward baddbmm bincount bmm bool ceil chunk
clamp clamp_min clone contiguous cpu cuda detach diff dim div double eq erf exp exp_ expand
expand_as fill_ flip float floor gather ge grad gt half index_add index_select int inverse
is_floating_point isclose isinf isnan le lerp log log1p log_softmax logical_not logsumexp long lt
masked_fill masked_fill_ masked_select matmul maximum minimum mm movedim mul mul_ multinomial
mv narrow ne neg new_full new_ones new_tensor new_zeros norm numel numpy outer permute pow
reciprocal relu repeat_interleave requires_grad requires_grad_ rsqrt scatter scatter_
scatter_add_ sigmoid softmax split sqrt sqrt_ square sub sub_ t tanh tile to topk tril
tril_ triu triu_ type type_as unbind unflatten unfold unique unsqueeze unsqueeze_ view_as where
zero_
"""
FUNCTIONS = """
FloatTensor LongTensor Tensor abs_ addmm as_tensor baddbmm bmm cat cdist chunk clamp clamp_min
clone cosine_similarity detach div embedding eq erf exp_ fill_ flatten float from_numpy gather
ge gt index_add index_select int inverse is_floating_point layer_norm le lerp log_softmax logsumexp
lt manual_seed masked_fill masked_select mm movedim mul multinomial mv narrow ne neg nn
no_grad norm normal numel pdist permute rand rand_like randn randn_like randperm relu
repeat_interleave rsqrt scatter sigmoid softmax sqrt_ sub t tensor topk unbind unflatten
unsqueeze zero_
"""
METHODS_OF_TORCH = frozenset(METHODS.split())
FUNCTIONS_OF_TORCH = frozenset(FUNCTIONS.split())


def about_library(task: Task, mistake: Mistake) -> str:
    """A sentence if the error comes from taking NumPy for torch or torch for NumPy, or nothing."""
    foreign = _foreign(mistake)
    if not foreign:
        return ""
    if len(task.arrays) > 1 and not is_installed("torch"):
        return f"{foreign} Answer in NumPy."
    if len(task.arrays) > 1:
        return f"{foreign} Answer in NumPy or in torch, but all of it in one of them."
    name = NAMES[task.arrays[0]]
    return f"{foreign} The arrays of this task are {name}'s: answer in {name}."


def _foreign(mistake: Mistake) -> str:
    lacking = LACKING.search(mistake.message)
    if lacking and mistake.type == "ModuleNotFoundError":
        return f"{lacking[1]} is not here."
    sentence = next((text for words, text in OTHER_MEANING.items() if words in mistake.message), "")
    if sentence:
        return sentence
    if mistake.type not in ("AttributeError", "TypeError"):
        return ""
    method = METHOD.search(mistake.message)
    if method:
        home = "torch" if method[1] == "Tensor" else "numpy"
        return _belongs(home, method[2], f"`.{method[2]}`", "ndarray", "Tensor")
    function = FUNCTION.search(mistake.message)
    if function:
        return _belongs(function[1], function[2], f"`{function[2]}`")
    argument = ARGUMENT.search(mistake.message)
    if argument:
        torchs = argument[1] in ("dim", "keepdim")
        home, other = ("torch", "NumPy") if torchs else ("NumPy", "torch")
        return f"`{argument[1]}=` is {home}'s word, and what this line calls takes {other}'s."
    return "Your answer mixes NumPy and torch." if MIXED.search(mistake.message) else ""


def _belongs(asked: str, name: str, written: str, *classes: str) -> str:
    """A sentence if the library that was not asked has this name."""
    other = "torch" if asked == "numpy" else "numpy"
    if not _has(other, name, classes):
        return ""
    what = f"this array is {NAMES[asked]}'s" if classes else f"{NAMES[asked]} has none"
    return f"{written} is {NAMES[other]}'s, and {what}."


def _has(library: str, name: str, classes: tuple[str, ...]) -> bool:
    """Whether a library, or its class of arrays, has this name; of an absent torch we know some."""
    if not is_installed(library):
        return name in (METHODS_OF_TORCH if classes else FUNCTIONS_OF_TORCH)
    owner = importlib.import_module(library)
    if classes:
        owner = getattr(owner, classes[1] if library == "torch" else classes[0])
    return hasattr(owner, name)


def about_integers(mistake: Mistake) -> str:
    """A sentence on a whole number that NumPy's, of 32 bits in a browser, do not hold."""
    if (
        nodes.DEFAULT_INTEGER.itemsize > 4
        or "too large to convert to C long" not in mistake.message
    ):
        return ""
    return "NumPy's whole numbers have 32 bits in a browser; larger ones need `dtype=np.int64`."
