"""What readers of the pages wrote while they solved the tasks, and what they were told wrongly."""

from typing import NamedTuple

import pytest

from checks.check import grade_source
from tests.support.attempts import load, setup

NP = "import math\nimport numpy as np\nfrom lib.attention.dot_product import attend\n"
HEAD = "    e = np.exp(s - s.max(-1, keepdims=True))\n    w = e / e.sum(-1, keepdims=True)\n"
WRITE = """
def write(step, ids, new, temperature, top_p, draws):
    cache, read = None, ids
    for i in range(new):
        logits, cache = step(read, cache)
        z = logits[-1]
        if temperature == 0:
            j = int(np.argmax(z))
            order = np.arange(len(z))
        else:
            p = np.exp((z - z.max()) / temperature)
            p /= p.sum()
            order = np.argsort(-p)
            k = np.sum(np.cumsum(p[order]) < top_p) + 1
            q = p[order[:k]] / p[order[:k]].sum()
            {}
        ids = np.append(ids, order[j])
        read = ids[-1:]
    return ids
"""


DECODE = """
def decode_step(x, query, key, value, keys, values, base):
    q, k, v = query @ x, key @ x, value @ x
    a = angles_of(np.array([len(keys)]), len(q), base)
    q, k = rotate(q[None], a), rotate(k[None], a)
    keys, values = np.vstack([keys, k]), np.vstack([values, v])
    s = {} @ keys.T / np.sqrt({})
    w = np.exp(s - s.max())
    return (w / w.sum()) @ values, keys, values
"""


class Slip(NamedTuple):
    """An answer, the words that its verdict needs, and those that were untrue of it."""

    exercise: str
    task: str
    code: str
    has: str
    lacks: str = "no such words"


RESTORED = (
    "from lib.functional import softmax\n"
    "def restored(model, clean, corrupted, answer, layer, head, position, d_v):\n"
    "    store = {}\n"
    "    cols = slice(head * d_v, (head + 1) * d_v)\n"
    "    def record(l, out):\n"
    "        store[l] = out.copy()\n"
    "    def swap(l, out):\n"
    "        if l == layer:\n"
    "            out = out.copy()\n"
    "            out[position, cols] = store[layer][position, cols]\n"
    "            return out\n"
    "    def logp(ids, hook):\n"
    "        z = model(ids, hook)[-1]\n"
    "        return np.log(softmax(z)[answer])\n"
)
SLIPS = {
    "scaled by the width of the values": Slip(
        "18_llama", "18.6", DECODE.format("q[0]", "len(value)"),
        "You divided by the square root of d_v",
    ),
    "an axis of one token left over": Slip(
        "18_llama", "18.6", DECODE.format("q", "len(query)"),
        "only the shape is not: an axis is missing or too many", "larger than it should be",
    ),
    "an axis of one token left over, and no scale": Slip(
        "18_llama", "18.6", DECODE.format("q", "1.5"),
        "an axis of length 1 is left over", "larger than it should be",
    ),
    "one position alone tried": Slip(
        "08_masking", "8.7",
        "def is_causal(f, x):\n"
        "    z = np.array(x); z[3] = z[3, ::-1] + [0.3, -1.1, 0.7]\n"
        "    return bool(np.allclose(f(z)[:3], f(x)[:3]))\n",
        "right on 12 of 16 cases", "for every function that the check gave it",
    ),
    "a method that was not called": Slip(
        "00_start", "0.2",
        "def entry(grid, query, key, queries_in):\n"
        "    if queries_in == 'columns':\n"
        "        grid = grid.transpose\n"
        "    return grid[query, key]\n",
        "are the brackets missing that call it",
    ),
    "the loop over three columns of any grid": Slip(
        "00_start", "0.3",
        "def strongest(grid, queries_in):\n"
        "    if queries_in == 'rows':\n"
        "        return np.array([int(np.argmax(row)) for row in grid])\n"
        "    return np.array([int(np.argmax(grid[:, i])) for i in range(3)])\n",
        "Here axis 0 should be as long as `grid.shape[-1]`", ". Axis 0 should be",
    ),
    "the upper half alone": Slip(
        "02_embeddings", "2.5",
        "def cosine_table(x):\n"
        "    n = len(x)\n"
        "    t = np.zeros((n, n))\n"
        "    for i in range(n):\n"
        "        for j in range(i + 1, n):\n"
        "            t[i, j] = x[i] @ x[j] / (np.linalg.norm(x[i]) * np.linalg.norm(x[j]))\n"
        "    return t\n",
        "where does `range(i + 1, n)` begin and end?", "or its opposite",
    ),
    "a loop that ends one early, with while": Slip(
        "04_queries_keys_values", "4.2",
        "def score(q, k):\n"
        "    s, i = 0.0, 0\n"
        "    i = 0\n"
        "    while i < len(q) - 1:\n"
        "        s += q[i] * k[i]\n"
        "        i += 1\n"
        "    return s\n",
        "`while i < len(q) - 1:`, makes", "is the number 0 right",
    ),
    "two results exchanged": Slip(
        "04_queries_keys_values", "4.8",
        "def count(n, d_model, d_k, d_v):\n"
        "    parameters = d_model * d_k * 2 + d_model * d_v\n"
        "    return parameters, n * n\n",
        "in the opposite order: exchange them", "begin with the one",
    ),
    "log2 with exp": Slip(
        "06_softmax", "6.3",
        "def at_temperature(weights, temperature):\n"
        "    s = np.log2(weights) / temperature\n"
        "    e = np.exp(s - s.max(-1, keepdims=True))\n"
        "    return e / e.sum(-1, keepdims=True)\n",
        "is `log2` the function that belongs there", "times the right value",
    ),
    "the input of the first layer added in each, and no masked scores": Slip(
        "08_masking", "8.6",
        "def run_stack(x, projections, mask):\n"
        "    x0 = x\n"
        "    for w_q, w_k, w_v in projections:\n"
        "        s = (x @ w_q) @ (x @ w_k).T / np.sqrt(x.shape[1])\n"
        "        e = np.where(mask, np.exp(s), 0)\n"
        "        t = e.sum(1, keepdims=True)\n"
        "        w = np.divide(e, t, out=np.zeros_like(e), where=t > 0)\n"
        "        x = x0 + w @ (x @ w_v)\n"
        "    return x\n",
        "these are the weights", "the masked scores come next",
    ),
    "all axes in a transpose of a batch": Slip(
        "09_multi_head", "9.2",
        "def repair(wrong):\n"
        "    *b, h, n, d = wrong.shape\n"
        "    return wrong.reshape(*b, n, h, d).transpose(1, 0, 2)\n",
        "exchanges two axes in both", "`.swapaxes(-2, -1)` exchanges",
    ),
    "the queries of head 0 in every turn": Slip(
        "09_multi_head", "9.3",
        "def heads_by_loop(x, w_q, w_k, w_v, w_o):\n"
        "    heads = []\n"
        "    for i in range(w_q.shape[0]):\n"
        "        q, k, v = x @ w_q[0], x @ w_k[0], x @ w_v[i]\n"
        "        s = q @ k.T / np.sqrt(w_q.shape[2])\n"
        "        e = np.exp(s - s.max(1, keepdims=True))\n"
        "        heads.append(e / e.sum(1, keepdims=True) @ v)\n"
        "    return np.concatenate(heads, axis=1) @ w_o\n",
        "is right in its first turn: these are the queries. A later", "none of your steps",
    ),
    "a split along the tokens": Slip(
        "09_multi_head", "9.4",
        "def multi_head(x, w_qkv, b_qkv, w_o, b_o, heads):\n"
        "    q, k, v = np.split(x @ w_qkv + b_qkv, 3)\n"
        "    q, k, v = (split_heads(t, heads) for t in (q, k, v))\n"
        "    s = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])\n"
        "    e = np.exp(s - s.max(-1, keepdims=True))\n"
        "    return merge_heads(e / e.sum(-1, keepdims=True) @ v) @ w_o + b_o\n",
        "along which axis does `split` cut?",
    ),
    "the number of stories less 1, twice": Slip(
        "13_training", "13.7",
        "def too_good(losses, surprisal):\n"
        "    g = (surprisal - losses).sum(axis=1)\n"
        "    s = len(g)\n"
        "    var = ((g - g.mean()) ** 2).sum() / (s - 1)\n"
        "    return g.mean() / np.sqrt(var / (s - 1))\n",
        "Another one in its place, in line",
    ),
    "a loop over a dictionary as over pairs": Slip(
        "13_training", "13.2",
        "def decay_groups(shapes):\n"
        "    yes, no = [], []\n"
        "    for name, shape in shapes:\n"
        "        (yes if len(shape) > 1 else no).append(name)\n"
        "    return yes, no\n",
        "`.items()` gives pairs",
    ),
    "the loss of the whole model less that without a head": Slip(
        "16_heads", "16.5",
        "def price(logits, without, targets):\n"
        "    def nll(z):\n"
        "        lp = z - np.log(np.exp(z).sum(-1, keepdims=True))\n"
        "        return -lp[np.arange(len(targets)), targets].mean()\n"
        "    return np.array([nll(logits) - nll(w) for w in without])\n",
        "comes first in `nll(logits) - nll(w)`", "comes first in `z - ",
    ),
    "the exponent of SiLU without its minus": Slip(
        "18_llama", "18.4",
        "def swiglu(x, gate_up, down):\n"
        "    h = np.einsum('...d,fd->...f', x, gate_up)\n"
        "    g, u = np.split(h, 2, axis=-1)\n"
        "    return np.einsum('...f,df->...d', g / (1 + np.exp(g)) * u, down)\n",
        "it is the 2nd", "is the sign of `np.einsum",
    ),
    "labels in a single text": Slip(
        "17_capstone", "17.10", "hunts = {'A1, A4, B3, C1, C2'}\n",
        "'A1, A4, B3, C1, C2' holds several words", "misjudged",
    ),
    "a length in place of the positions": Slip(
        "18_llama", "18.6",
        "def decode_step(x, query, key, value, keys, values, base):\n"
        "    q, k, v = query @ x, key @ x, value @ x\n"
        "    a = angles_of(len(keys), query.shape[0], base)\n"
        "    return rotate(q[None], a), keys, values\n",
        "give it `np.array([number])`",
    ),
    "right up to the last digits": Slip(
        "03_context", "3.2",
        "def weighted_average(weights, rows):\n"
        "    return np.asarray(weights) @ rows / (np.sum(weights) * (1 + 1e-4))\n",
        "right in three digits, and not to the last", "is 1 times",
    ),
    "scores that became complex": Slip(
        "07_self_attention", "7.2",
        "def attention(q, k, v):\n"
        "    s = (q @ k.T + 0j) / np.sqrt(q.shape[-1]) * 1.5\n"
        "    w = np.exp(s - s.real.max(-1, keepdims=True))\n"
        "    return (w / w.sum(-1, keepdims=True)) @ v\n",
        "does `0j` belong in",
    ),
    "gradients that are never set to 0": Slip(
        "08_masking", "8.9",
        "def train_bigram(tokens, words, steps, learning_rate):\n"
        "    logits = np.zeros((words, words))\n"
        "    grad = np.zeros((words, words))\n"
        "    m = len(tokens) - 1\n"
        "    for _ in range(steps):\n"
        "        for t in range(m):\n"
        "            a, b = tokens[t], tokens[t + 1]\n"
        "            p = np.exp(logits[a])\n"
        "            p /= p.sum()\n"
        "            p[b] -= 1\n"
        "            grad[a] += p / m\n"
        "        logits -= learning_rate * grad\n"
        "    return logits\n",
        "this line is before the loop; should it come again in each turn?", "Two small changes",
    ),
    "the smallest of a sorted list": Slip(
        "02_embeddings", "2.7",
        "def analogy(start, minus, plus, table):\n"
        "    target = table[start] - table[minus] + table[plus]\n"
        "    order = np.argsort(table @ target / np.linalg.norm(table, axis=1))\n"
        "    for i in order:\n"
        "        if i not in (start, minus, plus):\n"
        "            return int(i)\n",
        "`argsort` puts the smallest first", "is the sign of",
    ),
    "the token by the number of tokens": Slip(
        "09_multi_head", "9.1",
        "def place(number, n, d_model, heads):\n"
        "    d_k = d_model // heads\n"
        "    token = number // n\n"
        "    column = number - token * n\n"
        "    return column // d_k, token, column % d_k\n",
        "Rows of n numbers", "is `column` the variable",
    ),
    "a norm replaced in each turn": Slip(
        "07_self_attention", "7.2",
        "def attention(q, k, v):\n"
        "    out = []\n"
        "    for qi in q:\n"
        "        total, norm = np.zeros(v.shape[1]), 0\n"
        "        for kj, vj in zip(k, v):\n"
        "            e = np.exp(qi @ kj / np.sqrt(len(qi)))\n"
        "            norm = e\n"
        "            total += e * vj\n"
        "        out.append(total / norm)\n"
        "    return np.array(out)\n",
        "each turn of the loop replaces `norm`", "is not normalised",
    ),
    "a range that ends with its own token": Slip(
        "16_heads", "16.2",
        "def induction(weights, ids):\n"
        "    sums = []\n"
        "    for i in range(len(ids)):\n"
        "        earlier = [j for j in range(i + 1) if ids[j] == ids[i]]\n"
        "        if earlier:\n"
        "            sums.append(sum(weights[i, j + 1] for j in earlier))\n"
        "    return float(np.mean(sums))\n",
        "does `1` belong in `i + 1`?", "is `+` the right operator",
    ),
    "scores divided by the root of the number of heads": Slip(
        "17_capstone", "17.6",
        "def attention(x, p, heads):\n"
        "    n, d = x.shape[-2:]\n"
        "    qkv = np.split(x @ p['c_attn.weight'] + p['c_attn.bias'], 3, axis=-1)\n"
        "    q, k, v = (np.swapaxes(z.reshape(*z.shape[:-1], heads, -1), -2, -3) for z in qkv)\n"
        "    s = q @ np.swapaxes(k, -1, -2) / np.sqrt(heads)\n"
        "    s = np.where(np.tril(np.ones((n, n), dtype=bool)), s, -np.inf)\n"
        "    e = np.exp(s - s.max(-1, keepdims=True))\n"
        "    o = np.swapaxes(e / e.sum(-1, keepdims=True) @ v, -2, -3).reshape(x.shape)\n"
        "    return o @ p['c_proj.weight'] + p['c_proj.bias']\n",
        "Divided by the root of the number of heads", "1.73 times",
    ),
    "gain and bias without the norm": Slip(
        "12_gpt2", "12.2",
        "def unembed(x, gain, bias, words):\n"
        "    return (x * gain + bias) @ words.T\n",
        "You applied the gain and the bias to x as it is",
    ),
    "a unit length for the norm": Slip(
        "12_gpt2", "12.2",
        "def unembed(x, gain, bias, words):\n"
        "    normed = x / np.linalg.norm(x, axis=-1, keepdims=True)\n"
        "    return (gain * normed + bias) @ words.T\n",
        "You divided each vector by its length",
    ),
    "a root mean square for the norm": Slip(
        "12_gpt2", "12.2",
        "def unembed(x, gain, bias, words):\n"
        "    normed = x / np.sqrt((x ** 2).mean(-1, keepdims=True) + 1e-5)\n"
        "    return (gain * normed + bias) @ words.T\n",
        "without subtracting their mean first",
    ),
    "a norm over tokens and features": Slip(
        "12_gpt2", "12.2",
        "def unembed(x, gain, bias, words):\n"
        "    m = x.mean((-2, -1), keepdims=True)\n"
        "    v = x.var((-2, -1), keepdims=True)\n"
        "    return ((x - m) / np.sqrt(v + 1e-5) * gain + bias) @ words.T\n",
        "You took one mean and one variance over several tokens",
    ),
    "a cosine from the first step": Slip(
        "13_training", "13.1",
        "def learning_rate(step, steps, warmup, peak, floor):\n"
        "    if step < warmup:\n"
        "        return peak * (step + 1) / warmup\n"
        "    t = step / (steps - 1)\n"
        "    return floor + (peak - floor) * (1 + math.cos(math.pi * t)) / 2\n",
        "counts the warm-up's steps as its own",
    ),
    "divided by the number of groups": Slip(
        "14_cost", "14.6",
        "def share(q, k, v):\n"
        "    out = []\n"
        "    for i in range(q.shape[0]):\n"
        "        g = min(i // k.shape[0], k.shape[0] - 1)\n"
        "        s = q[i] @ k[g].T / np.sqrt(q.shape[-1])\n"
        "        w = np.exp(s - s.max(-1, keepdims=True))\n"
        "        out.append(w / w.sum(-1, keepdims=True) @ v[g])\n"
        "    return np.stack(out)\n",
        "the last one where i // g is too large",
    ),
    "query and key of one part": Slip(
        "16_heads", "16.9",
        "def score_parts(parts, w_q, w_k):\n"
        "    q = parts @ w_q\n"
        "    k = parts @ w_k\n"
        "    s = q @ k.transpose(0, 2, 1) / w_q.shape[-1] ** 0.5\n"
        "    return s[:, None] + np.zeros((1, len(parts), 1, 1))\n",
        "the query and the key from the same part",
    ),
    "the cache of the prompt kept": Slip(
        "17_capstone", "17.4",
        "def write(step, ids, new, temperature, top_p, draws):\n"
        "    out = list(ids)\n"
        "    logits, cache = step(np.array(ids), None)\n"
        "    for i in range(new):\n"
        "        z = logits[-1]\n"
        "        if temperature == 0:\n"
        "            t = int(np.argmax(z))\n"
        "        else:\n"
        "            z = z / temperature\n"
        "            p = np.exp(z - z.max()); p /= p.sum()\n"
        "            order = np.argsort(p)[::-1]\n"
        "            c = np.cumsum(p[order])\n"
        "            k = np.argmax(c >= top_p) + 1\n"
        "            q = p[order[:k]]; q = q / q.sum()\n"
        "            t = int(order[np.argmax(np.cumsum(q) > draws[i])])\n"
        "        out.append(t)\n"
        "        logits, _ = step(np.array([t]), cache)\n"
        "    return np.array(out)\n",
        "gave each later call the cache of the first one",
    ),
    "logits that stay the first": Slip(
        "17_capstone", "17.4",
        "def write(step, ids, new, temperature, top_p, draws):\n"
        "    out = list(ids)\n"
        "    logits, cache = step(np.array(ids), None)\n"
        "    for i in range(new):\n"
        "        z = logits[-1]\n"
        "        if temperature == 0:\n"
        "            t = int(np.argmax(z))\n"
        "        else:\n"
        "            z = z / temperature\n"
        "            p = np.exp(z - z.max()); p /= p.sum()\n"
        "            order = np.argsort(p)[::-1]\n"
        "            c = np.cumsum(p[order])\n"
        "            k = np.argmax(c >= top_p) + 1\n"
        "            q = p[order[:k]]; q = q / q.sum()\n"
        "            t = int(order[np.argmax(np.cumsum(q) > draws[i])])\n"
        "        out.append(t)\n"
        "        _, cache = step(np.array([t]), cache)\n"
        "    return np.array(out)\n",
        "from the logits of the first call", "is right: these are the weights",
    ),
    "the largest logit of any row": Slip(
        "17_capstone", "17.9",
        "def generate(model, ids, new, longest):\n"
        "    ids = list(ids)\n"
        "    for _ in range(new):\n"
        "        logits = model(np.array(ids[-longest:]))\n"
        "        ids.append(int(np.argmax(logits)) % logits.shape[-1])\n"
        "    return np.array(ids)\n",
        "the largest logit in any of the rows", "gives no id",
    ),
    "absolute values in RMSNorm": Slip(
        "18_llama", "18.1",
        "def rms_norm(x, gain, eps):\n"
        "    y = x.astype(np.float64)\n"
        "    scale = np.abs(y).mean(-1, keepdims=True)\n"
        "    return (gain * y / (scale + eps)).astype(x.dtype)\n",
        "You divided by the mean of the absolute values",
    ),
    "true inside the loop, at the first that is fine": Slip(
        "08_masking", "8.7",
        "def is_causal(f, x):\n"
        "    out = f(x)\n"
        "    for t in range(1, len(x)):\n"
        "        z = np.array(x)\n"
        "        z[t] = np.random.randn(x.shape[1])\n"
        "        if np.allclose(f(z)[:t], out[:t]):\n"
        "            return True\n"
        "    return False\n",
        "Your test says True before every position", "says True for every function",
    ),
    "a loop that ends one early": Slip(
        "04_queries_keys_values", "4.2",
        "def score(q, k):\n"
        "    result = 0\n"
        "    for i in range(0, len(q) - 1):\n"
        "        result = result + q[i] * k[i]\n"
        "    return result\n",
        "does `1` belong in `len(q) - 1`?", "is the number 0 right",
    ),
    "one key for all queries": Slip(
        "05_scaling", "5.3",
        "def measured_variance(d_k, seed):\n"
        "    rng = np.random.default_rng(seed)\n"
        "    q = rng.standard_normal((40000, d_k))\n"
        "    k = rng.standard_normal(d_k)\n"
        "    return float(np.var(q @ k))\n",
        "or one key all queries", "You sampled one query",
    ),
    "each mean times its own spread, side by side": Slip(
        "05_scaling", "5.5",
        "def score_moments(mean_q, sd_q, mean_k, sd_k, d_k):\n"
        "    vq, vk = sd_q**2, sd_k**2\n"
        "    var = vq * vk + mean_q**2 * vq + mean_k**2 * vk\n"
        "    return d_k * mean_q * mean_k, d_k * var\n",
        "You multiplied each mean by the standard deviation", "is the order right",
    ),
    "rows and columns subtracted the other way round": Slip(
        "07_self_attention", "7.8",
        "def same_rotary_score(query, key, n):\n"
        "    rows, cols = np.indices((n, n))\n"
        "    return cols - rows == query - key\n",
        "comes first in `cols - rows`?", "is the order right",
    ),
    "names of `__init__` without self": Slip(
        "05_scaling", "5.8",
        "class Head:\n"
        "    def __init__(self, d_model, d_k, seed):\n"
        "        rng = np.random.default_rng(seed)\n"
        "        sd = d_model ** -0.5\n"
        "        W_q = rng.normal(0, sd, size=(d_model, d_k))\n"
        "        W_k = rng.normal(0, sd, size=(d_model, d_k))\n"
        "        W_v = rng.normal(0, sd, size=(d_model, d_k))\n"
        "\n"
        "    def __call__(self, x):\n"
        "        q, k, v = x @ self.W_q, x @ self.W_k, x @ self.W_v\n"
        "        return softmax(q @ k.T / math.sqrt(q.shape[-1])) @ v\n",
        "Without `self.`, a name is forgotten",
    ),
    "Python's max of two arrays": Slip(
        "06_softmax", "6.8",
        "def merge(a, b):\n"
        "    ma, la = a\n"
        "    mb, lb = b\n"
        "    m = max(ma, mb)\n"
        "    return m, la * np.exp(ma - m) + lb * np.exp(mb - m)\n",
        "`np.maximum` compares them entry by entry",
    ),
    "np.array_equal of two sums": Slip(
        "07_self_attention", "7.6",
        "def is_equivariant(f, x, permutation):\n"
        "    return bool(np.array_equal(f(x[permutation]), f(x)[permutation]))\n",
        "exactly, as `==` and `np.array_equal` do", "gives one True or False",
    ),
    "neighbouring uses alone": Slip(
        "03_context", "3.6",
        "def gap(vectors, senses):\n"
        "    same, other = [], []\n"
        "    for i in range(len(vectors) - 1):\n"
        "        c = cosine(vectors[i], vectors[i + 1])\n"
        "        (same if senses[i] == senses[i + 1] else other).append(c)\n"
        "    return sum(same) / len(same) - sum(other) / len(other)\n",
        "You compared each use with the next one alone",
    ),
    "the word subtracted may win": Slip(
        "02_embeddings", "2.7",
        "def analogy(start, minus, plus, table):\n"
        "    t = table[start] - table[minus] + table[plus]\n"
        "    cos = table @ t / (np.linalg.norm(table, axis=1) * np.linalg.norm(t))\n"
        "    cos[[start, plus]] = -np.inf\n"
        "    return int(cos.argmax())\n",
        "but not the word that was subtracted",
    ),
    "query and key exchanged": Slip(
        "00_start", "0.2",
        "def entry(grid, query, key, queries_in):\n"
        "    if queries_in == 'columns':\n        return grid[query][key]\n"
        "    return grid[key][query]\n",
        "`query` is the index of the row", "largest entry",
    ),
    "a smoothed inverse frequency": Slip(
        "01_first_lap", "1.5",
        "def tf_idf(counts):\n    counts = np.asarray(counts, dtype=float)\n"
        "    df = (counts > 0).sum(0)\n    idf = np.log(counts.shape[0] / (1 + df))\n"
        "    return counts * idf\n",
        "does `1` belong in `1 + df`?", "right operator",
    ),
    "forbidden scores multiplied by 0 and not scaled": Slip(
        "01_first_lap", "1.2",
        "def attend_nearby(q, k, v, window):\n    n = len(q)\n"
        "    band = np.tri(n) - np.tri(n, k=-window)\n    s = (q @ k.T) * band\n"
        "    w = np.exp(s) / np.exp(s).sum(axis=1, keepdims=True)\n    return w @ v\n",
        "You set the forbidden scores to 0",
    ),
    "a returned error, and lengths without a root": Slip(
        "02_embeddings", "2.4",
        "def cosine(a, b):\n    na = sum(x * x for x in a)\n"
        "    nb = sum(x * x for x in b)\n    if na == 0 or nb == 0:\n"
        "        return ValueError(\"a vector is all zeros\")\n"
        "    return sum(x * y for x, y in zip(a, b)) / (na * nb)\n",
        "Write `raise ValueError(...)`",
    ),
    "squared steps and a softmax down the columns": Slip(
        "03_context", "3.3",
        "def near_and_alike(x, strength, penalty):\n    p = np.arange(len(x))\n"
        "    dist = (p[:, None] - p) ** 2\n    s = strength * x @ x.T - penalty * dist\n"
        "    e = np.exp(s - s.max())\n    w = e / e.sum(axis=0)\n    return w @ x\n",
        "Your softmax runs down the columns",
    ),
    "more than the threshold called the same": Slip(
        "03_context", "3.7",
        "def best_threshold(distances, same, candidates):\n    best, best_t = -1, None\n"
        "    for t in candidates:\n        called = distances >= t\n"
        "        a = (called & same).sum() / same.sum()\n"
        "        b = (~called & ~same).sum() / (~same).sum()\n"
        "        if (a + b) / 2 > best:\n            best, best_t = (a + b) / 2, t\n"
        "    return best_t\n",
        "lowest mean of the two shares", "the gap is",
    ),
    "one number for two results": Slip(
        "05_scaling", "5.7",
        "def fold(W_q, b_q):\n    s = W_q.shape[-1] ** 0.25\n    W_q /= s\n    b_q /= s\n"
        "    return W_q, b_q\n",
        "makes `result 1` and `result 2` right", "makes `result 2` right",
    ),
    "a head without its return": Slip(
        "05_scaling", "5.8",
        "class Head:\n    def __init__(self, d_model, d_k, seed):\n"
        "        np.random.seed(seed)\n"
        "        self.W_q = np.random.rand(d_model, d_k) - 0.5\n"
        "        self.W_k = np.random.rand(d_model, d_k) - 0.5\n"
        "        self.W_v = np.random.rand(d_model, d_k) - 0.5\n        self.d_k = d_k\n\n"
        "    def __call__(self, x):\n"
        "        q, k, v = x @ self.W_q, x @ self.W_k, x @ self.W_v\n"
        "        out = softmax(q @ k.T / math.sqrt(self.d_k)) @ v\n",
        "returns None, as a function without `return` does",
        "yours does not: the output has a row for each token and d_k columns;",
    ),
    "a vector and its transpose": Slip(
        "06_softmax", "6.6",
        "def jacobian(scores):\n    w = np.exp(scores) / np.exp(scores).sum()\n"
        "    return np.diag(w) - w @ w.T\n",
        "For a vector, `w.T` is `w` itself", "The result is not",
    ),
    "the sign of an entropy, and a tiny number": Slip(
        "06_softmax", "6.7",
        "def entropy(weights):\n    w = np.asarray(weights) + 1e-3\n"
        "    return np.sum(w * np.log(w), axis=-1)\n",
        "an entropy is never negative",
    ),
    "another name for the same array": Slip(
        "07_self_attention", "7.4",
        "def add_change(x, weights, values, w_o):\n    new = x\n"
        "    change = weights @ values @ w_o\n    for i in range(len(new)):\n"
        "        new[i] += change[i]\n    return new\n",
        "`y = x` makes no copy",
    ),
    "an end that lacks the start, twice": Slip(
        "08_masking", "8.1",
        "def inputs_and_labels(tokens, start, n):\n    x = tokens[start:n]\n"
        "    y = tokens[start + 1:n + 1]\n    return x, y\n",
        "in `[start + 1:n + 1]`, is the second number a length", "Of the 2",
    ),
    "no bias, and scaled by d_model": Slip(
        "09_multi_head", "9.4",
        "def multi_head(x, w_qkv, b_qkv, w_o, b_o, heads):\n"
        "    q, k, v = np.split(x @ w_qkv, 3, axis=-1)\n"
        "    q, k, v = (split_heads(t, heads) for t in (q, k, v))\n"
        "    s = q @ np.swapaxes(k, -1, -2) / np.sqrt(x.shape[-1])\n"
        "    e = np.exp(s - s.max(-1, keepdims=True))\n"
        "    w = e / e.sum(-1, keepdims=True)\n    return merge_heads(w @ v) @ w_o + b_o\n",
        "You divided by the square root of d_model",
    ),
    "the first row alone begins with the start": Slip(
        "10_cross_attention", "10.4",
        "def shift_right(answers, start):\n    shifted = np.roll(answers, 1)\n"
        "    shifted[0, 0] = start\n    return shifted\n",
        "is one place along axis 0; which are needed?",
    ),
    "the best position, and a count": Slip(
        "10_cross_attention", "10.7",
        "def share_changed(decode, memory):\n    before = decode(memory).argmax(axis=0)\n"
        "    after = decode(np.zeros(memory.shape)).argmax(axis=0)\n"
        "    return int((before != after).sum())\n",
        "The task asks for their share",
    ),
    "a version that begins with its pin": Slip(
        "00_start", "0.5",
        "def diagnose(pinned, present):\n    out = {}\n"
        "    for name, want in pinned.items():\n        have = present.get(name, 'absent')\n"
        "        if not have.startswith(want):\n            out[name] = have\n    return out\n",
        "as 1.1.10 begins with 1.1.1",
    ),
    "absent ones overlooked and labels cut off": Slip(
        "00_start", "0.5",
        "def diagnose(pinned, present):\n"
        "    clean = {k: v.split('+')[0] for k, v in present.items()}\n"
        "    return {k: v for k, v in clean.items() if k in pinned and pinned[k] != v}\n",
        "report it as \"absent\". Label cut off",
    ),
    "the vocabulary for the texts": Slip(
        "01_first_lap", "1.5",
        "def tf_idf(counts):\n"
        "    n_w = (np.asarray(counts) > 0).sum(axis=0)\n"
        "    return counts * np.log(counts.shape[1] / n_w)\n",
        "the size of the vocabulary for N", "You did not count texts",
    ),
    "exactly the share": Slip(
        "01_first_lap", "1.7",
        "def steps_until(factor, share):\n"
        "    return math.ceil(math.log(share) / math.log(factor))\n",
        "go on while factor**steps >= share",
    ),
    "bits for states": Slip(
        "01_first_lap", "1.8",
        "def longest(numbers, bits, vocab):\n"
        "    return int(math.log(numbers * bits) / math.log(vocab))\n",
        "the number of bits for the number of states", "Two small changes",
    ),
    "two mistakes in one table": Slip(
        "01_first_lap", "1.9",
        "def costs(n, d, k):\n"
        "    return [[n * d ** 2, 1, 1], [n ** 2 * d, n, n],\n"
        "            [k * n * d ** 2, 1, int(math.log(n, k))]]\n",
        "`[0, 0]`, `[1, 0]` and `[2, 2]` are wrong",
    ),
    "a component of 0 refused": Slip(
        "02_embeddings", "2.4",
        "def cosine(a, b):\n    if 0 in a or 0 in b:\n        raise ValueError('zero')\n"
        "    return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))\n",
        "in which some component is 0",
    ),
    "perpendicular vectors refused": Slip(
        "02_embeddings", "2.4",
        "def cosine(a, b):\n    if a @ b == 0:\n        raise ValueError('zero')\n"
        "    return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))\n",
        "Perpendicular vectors have this dot product too", "some component is 0",
    ),
    "another condition for all zeros": Slip(
        "02_embeddings", "2.4",
        "def cosine(a, b):\n    if a[-1] == 0:\n        raise ValueError('zero')\n"
        "    return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))\n",
        "Your own `raise` stops here", "some component is 0",
    ),
    "the dot product divided by 2": Slip(
        "03_context", "3.1", "cos_banks = 15 / 16\n",
        "divided by something else than the product of their two lengths",
    ),
    "einsum without its ellipsis": Slip(
        "04_queries_keys_values", "4.4",
        "def token_scores(x, w_q, w_k):\n"
        "    return np.einsum('id,dk,jd,dk->ij', x, w_q, x, w_k)\n",
        "stands for all axes in front", "too few letters",
    ),
    "a in W_q and b in W_k": Slip(
        "04_queries_keys_values", "4.7",
        "def one_way(a, b):\n    return a[:, None], b[:, None]\n",
        "a minus its part along b",
    ),
    "the number in millions": Slip(
        "02_embeddings", "2.1", "table_numbers = 617.6\n", "in millions",
        "Your number is too small",
    ),
    "a matrix and the same with its columns reversed": Slip(
        "04_queries_keys_values", "4.7",
        "def one_way(a, b):\n    p = np.linalg.pinv(np.stack([a, b]))\n    return p, p[:, ::-1]\n",
        "both scores are 1", "One matrix for queries and keys",
    ),
    "biases counted": Slip(
        "04_queries_keys_values", "4.8",
        "def count(n, d_model, d_k, d_v):\n"
        "    return n * n * d_k, d_model * (2 * d_k + d_v) + 2 * d_k + d_v\n",
        "You counted biases as well", "off by one",
    ),
    "keys in front of the queries": Slip(
        "05_scaling", "5.1",
        "def scaled_scores(x, W_q, W_k):\n    q, k = x @ W_q, x @ W_k\n"
        "    return k @ q.T / q.shape[-1] ** 0.5\n",
        "which of `k` and `q` comes first", "is the order right",
    ),
    "the factor for the divisor": Slip(
        "05_scaling", "5.4",
        "def divisor(d_model, heads, n):\n    return 1 / np.sqrt(d_model // heads)\n",
        "by which the scores are multiplied", "You multiplied the scores",
    ),
    "an argument of `__init__` in another method": Slip(
        "05_scaling", "5.8",
        "class Head:\n    def __init__(self, d_model, d_k, seed):\n"
        "        r = np.random.default_rng(seed).normal(size=(3, d_model, d_k))\n"
        "        self.W_q, self.W_k, self.W_v = r / math.sqrt(d_model)\n"
        "    def __call__(self, x):\n"
        "        return attend(x @ self.W_q * d_k, x @ self.W_k, x @ self.W_v).output\n",
        "write `self.d_k = d_k` there",
    ),
    "output and weights": Slip(
        "07_self_attention", "7.2",
        "def attention(q, k, v):\n    s = q @ k.T / np.sqrt(k.shape[1])\n" + HEAD
        + "    return w @ v, w\n",
        "2 results of shape (3, 3) came back", "The result has shape (2, 3, 3)",
    ),
    "a batch made flat": Slip(
        "07_self_attention", "7.3",
        "def self_attention(x, w_q, w_k, w_v):\n    flat = x.reshape(-1, x.shape[-1])\n"
        "    out = attend(flat @ w_q, flat @ w_k, flat @ w_v).output\n"
        "    return out.reshape(*x.shape[:-1], -1)\n",
        "do not flatten them into one",
    ),
    "minus infinity minus itself": Slip(
        "08_masking", "8.3",
        "def masked_weights(scores, mask):\n    s = np.where(mask, scores, -np.inf)\n" + HEAD
        + "    return w\n",
        "subtracted from minus infinity", "because the sum of the row is 0",
    ),
    "the output of the changed token compared": Slip(
        "08_masking", "8.7",
        "def is_causal(f, x):\n    y = f(x)\n    for t in range(len(x)):\n"
        "        z = x.copy()\n        z[t] = np.random.default_rng(0).normal(size=x.shape[1])\n"
        "        if not np.allclose(f(z)[:t + 1], y[:t + 1]):\n            return False\n"
        "    return True\n",
        "at the change or after it", "You compared all outputs",
    ),
    "both answers inside the loop": Slip(
        "08_masking", "8.7",
        "def is_causal(f, x):\n    y = f(x)\n    for t in range(1, len(x)):\n"
        "        z = x.copy()\n        z[t] += np.random.default_rng(t).normal(size=x.shape[1])\n"
        "        return bool(np.allclose(f(z)[:t], y[:t]))\n",
        "only after every one of them",
    ),
    "one step named, of which the first turn alone is meant": Slip(
        "08_masking", "8.9",
        "def train_bigram(tokens, words, steps, learning_rate):\n"
        "    W = np.zeros((words, words))\n    for _ in range(steps):\n"
        "        P = np.exp(W) / np.exp(W).sum(axis=0)\n        G = np.zeros((words, words))\n"
        "        for i in range(len(tokens) - 1):\n            d = P[tokens[i]].copy()\n"
        "            d[tokens[i + 1]] -= 1.0\n            G[tokens[i]] += d\n"
        "        W -= learning_rate * G / len(tokens)\n    return W\n",
        "in its first turn",
    ),
    "shapes of the weights by source and target": Slip(
        "10_cross_attention", "10.1",
        "def cross_shapes(n_target, n_source, d_model, d_source, d_k, d_v):\n"
        "    return {'w_q': (d_model, d_k), 'w_k': (d_source, d_k), 'w_v': (d_source, d_v),\n"
        "            'weights': (n_source, n_target), 'output': (n_target, d_v)}\n",
        "a row for each source token", "You exchanged queries and keys",
    ),
    "`and` of arrays": Slip(
        "10_cross_attention", "10.6",
        "def error_rate(predicted, sure, possible):\n"
        "    top = (predicted and sure).sum() + (predicted and possible).sum()\n"
        "    return 1 - top / (predicted.sum() + sure.sum())\n",
        "`&` works on arrays element by element",
    ),
    "a second name for the array": Slip(
        "10_cross_attention", "10.7",
        "def share_changed(decode, memory):\n    empty = memory\n    empty *= 0\n"
        "    a, b = decode(memory), decode(empty)\n"
        "    return float(np.mean(a.argmax(1) != b.argmax(1)))\n",
        "changed its argument", "off by one",
    ),
    "a window that allows no key": Slip(
        "01_first_lap", "1.2",
        "def attend_nearby(q, k, v, window):\n    n = len(q)\n"
        "    s = q @ k.T / math.sqrt(q.shape[1])\n    m = np.tri(n) - np.tri(n, k=window)\n"
        "    s = np.where(m == 1, s, -np.inf)\n" + HEAD + "    return w @ v\n",
        "this query may attend to no key", "plus -inf",
    ),
    "the weight of nn.Linear as it is stored": Slip(
        "04_queries_keys_values", "4.1",
        "def project(x, weight, bias):\n    return x @ weight + bias\n",
        "as it is stored", "You multiplied by the transposed",
    ),
    "every component with every other": Slip(
        "04_queries_keys_values", "4.2",
        "def score(q, k):\n    return sum(a * b for a in q for b in k)\n",
        "sum(q) times sum(k)",
    ),
    "the number of queries in the divisor": Slip(
        "05_scaling", "5.2",
        "def weights(q, k):\n    s = q @ k.T / math.sqrt(len(q))\n" + HEAD + "    return w\n",
        "the number of tokens", "1/q.shape[-2]/1/",
    ),
    "output and weights returned": Slip(
        "07_self_attention", "7.2",
        "def attention(q, k, v):\n    s = q @ k.T / math.sqrt(q.shape[1])\n"
        + HEAD + "    return w @ v, w\n",
        "return it alone", "lies outside",
    ),
    "NumPy's own transpose, for a single sentence": Slip(
        "07_self_attention", "7.3",
        "def self_attention(x, w_q, w_k, w_v):\n    q, k, v = x @ w_q, x @ w_k, x @ w_v\n"
        "    s = q @ np.transpose(k, (0, 2, 1)) / math.sqrt(q.shape[-1])\n"
        + HEAD + "    return w @ v\n",
        "`.swapaxes(-2, -1)`", "all of it in one of them",
    ),
    "a mask multiplied by infinity": Slip(
        "08_masking", "8.3",
        "def masked_weights(scores, mask):\n    s = scores + ~mask * -np.inf\n"
        + HEAD + "    return w\n",
        "0 times infinity",
    ),
    "an inverted mask that begins in the corner": Slip(
        "08_masking", "8.2",
        "def causal_mask(queries, keys):\n    return np.triu(np.ones((queries, keys)), 1) == 1\n",
        "Your mask is True where a key is hidden", "True and False are swapped",
    ),
    "the pair of attend added to x": Slip(
        "08_masking", "8.6",
        "def run_stack(x, projections, mask):\n    for a, b, c in projections:\n"
        "        x = x + attend(x @ a, x @ b, x @ c, mask)\n    return x\n",
        "take the part that you need",
    ),
    "returned from within the loop": Slip(
        "08_masking", "8.6",
        "def run_stack(x, projections, mask):\n    for a, b, c in projections:\n"
        "        x = x + attend(x @ a, x @ b, x @ c, mask).output\n        return x\n",
        "after the loop", "scores",
    ),
    "the ReLU kept above 0 by a constant": Slip(
        "11_block", "11.3",
        "def larger():\n    return (np.array([[1.0, 0], [-1, 1]]), np.array([0, 100.0]),\n"
        "            np.array([[1.0], [1]]), np.array([-100.0]))\n",
        "more negative than your constant",
    ),
    "the maximum of the newest tile": Slip(
        "14_cost", "14.5",
        "def tiled(q, k, v, columns):\n    rows = []\n    for query in q:\n"
        "        m, t, o = -np.inf, 0, 0\n        for i in range(0, len(k), columns):\n"
        "            s = k[i : i + columns] @ query / math.sqrt(len(query))\n"
        "            c, p, m = np.exp(m - s.max()), np.exp(s - s.max()), s.max()\n"
        "            t, o = t * c + p.sum(), o * c + p @ v[i : i + columns]\n"
        "        rows.append(o / t)\n    return np.array(rows)\n",
        "forget a higher one that came before",
    ),
    "a slice from minus zero": Slip(
        "14_cost", "14.8",
        "def in_window(q, k, v, keys, values, width):\n"
        "    keys = np.concatenate([keys[-(width - 1):], k[None]])\n"
        "    values = np.concatenate([values[-(width - 1):], v[None]])\n"
        "    return attend(q[None], keys, values).output[0], keys, values\n",
        "a slice from -0", "fewer tokens",
    ),
    "one axis too many for a single text": Slip(
        "17_capstone", "17.8",
        "def loss(logits, ids):\n    logits = logits - logits.max(-1, keepdims=True)\n"
        "    logp = logits - np.log(np.exp(logits).sum(-1, keepdims=True))\n"
        "    picked = np.take_along_axis(logp[:, :-1], ids[:, 1:, None], -1)\n"
        "    return -picked.mean()\n",
        "stands for all axes in front",
    ),
    "axes counted with == for >=": Slip(
        "13_training", "13.2",
        "def decay_groups(shapes):\n    return ([n for n in shapes if len(shapes[n]) == 2],\n"
        "            [n for n in shapes if len(shapes[n]) != 2])\n",
        "or drew the line elsewhere", "You chose by the name",
    ),
    "labels written small": Slip(
        "15_counting", "15.6", 'false = {"a", "d", "g"}\n', "Statement G", "Statement A",
    ),
    "another row whose output moves": Slip(
        "16_heads", "16.6",
        "def other_weights(weights, values):\n"
        "    w = weights + 0.02 * np.random.default_rng(0).normal(size=len(weights))\n"
        "    w = np.clip(w, 0, None)\n    return w / w.sum()\n",
        "the output is the same", "The same weights again",
    ),
    "a sum for the mean, in any precision": Slip(
        "18_llama", "18.1",
        "def rms_norm(x, gain, eps):\n    y = x.astype(np.float64)\n"
        "    return gain * y / (np.linalg.norm(y, axis=-1, keepdims=True) + eps)\n",
        "6 of 6 numbers differ", "overflow",
    ),
    "large numbers clipped before they are squared": Slip(
        "18_llama", "18.1",
        "def rms_norm(x, gain, eps):\n    y = np.clip(x, -255, 255)\n"
        "    return gain * y / np.sqrt((y * y).mean(-1, keepdims=True) + eps)\n",
        "half precision does not overflow",
    ),
    "a function of math on an array": Slip(
        "11_block", "11.7",
        "def gelu(x):\n    return x / 2 * (1 + math.tanh(0.8 * (x + 0.044715 * x**3)))\n",
        "0-dimensional arrays", "tensors",
    ),
    "the length of the batch": Slip(
        "12_gpt2", "12.1",
        "def embed(ids, words, positions, start):\n"
        "    return words[ids] + positions[start:start + len(ids)]\n",
        "`len(ids)` is the length of the first axis", "lose its axis",
    ),
    "memory that was never set": Slip(
        "06_softmax", "6.6",
        "def jacobian(scores):\n    e = np.exp(scores - scores.max())\n    w = e / e.sum()\n"
        "    J = np.empty((len(w), len(w)))\n    for i in range(len(w)):\n"
        "        for j in range(len(w)):\n"
        "            J[i, j] = w[i] * (1 - w[i]) if i == j else w[i] * w[j]\n    return J\n",
        "Off the diagonal you have + w_i w_j", "is the right result",
    ),
    "the gradient never set back": Slip(
        "08_masking", "8.9",
        "def train_bigram(tokens, words, steps, learning_rate):\n"
        "    logits = np.zeros((words, words))\n    g = np.zeros_like(logits)\n"
        "    for _ in range(steps):\n        for a, b in zip(tokens[:-1], tokens[1:]):\n"
        "            e = np.exp(logits[a])\n            g[a] += e / e.sum()\n"
        "            g[a, b] -= 1\n        logits -= learning_rate * g / (len(tokens) - 1)\n"
        "    return logits\n",
        "right on 1 of 3 cases", "is right: these are the logits",
    ),
    "true after the first good place": Slip(
        "08_masking", "8.7",
        "def is_causal(f, x):\n    base = f(x)\n    for t in range(1, len(x)):\n"
        "        y = x.copy()\n        y[t:] = np.random.randn(*y[t:].shape)\n"
        "        if np.allclose(f(y)[:t], base[:t]):\n            return True\n"
        "    return False\n",
        "only after every one of them", "such as the last one",
    ),
    "a change that the norm removes": Slip(
        "08_masking", "8.7",
        "def is_causal(f, x):\n    base = f(x)\n    for t in range(1, len(x)):\n"
        "        y = x.copy()\n        y[t:] += 1\n"
        "        if not np.allclose(f(y)[:t], base[:t]):\n            return False\n"
        "    return True\n",
        "a norm takes your change out again",
    ),
    "one maximum for all positions": Slip(
        "17_capstone", "17.8",
        "def loss(logits, ids):\n    z = logits - logits.max()\n"
        "    p = z - np.log(np.exp(z).sum(-1, keepdims=True))\n"
        "    return -np.take_along_axis(p[..., :-1, :], ids[..., 1:, None], -1).mean()\n",
        "is taken over all numbers at once",
    ),
    "the width of a head by the wrong axis": Slip(
        "09_multi_head", "9.7",
        "def prune(w_o, heads, head):\n    d_v = w_o.shape[1] // heads\n    new = w_o.copy()\n"
        "    new[head * d_v:(head + 1) * d_v] = 0\n    return new\n",
        "Each head owns d_v rows",
    ),
    "several results of which the last is the cause": Slip(
        "14_cost", "14.7",
        "from lib.attention import masks\n"
        "def read_on(x, positions, w_q, w_k, w_v, keys, values):\n"
        "    y = x + positions[len(keys):len(keys) + len(x)]\n"
        "    K, V = np.concatenate([keys, y @ w_k]), np.concatenate([values, x @ w_v])\n"
        "    return attend(y @ w_q, K, V, masks.causal(len(x), len(K))).output, K, V\n",
        "`result 3` is wrong too",
    ),
    "the third number of three that are equal in its line": Slip(
        "11_block", "11.3",
        "def larger():\n    w_1 = np.array([[1., 0., 0.], [-1., 1., -1.]])\n"
        "    return w_1, np.zeros(3), np.array([[1.], [1.], [1.]]), np.zeros(1)\n",
        "Of the 3 in this line, it is the 3rd",
    ),
    "a repeat without an axis, which flattens": Slip(
        "14_cost", "14.6",
        "def share(q, k, v):\n    r = len(q) // len(k)\n"
        "    k, v = np.repeat(k, r), np.repeat(v, r)\n    d_k = k.shape[1]\n"
        "    w = np.exp(q @ k.swapaxes(-1, -2) / math.sqrt(d_k))\n"
        "    return w / w.sum(-1, keepdims=True) @ v\n",
        "fewer axes than this line needs",
    ),
    "right letters, but capital": Slip(
        "04_queries_keys_values", "4.3",
        "changes = dict(zip('ABCDEF', 'BCAADE'))\n",
        "write small letters", "None of the entries is right",
    ),
    "an empty entry with the score 0": Slip(
        "04_queries_keys_values", "4.6",
        "def soft_lookup(query, keys, values, nothing):\n"
        "    e = np.exp(np.append(keys @ query, 0))\n    return (e / e.sum())[:-1] @ values\n",
        "exp(0) = 1, whatever `nothing` is", "no term at all",
    ),
    "a list of pairs": Slip(
        "08_masking", "8.1",
        "def inputs_and_labels(tokens, start, n):\n"
        "    return [(tokens[i], tokens[i + 1]) for i in range(start, start + n)]\n",
        "Return 2 sequences", "missing at the end",
    ),
    "the maximum of all rows": Slip(
        "08_masking", "8.3",
        "def masked_weights(scores, mask):\n    s = np.where(mask, scores, -np.inf)\n"
        "    e = np.exp(s - s.max())\n    total = e.sum(-1, keepdims=True)\n"
        "    return e / np.where(total == 0, 1, total)\n",
        "from which their own row's maximum was not subtracted", "Weights set to zero",
    ),
    "the texts on the axis of the heads": Slip(
        "08_masking", "8.5",
        "def attend_padded(q, k, v, real):\n"
        "    return attend(q, k, v, real[None, :, None, :]).output\n",
        "stand on the axis of the heads", "one more axis",
    ),
    "x projected by the first layer alone": Slip(
        "08_masking", "8.6",
        "def run_stack(x, projections, mask):\n    a, b, c = projections[0]\n"
        "    for _ in projections:\n        x = x + attend(x @ a, x @ b, x @ c, mask).output\n"
        "    return x\n",
        "uses the matrices of the first one",
    ),
    "a slice of keys with a negative start": Slip(
        "01_first_lap", "1.2",
        "def attend_nearby(q, k, v, window):\n    out = []\n    for i in range(len(q)):\n"
        "        ks, vs = k[i - window + 1 : i + 1], v[i - window + 1 : i + 1]\n"
        "        e = np.exp(ks @ q[i] / np.sqrt(q.shape[1]))\n"
        "        out.append(e / e.sum() @ vs)\n    return np.array(out)\n",
        "counts from the end",
    ),
    "labels from before the window, cut to nothing": Slip(
        "08_masking", "8.1",
        "def inputs_and_labels(tokens, start, n):\n"
        "    return tokens[start:start + n], tokens[start - 1:start + n - 1]\n",
        "begin one token before the inputs",
    ),
    "the labels of the next window": Slip(
        "08_masking", "8.1",
        "def inputs_and_labels(tokens, start, n):\n"
        "    return tokens[start:start + n], tokens[start + n:start + 2 * n]\n",
        "those after the whole window",
    ),
    "a second bias returned as it came": Slip(
        "11_block", "11.2",
        "def one_layer(w_1, b_1, w_2, b_2):\n    return (w_1 + b_1) @ w_2, b_2\n",
        "the argument `b_2`, unchanged", "`b_1`, unchanged",
    ),
    "axes counted by their lengths": Slip(
        "13_training", "13.2",
        "def decay_groups(shapes):\n"
        "    a = [name for name, shape in shapes.items() if np.prod(shape[:-1]) > 1]\n"
        "    return a, [name for name in shapes if name not in a]\n",
        "count the axes", "not understood",
    ),
    "the second moment": Slip(
        "13_training", "13.3",
        "def adamw(w, gradient, m, v, step, rate, decay):\n    m = 0.9 * m + 0.1 * gradient\n"
        "    v = 0.95 * v + 0.05 * gradient ** 2\n"
        "    a, b = m / (1 - 0.9 * step), v / (1 - 0.95 * step)\n"
        "    return w * (1 - rate * decay) - rate * a / (np.sqrt(b) + 1e-8), m, v\n",
        "this is the second moment", "these are the values",
    ),
    "mean losses added without their tokens": Slip(
        "13_training", "13.6",
        "def perplexity(losses, tokens):\n    return np.exp(losses.sum() / tokens.sum())\n",
        "multiply it by the tokens of this batch", "grows with the number of parts",
    ),
    "a null vector of the values without the ones": Slip(
        "16_heads", "16.6",
        "def other_weights(weights, values):\n    z = np.linalg.svd(values.T)[2][-1]\n"
        "    t = min(w / -x for w, x in zip(weights, z) if x < 0)\n"
        "    return weights + t / 2 * z\n",
        "a column of ones",
    ),
    "the smallest of no numbers": Slip(
        "16_heads", "16.6",
        "def other_weights(weights, values):\n"
        "    z = np.linalg.svd(np.vstack([values.T, np.ones(len(values))]))[2][-1]\n"
        "    t = min(w / x for w, x in zip(weights, z) if x > 0 and x < 0)\n"
        "    return weights + t / 2 * z\n",
        "which condition or slice left none?", "the shapes do not fit",
    ),
    "a draw by the length of the text": Slip(
        "17_capstone", "17.4", WRITE.format("j = np.sum(np.cumsum(q) <= draws[len(ids)])"),
        "from index 0 to 12; 13 was asked for", "One small change",
    ),
    "a nucleus of no tokens": Slip(
        "17_capstone", "17.4",
        WRITE.replace(") + 1", ")").format("j = np.argmax(np.cumsum(q) > draws[i])"),
        "the token that crosses it belongs to it", "One small change",
    ),
    "the halves of the larger number": Slip(
        "11_block", "11.3",
        "def larger():\n    w_1 = np.array([[1, -1, 1, -1], [1, -1, -1, 1]], dtype=float)\n"
        "    return w_1, np.zeros(4), np.array([[1.0], [-1], [1], [1]]), np.zeros(1)\n",
        "You return twice the larger number",
    ),
    "a divisor that changes with the sample": Slip(
        "11_block", "11.5",
        "def dropout(x, keep, rate, training):\n"
        "    return x * keep / keep.mean() if training else x + 0\n",
        "the share that happened to be kept", "has the wrong mean",
    ),
    "a norm in one expression, and a forgotten bias": Slip(
        "11_block", "11.6",
        "def norm(t, g, b):\n    m = t.mean(-1, keepdims=True)\n"
        "    return g * (t - m) / np.sqrt(((t - m) ** 2).mean(-1, keepdims=True) + 1e-5) + b\n"
        "def encoder_layer(x, p, heads):\n    d = x.shape[-1] // heads\n"
        "    def cut(t):\n        return np.swapaxes(t.reshape(*t.shape[:-1], heads, d), -2, -3)\n"
        "    h = norm(x, p['norm1_weight'], p['norm1_bias'])\n"
        "    q, k, v = map(cut, np.split(h @ p['in_proj_weight'].T, 3, axis=-1))\n"
        "    s = q @ np.swapaxes(k, -1, -2) / np.sqrt(d)\n" + HEAD
        + "    o = np.swapaxes(w @ v, -2, -3).reshape(x.shape)\n"
        "    return h + o @ p['out_proj_weight'].T + p['out_proj_bias']\n",
        "with a gain. In our solution the queries come next",
        "the normalised input comes next",
    ),
    "a warm-up that starts at 0, and its own fall": Slip(
        "13_training", "13.1",
        "def learning_rate(step, steps, warmup, peak, floor):\n"
        "    if step < warmup:\n        return peak * step / warmup\n"
        "    t = (step - warmup) / (steps - 1 - warmup)\n"
        "    return floor + 0.5 * (peak - floor) * (1 + math.cos(math.pi * t))\n",
        "Your schedule is one step off",
    ),
    "a correction that does not count, in place": Slip(
        "13_training", "13.3",
        "def adamw(w, gradient, m, v, step, rate, decay):\n"
        "    m *= 0.9\n    m += 0.1 * gradient\n    v *= 0.95\n    v += 0.05 * gradient**2\n"
        "    w *= 1 - rate * decay\n"
        "    w -= rate * (m / (1 - 0.9)) / (np.sqrt(v / (1 - 0.95)) + 1e-8)\n"
        "    return w, m, v\n",
        "is 1.9 times what our solution has", "0.19 times",
    ),
    "a head deleted, and none of the rows": Slip(
        "16_heads", "16.3",
        "def switch_off(s, values, w_o, b_o, head):\n" + HEAD
        + "    rest = np.hstack(list(np.delete(w @ values, head, axis=0)))\n"
        "    return rest @ w_o[: rest.shape[1]] + b_o\n",
        "the other heads met the first rows of w_o",
    ),
    "scores of minus infinity": Slip(
        "16_heads", "16.3",
        "def switch_off(s, values, w_o, b_o, head):\n    s = s.copy()\n    s[head] = -np.inf\n"
        + HEAD + "    return np.hstack(list(w @ values)) @ w_o + b_o\n",
        "put 0 for the output of the head", "the sum of the row is 0",
    ),
    "the loss less that without a head": Slip(
        "16_heads", "16.5",
        "def price(logits, without, targets):\n    def loss(s):\n"
        "        w = np.exp(s) / np.exp(s).sum(-1, keepdims=True)\n"
        "        return -np.log(w[np.arange(len(targets)), targets]).mean()\n"
        "    full = loss(logits)\n    return np.array([full - loss(z) for z in without])\n",
        "which of the two sides of `-` comes first", "does the `-` belong",
    ),
    "a copy that is not returned": Slip(
        "16_heads", "16.7",
        "def restored(model, clean, corrupted, answer, layer, head, position, d_v):\n"
        "    seen = {}\n    part = slice(head * d_v, (head + 1) * d_v)\n"
        "    def look(l, o):\n        seen[l] = o.copy()\n"
        "    def swap(l, o):\n        if l == layer:\n            o = o.copy()\n"
        "            o[position, part] = seen[l][position, part]\n"
        "    def score(z):\n        return z[-1, answer] - np.log(np.exp(z[-1]).sum())\n"
        "    a, b, c = (score(model(*run)) for run in (\n"
        "        (clean, look), (corrupted, None), (corrupted, swap)))\n"
        "    return (c - b) / (a - b)\n",
        "Then return the copy", "is this line needed?",
    ),
    "control and labels": Slip(
        "16_heads", "16.8",
        "def probed(x, labels, control, train):\n    def say(y):\n"
        "        names = np.unique(y[train])\n"
        "        means = np.array([x[train & (y == c)].mean(0) for c in names])\n"
        "        far = ((x[~train][:, None] - means) ** 2).sum(-1)\n"
        "        return (names[far.argmin(1)] == labels[~train]).mean()\n"
        "    return say(labels), say(labels) - say(control)\n",
        "compared what it said with the true labels",
    ),
    "the kept tokens in the order of their ids": Slip(
        "17_capstone", "17.4",
        WRITE.format("keep = np.sort(order[:k])\n            order = keep\n"
                     "            j = np.argmax(np.cumsum(p[keep] / p[keep].sum()) > draws[i])"),
        "in the order of their ids", "none of your steps",
    ),
    "the same draw for all": Slip(
        "17_capstone", "17.4", WRITE.format("j = np.argmax(np.cumsum(q) > draws[0])"),
        "is 0 the right index there?", "only where the right one is not 0",
    ),
    "epsilon beside numbers that were divided": Slip(
        "18_llama", "18.1",
        "def rms_norm(x, gain, eps):\n    y = x / np.abs(x).max(-1, keepdims=True)\n"
        "    return gain * y / np.sqrt((y * y).mean(-1, keepdims=True) + eps)\n",
        "add eps / m**2", "does `.abs` belong there?",
    ),
    "gate and up unpacked": Slip(
        "18_llama", "18.4",
        "def swiglu(x, gate_up, down):\n    up, gate = np.split(x @ gate_up.T, 2, axis=-1)\n"
        "    return (gate / (1 + np.exp(-gate)) * up) @ down.T\n",
        "is the order right in `up, gate`?", "is `gate` the variable",
    ),
    "blocks of as many rows as heads": Slip(
        "18_llama", "18.8",
        "def to_halves(w, heads):\n    out = []\n    for i in range(0, len(w), heads):\n"
        "        out += [w[i : i + heads][::2], w[i : i + heads][1::2]]\n"
        "    return np.vstack(out)\n",
        "You cut the rows into blocks of `heads` rows", "unchanged",
    ),
    "the largest loss of four": Slip(
        "12_gpt2", "12.5",
        "def find_shift(loss, vocab):\n"
        "    ids = np.random.default_rng(1).integers(0, vocab, 40)\n"
        "    best, answer = -np.inf, None\n"
        "    for s in [-1, 0, 1, 2]:\n"
        "        logits = 10 * np.eye(vocab)[np.roll(ids, -s)]\n"
        "        l = float(loss(logits, ids))\n"
        "        if l > best:\n"
        "            best, answer = l, s\n"
        "    return answer\n",
        "you took the shift of the largest", "10 * np.eye",
    ),
    "f applied to its own output": Slip(
        "07_self_attention", "7.6",
        "def is_equivariant(f, x, permutation):\n"
        "    y = f(x)\n"
        "    return np.allclose(y[permutation], f(y[permutation]))\n",
        "so f has run twice", "in which one side is not",
    ),
    "the axes of the wrong split swapped": Slip(
        "09_multi_head", "9.2",
        "def repair(wrong):\n"
        "    return wrong.swapaxes(-3, -2).reshape(wrong.shape)\n",
        "token after token and in each token head after head", "a swap moves whole rows",
    ),
    "a mask one key too far, with -1e9": Slip(
        "14_cost", "14.7",
        "def read_on(x, positions, w_q, w_k, w_v, keys, values):\n"
        "    old = len(keys)\n"
        "    h = x + positions[old:old + len(x)]\n"
        "    q, k, v = h @ w_q, h @ w_k, h @ w_v\n"
        "    K = np.concatenate([keys, k], axis=0)\n"
        "    V = np.concatenate([values, v], axis=0)\n"
        "    s = q @ K.T / np.sqrt(q.shape[1])\n"
        "    mask = np.tril(np.ones(s.shape), k=old + 1)\n"
        "    s = np.where(mask == 1, s, -1e9)\n"
        "    w = np.exp(s - s.max(axis=1, keepdims=True))\n"
        "    w = w / w.sum(axis=1, keepdims=True)\n"
        "    return w @ V, k, v\n",
        "it hides no key that the mask forbids", "not hidden where the mask",
    ),
    "a plus off the diagonal, and an overflow": Slip(
        "06_softmax", "6.6",
        "def jacobian(scores):\n"
        "    w = np.exp(scores) / np.exp(scores).sum()\n"
        "    n = len(w)\n"
        "    J = np.zeros((n, n))\n"
        "    for i in range(n):\n"
        "        for j in range(n):\n"
        "            J[i, j] = w[i] * (1 - w[i]) if i == j else w[i] * w[j]\n"
        "    return J\n",
        "Off the diagonal you have + w_i w_j", "inf times",
    ),
    "twins compared without a tolerance": Slip(
        "03_context", "3.5",
        "def parts_twins(method, x, first, second):\n"
        "    y = method(x)\n"
        "    return not np.array_equal(y[first], y[second])\n",
        "more exactly than numbers are rounded", "You compared something else",
    ),
    "a scale that rounds down": Slip(
        "05_scaling", "5.2",
        "def weights(q, k):\n"
        "    d = k.shape[1]\n"
        "    s = (q @ k.T) // np.sqrt(d)\n"
        "    e = np.exp(s)\n"
        "    return e / e.sum(axis=1, keepdims=True)\n",
        "is `//` the right operator", "1.41 times",
    ),
    "each layer reads the first input": Slip(
        "08_masking", "8.6",
        "def run_stack(x, projections, mask):\n"
        "    out = x.copy()\n"
        "    for p in projections:\n"
        "        q, k, v = x @ p[0], x @ p[1], x @ p[2]\n"
        "        s = q @ k.T / np.sqrt(q.shape[-1])\n"
        "        e = np.exp(s - s.max(-1, keepdims=True)) * mask\n"
        "        t = e.sum(-1, keepdims=True)\n"
        "        out = out + (e / np.where(t > 0, t, 1)) @ v\n"
        "    return out\n",
        "Every layer of yours reads the first input", "in its first turn",
    ),
    "no residual, and one maximum": Slip(
        "08_masking", "8.6",
        "def run_stack(x, projections, mask):\n"
        "    for w_q, w_k, w_v in projections:\n"
        "        s = (x @ w_q) @ (x @ w_k).T / np.sqrt(x.shape[1])\n"
        "        e = np.where(mask, np.exp(s - s.max()), 0)\n"
        "        t = e.sum(axis=1, keepdims=True)\n"
        "        w = np.divide(e, t, out=np.zeros_like(e), where=t > 0)\n"
        "        x = w @ (x @ w_v)\n"
        "    return x\n",
        "You go on with the change alone", "in its first turn",
    ),
    "words rolled along the batch": Slip(
        "10_cross_attention", "10.4",
        "def shift_right(answers, start):\n"
        "    out = np.roll(answers, 1)\n"
        "    out[:, 0] = start\n"
        "    out = out[:, :]\n"
        "    return np.roll(answers, 1, axis=0)\n",
        "along the batch",
    ),
    "query heads divided by the number of KV heads": Slip(
        "14_cost", "14.6",
        "def share(q, k, v):\n"
        "    groups = len(k)\n"
        "    outs = []\n"
        "    for h in range(len(q)):\n"
        "        g = h // groups\n"
        "        s = q[h] @ k[g].T / np.sqrt(q.shape[2])\n"
        "        e = np.exp(s - s.max(axis=1, keepdims=True))\n"
        "        outs.append(e / e.sum(axis=1, keepdims=True) @ v[g])\n"
        "    return np.stack(outs)\n",
        "You gave query head i the KV head i // g",
    ),
    "values as rows of the system": Slip(
        "07_self_attention", "7.5",
        "def recover_weights(output, values):\n"
        "    A = np.hstack([values, np.ones((len(values), 1))])\n"
        "    b = np.hstack([output, np.ones((len(output), 1))])\n"
        "    return np.linalg.solve(A, b.T).T\n",
        "each value is a row",
    ),
    "every position with every label": Slip(
        "12_gpt2", "12.6",
        "def loss(logits, ids):\n"
        "    lp = log_softmax(logits[:, :-1])\n"
        "    return -lp[:, :, ids[:, 1:]].mean()\n",
        "all pairs of a position and a label",
    ),
    "w in place of diag(w)": Slip(
        "06_softmax", "6.6",
        "def jacobian(scores):\n"
        "    w = np.exp(scores - scores.max())\n"
        "    w /= w.sum()\n"
        "    return w - np.outer(w, w)\n",
        "since it repeats w",
    ),
    "half the sum through one ReLU": Slip(
        "11_block", "11.3",
        "def larger():\n"
        "    w_1 = np.array([[1, 1, -1], [1, -1, 1]], dtype=float)\n"
        "    w_2 = np.full((3, 1), 0.5)\n"
        "    return w_1, np.zeros(3), w_2, np.zeros(1)\n",
        "goes through one ReLU",
    ),
    "dropout scaled in evaluation": Slip(
        "11_block", "11.5",
        "def dropout(x, keep, rate, training):\n"
        "    return x * keep if training else x * (1 - rate)\n",
        "multiplied by 1 - rate in evaluation", "has the wrong mean",
    ),
    "heads cut in front of queries, keys and values": Slip(
        "11_block", "11.6",
        "import torch\n"
        "import torch.nn.functional as F\n"
        "def encoder_layer(x, p, heads):\n"
        "    numpy_in = not torch.is_tensor(x)\n"
        "    x = torch.as_tensor(x)\n"
        "    p = {k: torch.as_tensor(v) for k, v in p.items()}\n"
        "    d = x.shape[-1]\n"
        "    h = F.layer_norm(x, (d,), p[\"norm1_weight\"], p[\"norm1_bias\"], 1e-5)\n"
        "    qkv = h @ p[\"in_proj_weight\"].T + p[\"in_proj_bias\"]\n"
        "    q, k, v = qkv.unflatten(-1, (heads, 3 * d // heads)).transpose(-3, -2).chunk(3, -1)\n"
        "    y = F.scaled_dot_product_attention(q, k, v)\n"
        "    y = y.transpose(-3, -2).flatten(-2)\n"
        "    x = x + y @ p[\"out_proj_weight\"].T + p[\"out_proj_bias\"]\n"
        "    h = F.layer_norm(x, (d,), p[\"norm2_weight\"], p[\"norm2_bias\"], 1e-5)\n"
        "    h = F.gelu(h @ p[\"linear1_weight\"].T + p[\"linear1_bias\"])\n"
        "    x = x + h @ p[\"linear2_weight\"].T + p[\"linear2_bias\"]\n"
        "    return x.numpy() if numpy_in else x\n",
        "into these three blocks first",
    ),
    "an average without an axis": Slip(
        "13_training", "13.4",
        "def accumulate(gradients, tokens):\n"
        "    return np.average(gradients, weights=tokens)\n",
        "`axis=0` is the first",
    ),
    "training without the weights": Slip(
        "15_counting", "15.3",
        "def memory(parameters, bytes_each, adam_bytes):\n"
        "    return parameters * bytes_each, parameters * (bytes_each + 2 * adam_bytes)\n",
        "You counted one number of `bytes_each`", "counted something more",
    ),
    "the bias of c_attn taken for a mask": Slip(
        "15_counting", "15.5",
        "def read_off(file):\n"
        "    skip = (\"attn.bias\", \"attn.masked_bias\", \"lm_head.weight\")\n"
        "    return sum(math.prod(s) for n, s in file.items() if not n.endswith(skip))\n",
        "You left out `attn.c_attn.bias`", "Vectors count",
    ),
    "the head exchanged at every position": Slip(
        "16_heads", "16.7",
        "def restored(model, clean, corrupted, answer, layer, head, position, d_v):\n"
        "    box = {}\n"
        "    cols = np.arange(head * d_v, head * d_v + d_v)\n"
        "    def keep(l, o): box[l] = o.copy()\n"
        "    def swap(l, o):\n"
        "        if l != layer: return None\n"
        "        o = o.copy(); o[:, cols] = box[l][:, cols]; return o\n"
        "    def score(ids, hook):\n"
        "        z = model(ids, hook)[-1]\n"
        "        return np.log(softmax(z))[answer]\n"
        "    top = score(clean, keep); low = score(corrupted, lambda l, o: None)\n"
        "    return (score(corrupted, swap) - low) / (top - low)\n",
        "at more than one position", "or something else",
    ),
    "one probe for labels and control": Slip(
        "16_heads", "16.8",
        "def probed(x, labels, control, train):\n"
        "    names = np.unique(labels[train])\n"
        "    means = np.array([x[train & (labels == c)].mean(0) for c in names])\n"
        "    guess = names[np.argmin(np.linalg.norm(x[~train, None] - means, axis=-1), axis=1)]\n"
        "    a = np.mean(guess == labels[~train])\n"
        "    return a, a - np.mean(guess == control[~train])\n",
        "You compared the guesses of the first probe",
    ),
    "a floor under the probability": Slip(
        "17_capstone", "17.8",
        "def loss(logits, ids):\n"
        "    logits, ids = np.asarray(logits), np.asarray(ids)\n"
        "    e = np.exp(logits - logits.max(-1, keepdims=True))\n"
        "    p = e / e.sum(-1, keepdims=True)\n"
        "    picked = np.take_along_axis(p[..., :-1, :], ids[..., 1:, None], -1)\n"
        "    return -np.mean(np.log(picked + 1e-9))\n",
        "caps what an unlikely token can cost",
    ),
    "the square of the example": Slip(
        "18_llama", "18.2",
        "def base_for(d_k, n):\n"
        "    return (n / (2 * np.pi)) ** 2\n",
        "which is 2 for d_k = 4 alone",
    ),
    "a position as a plain number": Slip(
        "18_llama", "18.6",
        "def decode_step(x, query, key, value, keys, values, base):\n"
        "    q, k, v = query @ x, key @ x, value @ x\n"
        "    angle = angles_of(len(keys), len(q), base)\n"
        "    q, k = rotate(q, angle), rotate(k, angle)\n"
        "    keys = np.vstack([keys, k]); values = np.vstack([values, v])\n"
        "    s = keys @ q / np.sqrt(len(q))\n"
        "    w = np.exp(s - s.max())\n"
        "    return (w / w.sum()) @ values, keys, values\n",
        "give it `np.array([number])`",
    ),
    "KV heads in turn and values rotated": Slip(
        "18_llama", "18.7",
        "def _rms(x, g, eps=1e-5):\n"
        "    return g * x / np.sqrt((x * x).mean(-1, keepdims=True) + eps)\n"
        "def llama_block(x, layer, heads, kv_heads, base):\n"
        "    n, d = x.shape[-2:]\n"
        "    d_k = d // heads\n"
        "    def split(t, h):\n"
        "        return t.reshape(*t.shape[:-1], h, d_k).swapaxes(-2, -3)\n"
        "    a = angles_of(np.arange(n), d_k, base)\n"
        "    y = _rms(x, layer[\"attention_norm\"])\n"
        "    q, k, v = y @ layer[\"query\"].T, y @ layer[\"key\"].T, y @ layer[\"value\"].T\n"
        "    q, k, v = split(q, heads), split(k, kv_heads), split(v, kv_heads)\n"
        "    q, k, v = rotate(q, a), rotate(k, a), rotate(v, a)\n"
        "    k, v = (np.concatenate([t] * (heads // kv_heads), axis=-3) for t in (k, v))\n"
        "    s = q @ k.swapaxes(-1, -2) / np.sqrt(d_k)\n"
        "    s = np.where(np.tri(n, dtype=bool), s, -np.inf)\n"
        "    w = np.exp(s - s.max(-1, keepdims=True))\n"
        "    w = w / w.sum(-1, keepdims=True)\n"
        "    o = (w @ v).swapaxes(-2, -3).reshape(x.shape)\n"
        "    x = x + o @ layer[\"out\"].T\n"
        "    y = _rms(x, layer[\"feed_forward_norm\"])\n"
        "    g, u = y @ layer[\"gate\"].T, y @ layer[\"up\"].T\n"
        "    return x + (g / (1 + np.exp(-g)) * u) @ layer[\"down\"].T\n",
        "You rotated the values as well", "none of your steps gives them",
    ),
    "a row joined to a matrix": Slip(
        "14_cost", "14.8",
        "def in_window(q, k, v, keys, values, width):\n"
        "    K = np.concatenate([keys, k])[-width:]\n"
        "    V = np.concatenate([values, v])[-width:]\n"
        "    s = K @ q / np.sqrt(len(q))\n"
        "    w = np.exp(s - s.max()); w /= w.sum()\n"
        "    return w @ V, K, V\n",
        "whose only row is `a`",
    ),
    "names of parameters sorted": Slip(
        "13_training", "13.2",
        "def decay_groups(shapes):\n"
        "    yes = sorted(n for n, s in shapes.items() if len(s) >= 2)\n"
        "    no = sorted(n for n, s in shapes.items() if len(s) < 2)\n"
        "    return yes, no\n",
        "In `result 1` the words are right but in another order",
    ),
    "a transpose in place of the parameter": Slip(
        "12_gpt2", "12.3",
        "from torch import nn\n"
        "def tie(words):\n"
        "    head = nn.Linear(words.embedding_dim, words.num_embeddings, bias=False)\n"
        "    head.weight = words.weight.T\n"
        "    return head\n",
        "where both hold the `nn.Parameter` itself",
    ),
    "a parameter that is computed": Slip(
        "17_capstone", "17.2",
        "import torch\n"
        "def train(stories):\n"
        "    words = 0.07 * torch.randn(15, 32, requires_grad=True)\n"
        "    return torch.optim.AdamW([words], lr=0.01)\n",
        "Compute it first, then call",
    ),
    "a dictionary given to the optimizer": Slip(
        "17_capstone", "17.2",
        "import torch\n"
        "def train(stories):\n"
        "    p = {'wte.weight': torch.zeros(15, 32, requires_grad=True)}\n"
        "    optimizer = torch.optim.AdamW(p, lr=0.01)\n"
        "    return optimizer\n",
        "sees the names alone",
    ),
    "gradients cleared before the step uses them": Slip(
        "13_training", "13.9",
        "import torch\n"
        "def train(model, stories):\n"
        "    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)\n"
        "    for _ in range(5):\n"
        "        logits, labels = model(stories[:, :-1]), stories[:, 1:]\n"
        "        torch.nn.functional.cross_entropy(logits.mT, labels).backward()\n"
        "        optimizer.zero_grad()\n"
        "        optimizer.step()\n"
        "    return model\n",
        "between these two leaves nothing to use",
    ),
    "no parameter to train": Slip(
        "17_capstone", "17.2",
        "import torch\n"
        "def train(stories):\n"
        "    table = torch.zeros(15, 15)\n"
        "    loss = torch.nn.functional.cross_entropy(table[stories[:, 0]], stories[:, 1])\n"
        "    loss.backward()\n",
        "From here no way leads back to a parameter",
    ),
    "as many answers as the grid has rows": Slip(
        "00_start", "0.3",
        "def strongest(grid, queries_in):\n"
        "    n = len(grid)\n"
        "    out = []\n"
        "    for i in range(n):\n"
        "        if queries_in == \"rows\":\n"
        "            out.append(int(np.argmax(grid[i])))\n"
        "        else:\n"
        "            out.append(int(np.argmax(grid[:, i])))\n"
        "    return np.array(out)\n",
        "take `grid.shape[1]` of them there", "as long as `grid.shape[-1]`",
    ),
    "powers of base 2": Slip(
        "00_start", "0.4",
        "def shares(scores, queries_in):\n"
        "    p = 2.0 ** scores\n"
        "    return p / p.sum(-1 if queries_in == 'rows' else 0, keepdims=True)\n",
        "You raised another number than e",
    ),
    "the exponential of 0 taken for 0": Slip(
        "01_first_lap", "1.1",
        "by_pencil = {\"weights\": [4/7, 0, 3/7], \"output\": [8, 24/7]}\n",
        "e to the power 0 is 1", "None of the entries",
    ),
    "1 - factor kept in each step": Slip(
        "01_first_lap", "1.7",
        "def steps_until(factor, share):\n"
        "    left, n = 1.0, 0\n"
        "    while left >= share:\n"
        "        left -= factor * left\n"
        "        n += 1\n"
        "    return n\n",
        "each step multiplies by 1 - factor", "logarithms",
    ),
    "all rows of dx for each token": Slip(
        "02_embeddings", "2.2",
        "def table_gradient(ids, dx, vocab):\n"
        "    out = np.zeros_like(dx, shape=(vocab, dx.shape[1]))\n"
        "    for i in ids:\n"
        "        out[i] += dx.sum(axis=0)\n"
        "    return out\n",
        "add dx[t] alone to row ids[t]",
    ),
    "components that cancel taken for zeros": Slip(
        "02_embeddings", "2.4",
        "def cosine(a, b):\n"
        "    if sum(a) == 0 or sum(b) == 0:\n"
        "        raise ValueError(\"all zeros\")\n"
        "    return a @ b / np.linalg.norm(a) / np.linalg.norm(b)\n",
        "components add up to 0", "dot product",
    ),
    "L1 norms in a table of cosines": Slip(
        "02_embeddings", "2.5",
        "def cosine_table(x):\n"
        "    n = len(x)\n"
        "    t = np.zeros((n, n))\n"
        "    for i in range(n):\n"
        "        for j in range(n):\n"
        "            t[i, j] = np.dot(x[i], x[j]) / (np.abs(x[i]).sum() * np.abs(x[j]).sum())\n"
        "    return t\n",
        "rarely has the cosine 1 with itself",
    ),
    "a signed difference of twins": Slip(
        "03_context", "3.5",
        "def parts_twins(method, x, first, second):\n"
        "    y = method(x)\n"
        "    return bool((y[first] - y[second]).max() > 1e-9)\n",
        "You kept the sign of the difference", "You compared something else",
    ),
    "equality on the wrong side": Slip(
        "03_context", "3.7",
        "def best_threshold(distances, same, candidates):\n"
        "    a, b = distances[same], distances[~same]\n"
        "    return max(candidates, key=lambda t: np.mean(a <= t) + np.mean(b > t))\n",
        "distances that are equal to the threshold", "a different measure",
    ),
    "one product in place of the sum": Slip(
        "04_queries_keys_values", "4.2",
        "def score(q, k):\n"
        "    for qi, ki in zip(q, k):\n"
        "        s = qi * ki\n"
        "    return s\n",
        "the product of one pair of components alone",
    ),
    "softmax before the product with the keys": Slip(
        "05_scaling", "5.2",
        "def weights(q, k):\n"
        "    return softmax(q / math.sqrt(q.shape[-1])) @ k.T\n",
        "You took the softmax of the queries",
    ),
    "all components of a query moved at once": Slip(
        "05_scaling", "5.6",
        "def query_gradient(q, K):\n"
        "    h = 1e-5\n"
        "    f = lambda q: softmax(K @ q / np.sqrt(len(q)))\n"
        "    g = np.zeros((len(K), len(q)))\n"
        "    for j in range(len(q)):\n"
        "        g[:, j] = (f(q + h) - f(q - h)) / (2 * h)\n"
        "    return g\n",
        "move component j alone", "The result is not.",
    ),
    "positions left out of a count": Slip(
        "15_counting", "15.2",
        "def total(vocab, longest, d_model, layers, d_ff, tied, biases):\n"
        "    count = vocab * d_model\n"
        "    for _ in range(layers):\n"
        "        count += 4 * d_model ** 2\n"
        "        count += 2 * d_model * d_ff\n"
        "        count += 4 * d_model\n"
        "        if biases:\n"
        "            count += 4 * d_model + d_ff + d_model\n"
        "    count += 2 * d_model\n"
        "    if not tied:\n"
        "        count += vocab * d_model\n"
        "    return count\n",
        "add longest * d_model once", "nothing but the causal mask",
    ),
    "two operations for a multiply-add": Slip(
        "15_counting", "15.4",
        "def multiply_adds(vocab, longest, d_model, layers, d_ff, n):\n"
        "    p = layers * (4 * d_model ** 2 + 2 * d_model * d_ff) + vocab * d_model\n"
        "    return 2 * p + 4 * n * d_model * layers\n",
        "twice what is asked for", "All your counts",
    ),
    "scores of pairs without a softmax": Slip(
        "16_heads", "16.9",
        "def score_parts(parts, w_q, w_k):\n"
        "    q = parts @ w_q\n"
        "    k = parts @ w_k\n"
        "    return np.einsum(\"aid,bjd->abij\", q, k)\n",
        "so is what each pair adds to it", "softmax",
    ),
    "a bias divided among the heads": Slip(
        "16_heads", "16.3",
        "def soft(s):\n"
        "    e = np.exp(s - s.max(-1, keepdims=True))\n"
        "    return e / e.sum(-1, keepdims=True)\n"
        "\n"
        "def switch_off(scores, values, w_o, b_o, head):\n"
        "    d_v = values.shape[-1]\n"
        "    heads = len(scores)\n"
        "    out = 0\n"
        "    for h in range(heads):\n"
        "        if h == head:\n"
        "            continue\n"
        "        part = soft(scores[h]) @ values[h] @ w_o[h * d_v:(h + 1) * d_v]\n"
        "        out = out + part + b_o / heads\n"
        "    return out\n",
        "takes its share of the bias with it",
    ),
    "weights clipped after a step too long": Slip(
        "16_heads", "16.6",
        "def other_weights(weights, values):\n"
        "    A = np.vstack([values.T, np.ones(len(weights))])\n"
        "    d = np.linalg.svd(A)[2][-1]\n"
        "    w = weights + d\n"
        "    w = np.clip(w, 0, None)\n"
        "    return w / w.sum()\n",
        "If you clip the weights",
    ),
    "the token before the first occurrence": Slip(
        "16_heads", "16.2",
        "def induction(weights, ids):\n"
        "    ids = list(ids)\n"
        "    scores = []\n"
        "    for i in range(len(ids)):\n"
        "        j = ids.index(ids[i])\n"
        "        if j < i:\n"
        "            scores.append(weights[i, j - 1])\n"
        "    return float(np.mean(scores))\n",
        "Two mistakes together give exactly these numbers",
    ),
    "gigabytes in the opposite order": Slip(
        "15_counting", "15.3",
        "def memory(parameters, bytes_each, adam_bytes):\n"
        "    run = parameters * bytes_each / 1e9\n"
        "    train = parameters * (2 * bytes_each + 2 * adam_bytes) / 1e9\n"
        "    return train, run\n",
        "Bytes are asked for: do not divide",
    ),
    "a second name that only some files have": Slip(
        "15_counting", "15.5",
        "def read_off(file):\n"
        "    total = 0\n"
        "    for name, shape in file.items():\n"
        "        if name.endswith(\".attn.bias\") or name.endswith(\".attn.masked_bias\"):\n"
        "            continue\n"
        "        n = 1\n"
        "        for s in shape:\n"
        "            n *= s\n"
        "        total += n\n"
        "    return total - math.prod(file[\"lm_head.weight\"])\n",
        "only some files have this second name",
    ),
    "a division by temperature 0": Slip(
        "17_capstone", "17.4",
        "def write(step, ids, new, temperature, top_p, draws):\n"
        "    logits, cache = step(ids, None)\n"
        "    out = [int(t) for t in ids]\n"
        "    for draw in draws[:new]:\n"
        "        z = np.asarray(logits)[-1] / temperature\n"
        "        p = np.exp(z - z.max()); p /= p.sum()\n"
        "        order = np.argsort(-p)\n"
        "        k = (np.cumsum(p[order]) < top_p).sum() + 1\n"
        "        kept = p[order[:k]] / p[order[:k]].sum()\n"
        "        t = int(order[min(k - 1, (np.cumsum(kept) <= draw).sum())])\n"
        "        out.append(t)\n"
        "        logits, cache = step(np.array([t]), cache)\n"
        "    return np.array(out)\n",
        "if logits are divided by 0",
    ),
    "a curve of losses alone": Slip(
        "17_capstone", "17.5",
        "def report():\n"
        "    curve = [3.1, 2.0, 1.5, 1.2, 1.1]\n"
        "    return {'text': 30_000 * 'a', 'curve': curve, 'paragraph': 300 * 'a'}\n",
        "one of yours is a float", "no len()",
    ),
    "a batch cut like one text": Slip(
        "17_capstone", "17.8",
        "def loss(logits, ids):\n"
        "    z, t = logits[:-1], ids[1:]\n"
        "    m = z.max(-1, keepdims=True)\n"
        "    lp = z - m - np.log(np.exp(z - m).sum(-1, keepdims=True))\n"
        "    return -np.mean([lp[i, t[i]] for i in range(len(t))])\n",
        "the tokens of the next text",
    ),
    "KV heads by the wrong quotient": Slip(
        "18_llama", "18.5",
        "def repeat_kv(x, heads):\n"
        "    g = x.shape[-3]\n"
        "    index = [i // g for i in range(heads)]\n"
        "    return np.take(x, index, axis=-3)\n",
        "divide i by h // g",
    ),
    "x divided, the mean still in it": Slip(
        "11_block", "11.1",
        "def layer_norm(x, gain, bias, eps):\n"
        "    var = x.var(-1, keepdims=True)\n"
        "    normed = x / np.sqrt(var + eps)\n"
        "    return normed * gain + bias\n",
        "Layer norm divides what remains after the mean", "RMS norm",
    ),
    "a first matrix of the other shape": Slip(
        "11_block", "11.3",
        "def larger():\n"
        "    w_1 = np.array([[1, -1], [0, 1], [0, -1]])\n"
        "    return w_1, np.zeros(3), np.array([[1], [1], [-1]]), np.zeros(1)\n",
        "`w_1` must have the shape (2, d_hidden); yours has (3, 2)", "the columns are 2",
    ),
    "a bias of ten that the ReLU does not reach": Slip(
        "11_block", "11.3",
        "def larger():\n"
        "    big = 10.0\n"
        "    w_1 = np.array([[1.0, 0.0], [-1.0, 1.0]])\n"
        "    b_1 = np.array([0.0, big])\n"
        "    w_2 = np.ones((2, 1))\n"
        "    b_2 = np.array([-big])\n"
        "    return w_1, b_1, w_2, b_2\n",
        "A number more negative than your constant",
    ),
    "the residual stream shrunk with what is added": Slip(
        "11_block", "11.8",
        "def stream_variance(start, added, blocks, scaled):\n"
        "    v = start\n"
        "    for i in range(2 * blocks):\n"
        "        v = v + added\n"
        "        if scaled:\n"
        "            v = v / (2 * blocks)\n"
        "    return v\n",
        "so what had come in before was shrunk again",
    ),
    "an embedding assigned to the weight": Slip(
        "12_gpt2", "12.3",
        "def tie(words):\n"
        "    head = nn.Linear(words.embedding_dim, words.num_embeddings, bias=False)\n"
        "    head.weight = words\n"
        "    return head\n",
        "assign `words.weight`", "its transpose for example",
    ),
    "logits rolled the other way": Slip(
        "12_gpt2", "12.5",
        "def find_shift(loss, vocab):\n"
        "    rng = np.random.default_rng(0)\n"
        "    ids = rng.integers(0, vocab, 200)\n"
        "    results = {}\n"
        "    for s in (-1, 0, 1, 2):\n"
        "        logits = 50.0 * np.eye(vocab)[np.roll(ids, s)]\n"
        "        results[s] = loss(logits, ids)\n"
        "    return min(results, key=results.get)\n",
        "You counted shifts in the other direction", "has the wrong sign",
    ),
    "the largest of three losses": Slip(
        "12_gpt2", "12.5",
        "def find_shift(loss, vocab):\n"
        "    ids = np.random.default_rng(1).integers(vocab, size=100)\n"
        "    tries = [-1, 0, 1]\n"
        "    values = [loss(30 * np.eye(vocab)[np.roll(ids, -s)], ids) for s in tries]\n"
        "    return tries[int(np.argmax(values))]\n",
        "of your 3 losses",
    ),
    "weights added up in the order of the vocabulary": Slip(
        "12_gpt2", "12.7",
        "def nucleus(logits, p):\n"
        "    probs = softmax(logits)\n"
        "    c = probs.cumsum(-1)\n"
        "    kept = np.where(c - probs < p, probs, 0)\n"
        "    return kept / kept.sum(-1, keepdims=True)\n",
        "You added the weights up in the order of the vocabulary",
    ),
    "degrees, and the floor on the whole peak": Slip(
        "13_training", "13.1",
        "def learning_rate(step, steps, warmup, peak, floor):\n"
        "    if step < warmup:\n"
        "        return peak * (step + 1) / warmup\n"
        "    t = (step - warmup + 1) / (steps - warmup)\n"
        "    return floor + peak * (1 + math.cos(180 * t)) / 2\n",
        "math.cos takes radians",
    ),
    "a norm without its root, and a step up": Slip(
        "13_training", "13.5",
        "def update(weights, parts, longest, rate):\n"
        "    mean = [sum(p[i] for p in parts) / len(parts) for i in range(len(weights))]\n"
        "    size = sum((g ** 2).sum() for g in mean)\n"
        "    if size > longest:\n"
        "        mean = [g * longest / size for g in mean]\n"
        "    return [w + rate * g for w, g in zip(weights, mean)]\n",
        "Your factor is not min(1, longest / norm)",
    ),
    "two words without their s": Slip(
        "13_training", "13.8",
        'checkpoint = {"weights", "first moment", "second moment", "step", "generator state"}\n',
        "a word that is not one of the nine", "You left out what moves the weights",
    ),
    "the crossing point counted up to, with one matrix": Slip(
        "14_cost", "14.2",
        "def crossover(d_model, d_ff):\n"
        "    n = 1\n"
        "    while 2 * n * n * d_model < 4 * n * d_model ** 2 + n * d_model * d_ff:\n"
        "        n += 1\n"
        "    return n\n",
        "You counted one matrix of the feed-forward network",
    ),
    "one maximum, and no scaling": Slip(
        "14_cost", "14.5",
        "def tiled(q, k, v, columns):\n"
        "    m, l, o = -np.inf, 0.0, 0.0\n"
        "    for i in range(0, k.shape[0], columns):\n"
        "        s = q @ k[i:i + columns].T\n"
        "        new = max(m, s.max())\n"
        "        a = np.exp(m - new)\n"
        "        e = np.exp(s - new)\n"
        "        l = l * a + e.sum(1, keepdims=True)\n"
        "        o = o * a + e @ v[i:i + columns]\n"
        "        m = new\n"
        "    return o / l\n",
        "You keep one maximum for all queries", "high scores do not overflow",
    ),
    "KV heads summed by einsum": Slip(
        "14_cost", "14.6",
        "def share(q, k, v):\n"
        '    s = np.einsum("hqd,gkd->hqk", q, k) / np.sqrt(q.shape[-1])\n'
        "    e = np.exp(s - s.max(-1, keepdims=True))\n"
        "    w = e / e.sum(-1, keepdims=True)\n"
        '    return np.einsum("hqk,gkd->hqd", w, v)\n',
        "the keys or the values of all KV heads, added up",
    ),
    "the first values for all heads": Slip(
        "14_cost", "14.6",
        "def share(q, k, v):\n"
        "    k = np.repeat(k, len(q) // len(k), axis=0)\n"
        "    s = np.matmul(q, np.swapaxes(k, 1, 2)) / np.sqrt(k.shape[2])\n"
        "    e = np.exp(s - s.max(2, keepdims=True))\n"
        "    return np.matmul(e / e.sum(2, keepdims=True), v[0])\n",
        "the keys of one KV head and the values of another",
    ),
    "slices multiplied in the other order": Slip(
        "09_multi_head", "9.8",
        "def value_rank(w_v, w_o, heads, head):\n"
        "    V = np.split(w_v, heads, axis=1)[head]\n"
        "    O = np.split(w_o, heads, axis=0)[head]\n"
        "    s = np.linalg.svd(O @ V, compute_uv=False)\n"
        "    return int(sum(s > 1e-6 * max(s)))\n",
        "put its columns of W_v on the left", "one of the two slices",
    ),
    "rank with NumPy's own threshold": Slip(
        "09_multi_head", "9.8",
        "def value_rank(w_v, w_o, heads, head):\n"
        "    V = np.split(w_v, heads, axis=1)[head]\n"
        "    O = np.split(w_o, heads, axis=0)[head]\n"
        "    return int(np.linalg.matrix_rank(V @ O))\n",
        "Your threshold is too low", "one of the two slices",
    ),
    "rank with a fixed threshold": Slip(
        "09_multi_head", "9.8",
        "def value_rank(w_v, w_o, heads, head):\n"
        "    d = len(w_v) // heads\n"
        "    c = slice(head * d, (head + 1) * d)\n"
        "    return int(np.linalg.matrix_rank(w_v[:, c] @ w_o[c], tol=1e-6))\n",
        "what is below a fixed number",
    ),
    "axis 1 where the keys are the last axis": Slip(
        "07_self_attention", "7.3",
        "def self_attention(x, w_q, w_k, w_v):\n"
        "    q, k, v = x @ w_q, x @ w_k, x @ w_v\n"
        "    s = q @ np.swapaxes(k, -2, -1) / np.sqrt(w_k.shape[1])\n"
        "    e = np.exp(s - s.max(axis=1, keepdims=True))\n"
        "    return e / e.sum(axis=1, keepdims=True) @ v\n",
        "a sentence comes out the same in a batch as alone", "never meet",
    ),
    "largest scores compared, not where they stand": Slip(
        "10_cross_attention", "10.7",
        "def share_changed(decode, memory):\n"
        "    full, empty = decode(memory), decode(np.zeros(memory.shape))\n"
        "    return np.mean(full.max(-1) != empty.max(-1))\n",
        "any of them or the largest", "any of its scores",
    ),
    "a thousandth added before the logarithm": Slip(
        "06_softmax", "6.7",
        "def entropy(weights):\n"
        "    return -np.sum(weights * np.log(weights + 1e-3), axis=-1)\n",
        "added a small number to the weights",
    ),
    "each product in place of the one before": Slip(
        "07_self_attention", "7.1",
        "def mix(weights, values):\n"
        "    out = []\n"
        "    for w in weights:\n"
        "        for j, v in enumerate(values):\n"
        "            row = w[j] * v\n"
        "        out.append(row)\n"
        "    return np.array(out)\n",
        "the last weight times the last value",
    ),
    "the first query in every turn": Slip(
        "07_self_attention", "7.2",
        "def attention(q, k, v):\n"
        "    out = []\n"
        "    for i in range(len(q)):\n"
        "        s = np.array([np.dot(q[0], kj) for kj in k])\n"
        "        e = np.exp(s - s.max())\n"
        "        out.append((e / e.sum()) @ v)\n"
        "    return np.array(out)\n",
        "Every row of your output is that of the first query",
    ),
    "weights from distances by a softmax": Slip(
        "07_self_attention", "7.5",
        "def recover_weights(output, values):\n"
        "    d = ((output[:, None] - values[None]) ** 2).sum(-1)\n"
        "    e = np.exp(-d)\n"
        "    return e / e.sum(-1, keepdims=True)\n",
        "from the distances to the values", "1 / distance",
    ),
    "one equation too few": Slip(
        "07_self_attention", "7.5",
        "def recover_weights(output, values):\n"
        "    return np.linalg.solve(values.T, output.T).T\n",
        "The missing one: the weights sum to 1",
    ),
    "key positions round the edge": Slip(
        "07_self_attention", "7.8",
        "def same_rotary_score(query, key, n):\n"
        "    m = np.zeros((n, n), dtype=bool)\n"
        "    for i in range(n):\n"
        "        m[i, (i - query + key) % n] = True\n"
        "    return m\n",
        "a key position below 0 or above n - 1",
    ),
    "causal and looking ahead exchanged": Slip(
        "08_masking", "8.7",
        "def is_causal(f, x):\n"
        "    base = f(x)\n"
        "    leak = False\n"
        "    for t in range(1, len(x)):\n"
        "        y = x.copy(); y[t] = -y[t] + 1\n"
        "        leak = leak or not np.allclose(f(y)[:t], base[:t])\n"
        "    return leak\n",
        "You return True for a function that looks ahead",
    ),
    "losses added in a loop": Slip(
        "08_masking", "8.8",
        "def next_token_loss(logits, tokens, real):\n"
        "    total = 0.0\n"
        "    for i in range(len(tokens) - 1):\n"
        "        if real[i + 1]:\n"
        "            total += np.logaddexp.reduce(logits[i]) - logits[i][tokens[i + 1]]\n"
        "    return total\n",
        "divide by the number of real labels",
    ),
    "labels by a roll": Slip(
        "08_masking", "8.8",
        "import torch\n"
        "def next_token_loss(logits, tokens, real):\n"
        "    L = torch.as_tensor(np.array(logits, float))\n"
        "    t = torch.as_tensor(np.roll(tokens, -1)).long()\n"
        "    r = torch.as_tensor(np.roll(real, -1))\n"
        "    return torch.nn.functional.cross_entropy(L[r], t[r]).item()\n",
        "the last position the first token as its label",
    ),
    "one mask, and a maximum of forbidden scores": Slip(
        "08_masking", "8.6",
        "def run_stack(x, projections, mask):\n"
        "    def layer(x, w, m):\n"
        "        q, k, v = x @ w[0], x @ w[1], x @ w[2]\n"
        "        s = q @ k.T / np.sqrt(q.shape[1])\n"
        "        e = np.exp(s - s.max(1, keepdims=True)) * m\n"
        "        t = e.sum(1, keepdims=True)\n"
        "        return x + e / np.where(t == 0, 1, t) @ v\n"
        "    for i, w in enumerate(projections):\n"
        "        x = layer(x, w, mask if i == 0 else np.ones_like(mask))\n"
        "    return x\n",
        "You used the mask only in the first layer", "none of your steps",
    ),
    "layers side by side, and bare exponentials": Slip(
        "08_masking", "8.6",
        "def run_stack(x, projections, mask):\n"
        "    h = x.copy()\n"
        "    for w_q, w_k, w_v in projections:\n"
        "        s = (x @ w_q) @ (x @ w_k).T / np.sqrt(x.shape[1])\n"
        "        e = np.where(mask, np.exp(s), 0)\n"
        "        t = e.sum(1, keepdims=True)\n"
        "        h = h + np.divide(e, t, out=np.zeros_like(e), where=t > 0) @ (x @ w_v)\n"
        "    return h\n",
        "the layers run side by side", "none of your steps",
    ),
    "largest weight of the query": Slip(
        "00_start", "0.2",
        "def entry(grid, query, key, queries_in):\n"
        "    weights_of_query = grid[query] if queries_in == 'rows' else grid[:, query]\n"
        "    return weights_of_query.max()\n",
        "You returned the largest weight of the query",
    ),
    "a slice that ends before the token": Slip(
        "01_first_lap", "1.2",
        "def attend_nearby(q, k, v, window):\n"
        "    out = np.zeros((len(q), v.shape[1]))\n"
        "    for i in range(len(q)):\n"
        "        start = max(0, i - window + 1)\n"
        "        s = k[start:i] @ q[i] / np.sqrt(q.shape[1])\n"
        "        w = np.exp(s) / np.exp(s).sum()\n"
        "        out[i] = w @ v[start:i]\n"
        "    return out\n",
        "Your windows end before the token itself",
    ),
    "counts turned into shares before idf": Slip(
        "01_first_lap", "1.5",
        "def tf_idf(counts):\n"
        "    tf = counts / counts.sum(axis=1, keepdims=True)\n"
        "    idf = np.log(len(counts) / np.count_nonzero(counts, axis=0))\n"
        "    return tf * idf\n",
        "Leave them as they are", "Return the counts",
    ),
    "gradient read with the id": Slip(
        "02_embeddings", "2.2",
        "def table_gradient(ids, dx, vocab):\n"
        "    dE = np.zeros((vocab, dx.shape[1]))\n"
        "    for i in ids:\n"
        "        dE[i] += dx[i]\n"
        "    return dE\n",
        "add `dx[i]` to row `ids[i]`",
    ),
    "second largest dot product": Slip(
        "02_embeddings", "2.6",
        "def nearest(word, table):\n"
        "    return int(np.argsort(-(table @ table[word]))[1])\n",
        "You sorted the dot products and took the second largest",
    ),
    "sum of signed differences": Slip(
        "03_context", "3.5",
        "def parts_twins(method, x, first, second):\n"
        "    y = method(x)\n"
        "    diff = sum(y[first] - y[second])\n"
        "    return bool(diff > 1e-8)\n",
        "You kept the sign of the difference",
    ),
    "scores summed over a batch": Slip(
        "04_queries_keys_values", "4.4",
        "def token_scores(x, w_q, w_k):\n"
        "    if x.ndim == 2:\n"
        "        return np.einsum('id,dk,jc,ck->ij', x, w_q, x, w_k)\n"
        "    return np.einsum('bid,dk,ajc,ck->bij', x, w_q, x, w_k)\n",
        "You added up numbers over the sentences of the batch",
    ),
    "layout ignored in a grid of words": Slip(
        "04_queries_keys_values", "4.5",
        "def attends_to(grid, words, queries_in):\n"
        "    return {w: words[int(np.argmax(grid[i]))] for i, w in enumerate(words)}\n",
        "reads both layouts the same way", "wrong axis",
    ),
    "a key filled with the score": Slip(
        "04_queries_keys_values", "4.6",
        "def soft_lookup(query, keys, values, nothing):\n"
        "    keys = np.vstack([keys, np.full(keys.shape[1], nothing)])\n"
        "    values = np.vstack([values, np.zeros(values.shape[1])])\n"
        "    return softmax(keys @ query) @ values\n",
        "append it to the scores",
    ),
    "vectors in place of matrices": Slip(
        "04_queries_keys_values", "4.7",
        "def one_way(a, b):\n"
        "    u = a - (a @ b) / (b @ b) * b\n"
        "    return u / (u @ a), b / (b @ b)\n",
        "With yours, the shapes are (2,) and (2,)", "your shapes",
    ),
    "output matrix not counted, its bias counted": Slip(
        "09_multi_head", "9.6",
        "def parameters(d_model, heads, bias):\n"
        "    d_k = d_model // heads\n"
        "    one = d_model * d_k + (d_k if bias else 0)\n"
        "    return heads * 3 * one + (d_model if bias else 0)\n",
        "W_o belongs to the block", "is the number 3",
    ),
    "smaller of two ranks": Slip(
        "09_multi_head", "9.8",
        "def value_rank(w_v, w_o, heads, head):\n"
        "    d_k = w_v.shape[1] // heads\n"
        "    v = w_v[:, head * d_k:(head + 1) * d_k]\n"
        "    o = w_o[head * d_k:(head + 1) * d_k]\n"
        "    return int(min(np.linalg.matrix_rank(v), np.linalg.matrix_rank(o)))\n",
        "or the smaller of both ranks",
    ),
    "pads expected in front of a source": Slip(
        "10_cross_attention", "10.3",
        "def masked_cross(q, k, v, lengths):\n"
        "    n = k.shape[1]\n"
        "    mask = np.arange(n)[None, None, :] >= n - np.asarray(lengths)[:, None, None]\n"
        "    s = np.where(mask, q @ np.swapaxes(k, 1, 2) / np.sqrt(q.shape[-1]), -1e30)\n"
        "    e = np.exp(s - s.max(-1, keepdims=True))\n"
        "    return e / e.sum(-1, keepdims=True) @ v\n",
        "as if the pads came first", "np.where",
    ),
    "list that stays empty": Slip(
        "10_cross_attention", "10.5",
        "def greedy(encode, step, source, end, longest):\n"
        "    memory = encode(source)\n"
        "    written = []\n"
        "    for i in range(longest):\n"
        "        w = int(np.argmax(step(memory, written)))\n"
        "        written + [w]\n"
        "        if w == end:\n"
        "            break\n"
        "    return written\n",
        "`written + [word]` makes a new list",
    ),
    "sure links counted once": Slip(
        "10_cross_attention", "10.6",
        "def error_rate(predicted, sure, possible):\n"
        "    return 1 - ((predicted & (sure | possible)).sum()) / (predicted.sum() + sure.sum())\n",
        "so a predicted link that is sure counts twice",
    ),
    "error rates of rows averaged": Slip(
        "10_cross_attention", "10.6",
        "def error_rate(predicted, sure, possible):\n"
        "    rates = []\n"
        "    for p, s, o in zip(predicted, sure, possible):\n"
        "        if p.sum() + s.sum() > 0:\n"
        "            rates.append(1 - ((p & s).sum() + (p & o).sum()) / (p.sum() + s.sum()))\n"
        "    return np.mean(rates)\n",
        "one fraction",
    ),
    "length of a table taken for hits": Slip(
        "10_cross_attention", "10.6",
        "def error_rate(predicted, sure, possible):\n"
        "    a = len(predicted[sure]) + len(predicted[possible])\n"
        "    return 1 - a / (np.count_nonzero(predicted) + np.count_nonzero(sure))\n",
        "predicted or not",
    ),
    "one argmax for the whole text": Slip(
        "10_cross_attention", "10.7",
        "def share_changed(decode, memory):\n"
        "    a = decode(memory).argmax()\n"
        "    b = decode(memory * 0).argmax()\n"
        "    return float(a != b)\n",
        "one argmax over all scores",
    ),
    "maximum not handed on": Slip(
        "14_cost", "14.5",
        "def tiled(q, k, v, columns):\n"
        "    scale = q.shape[-1] ** -0.5\n"
        "    m = np.full((len(q), 1), -np.inf)\n"
        "    l = np.zeros((len(q), 1))\n"
        "    o = np.zeros((len(q), v.shape[-1]))\n"
        "    for start in range(0, len(k), columns):\n"
        "        s = q @ k[start:start + columns].T * scale\n"
        "        new = np.maximum(m, s.max(-1, keepdims=True))\n"
        "        e = np.exp(s - new)\n"
        "        old = np.exp(m - new)\n"
        "        l = l * old + e.sum(-1, keepdims=True)\n"
        "        o = o * old + e @ v[start:start + columns]\n"
        "    return o / l\n",
        "hand the new maximum on",
    ),
    "query heads averaged": Slip(
        "14_cost", "14.6",
        "def share(q, k, v):\n"
        "    r = q.shape[0] // k.shape[0]\n"
        "    q = q.reshape(k.shape[0], r, *q.shape[1:]).mean(axis=1)\n"
        "    s = np.einsum(\"hqd,hkd->hqk\", q, k) / q.shape[-1] ** 0.5\n"
        "    w = np.exp(s - s.max(-1, keepdims=True))\n"
        "    w /= w.sum(-1, keepdims=True)\n"
        "    return np.repeat(w @ v, r, axis=0)\n",
        "mean of the query heads",
    ),
    "one position for all new tokens": Slip(
        "14_cost", "14.7",
        "def soft(s):\n"
        "    e = np.exp(s - s.max(-1, keepdims=True))\n"
        "    return e / e.sum(-1, keepdims=True)\n"
        "\n"
        "def read_on(x, positions, w_q, w_k, w_v, keys, values):\n"
        "    old, new = len(keys), len(x)\n"
        "    x = x + positions[old]\n"
        "    keys = np.concatenate([keys, x @ w_k])\n"
        "    values = np.concatenate([values, x @ w_v])\n"
        "    s = (x @ w_q) @ keys.T / np.sqrt(w_q.shape[1])\n"
        "    hidden = np.arange(old + new)[None, :] > old + np.arange(new)[:, None]\n"
        "    s = np.where(hidden, -np.inf, s)\n"
        "    return soft(s) @ values, keys, values\n",
        "the position of the first of them",
    ),
    "columns from the number of the head": Slip(
        "16_heads", "16.3",
        "def switch_off(scores, values, w_o, b_o, head):\n"
        "    d_v = values.shape[-1]\n"
        "    w = w_o.copy()\n"
        "    w[head:head + d_v] = 0\n"
        "    out = softmax(scores) @ values\n"
        "    return np.hstack(list(out)) @ w + b_o\n",
        "right for head 0 alone",
    ),
    "every position with every target": Slip(
        "16_heads", "16.5",
        "def price(logits, without, targets):\n"
        "    def mean_loss(z):\n"
        "        p = softmax(z)\n"
        "        return -np.log(p[:, targets]).mean()\n"
        "    return np.array([mean_loss(z) - mean_loss(logits) for z in without])\n",
        "all pairs of a position and a target",
    ),
    "deviation from 0": Slip(
        "13_training", "13.7",
        "def too_good(losses, surprisal):\n"
        "    g = (surprisal - losses).mean(1)\n"
        "    sd = np.sqrt((g**2).sum() / (len(g) - 1))\n"
        "    return g.mean() / (sd / np.sqrt(len(g)))\n",
        "how far the gaps are from 0",
    ),
    "perplexity over the batches": Slip(
        "13_training", "13.6",
        "def perplexity(losses, tokens):\n"
        "    total = (np.array(losses) * np.array(tokens)).sum()\n"
        "    return np.exp(total / len(tokens))\n",
        "not the mean loss per token", "learning rate",
    ),
    "residual of attention missing": Slip(
        "17_capstone", "17.7",
        "def attn(x, p, heads):\n"
        "    n, d = x.shape[-2:]\n"
        "    q, k, v = np.split(x @ p[\"attn.c_attn.weight\"] + "
        "p[\"attn.c_attn.bias\"], 3, axis=-1)\n"
        "    q, k, v = [np.swapaxes(z.reshape(*z.shape[:-1], heads, d // heads), -2, "
        "-3) for z in (q, k, v)]\n"
        "    s = q @ np.swapaxes(k, -1, -2) / np.sqrt(d // heads)\n"
        "    s = np.where(np.tril(np.ones((n, n), dtype=bool)), s, -np.inf)\n"
        "    e = np.exp(s - s.max(-1, keepdims=True))\n"
        "    o = e / e.sum(-1, keepdims=True) @ v\n"
        "    o = np.swapaxes(o, -2, -3).reshape(x.shape)\n"
        "    return o @ p[\"attn.c_proj.weight\"] + p[\"attn.c_proj.bias\"]\n"
        "\n"
        "def ln(x, p, name):\n"
        "    z = x - x.mean(-1, keepdims=True)\n"
        "    return z / np.sqrt((z * z).mean(-1, keepdims=True) + 1e-5) * p[name + "
        "\".weight\"] + p[name + \".bias\"]\n"
        "\n"
        "def mlp(x, p):\n"
        "    u = x @ p[\"mlp.c_fc.weight\"] + p[\"mlp.c_fc.bias\"]\n"
        "    u = 0.5 * u * (1 + np.tanh(np.sqrt(2 / np.pi) * (u + 0.044715 * u**3)))\n"
        "    return u @ p[\"mlp.c_proj.weight\"] + p[\"mlp.c_proj.bias\"]\n"
        "\n"
        "def block(x, p, heads):\n"
        "    x = attn(ln(x, p, \"ln_1\"), p, heads)\n"
        "    return x + mlp(ln(x, p, \"ln_2\"), p)\n",
        "without what it is added to", "the change alone",
    ),
    "sum of a bias times sums of columns": Slip(
        "11_block", "11.2",
        "def one_layer(w_1, b_1, w_2, b_2):\n"
        "    w = w_1 @ w_2\n"
        "    b = b_2 + w_2.sum(axis=0) * b_1.sum()\n"
        "    return w, b\n",
        "the sum of b_1",
    ),
    "smaller of two numbers": Slip(
        "11_block", "11.3",
        "def larger():\n"
        "    # relu(a) - relu(-a) = a, then correct by relu(a - b)\n"
        "    w_1 = np.array([[1, -1, 1], [0, 0, -1]])\n"
        "    w_2 = np.array([[1], [-1], [-1]])\n"
        "    return w_1, np.zeros(3), w_2, np.zeros(1)\n",
        "the smaller of the two",
    ),
    "sum taken whole by if biases": Slip(
        "15_counting", "15.2",
        "def total(vocab, longest, d_model, layers, d_ff, tied, biases):\n"
        "    block = 4 * d_model**2 + 2 * d_model * d_ff + 4 * d_model + 5 * d_model + "
        "d_ff if biases else 0\n"
        "    n = vocab * d_model + longest * d_model + layers * block + 2 * d_model\n"
        "    if not tied:\n"
        "        n += vocab * d_model\n"
        "    return n\n",
        "your blocks count as 0",
    ),
    "empty curve": Slip(
        "17_capstone", "17.5",
        "def report():\n"
        "    return {\"text\": \"to be or not to be. \" * 2000, \"curve\": [], "
        "\"paragraph\": \"to be \" * 50}\n",
        "five points or more", "IndexError",
    ),
    "sum of parts never divided": Slip(
        "13_training", "13.5",
        "def update(weights, parts, longest, rate):\n"
        "    mean = [sum(gs) for gs in zip(*parts)]\n"
        "    norm = math.sqrt(sum(float((g ** 2).sum()) for g in mean))\n"
        "    factor = min(1.0, longest / norm) if norm > 0 else 1.0\n"
        "    return [w - rate * factor * g for w, g in zip(weights, mean)]\n",
        "did not divide", "1.0 right there",
    ),
    "shuffled output compared with the output": Slip(
        "07_self_attention", "7.6",
        "def is_equivariant(f, x, permutation):\n"
        "    return np.allclose(f(x)[permutation], f(x))\n",
        "a comparison in which one side is not shuffled", "f has run twice",
    ),
    "output compared with the input": Slip(
        "07_self_attention", "7.6",
        "def is_equivariant(f, x, permutation):\n"
        "    return np.allclose(f(x)[permutation], x[permutation])\n",
        "an output of f with tokens of x",
    ),
    "seed of the head forgotten": Slip(
        "05_scaling", "5.8",
        "class Head:\n"
        "    def __init__(self, d_model, d_k, seed):\n"
        "        rng = np.random.default_rng()\n"
        "        self.W_q, self.W_k, self.W_v = rng.normal(size=(3, d_model, d_k)) "
        "/ d_model ** 0.5\n"
        "    def __call__(self, x):\n"
        "        s = (x @ self.W_q) @ (x @ self.W_k).T / self.W_q.shape[1] ** 0.5\n"
        "        return softmax(s) @ (x @ self.W_v)\n",
        "the same seed drew other parameters", "second text",
    ),
    "variance of a hundred pairs": Slip(
        "05_scaling", "5.3",
        "def measured_variance(d_k, seed):\n"
        "    rng = np.random.default_rng(seed)\n"
        "    q, k = rng.standard_normal((2, 100, d_k))\n"
        "    return (q * k).sum(1).var()\n",
        "the pairs are fewer than 20,000", "Your pairs share vectors",
    ),
    "any word changed": Slip(
        "10_cross_attention", "10.7",
        "def share_changed(decode, memory):\n"
        "    a, b = decode(memory).argmax(1), decode(np.zeros_like(memory)).argmax(1)\n"
        "    return float((a != b).any())\n",
        "whether any word changed", "at which a score changed",
    ),
    "all words changed": Slip(
        "10_cross_attention", "10.7",
        "def share_changed(decode, memory):\n"
        "    a, b = decode(memory).argmax(1), decode(np.zeros_like(memory)).argmax(1)\n"
        "    return float(np.all(a != b))\n",
        "or all of them", "another order",
    ),
    "counts missing from the sum": Slip(
        "06_softmax", "6.2",
        "def weights_of_copies(scores, counts):\n"
        "    e = np.exp(scores - scores.max(axis=1, keepdims=True))\n"
        "    return counts * e / e.sum(axis=1, keepdims=True)\n",
        "a sum in which the counts are missing", "finished weights",
    ),
    "result of the last position kept": Slip(
        "08_masking", "8.7",
        "def is_causal(f, x):\n"
        "    ok = True\n"
        "    for t in range(1, len(x)):\n"
        "        z = x.copy()\n"
        "        z[t] = np.random.default_rng(t).normal(size=x.shape[1])\n"
        "        ok = bool(np.allclose(f(z)[:t], f(x)[:t]))\n"
        "    return ok\n",
        "keeps the result of the last alone",
    ),
    "bits of a word rounded up": Slip(
        "01_first_lap", "1.8",
        "def longest(numbers, bits, vocab):\n"
        "    return numbers * bits // math.ceil(math.log2(vocab))\n",
        "You rounded before the end", "two neighbours",
    ),
    "candidate never updated": Slip(
        "03_context", "3.7",
        "def best_threshold(distances, same, candidates):\n"
        "    best, top = candidates[0], -1\n"
        "    for t in candidates:\n"
        "        a, b = (distances[same] < t).mean(), (distances[~same] >= t).mean()\n"
        "        if (a + b) / 2 > top:\n"
        "            best = t\n"
        "    return best\n",
        "the last candidate in every case",
    ),
    "output bias added in the loop": Slip(
        "09_multi_head", "9.4",
        "def multi_head(x, w_qkv, b_qkv, w_o, b_o, heads):\n"
        "    q, k, v = (split_heads(a, heads) for a in np.split(x @ w_qkv + b_qkv, 3, -1))\n"
        "    y = attend(q, k, v).output\n"
        "    parts = np.split(w_o, heads)\n"
        "    return sum(y[..., i, :, :] @ parts[i] + b_o for i in range(heads))\n",
        "(heads - 1) * b_o",
    ),
    "token found by the number of tokens": Slip(
        "09_multi_head", "9.1",
        "def place(number, n, d_model, heads):\n"
        "    token, col = number // n, number % n\n"
        "    d_k = d_model // heads\n"
        "    return col // d_k, token, col % d_k\n",
        "as if a row had n components",
    ),
    "outputs recorded in the corrupted run too": Slip(
        "16_heads", "16.7",
        RESTORED +
        "    good = logp(clean, record)\n"
        "    bad = logp(corrupted, record)\n"
        "    patched = logp(corrupted, swap)\n"
        "    return (patched - bad) / (good - bad)\n",
        "did a later call overwrite the outputs", "Your hook changed a copy",
    ),
    "clean run patched with its own outputs": Slip(
        "16_heads", "16.7",
        RESTORED +
        "    good = logp(clean, record)\n"
        "    bad = logp(corrupted, lambda l, o: None)\n"
        "    patched = logp(clean, swap)\n"
        "    return (patched - bad) / (good - bad)\n",
        "Did you read the clean text again", "exchanged the outputs of all heads",
    ),
    "score over all positions": Slip(
        "16_heads", "16.7",
        "def restored(model, clean, corrupted, answer, layer, head, position, d_v):\n"
        "    memory = {}\n"
        "    def hook(l, out):\n"
        "        memory[l] = np.array(out)\n"
        "    def patch(l, out):\n"
        "        memory_now = np.array(out)\n"
        "        cols = np.arange(head * d_v, (head + 1) * d_v)\n"
        "        if l == layer:\n"
        "            memory_now[position, cols] = memory[l][position, cols]\n"
        "        return memory_now\n"
        "    def score(logits):\n"
        "        z = np.asarray(logits)\n"
        "        return np.mean(z[:, answer] - np.logaddexp.reduce(z, axis=1))\n"
        "    a = score(model(clean, hook))\n"
        "    c = score(model(corrupted, patch))\n"
        "    b = score(model(corrupted, lambda *args: None))\n"
        "    return (c - b) / (a - b)\n",
        "over all positions",
    ),
    "two losses compared with one bound": Slip(
        "12_gpt2", "12.5",
        "def find_shift(loss, vocab):\n"
        "    rng = np.random.default_rng(0)\n"
        "    ids = rng.integers(0, vocab, 50)\n"
        "    logits = np.zeros((50, vocab))\n"
        "    logits[np.arange(50), ids] = 1\n"
        "    return 0 if loss(logits, ids) < np.log(vocab) else 1\n",
        "You answered 0 or 1 on every loss",
    ),
    "weights added up over all rows": Slip(
        "12_gpt2", "12.7",
        "def nucleus(logits, p):\n"
        "    e = np.exp(logits - logits.max(-1, keepdims=True))\n"
        "    prob = e / e.sum(-1, keepdims=True)\n"
        "    order = np.argsort(-prob, axis=-1)\n"
        "    ranked = np.take_along_axis(prob, order, -1)\n"
        "    before = np.cumsum(ranked).reshape(ranked.shape) - ranked\n"
        "    ranked = np.where(before < p, ranked, 0)\n"
        "    out = np.zeros_like(prob)\n"
        "    np.put_along_axis(out, order, ranked, -1)\n"
        "    return out / out.sum(-1, keepdims=True)\n",
        "add up within each row",
    ),
    "head of the ledger forgotten": Slip(
        "15_counting", "15.1",
        "def rows(vocab, d_model, heads, d_k, layers, d_ff):\n"
        "    emb = vocab * d_model\n"
        "    q = layers * d_model * d_k * heads\n"
        "    k = q\n"
        "    v = q\n"
        "    o = layers * heads * d_k * d_model\n"
        "    up = layers * d_model * d_ff\n"
        "    down = layers * d_ff * d_model\n"
        "    head = vocab * d_model\n"
        "    return emb, q, k, v, o, up, down\n",
        "The LM head is missing",
    ),
    "six biases of one length": Slip(
        "15_counting", "15.2",
        "def total(vocab, longest, d_model, layers, d_ff, tied, biases):\n"
        "    n = (vocab + longest) * d_model\n"
        "    block = 4 * d_model**2 + 2 * d_model * d_ff + 4 * d_model\n"
        "    if biases:\n"
        "        block += 6 * d_model\n"
        "    n += layers * block\n"
        "    n += 2 * d_model\n"
        "    if not tied:\n"
        "        n += vocab * d_model\n"
        "    return n\n",
        "6 times d_model", "network are not counted right",
    ),
    "mask and diagonal in one attention": Slip(
        "17_capstone", "17.6",
        "def attention(x, p, heads):\n"
        "    n, d = x.shape[-2:]\n"
        "    q, k, v = np.split(x @ p[\"c_attn.weight\"] + p[\"c_attn.bias\"], 3, axis=-1)\n"
        "    size = d // heads\n"
        "    mask = np.tril(np.ones((n, n), bool), -1)\n"
        "    outs = []\n"
        "    for h in range(heads):\n"
        "        part = slice(h * size, (h + 1) * size)\n"
        "        s = q[..., part] @ k[..., part].swapaxes(-1, -2) / np.sqrt(size)\n"
        "        s = np.where(mask, s, -np.inf)\n"
        "        e = np.exp(s - s.max(axis=-1, keepdims=True))\n"
        "        outs.append(e / e.sum(axis=-1, keepdims=True) @ v[..., part])\n"
        "    return np.concatenate(outs, axis=-1) @ p[\"c_proj.weight\"]\n",
        "the first row is NaN", "what comes later changes nothing",
    ),
    "logits cut off": Slip(
        "17_capstone", "17.8",
        "def loss(logits, ids):\n"
        "    z = np.clip(logits, -50, 50)[..., :-1, :]\n"
        "    logp = z - np.log(np.exp(z).sum(-1, keepdims=True))\n"
        "    return -np.mean(np.take_along_axis(logp, ids[..., 1:, None], axis=-1))\n",
        "cut the logits off at a bound",
    ),
    "divided by the vocabulary too": Slip(
        "17_capstone", "17.8",
        "def loss(logits, ids):\n"
        "    z = logits[..., :-1, :]\n"
        "    y = ids[..., 1:]\n"
        "    z = z - z.max(-1, keepdims=True)\n"
        "    logp = z - np.log(np.exp(z).sum(-1, keepdims=True))\n"
        "    return -(np.take_along_axis(logp, y[..., None], -1) / logits.shape[-1]).sum()\n",
        "divide the sum of their losses",
    ),
    "draws of its own": Slip(
        "17_capstone", "17.4",
        "def write(step, ids, new, temperature, top_p, draws):\n"
        "    rng = np.random.default_rng(0)\n"
        "    logits, cache = step(ids, None)\n"
        "    out = list(ids)\n"
        "    for i in range(new):\n"
        "        z = np.array(logits[-1], dtype=float)\n"
        "        if temperature == 0:\n"
        "            tok = int(z.argmax())\n"
        "        else:\n"
        "            p = np.exp((z - z.max()) / temperature); p /= p.sum()\n"
        "            order = p.argsort()[::-1]\n"
        "            cum = p[order].cumsum()\n"
        "            k = int((cum < top_p).sum()) + 1\n"
        "            keep = order[:k]\n"
        "            q = p[keep] / p[keep].sum()\n"
        "            tok = int(rng.choice(keep, p=q))\n"
        "        out.append(tok)\n"
        "        logits, cache = step(np.array([tok]), cache)\n"
        "    return np.array(out)\n",
        "other draws give the same text",
    ),
    "an array that grows as a list does": Slip(
        "12_gpt2", "12.8",
        "def step(q, k, v, keys, values):\n"
        "    for i in range(len(k)):\n        keys.append(k[i])\n        values.append(v[i])\n"
        "    return softmax(q @ keys.T / np.sqrt(q.shape[1])) @ values, keys, values\n",
        "`np.concatenate` makes a longer one of two",
    ),
    "an output with its weights beside it": Slip(
        "14_cost", "14.5",
        "def tiled(q, k, v, columns):\n    out = 0\n"
        "    for i in range(0, len(k), columns):\n"
        "        out = out + attend(q, k[i:i + columns], v[i:i + columns])\n    return out\n",
        "take its `.output`",
    ),
    "a text of equal tokens": Slip(
        "12_gpt2", "12.5",
        "def find_shift(loss, vocab):\n    ids = np.zeros(6, dtype=int)\n"
        "    for s in (-1, 0, 1, 2):\n        logits = np.zeros((6, vocab))\n"
        "        for i in range(6):\n            if 0 <= i + s < 6:\n"
        "                logits[i, ids[i + s]] = 30.0\n"
        "        if loss(logits, ids) < 0.1:\n            return s\n",
        "all tokens of your text are equal",
    ),
    "a bias added after the product": Slip(
        "12_gpt2", "12.2",
        "def unembed(x, gain, bias, words):\n    mu = x.mean(-1, keepdims=True)\n"
        "    std = np.sqrt(((x - mu) ** 2).mean(-1, keepdims=True) + 1e-5)\n"
        "    return (gain * (x - mu) / std) @ words.T + bias.sum()\n",
        "this is the normalised input, with a gain.", "none of your steps",
    ),
    "an argument that comes out by accident": Slip(
        "11_block", "11.2",
        "def one_layer(w_1, b_1, w_2, b_2):\n    w = np.maximum(w_1, 0) @ w_2\n"
        "    return w, np.maximum(b_1, 0) @ w_2 + b_2\n",
        "`b` is wrong too", "unchanged",
    ),
    "a transpose that is called": Slip(
        "00_start", "0.2",
        "def entry(grid, query, key, queries_in):\n"
        '    """weights in either layout, two positions, "rows" or "columns" -> one weight"""\n'
        '    if queries_in == "columns":\n'
        "        grid = grid.T()\n"
        "    return grid[query, key]\n",
        "`.T` is a value and no method",
    ),
    "a method of arrays asked of a number": Slip(
        "05_scaling", "5.4",
        "def divisor(d_model, heads, n):\n"
        "    d_k = d_model // heads\n"
        "    return d_k.sqrt()\n",
        "`np.sqrt(...)` takes numbers too",
    ),
    "an attribute without self": Slip(
        "05_scaling", "5.8",
        "class Head:\n"
        "    def __init__(self, d_model, d_k, seed):\n"
        "        rng = np.random.default_rng(seed)\n"
        "        self.W_q = rng.standard_normal((d_model, d_k)) / math.sqrt(d_model)\n"
        "        self.W_k = rng.standard_normal((d_model, d_k)) / math.sqrt(d_model)\n"
        "        self.W_v = rng.standard_normal((d_model, d_k)) / math.sqrt(d_model)\n"
        "\n"
        "    def __call__(self, x):\n"
        "        q, k, v = x @ W_q, x @ W_k, x @ W_v\n"
        "        return softmax(q @ k.T / math.sqrt(q.shape[1])) @ v\n",
        "write `self.W_q` here",
    ),
    "the lengths of a shape given one by one": Slip(
        "07_self_attention", "7.8",
        "def same_rotary_score(query, key, n):\n"
        "    m = np.zeros(n, n)\n"
        "    for i in range(n):\n"
        "        j = i + key - query\n"
        "        if 0 <= j < n:\n"
        "            m[i, j] = 1\n"
        "    return m.astype(bool)\n",
        "The shape is one argument",
    ),
    "a power as a float": Slip(
        "01_first_lap", "1.8",
        "def longest(numbers, bits, vocab):\n"
        '    """three whole numbers -> a whole number"""\n'
        "    states = 2.0 ** (numbers * bits)\n"
        "    return math.floor(math.log(states) / math.log(vocab))\n",
        "those of `math` take whole numbers of any length",
    ),
    "a key that is absent": Slip(
        "00_start", "0.5",
        "def diagnose(pinned, present):\n"
        '    """two dictionaries {name: version} -> {name: version found, or "absent"}"""\n'
        "    out = {}\n"
        "    for name, version in pinned.items():\n"
        '        if present[name].split("+")[0] != version:\n'
        "            out[name] = present[name]\n"
        "        elif name not in present:\n"
        '            out[name] = "absent"\n'
        "    return out\n",
        "`.get(key)` gives None then",
    ),
    "a transposed batch in a product": Slip(
        "04_queries_keys_values", "4.1",
        "def project(x, weight, bias):\n"
        "    y = weight @ x.T\n"
        "    return y.T + bias\n",
        "`x.T` has shape (4, 3, 2)",
    ),
    "a vector joined to a matrix": Slip(
        "10_cross_attention", "10.4",
        "def shift_right(answers, start):\n"
        '    """answers (batch, n) -> what the decoder reads (batch, n)"""\n'
        "    batch, n = answers.shape\n"
        "    first = np.full(batch, start)\n"
        "    return np.concatenate([first, answers[:, :-1]], axis=1)\n",
        "`a[:, None]` makes a column of a vector",
    ),
    "a law that is broken on another case": Slip(
        "07_self_attention", "7.2",
        "def attention(q, k, v):\n"
        "    def softmax(s):\n"
        "        e = np.exp(s - s.max())\n"
        "        return e / e.sum()\n"
        "    scores = q @ k.T\n"
        "    return softmax(scores) @ v\n",
        "yours does not (on another case: 3 queries, 2 keys",
    ),
    "a reversed sign and an overflow": Slip(
        "06_softmax", "6.6",
        "def jacobian(scores):\n"
        "    w = np.exp(scores) / np.exp(scores).sum()\n"
        "    n = len(w)\n"
        "    J = np.zeros((n, n))\n"
        "    for i in range(n):\n"
        "        for j in range(n):\n"
        "            J[i, j] = w[i] * (w[j] - (1 if i == j else 0))\n"
        "    return J\n",
        "the second shows only where numbers overflow or become nan: Jacobian with the wrong sign.",
    ),
    "an overflow beside an unknown mistake": Slip(
        "06_softmax", "6.6",
        "def jacobian(scores):\n"
        "    w = np.exp(scores) / np.sum(np.exp(scores))\n"
        "    return -np.outer(w, scores)\n",
        "On another case yours overflows too, or gives nan: scores near 800",
    ),
    "a library that no line imports": Slip(
        "13_training", "13.9",
        "def train(model, stories):\n"
        "    opt = torch.optim.Adam(model.parameters())\n"
        "    return model\n",
        "write `import torch` at the head of the cell",
    ),
    "queries rotated before the split into heads": Slip(
        "18_llama", "18.7",
        "import numpy as np\n"
        "\n"
        "def llama_block(x, layer, heads, kv_heads, base):\n"
        "    n, d = x.shape[-2:]\n"
        "    dk = d // heads\n"
        "    ang = angles_of(np.arange(n), dk, base)\n"
        "\n"
        "    def rms(y, g):\n"
        "        return g * y / np.sqrt((y * y).mean(-1, keepdims=True) + 1e-5)\n"
        "\n"
        "    def split(y, count):\n"
        "        return np.moveaxis(y.reshape(*y.shape[:-1], count, dk), -2, -3)\n"
        "\n"
        '    h = rms(x, layer["attention_norm"])\n'
        '    q = split(rotate(h @ layer["query"].T, angles_of(np.arange(n), d, base)), heads)\n'
        '    k = rotate(split(h @ layer["key"].T, kv_heads), ang)\n'
        '    v = split(h @ layer["value"].T, kv_heads)\n'
        "    k = np.repeat(k, heads // kv_heads, axis=-3)\n"
        "    v = np.repeat(v, heads // kv_heads, axis=-3)\n"
        "    s = q @ np.swapaxes(k, -1, -2) / np.sqrt(dk)\n"
        "    s = np.where(np.tri(n, dtype=bool), s, -np.inf)\n"
        "    e = np.exp(s - s.max(-1, keepdims=True))\n"
        "    o = np.moveaxis(e / e.sum(-1, keepdims=True) @ v, -3, -2).reshape(*x.shape)\n"
        '    x = x + o @ layer["out"].T\n'
        '    h = rms(x, layer["feed_forward_norm"])\n'
        '    g, u = h @ layer["gate"].T, h @ layer["up"].T\n'
        '    return x + (g / (1 + np.exp(-g)) * u) @ layer["down"].T\n',
        "In our solution the queries come before; none of your steps gives them.",
        "the scores come next",
    ),
}  # fmt: skip


EACH_DAY = 5  # every fifth slip is judged in each run, all by night


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, id=f"{slip.exercise} {name}",
                  marks=pytest.mark.nightly if n % EACH_DAY else ())
     for n, (name, slip) in enumerate(SLIPS.items())],
)  # fmt: skip
def test_a_slip_of_a_reader_is_told_truly(name):
    slip = SLIPS[name]
    task = load(slip.exercise)[slip.task]
    verdict = grade_source(task, NP + slip.code, dict(setup(slip.exercise)))
    words = " ".join(verdict.sentences)
    assert not verdict.passed
    assert slip.has in words
    assert slip.lacks not in words
