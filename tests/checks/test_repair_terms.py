"""Where the terms, ranges and axes of a formula are changed, and what a name is told with."""

import importlib
from dataclasses import replace

import numpy as np
import pytest

from checks import Case, Task
from checks.check import grade_source
from tests.support.attempts import NAMES


def verdict_on(number: str, source: str, **changes):
    """The verdict of a task, some of whose parts are exchanged."""
    name = next(name for name in NAMES if name.startswith(number.split(".")[0].zfill(2)))
    task = importlib.import_module(f"exercises.{name}").EXERCISE[number]
    return grade_source(replace(task, **changes), source, {"np": np})


SLIPS = {
    "a term of a symmetric sum": (
        "5.5",
        "def score_moments(mean_q, sd_q, mean_k, sd_k, d_k):\n"
        "    v = sd_q**2 * sd_k**2 + mean_q**2 * sd_k**2\n"
        "    return d_k * mean_q * mean_k, d_k * v",
        "which term is missing beside `mean_q ** 2 * sd_k ** 2`?",
    ),
    "a factor of one term": (
        "13.3",
        "def adamw(w, gradient, m, v, step, rate, decay):\n"
        "    m, v = 0.9 * m + 0.1 * gradient, 0.95 * v + 0.05 * gradient**2\n"
        "    move = m / (1 - 0.9**step) / ((v / (1 - 0.95**step)) ** 0.5 + 1e-8)\n"
        "    return w - rate * move - decay * w, m, v",
        "what else must `decay * w` be multiplied or divided by?",
    ),
    "one row for several": (
        "12.1",
        "def embed(ids, words, positions, start):\n    n = ids.shape[-1]\n"
        "    return words[ids] + positions[start]",
        "`positions[start]` is one entry; which are needed?",
    ),
    "a number that should grow": (
        "18.2",
        "def base_for(d_k, n):\n    return (n / (2 * np.pi)) ** (d_k / 2)",
        "is the number 2 right there, whatever `d_k` is?",
    ),
    "an axis of a batch": (
        "18.5",
        "def repeat_kv(x, heads):\n    return np.repeat(x, heads // x.shape[0], axis=-3)",
        "which axis of `x` is meant?",
    ),
    "a number and not its logarithm": (
        "6.2",
        "def weights_of_copies(scores, counts):\n    s = scores + counts\n"
        "    e = np.exp(s - s.max(-1, keepdims=True))\n    return e / e.sum(-1, keepdims=True)",
        "is it `counts` itself that belongs there, or a function of it?",
    ),
    "two counts of a row": (
        "15.1",
        "def rows(vocab, d_model, heads, d_k, layers, d_ff):\n"
        "    a = layers * heads * d_model * d_k\n"
        "    return [vocab * d_model, a, a, a, a, d_model * d_ff, d_ff * d_model, vocab * d_model]",
        "makes `result 7` right in all 4 cases. Look there: what else must "
        "`d_ff * d_model` be multiplied or divided by?",
    ),
}  # fmt: skip


@pytest.mark.parametrize("slip", SLIPS)
def test_the_term_that_makes_an_answer_right_is_located(slip):
    number, source, words = SLIPS[slip]
    assert words in " ".join(verdict_on(number, source, wrong=()).sentences)


@pytest.mark.parametrize("slip", ["one row for several", "two counts of a row"])
def test_the_text_of_a_docstring_uses_up_no_change(slip):
    number, source, words = SLIPS[slip]
    shapes = "x (batch, heads, query, d_k), keys (batch, heads, key, d_k), values -> output"
    head, body = source.split("\n", 1)
    documented = f'{head}\n    """{3 * shapes}"""\n{body}'
    assert words in " ".join(verdict_on(number, documented, wrong=()).sentences)


def test_a_named_mistake_is_told_with_its_line_where_one_change_mends_it():
    source = (
        "def cosine(a, b):\n    na, nb = np.linalg.norm(a), np.linalg.norm(b)\n"
        "    if na == 0 and nb == 0:\n        raise ValueError('no direction')\n"
        "    return a @ b / (na * nb)"
    )
    verdict = verdict_on("2.4", source)
    assert verdict.misconceptions == ("M74",)
    assert verdict.sentences[-1].endswith("is it `and` or `or` in `na == 0 and nb == 0`?")


def test_a_named_mistake_is_told_alone_where_no_single_change_mends_it():
    source = (
        "def attention(q, k, v):\n    e = np.exp(q @ k.T)\n"
        "    return e / e.sum(-1, keepdims=True) @ v"
    )
    verdict = verdict_on("7.2", source)
    assert verdict.misconceptions == ("M01",)
    assert "small change" not in " ".join(verdict.sentences)


def test_a_change_that_is_right_on_the_cases_by_accident_is_not_told():
    def doubled(x):
        return 2 * x

    wrong = "def f(x):\n    return x ** 3"
    always = Task("1.1", "f", "f", 1, 1, 1, doubled, lambda _: [Case((2.0,))], arrays=("numpy",))
    assert "Look there: is the number 3" in repr(grade_source(always, wrong))
    first = [2.0]
    drawn = replace(always, cases=lambda _: [Case((first.pop() if first else 5.0,))])
    assert "Look there: is the number 3" not in repr(grade_source(drawn, wrong))
