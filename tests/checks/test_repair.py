"""A wrong answer that one small change makes right is told where to change what."""

import ast
import importlib
from dataclasses import replace

import numpy as np
import pytest

from checks.check import grade_source
from checks.repair.accidental_fixes import is_vain
from checks.repair.edits import edits_of

FOLDERS = {
    "2": "02_embeddings", "3": "03_context", "4": "04_queries_keys_values", "5": "05_scaling",
    "6": "06_softmax", "7": "07_self_attention", "8": "08_masking", "9": "09_multi_head",
    "13": "13_training", "14": "14_cost", "16": "16_heads",
}  # fmt: skip
ALL = "makes your answer right in "


def told(number: str, source: str) -> str:
    """What the check says of an answer that it cannot name, in one text."""
    exercise = importlib.import_module(f"exercises.{FOLDERS[number.split('.')[0]]}").EXERCISE
    task = replace(exercise[number], wrong=())
    return " ".join(grade_source(task, source, {"np": np}).sentences)


SLIPS = {
    "a loop that replaces instead of adding": (
        "4.2",
        "def score(q, k):\n    total = 0\n    for c in range(len(q)):\n"
        "        total = q[c] * k[c]\n    return total",
        "One small change in line 4, `total = q[c] * k[c]`, makes your answer right in all 4 "
        "cases. Look there: each turn of the loop replaces `total`; is what was there before "
        "still needed?",
    ),
    "a loop that ends too early": (
        "4.2",
        "def score(q, k):\n    total = 0\n    for c in range(len(q) - 1):\n"
        "        total += q[c] * k[c]\n    return total",
        "line 3, `for c in range(len(q) - 1):`, makes your answer right in all 4 cases. "
        "Look there: does `1` belong in `len(q) - 1`?",
    ),
    "return within the loop": (
        "4.2",
        "def score(q, k):\n    total = 0\n    for c in range(len(q)):\n"
        "        total += q[c] * k[c]\n        return total",
        "line 5, `return total`, makes your answer right in all 4 cases. Look there: this line "
        "is in the loop; should it come once, after the loop?",
    ),
    "brackets": (
        "5.1",
        "def scaled_scores(x, W_q, W_k):\n    q, k = x @ W_q, x @ W_k\n"
        "    return q @ k.T / q.shape[-1] ** 1 / 2",
        "where must the brackets stand in `q @ k.T / q.shape[-1] ** 1 / 2`?",
    ),
    "reshape for a transpose": (
        "4.1",
        "def project(x, weight, bias):\n    d_out, d_in = weight.shape\n"
        "    return x @ weight.reshape(d_in, d_out) + bias",
        "`reshape` keeps the numbers in their order and cuts the rows elsewhere",
    ),
    "a limit for one size of numbers": (
        "9.8",
        "def value_rank(w_v, w_o, heads, head):\n    d_v = w_v.shape[1] // heads\n"
        "    part = slice(head * d_v, (head + 1) * d_v)\n"
        "    values = np.linalg.svd(w_v[:, part] @ w_o[part], compute_uv=False)\n"
        "    return int(np.sum(values > 1e-6))",
        "is the limit 1e-06 right for numbers of every size?",
    ),
    "an index in place of what stands there": (
        "3.7",
        "def best_threshold(distances, same, candidates):\n"
        "    quality = [((distances[same] < t).mean() + (distances[~same] >= t).mean()) / 2\n"
        "               for t in candidates]\n    return int(np.argmax(quality))",
        "`int(np.argmax(quality))` is an index; is it asked for, or what stands there?",
    ),
    "an axis of a mask": (
        "8.5",
        "def attend_padded(q, k, v, real):\n"
        "    s = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])\n"
        "    s = np.where(real[:, None, :, None], s, -1e30)\n"
        "    e = np.exp(s - s.max(axis=-1, keepdims=True))\n"
        "    return e / e.sum(axis=-1, keepdims=True) @ v",
        "line 3, `s = np.where(real[:, None, :, None], s, -1e30)`, makes your answer right in "
        "all 4 cases. Look there: is the order right in `:, None, :, None`?",
    ),
    "an index copied from elsewhere": (
        "9.3",
        "from lib.attention.dot_product import attend\ndef heads_by_loop(x, w_q, w_k, w_v, w_o):\n"
        "    outputs = []\n    for i in range(len(w_q)):\n"
        "        outputs.append(attend(x @ w_q[i], x @ w_k[i], x @ w_v[0]).output)\n"
        "    return np.concatenate(outputs, axis=-1) @ w_o",
        "Look there: is the index right in `w_v[0]`?",
    ),
    "letters of an einsum": (
        "4.4",
        "def token_scores(x, w_q, w_k):\n"
        "    return np.einsum('...id,dc,ef,...je->...ij', x, w_q, w_k, x)",
        "which axes have the same letter in `'...id,dc,ef,...je->...ij'`, and should they?",
    ),
    "the same number at two places": (
        "5.7",
        "def fold(W_q, b_q):\n    d_k = b_q.shape[0]\n"
        "    return W_q * d_k ** -0.25, b_q * d_k ** -0.25",
        "is the number -0.25 right there? It stands there 2 times.",
    ),
    "where equal values belong": (
        "8.4",
        "def batch_masks(lengths, n):\n"
        "    real = np.arange(n)[None, :] > n - np.asarray(lengths)[:, None]\n"
        "    encoder = real[:, None, None, :]\n    return encoder, encoder & np.tri(n, dtype=bool)",
        "on which side do equal values belong?",
    ),
    "two slips": (
        "7.8",
        "def same_rotary_score(query, key, n):\n    pos = np.arange(n)\n"
        "    return pos[:, None] + pos[None, :] == query + key",
        "Two small changes in line 3, `return pos[:, None] + pos[None, :] == query + key`, make "
        "your answer right in all 4 cases.",
    ),
    "one result of two": (
        "16.1",
        "def habits(weights):\n    n = len(weights)\n    previous = np.diag(weights, 1).sum() / n\n"
        "    sink = weights[1:, 0].sum() / n\n    return previous, sink",
        "One small change in line 4, `sink = weights[1:, 0].sum() / n`, makes `result 2` right "
        "in all 3 cases. Look there: is `n` right there, or off by one?",
    ),
    "a factor that is missing": (
        "5.5",
        "def score_moments(mean_q, sd_q, mean_k, sd_k, d_k):\n"
        "    v = (sd_q * sd_k) ** 2 + (mean_q * sd_k) ** 2 + (mean_k * sd_q) ** 2\n"
        "    return mean_q * mean_k, d_k * v",
        "what else must `mean_q * mean_k` be multiplied or divided by?",
    ),
    "a helper beside it": (
        "7.2",
        "def weigh(s):\n    e = np.exp(s - s.max(-1, keepdims=True))\n    return e / e.sum()\n"
        "def attention(q, k, v):\n    return weigh(q @ k.T / q.shape[-1] ** 0.5) @ v",
        "line 3, `return e / e.sum()`, makes your answer right in all 5 cases. Look there: "
        "`e.sum()` is taken over all numbers at once; which axis is needed?",
    ),
    "a line too many": (
        "4.5",
        "def attends_to(grid, words, queries_in):\n    g = np.array(grid, dtype=float)\n"
        "    g = g.T if queries_in == 'columns' else g\n    np.fill_diagonal(g, -1)\n"
        "    return {w: words[int(row.argmax())] for w, row in zip(words, g)}",
        "line 4, `np.fill_diagonal(g, -1)`, makes your answer right in all 5 cases. Look there: "
        "is this line needed?",
    ),
    "torch": (
        "7.2",
        "import torch\ndef attention(q, k, v):\n    s = q @ k.mT / v.shape[-1] ** 0.5\n"
        "    return s.softmax(-1) @ v",
        "Look there: is `v` the variable that belongs there?",
    ),
}  # fmt: skip


@pytest.mark.parametrize("slip", SLIPS)
def test_the_small_change_that_makes_an_answer_right_is_located(slip):
    number, source, words = SLIPS[slip]
    assert words in told(number, source)


def test_no_change_is_told_where_none_makes_every_case_right():
    source = "def score(q, k):\n    return np.linalg.norm(q - k)"
    assert "small change" not in told("4.2", source)


def test_two_changes_are_sought_for_wrong_numbers_and_not_after_an_error(monkeypatch):
    module, sought = importlib.import_module("checks.repair.one_change"), []
    monkeypatch.setattr(module, "_repairs_of_two", lambda search: sought.append(search) or [])
    told("4.2", "def score(q, k):\n    return np.linalg.norm(q - k)")
    assert len(sought) == 1
    told("4.2", "def score(q, k):\n    raise ValueError('the cat sat on it')")
    assert len(sought) == 1


def test_the_change_itself_is_not_given_away():
    number, source, _ = SLIPS["a loop that replaces instead of adding"]
    assert "+=" not in told(number, source)


def test_an_answer_that_keeps_a_record_is_run_in_a_world_of_its_own():
    number = "4.2"
    exercise = importlib.import_module("exercises.04_queries_keys_values").EXERCISE
    world = {"np": np, "seen": 0}
    source = (
        "def score(q, k):\n    global seen\n    seen = 1\n    total = 0\n"
        "    for c in range(len(q) - 1):\n        total += q[c] * k[c]\n    return total"
    )
    assert ALL in " ".join(
        grade_source(replace(exercise[number], wrong=()), source, world).sentences
    )
    assert world["seen"] == 0


def test_of_two_equal_names_in_a_line_it_is_said_which_is_meant():
    body = ast.parse("def f(a, b):\n    return a + b * a").body
    asked = [edit.question for edit in edits_of(body) if "is `a` the variable" in edit.question]
    ends = ("it is the 1st.", "it is the 2nd.")
    assert {question[-len(ends[0]) :] for question in asked} >= set(ends)


def test_a_loop_is_not_begun_in_front_of_the_first_row_and_may_begin_where_it_did():
    def vain(source, looks):
        body = ast.parse(f"def f(n):\n    return sum({source})").body
        return [is_vain(edit, {}) for edit in edits_of(body) if looks in made(edit)]

    assert all(vain("range(0, n)", "range(-1, n)"))
    ends_earlier = vain("range(-n, n)", "range(-n, n - 1)")
    assert ends_earlier
    assert not any(ends_earlier)


def made(edit):
    """What a changed part looks like."""
    with edit.made():
        return " ".join(ast.unparse(owner) for owner, _, _ in edit.puts)


def test_what_an_answer_prints_is_not_printed_again(capsys):
    source = (
        "def score(q, k):\n    print('here')\n    total = 0\n"
        "    for c in range(len(q) - 1):\n        total += q[c] * k[c]\n    return total"
    )
    assert ALL in told("4.2", source)
    assert len(capsys.readouterr().out.splitlines()) < 12
