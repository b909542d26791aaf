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


class Slip(NamedTuple):
    """An answer, the words that its verdict needs, and those that were untrue of it."""

    exercise: str
    task: str
    code: str
    has: str
    lacks: str = "no such words"


SLIPS = {
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
        "Your mask is True where a key is hidden", "You read the mask",
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
        "is the sign of `w` right there?", "is the right result",
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
        "True where False is expected",
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
        "which condition left none?", "the shapes do not fit",
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
}  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", SLIPS)
def test_a_slip_of_a_reader_is_told_truly(name):
    slip = SLIPS[name]
    task = load(slip.exercise)[slip.task]
    verdict = grade_source(task, NP + slip.code, dict(setup(slip.exercise)))
    words = " ".join(verdict.sentences)
    assert not verdict.passed
    assert slip.has in words
    assert slip.lacks not in words
