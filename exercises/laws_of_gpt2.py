"""The laws of GPT-2: what every right model obeys, asked of the very function that was written.

They know no right numbers, but for the last one, which has those of another library.
"""

import functools
import json
import math
import sys
from pathlib import Path

import numpy as np

from checks import Law
from checks.run.plain_data import plain
from exercises.gpt2_by_parts import loss

TINY = Path(__file__).resolve().parents[1] / "lib" / "datasets" / "tiny_gpt2"

DTYPES = {"F32": "<f4", "F64": "<f8", "I64": "<i8"}


def table(answer, *args):
    """What an answer gives, as one array of NumPy, whichever library it was written in."""
    return plain(answer(*args)).as_numbers().values.astype(float)


def near(first, other, allowed=1e-4):
    largest = np.abs(first).max(initial=0, where=~np.isnan(first))
    return bool(np.allclose(first, other, rtol=allowed, atol=allowed * largest, equal_nan=True))


def without_a_key(rows):
    """A sentence where the first token alone has no numbers, as under a mask that hides it too."""
    missing = np.isnan(rows)
    if not missing[..., 0, :].all() or missing[..., -1, :].any():
        return ""
    return "the first row is NaN: if your mask hides the diagonal, the first token has no key left"


def of_same_library(like, array):
    """An array as NumPy has it, or as torch, whichever the other one is."""
    if isinstance(like, np.ndarray):
        return array
    return sys.modules["torch"].from_numpy(np.ascontiguousarray(array))


def causal(answer, case):
    ids, p, heads = case.args
    half, words = ids.shape[-1] // 2, len(p["wte.weight"])
    other = ids + 0
    other[..., half:] = (other[..., half:] + 1) % words
    first, second = (table(answer, text, p, heads)[..., :half, :] for text in (ids, other))
    return near(first, second) or f"a change from token {half} on moves what stands before it"


def cut_short(answer, case):
    ids, p, heads = case.args
    half = (ids.shape[-1] + 1) // 2
    whole, part = (table(answer, text, p, heads) for text in (ids, ids[..., :half]))
    return near(whole[..., :half, :], part)


def one_by_one(answer, case):
    ids, p, heads = case.args
    together = ids if ids.ndim == 2 else ids[None]
    alone = np.stack([table(answer, text, p, heads) for text in together])
    return near(table(answer, together, p, heads), alone)


def unused_positions(answer, case):
    ids, p, heads = case.args
    other = p["wpe.weight"] + 0
    other[ids.shape[-1] :] = other[ids.shape[-1] :] * -2  # a constant added would be normed away
    return near(table(answer, ids, p, heads), table(answer, ids, p | {"wpe.weight": other}, heads))


def renamed_words(answer, case):
    ids, p, heads = case.args
    words = p["wte.weight"]
    order = np.roll(np.arange(len(words)), 2)  # row j of the new table is row order[j] of the old
    where = of_same_library(ids, np.argsort(order))
    other = table(answer, where[ids], p | {"wte.weight": words[order.tolist()]}, heads)
    return near(table(answer, ids, p, heads)[..., order], other)


def reordered_heads(answer, case):
    ids, p, heads = case.args
    d_model = p["wte.weight"].shape[-1]
    turned = np.arange(d_model).reshape(heads, -1)[::-1].ravel()
    joint = np.concatenate([turned + i * d_model for i in range(3)]).tolist()
    other = dict(p)
    for name, array in p.items():
        if "c_attn" in name:
            other[name] = array[..., joint]
        elif name.endswith("attn.c_proj.weight"):
            other[name] = array[turned.tolist()]
    return near(table(answer, ids, p, heads), table(answer, ids, other, heads))


def shifted_keys(answer, case):
    """q . (k + b) = q . k + q . b: the same is added to every score of a row."""
    ids, p, heads = case.args
    d_model = p["wte.weight"].shape[-1]
    other = dict(p)
    for name, array in p.items():
        if name.endswith("c_attn.bias"):
            other[name] = array + 0
            other[name][d_model : 2 * d_model] = other[name][d_model : 2 * d_model] + 3000
    return near(table(answer, ids, p, heads), table(answer, ids, other, heads), 1e-2)


def order_invisible(answer, case):
    ids, p, heads = case.args
    shallow = {
        name: part for name, part in p.items() if not name.startswith("h.") or "h.0." in name
    }
    shallow["wpe.weight"] = shallow["wpe.weight"] * 0
    turned = [*range(ids.shape[-1] - 2, -1, -1), ids.shape[-1] - 1]
    last, other = (
        table(answer, text, shallow, heads)[..., -1, :] for text in (ids, ids[..., turned])
    )
    return near(last, other)


def at_the_start(answer, case):
    ids, p, heads = case.args
    rng = np.random.default_rng(0)
    fresh = {
        name: array * 0 + name.endswith(".weight") for name, array in p.items()
    }  # gains and biases
    for name, array in p.items():
        if array.ndim == 2:
            fresh[name] = of_same_library(ids, rng.normal(0, 0.02, size=tuple(array.shape)))
    words = len(p["wte.weight"])
    logits = table(answer, ids, fresh, heads)
    value, right = loss(logits, np.asarray(ids)), math.log(words)
    if without_a_key(logits):
        return without_a_key(logits)
    return abs(value - right) < 0.2 or f"it is {value:.2f}, and ln {words} is {right:.2f}"


def arrays_of(path):
    """The arrays of a safetensors file; a page of the book has no package that reads it."""
    data = path.read_bytes()
    start = 8 + int.from_bytes(data[:8], "little")
    listed = json.loads(data[8:start])
    listed.pop("__metadata__", None)
    arrays = {}
    for name, about in listed.items():
        first, last = (start + offset for offset in about["data_offsets"])
        values = np.frombuffer(data[first:last], DTYPES[about["dtype"]])
        arrays[name] = values.reshape(about["shape"])
    return arrays


@functools.cache
def stored():
    """The tiny GPT-2 that transformers made, in NumPy: parameters, ids, and its own logits."""
    p, expected = (arrays_of(TINY / f"{name}.safetensors") for name in ("model", "expected"))
    p = {name.removeprefix("transformer."): array.astype(np.float64) for name, array in p.items()}
    return p, expected["ids"].astype(np.int64), expected["logits"]


def as_transformers(answer, case):
    p, ids, logits = stored()
    like = case.args[0]
    given = {name: of_same_library(like, array + 0) for name, array in p.items()}
    got = table(answer, of_same_library(like, ids + 0), given, 5)
    gap = np.abs(got - logits).max() / np.abs(logits).max()
    return bool(gap < 1e-4) or f"the largest difference is {gap:.1g} times the largest logit"


LAWS = [
    Law(None, "what comes later changes nothing before it", causal),
    Law(None, "a shorter text has the same first rows", cut_short),
    Law(None, "each text of a batch is for itself", one_by_one),
    Law(None, "positions that are not reached do not matter", unused_positions),
    Law(None, "words may be numbered in any order", renamed_words),
    Law(None, "heads may stand in any order", reordered_heads),
    Law("M13", "a bias added to all keys alike changes nothing, however large", shifted_keys),
    Law(None, "with one layer and no positions, the last token sees a set", order_invisible),
    Law(None, "a fresh model costs about ln V", at_the_start),
    Law(None, "a stored model has the logits that transformers gave it", as_transformers),
]
