"""A change is told only if the whole check would accept it, and by every line that it touches."""

import importlib

import numpy as np
import pytest

from checks import Case, Task
from checks.check import grade_source
from tests.support.attempts import NAMES, setup


def words_on(number: str, source: str) -> str:
    """What the check says of an answer, in one text."""
    name = next(name for name in NAMES if name.startswith(number.split(".")[0].zfill(2)))
    task = importlib.import_module(f"exercises.{name}").EXERCISE[number]
    return " ".join(grade_source(task, source, dict(setup(name))).sentences)


PATCHED = """def restored(model, clean, corrupted, answer, layer, head, position, d_v):
    kept, part = {}, np.s_[position, head * d_v : (head + 1) * d_v]

    def record(l, output):
        kept[l] = output.copy()

    def swap(l, output):
        if l == layer:
            output = output.copy()
            output[part] = kept[layer][part]
            return output

    def logp(ids, hook):
        return np.log(softmax(model(ids, hook)[-1])[answer])

    good, bad = logp(clean, record), logp(corrupted, lambda l, output: None)
"""
ACCIDENTS = {
    "a change of an argument in place": (
        "16.3",
        "def switch_off(scores, values, w_o, b_o, head):\n    scores = scores.copy()\n"
        "    scores[head] = 0\n    outputs = softmax(scores) @ values\n"
        "    joined = np.concatenate(list(outputs), axis=-1)\n    return joined @ w_o + b_o",
        "equal scores are equal weights",
    ),
    "any factor that makes two rows differ": (
        "3.5",
        "def parts_twins(method, x, first, second):\n    y = method(x)\n"
        "    difference = (y[first] - y[second]).sum()\n    return bool(abs(difference) > 1e-9)",
        "come out different, in any component",
    ),
    "a mean that is near enough to the largest": (
        "8.3",
        "def masked_weights(scores, mask):\n"
        "    e = np.exp(scores - scores.max(axis=-1, keepdims=True)) * mask\n"
        "    total = e.sum(axis=-1, keepdims=True)\n    return e / np.where(total == 0, 1, total)",
        "Set the forbidden scores to minus infinity first",
    ),
    "the order of the alphabet": (
        "0.2",
        "def entry(grid, query, key, queries_in):\n    if queries_in == 'row':\n"
        "        return grid[query, key]\n    return grid[key, query]",
        "reads both layouts the same way",
    ),
    "the luck of one draw": (
        "7.6",
        "def is_equivariant(f, x, permutation):\n"
        "    p = np.random.default_rng(0).permutation(len(x))\n"
        "    return np.allclose(f(x[p]), f(x)[p])",
        "",
    ),
    "an array subtracted from its copy": (
        "10.7",
        "def share_changed(decode, memory):\n    empty = memory.copy()\n    empty[0] = 0\n"
        "    return float(np.mean(decode(memory).argmax(1) != decode(empty).argmax(1)))",
        "",
    ),
}  # fmt: skip


@pytest.mark.parametrize("accident", ACCIDENTS)
def test_what_would_be_right_by_accident_is_not_told(accident):
    number, source, name = ACCIDENTS[accident]
    words = words_on(number, source)
    assert name in words
    assert "small change" not in words


def test_the_same_change_is_looked_for_in_a_line_before_it_is_made_in_all():
    words = words_on(
        "8.7",
        "def is_causal(f, x):\n    rng = np.random.default_rng(0)\n    y = f(x)\n"
        "    for t in range(1, len(x)):\n        changed = x.copy()\n"
        "        changed[t:] = rng.standard_normal(changed[t:].shape)\n"
        "        if not np.allclose(f(changed)[: t + 1], y[: t + 1]):\n            return False\n"
        "    return True",
    )
    assert "One small change in line 7, " in words
    assert "is the number 1 right there? It stands there 2 times." in words


def test_of_two_differences_that_may_be_turned_both_are_told():
    words = words_on("16.7", PATCHED + "    return (logp(corrupted, swap) - bad) / (bad - good)")
    assert "(patched - corrupted) / (clean - corrupted)" in words
    assert "comes first in `logp(corrupted, swap) - bad`?" in words
    assert "Another one in its place, in line 17," in words
    assert words.endswith("comes first in `bad - good`?")


def test_a_line_that_stands_alone_in_its_block_can_be_left_out():
    words = words_on(
        "15.2",
        "def total(vocab, longest, d_model, layers, d_ff, tied, biases):\n"
        "    block = 4 * d_model**2 + 2 * d_model * d_ff + 4 * d_model\n"
        "    if biases:\n        block += 5 * d_model + d_ff\n"
        "    else:\n        block -= 2 * d_model\n"
        "    n = (vocab + longest) * d_model + layers * block + 2 * d_model\n"
        "    return n if tied else n + vocab * d_model",
    )
    assert "line 6, `block -= 2 * d_model`, makes your answer right in all 7 cases." in words
    assert "is this line needed?" in words


def test_of_equal_slices_in_a_line_the_one_that_is_wrong_is_counted():
    words = words_on(
        "8.8",
        "import torch\nfrom torch.nn.functional import cross_entropy\n"
        "def next_token_loss(logits, tokens, real):\n"
        "    logits, tokens, real = map(torch.as_tensor, (logits, tokens, real))\n"
        "    return cross_entropy(logits[1:][real[1:]], tokens[1:][real[1:]]).item()",
    )
    assert "where does `[1:]` begin and end? Of the 4 in this line, it is the 1st." in words


def test_a_change_in_two_lines_is_told_with_both():
    task = Task(
        "1.1", "f", "f", 1, 1, 1, lambda x: (x + 3) * (2 * x + 3),
        lambda rng: [Case((rng.normal(),)), Case((rng.normal(),))], arrays=("numpy",),
    )  # fmt: skip
    source = "def f(x):\n    a = x + 2\n    b = x + x + 2\n    return a * b"
    assert (
        "One small change in line 2, `a = x + 2` and in line 3, `b = x + x + 2`, makes your "
        "answer right in both cases."
    ) in " ".join(grade_source(task, source, {"np": np}).sentences)


def test_a_term_is_looked_for_in_the_sum_that_lacks_it():
    words = words_on(
        "15.3",
        "def memory(parameters, bytes_each, adam_bytes):\n    weights = parameters * bytes_each\n"
        "    gradient = parameters * bytes_each\n    adam = 2 * parameters * adam_bytes\n"
        "    return weights, gradient + adam",
    )
    assert "line 5, `return weights, gradient + adam`, makes your answer right" in words
    assert "which term is missing in `gradient + adam`?" in words
