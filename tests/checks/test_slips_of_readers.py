"""What readers of the pages wrote while they solved the tasks, and what they were told wrongly."""

from typing import NamedTuple

import pytest

from checks.check import grade_source
from tests.support.attempts import load, setup

NP = "import math\nimport numpy as np\nfrom lib.attention.dot_product import attend\n"
HEAD = "    e = np.exp(s - s.max(-1, keepdims=True))\n    w = e / e.sum(-1, keepdims=True)\n"


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
