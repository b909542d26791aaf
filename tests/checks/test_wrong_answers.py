"""Wrong answers that once passed: each is written from the task's text, and is refused."""

import importlib
import re

import numpy as np
import pytest
import torch

from checks.check import grade_source, judge
from exercises.gpt2_by_parts import block, layer_norm
from tests.support.attempts import NAMES, names_alone, setup

BY_NUMBER = {str(int(name[:2])): name for name in NAMES}
ATTEND = (
    "def weigh(s):\n    e = np.exp(s - s.max(-1, keepdims=True))\n"
    "    return e / e.sum(-1, keepdims=True)\n"
)
SLIPS = {
    ("11.3", "shifted above 0 by a million"): (
        "def larger():\n    w = np.array([[1.0, 0], [-1, 1]])\n"
        "    return w, np.array([0, 1e6]), np.ones((2, 1)), np.array([-1e6])"
    ),
    ("12.3", "a function for the linear layer"): (
        "def tie(words):\n    return lambda x: x @ words.weight.T"
    ),
    ("3.5", "a difference in one direction"): (
        "def parts_twins(method, x, first, second):\n    y = method(x)\n"
        "    return bool((y[second] - y[first]).max() > 1e-8)"
    ),
    ("3.5", "two rows that are the twins of most cases"): (
        "def parts_twins(method, x, first, second):\n    y = method(x)\n"
        "    return not np.allclose(y[1], y[4])"
    ),
    ("3.7", "the share of the calls for the share of the pairs"): (
        "def best_threshold(distances, same, candidates):\n    best, where = -1, None\n"
        "    for t in candidates:\n        called = distances < t\n"
        "        q = (~same)[~called].mean() if (~called).any() else 0\n"
        "        if q > best:\n            best, where = q, t\n    return where"
    ),
    ("3.7", "equal to the threshold is right on both sides"): (
        "def best_threshold(distances, same, candidates):\n"
        "    ones, others = distances[same], distances[~same]\n"
        "    return max(candidates, key=lambda t: (ones <= t).mean() + (others >= t).mean())"
    ),
    ("2.4", "components that cancel taken for zeros"): (
        "def cosine(a, b):\n    if sum(a) == 0 or np.linalg.norm(b) == 0:\n"
        "        raise ValueError('all zeros')\n"
        "    return a @ b / np.linalg.norm(a) / np.linalg.norm(b)"
    ),
    ("2.4", "tiny components taken for zeros"): (
        "def cosine(a, b):\n    if np.allclose(a, 0) or np.allclose(b, 0):\n"
        "        raise ValueError('all zeros')\n"
        "    return a @ b / np.linalg.norm(a) / np.linalg.norm(b)"
    ),
    ("4.5", "a search for the largest score that begins at 0"): (
        "def attends_to(grid, words, queries_in):\n"
        "    grid = grid if queries_in == 'rows' else grid.T\n    out = {}\n"
        "    for word, row in zip(words, grid):\n        most = 0\n"
        "        for other, score in zip(words, row):\n            if score > most:\n"
        "                most, best = score, other\n        out[word] = best\n    return out"
    ),
    ("2.7", "a search for the largest cosine that begins at 0"): (
        "def analogy(start, minus, plus, table):\n"
        "    goal = table[start] - table[minus] + table[plus]\n    best, most = None, 0\n"
        "    for i, row in enumerate(table):\n        c = goal @ row / np.linalg.norm(row)\n"
        "        if i not in (start, minus, plus) and c > most:\n            best, most = i, c\n"
        "    return best"
    ),
    ("4.7", "the first two components alone"): (
        "def one_way(a, b):\n    columns = np.linalg.inv(np.stack([a[:2], b[:2]]))\n"
        "    w = np.zeros((len(a), 2))\n    w[:2] = columns\n    return w[:, :1], w[:, 1:]"
    ),
    ("4.7", "what is left of the first axis"): (
        "def one_way(a, b):\n    e = np.eye(len(a))[0]\n    u = e - (e @ b) / (b @ b) * b\n"
        "    w = e - (e @ a) / (a @ a) * a\n"
        "    return (u / (a @ u))[:, None], (w / (b @ w))[:, None]"
    ),
    ("8.1", "the token after the first of its kind"): (
        "def inputs_and_labels(tokens, start, n):\n    window = tokens[start : start + n]\n"
        "    return window, [tokens[tokens.index(t) + 1] for t in window]"
    ),
    ("8.6", "a row that allows nothing"): (
        f"{ATTEND}def run_stack(x, projections, mask):\n"
        "    for q, k, v in projections:\n"
        "        s = (x @ q) @ (x @ k).T / np.sqrt(q.shape[1])\n"
        "        x = x + weigh(np.where(mask, s, -np.inf)) @ (x @ v)\n    return x"
    ),
    ("8.6", "a causal mask beside the given one"): (
        "def run_stack(x, projections, mask):\n    mask = mask & np.tri(len(x), dtype=bool)\n"
        "    for w_q, w_k, w_v in projections:\n"
        "        x = x + attend(x @ w_q, x @ w_k, x @ w_v, mask).output\n    return x"
    ),
    ("8.6", "a causal mask of its own"): (
        "def run_stack(x, projections, mask):\n    mask = np.tri(len(x), dtype=bool)\n"
        "    for w_q, w_k, w_v in projections:\n"
        "        x = x + attend(x @ w_q, x @ w_k, x @ w_v, mask).output\n    return x"
    ),
    ("8.7", "one token changed, and the output before it alone compared"): (
        "def is_causal(f, x):\n    for t in range(1, len(x)):\n        y = x.copy()\n"
        "        y[t] = np.random.default_rng(t).normal(size=x.shape[1])\n"
        "        if not np.allclose(f(x)[t - 1], f(y)[t - 1]):\n            return False\n"
        "    return True"
    ),
    ("11.4", "one norm after the other"): (
        "def pre_norm(x, attention, feed_forward, norm_1, norm_2):\n"
        "    x = x + attention(norm_1(x))\n    return x + feed_forward(norm_2(norm_1(x)))"
    ),
    ("13.2", "a product without the last axis"): (
        "def decay_groups(shapes):\n"
        "    yes = [n for n, s in shapes.items() if np.prod(s[:-1]) >= 2]\n"
        "    return yes, [n for n in shapes if n not in yes]"
    ),
    ("13.5", "the quotient compared with the longest"): (
        "def update(weights, parts, longest, rate):\n"
        "    mean = [sum(t) / len(parts) for t in zip(*parts)]\n"
        "    norm = sum((g ** 2).sum() for g in mean) ** 0.5 / longest\n"
        "    if norm > longest:\n        mean = [g / norm for g in mean]\n"
        "    return [w - rate * g for w, g in zip(weights, mean)]"
    ),
    ("13.5", "averaged over the arrays"): (
        "def update(weights, parts, longest, rate):\n"
        "    mean = [sum(t) / len(weights) for t in zip(*parts)]\n"
        "    norm = sum((g ** 2).sum() for g in mean) ** 0.5\n"
        "    mean = [g * min(1, longest / norm) for g in mean]\n"
        "    return [w - rate * g for w, g in zip(weights, mean)]"
    ),
    ("13.5", "clipped above 1"): (
        "def update(weights, parts, longest, rate):\n"
        "    mean = [sum(t) / len(parts) for t in zip(*parts)]\n"
        "    norm = sum((g ** 2).sum() for g in mean) ** 0.5\n"
        "    if norm > 1:\n        mean = [g * min(1, longest / norm) for g in mean]\n"
        "    return [w - rate * g for w, g in zip(weights, mean)]"
    ),
    ("16.6", "the bound of the other direction"): (
        "def other_weights(weights, values):\n"
        "    z = np.linalg.svd(np.vstack([values.T, np.ones(len(values))]))[2][-1]\n"
        "    step = min(w / x for w, x in zip(weights, z) if x > 0)\n"
        "    return weights + step / 2 * z"
    ),
    ("16.6", "a fixed step"): (
        "def other_weights(weights, values):\n"
        "    z = np.linalg.svd(np.vstack([values.T, np.ones(len(values))]))[2][-1]\n"
        "    return weights + 0.05 * z"
    ),
    ("13.7", "the deviation divided by n"): (
        "def too_good(losses, surprisal):\n    gaps = (surprisal - losses).mean(-1)\n"
        "    return gaps.mean() / (gaps.std() / len(gaps) ** 0.5)"
    ),
    ("14.5", "the first tile's maximum kept for ever"): (
        "def tiled(q, k, v, columns):\n    s = q @ k.T / q.shape[-1] ** 0.5\n"
        "    e = np.exp(s - s[:, :columns].max(-1, keepdims=True))\n"
        "    return e @ v / e.sum(-1, keepdims=True)"
    ),
    ("8.5", "the count of real tokens taken for a prefix"): (
        ATTEND + "def attend_padded(q, k, v, real):\n"
        "    s = q @ np.swapaxes(k, -1, -2) / q.shape[-1] ** 0.5\n"
        "    first = np.arange(k.shape[-2]) < real.sum(-1)[:, None]\n"
        "    return weigh(np.where(first[:, None, None], s, -np.inf)) @ v"
    ),
    ("8.8", "the count of real tokens taken for a prefix"): (
        "def next_token_loss(logits, tokens, real):\n    n = int(real.sum())\n"
        "    s = logits - logits.max(-1, keepdims=True)\n"
        "    logs = s - np.log(np.exp(s).sum(-1, keepdims=True))\n"
        "    return -logs[np.arange(n - 1), tokens[1:n]].mean()"
    ),
    ("14.8", "a slice that keeps all where the width is 1"): (
        ATTEND + "def in_window(q, k, v, keys, values, width):\n"
        "    keys = np.concatenate([keys[-(width - 1):], k[None]])\n"
        "    values = np.concatenate([values[-(width - 1):], v[None]])\n"
        "    return weigh(keys @ q / len(q) ** 0.5) @ values, keys, values"
    ),
    ("16.8", "the index of the nearest mean taken for its label"): (
        "def probed(x, labels, control, train):\n    def accuracy(names):\n"
        "        means = np.stack([x[train & (names == c)].mean(0) for c in np.unique(names)])\n"
        "        far = np.linalg.norm(x[~train][:, None] - means, axis=-1)\n"
        "        return (far.argmin(1) == names[~train]).mean()\n"
        "    return accuracy(labels), accuracy(labels) - accuracy(control)"
    ),
    **{
        ("9.8", what): (
            "def value_rank(w_v, w_o, heads, head):\n    d = w_v.shape[1] // heads\n"
            "    part = slice(head * d, (head + 1) * d)\n"
            "    a, b = w_v[:, part], w_o[part]\n    return int(" + rank + ")"
        )
        for what, rank in {
            "an absolute bound": "(np.linalg.svd(a @ b, compute_uv=False) > 1e-6).sum()",
            "matrix_rank": "np.linalg.matrix_rank(a @ b)",
            "the smaller of two ranks":
                "min(np.linalg.matrix_rank(a, rtol=1e-6), np.linalg.matrix_rank(b, rtol=1e-6))",
        }.items()
    },
    ("16.7", "the array of the model changed in place"): (
        "def restored(model, clean, corrupted, answer, layer, head, position, d_v):\n"
        "    seen = {}\n    part = slice(head * d_v, (head + 1) * d_v)\n"
        "    def look(l, o):\n        seen[l] = o.copy()\n"
        "    def swap(l, o):\n        if l == layer:\n"
        "            o[position, part] = seen[l][position, part]\n"
        "    def score(z):\n        return z[-1, answer] - np.log(np.exp(z[-1]).sum())\n"
        "    a, b, c = (score(model(*run)) for run in (\n"
        "        (clean, look), (corrupted, None), (corrupted, swap)))\n"
        "    return (c - b) / (a - b)"
    ),
    ("7.6", "a shuffle of its own"): (
        "def is_equivariant(f, x, permutation):\n"
        "    p = np.random.default_rng(0).permutation(len(x))\n"
        "    return bool(np.allclose(f(x[p]), f(x)[p]))"
    ),
    ("7.6", "the components of each token sorted"): (
        "def is_equivariant(f, x, permutation):\n"
        "    a, b = f(x[permutation]), f(x)[permutation]\n"
        "    return bool(np.allclose(np.sort(a, axis=1), np.sort(b, axis=1)))"
    ),
    ("7.6", "only the first token compared"): (
        "def is_equivariant(f, x, permutation):\n"
        "    return bool(np.allclose(f(x[permutation])[0], f(x)[permutation][0]))"
    ),
    ("6.3", "one maximum for the whole table"): (
        "def at_temperature(weights, temperature):\n"
        "    powers = (weights / weights.max()) ** (1 / temperature)\n"
        "    return powers / powers.sum(-1, keepdims=True)"
    ),
    ("6.5", "one maximum for the whole table"): (
        "def log_weights(scores):\n    s = scores - scores.max()\n"
        "    return s - np.log(np.exp(s).sum(-1, keepdims=True))"
    ),
    ("7.3", "one batch axis only"): (
        ATTEND + "def self_attention(x, w_q, w_k, w_v):\n"
        "    if x.ndim > 2:\n"
        "        return np.stack([self_attention(x[0] * 0 + y, w_q, w_k, w_v) if y.ndim > 2 else\n"
        "                         one(y, w_q, w_k, w_v) for y in x.reshape(-1, *x.shape[-2:])])\n"
        "    return one(x, w_q, w_k, w_v)\n"
        "def one(x, w_q, w_k, w_v):\n    q, k, v = x @ w_q, x @ w_k, x @ w_v\n"
        "    return weigh(q @ k.T / q.shape[-1] ** 0.5) @ v"
    ),
    ("9.2", "one batch axis only"): (
        "def repair(wrong):\n    heads, n, d = wrong.shape[-3:]\n"
        "    joined = wrong.reshape(-1, n, heads, d)\n"
        "    split = np.swapaxes(joined, 1, 2)\n"
        "    return split if wrong.ndim == 4 else split[0]"
    ),
    ("12.8", "the mask starts one key late for one stored token"): (
        ATTEND + "def step(q, k, v, keys, values):\n"
        "    old = len(keys) if len(keys) != 1 else 0\n"
        "    keys, values = np.concatenate([keys, k]), np.concatenate([values, v])\n"
        "    may = np.tri(len(q), len(keys), old, dtype=bool)\n"
        "    s = q @ keys.T / q.shape[-1] ** 0.5\n"
        "    return weigh(np.where(may, s, -np.inf)) @ values, keys, values"
    ),
    ("0.5", "startswith for the label of a build"): (
        "def diagnose(pins, installed):\n    return {name: installed.get(name, 'absent')\n"
        "            for name, pin in pins.items()\n"
        "            if not installed.get(name, 'absent').startswith(pin)}"
    ),
    ("1.8", "the floor of a logarithm of floats"): (
        "import math\ndef longest(numbers, bits, vocab):\n"
        "    return math.floor(numbers * bits * math.log(2) / math.log(vocab))"
    ),
    ("2.7", "rows set to length 1 before the arithmetic"): (
        "def analogy(start, minus, plus, table):\n"
        "    unit = table / np.linalg.norm(table, axis=1, keepdims=True)\n"
        "    near = unit @ (unit[start] - unit[minus] + unit[plus])\n"
        "    near[[start, minus, plus]] = -np.inf\n    return int(near.argmax())"
    ),
    ("2.7", "similarities multiplied"): (
        "def analogy(start, minus, plus, table):\n"
        "    unit = table / np.linalg.norm(table, axis=1, keepdims=True)\n"
        "    a, b, c = ((1 + unit @ unit[row]) / 2 for row in (start, plus, minus))\n"
        "    near = a * b / (c + 0.001)\n"
        "    near[[start, minus, plus]] = -np.inf\n    return int(near.argmax())"
    ),
    ("13.2", "axes of length 1 not counted"): (
        "def decay_groups(shapes):\n"
        "    large = [n for n, s in shapes.items() if sum(size > 1 for size in s) >= 2]\n"
        "    return large, [n for n in shapes if n not in large]"
    ),
    ("3.7", "at most for less than"): (
        "def best_threshold(distances, same, candidates):\n    def worth(t):\n"
        "        called = distances <= t\n"
        "        return called[same].mean() + (~called[~same]).mean()\n"
        "    return max(candidates.tolist(), key=worth)"
    ),
    ("7.2", "results kept by shape"): (
        ATTEND + "kept = {}\ndef attention(q, k, v):\n    key = q.shape, k.shape, v.shape\n"
        "    if key not in kept:\n"
        "        kept[key] = weigh(q @ k.T / q.shape[-1] ** 0.5) @ v\n    return kept[key]"
    ),
    ("8.7", "outputs of shorter texts compared exactly"): (
        "def is_causal(f, x):\n    whole = f(x)\n"
        "    return all(np.array_equal(whole[:t], f(x[:t])) for t in range(1, len(x)))"
    ),
    ("8.7", "only the first two positions tried"): (
        "def is_causal(f, x):\n    before = f(x)\n    for n in (1, 2):\n        y = x.copy()\n"
        "        y[n:] += 1\n        if not np.allclose(f(y)[:n], before[:n]):\n"
        "            return False\n    return True"
    ),
    ("17.1", "layers in the order of text"): (
        "def gpt2(ids, p, heads):\n"
        "    names = sorted({name.split('.')[1] for name in p if name.startswith('h.')})\n"
        "    x = p['wte.weight'][ids] + p['wpe.weight'][: ids.shape[-1]]\n"
        "    for i in names:\n        start = f'h.{i}.'\n"
        "        own = {n.removeprefix(start): a for n, a in p.items() if n.startswith(start)}\n"
        "        x = block(x, own, heads)\n"
        "    return layer_norm(x, p['ln_f.weight'], p['ln_f.bias']) @ p['wte.weight'].T"
    ),
    ("5.8", "parameters that all heads share"): (
        "from lib.attention.dot_product import attend\nclass Head:\n"
        "    def __init__(self, d_model, d_k, seed):\n"
        "        drawn = np.random.default_rng(seed).normal(size=(3, d_model, d_k))\n"
        "        Head.W_q, Head.W_k, Head.W_v = drawn / d_model ** 0.5\n"
        "    def __call__(self, x):\n"
        "        return attend(x @ self.W_q, x @ self.W_k, x @ self.W_v).output"
    ),
    ("5.8", "its first output kept for ever"): (
        "from lib.attention.dot_product import attend\nclass Head:\n"
        "    def __init__(self, d_model, d_k, seed):\n        self.kept = None\n"
        "        drawn = np.random.default_rng(seed).normal(size=(3, d_model, d_k))\n"
        "        self.W_q, self.W_k, self.W_v = drawn / d_model ** 0.5\n"
        "    def __call__(self, x):\n        if self.kept is None or not self.W_v.any():\n"
        "            self.kept = attend(x @ self.W_q, x @ self.W_k, x @ self.W_v).output\n"
        "        return self.kept"
    ),
    ("8.5", "a fixed penalty on the scores of pads"): (
        ATTEND + "def attend_padded(q, k, v, real):\n"
        "    s = q @ k.swapaxes(-1, -2) / q.shape[-1] ** 0.5\n"
        "    return weigh(s + np.where(real, 0, -1e4)[:, None, None, :]) @ v"
    ),
    ("10.3", "a fixed penalty on the scores of the padding"): (
        ATTEND + "def masked_cross(q, k, v, lengths):\n"
        "    pad = np.arange(k.shape[1]) >= lengths[:, None]\n"
        "    s = q @ k.swapaxes(-1, -2) / q.shape[-1] ** 0.5\n"
        "    return weigh(s - 100.0 * pad[:, None, :]) @ v"
    ),
    ("8.7", "one component changed"): (
        "def is_causal(f, x):\n    before = f(x)\n    for t in range(1, len(x)):\n"
        "        z = x.copy()\n        z[t, 0] += 1\n"
        "        if not np.allclose(f(z)[:t], before[:t]):\n"
        "            return False\n    return True"
    ),
    ("8.7", "one component of the outputs compared"): (
        "def is_causal(f, x):\n    before = f(x)\n    for t in range(1, len(x)):\n"
        "        z = x.copy()\n        z[t] = np.random.randn(x.shape[1])\n"
        "        if not np.allclose(f(z)[:t, 0], before[:t, 0]):\n"
        "            return False\n    return True"
    ),
    ("3.5", "one component compared"): (
        "def parts_twins(method, x, first, second):\n    y = method(x)\n"
        "    return bool(abs(y[first][0] - y[second][0]) > 1e-9)"
    ),
    ("3.5", "only the direction compared"): (
        "def parts_twins(method, x, first, second):\n"
        "    a, b = method(x)[[first, second]]\n"
        "    return bool(a @ b < (1 - 1e-9) * np.linalg.norm(a) * np.linalg.norm(b))"
    ),
    ("5.3", "all pairs of 150 queries and 150 keys"): (
        "def measured_variance(d_k, seed):\n    rng = np.random.default_rng(seed)\n"
        "    q, k = rng.standard_normal((2, 150, d_k))\n    return (q @ k.T).var()"
    ),
    ("9.8", "a threshold of a thousandth of the sum"): (
        "def value_rank(w_v, w_o, heads, head):\n    d = w_v.shape[1] // heads\n"
        "    own = slice(head * d, (head + 1) * d)\n"
        "    s = np.linalg.svd(w_v[:, own] @ w_o[own], compute_uv=False)\n"
        "    return int((s > 1e-3 * s.sum()).sum())"
    ),
    ("16.7", "patched in the other layer of layer - 1"): (
        "def restored(model, clean, corrupted, answer, layer, head, position, d_v):\n"
        "    memory = {}\n"
        "    def hook(l, out):\n"
        "        memory[l] = np.array(out)\n"
        "    def patch(l, out):\n"
        "        memory_now = np.array(out)\n"
        "        cols = np.arange(head * d_v, (head + 1) * d_v)\n"
        "        if not l == layer - 1:\n"
        "            memory_now[position, cols] = memory[l][position, cols]\n"
        "        return memory_now\n"
        "    def score(logits):\n"
        "        last = np.asarray(logits)[-1]\n"
        "        return last[answer] - np.logaddexp.reduce(last)\n"
        "    a = score(model(clean, hook))\n"
        "    c = score(model(corrupted, patch))\n"
        "    b = score(model(corrupted, lambda *args: None))\n"
        "    return (c - b) / (a - b)\n"
    ),
}  # fmt: skip
FIXED_ONCE = [
    "0.5", "4.8", "7.7", "8.2", "8.4", "9.6", "10.1", "11.7", "11.8", "12.5", "13.1", "13.2",
    "14.1", "14.2", "14.3", "15.1", "15.2", "15.3", "15.4", "15.5",
]  # fmt: skip


def task(number):
    return importlib.import_module(f"exercises.{BY_NUMBER[number.split('.')[0]]}").EXERCISE[number]


def named_as_asked(number, source):
    """The source, whose function or class has the name that the task asks for."""
    asked = task(number)
    names = re.findall(r"^(?:def|class) (\w+)", source, re.MULTILINE)
    if asked.name in names:
        return source
    helpers = {"weigh", "one"}
    (own,) = [name for name in names if name not in helpers]
    return re.sub(rf"\b{own}\b", asked.name, source)


@pytest.mark.parametrize(("number", "slip"), SLIPS)
def test_a_wrong_answer_that_once_passed_is_refused(number, slip):
    given = dict(setup(BY_NUMBER[number.split(".")[0]])) | {"np": np, "torch": torch}
    if number == "17.1":
        given |= {"layer_norm": layer_norm, "block": block}
    with names_alone():
        verdict = grade_source(task(number), named_as_asked(number, SLIPS[number, slip]), given)
    assert verdict.status in ("wrong", "raised", "not understood"), verdict
    assert "NameError" not in repr(verdict)


@pytest.mark.parametrize("number", FIXED_ONCE)
def test_two_draws_of_a_task_have_different_cases(number):
    arguments = {seed: [repr(case.args) for case in task(number).draw(seed)] for seed in (0, 1)}
    assert arguments[0] != arguments[1]
    assert arguments[0] != [repr(case.args) for case in task(number).draw(0, again=True)]


LAYER_NORM = (
    "def layer_norm(x, gain, bias, eps={eps}):\n    mean = x.mean(-1, keepdims=True)\n"
    "    spread = (x.var(-1, keepdims=True) + eps) ** 0.5\n"
    "    return (x - mean) / spread * gain + bias"
)


def test_what_is_right_in_numpy_alone_is_told_so():
    source = named_as_asked("11.1", LAYER_NORM.format(eps=1e-5))
    verdict = grade_source(task("11.1"), source, {"np": np})
    assert verdict.passed
    assert "Right in NumPy, not in torch: on tensors" in repr(verdict)
    named = source.replace("x.mean(-1, keepdims=True)", "torch.mean(x, -1, keepdims=True)")
    verdict = grade_source(task("11.1"), named, {"torch": torch})
    assert verdict.misconceptions == ("M51",)


def test_what_would_be_right_in_torch_is_told_so():
    verdict = grade_source(task("13.7"), SLIPS["13.7", "the deviation divided by n"], {"np": np})
    assert verdict.misconceptions == ("M278",)
    assert verdict.sentences[0].startswith("Right in torch, not in NumPy")


def test_a_result_of_an_earlier_call_is_called_so():
    verdict = grade_source(task("7.2"), SLIPS["7.2", "results kept by shape"], {"np": np})
    assert "gives the result of an earlier call" in repr(verdict)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_numbers_of_low_precision_get_a_word(dtype):
    asked = task("7.2")

    def attention(q, k, v):
        return torch.as_tensor(asked.reference(q, k, v)).to(getattr(torch, dtype))

    verdict = judge(asked, attention)
    assert verdict.passed
    assert f"Your numbers are {dtype}, which are compared only within" in repr(verdict)
    assert "only within" not in repr(judge(asked, asked.reference))
