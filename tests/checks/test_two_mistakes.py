"""An answer with two mistakes is told the second, and the small change that leaves it alone."""

from typing import NamedTuple

import pytest

from checks.check import grade_source
from tests.support.attempts import load, setup


class Pair(NamedTuple):
    """An answer with two mistakes: the name of one, and the question that leads to the other."""

    exercise: str
    task: str
    code: str
    named: str
    asked: str


PAIRS = {
    "the length for the root mean square, and the sign reversed": Pair(
        "16_heads", "16.4",
        "def attribution(rest, outputs, w_o, unembed, right, wrong):\n"
        "    h, dv = outputs.shape\n"
        "    contributions = np.array([o @ w for o, w in zip(outputs, np.split(w_o, h))])\n"
        "    x = rest + contributions.sum(0)\n"
        "    scale = np.linalg.norm(x)\n"
        "    return contributions @ (unembed[:, wrong] - unembed[:, right]) / scale\n",
        "length for root mean square",
        "which of the two sides of `-` comes first",
    ),
    "the root of d_model, and blocks transposed": Pair(
        "16_heads", "16.9",
        "def score_parts(parts, w_q, w_k):\n"
        "    d_model = parts.shape[-1]\n"
        "    p = len(parts)\n"
        "    rows = []\n"
        "    for a in range(p):\n"
        "        row = []\n"
        "        for b in range(p):\n"
        "            q = parts[a] @ w_q\n"
        "            k = parts[b] @ w_k\n"
        "            row.append(k @ q.T / d_model ** 0.5)\n"
        "        rows.append(row)\n"
        "    return np.array(rows)\n",
        "scaled by d_model",
        "which of `k` and `q` comes first in `k @ q.T`",
    ),
    "a norm without the mean, and eps outside the root": Pair(
        "18_llama", "18.1",
        "def rms_norm(x, gain, eps):\n"
        '    """x (..., d_model), gain (d_model,) -> (..., d_model)"""\n'
        "    y = np.asarray(x, dtype=np.float32)\n"
        "    length = np.sqrt(np.sum(y ** 2, axis=-1, keepdims=True))\n"
        "    return gain * y / (length + eps)\n",
        "epsilon outside the root mean square",
        "is `sum` the function that belongs there?",
    ),
}  # fmt: skip
NO_TURN = (
    "def near_and_alike(x, strength, penalty):\n"
    "    n = len(x)\n"
    "    s = np.zeros((n, n))\n"
    "    for i in range(n):\n"
    "        for j in range(n):\n"
    "            s[i, j] = strength * cosine(x[i], x[j]) - penalty * (i - j) ** 2\n"
    "    return softmax(s) @ x\n"
)  # fmt: skip
ONE_NUMBER = (
    "def share_changed(decode, memory):\n"
    '    """decode: (key, d_source) -> (query, vocab), memory (key, d_source)\n'
    "    -> a number from 0 to 1\n"
    '    """\n'
    "    full = decode(memory).max(axis=-1)\n"
    "    none = decode(memory * 0).max(axis=-1)\n"
    "    return int((full != none).sum())\n"
)  # fmt: skip


def told(exercise: str, task: str, code: str) -> str:
    """What a check says of an answer, without the numbers that it shows."""
    verdict = grade_source(load(exercise)[task], code, dict(setup(exercise)))
    assert not verdict.passed
    return " ".join(verdict.sentences)


@pytest.mark.parametrize("name", PAIRS)
def test_both_of_two_mistakes_are_told(name):
    pair = PAIRS[name]
    words = told(*pair[:3])
    assert "Perhaps two mistakes: one small change" in words
    assert f"The second: {pair.named}. " in words
    assert pair.asked in words


def test_a_change_that_ends_a_loop_before_its_first_turn_is_none():
    assert "Perhaps two mistakes" not in told("03_context", "3.3", NO_TURN)


def test_of_a_single_number_nothing_is_told_as_too_many_agree_by_accident():
    assert "Perhaps two mistakes" not in told("10_cross_attention", "10.7", ONE_NUMBER)
