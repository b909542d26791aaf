"""What a learner reads about a slip: each test quotes it, and what must and must not be said."""

import importlib
import re
from typing import NamedTuple

import numpy as np
import pytest

from checks import Case, Law, Task, Verdict, Wrong, judge
from checks.check import grade_source
from checks.feedback.blocks import node_text
from checks.run.plain_data import plain
from tests.support.attempts import setup

NAMES = {
    "0": "00_start", "1": "01_first_lap", "4": "04_queries_keys_values", "7": "07_self_attention",
    "8": "08_masking", "11": "11_block", "13": "13_training", "14": "14_cost",
}  # fmt: skip


def judged(number: str, source: str, seed: int = 0) -> Verdict:
    """What the check says of the text of a cell."""
    name = NAMES[number.split(".")[0]]
    task = importlib.import_module(f"exercises.{name}").EXERCISE[number]
    return grade_source(task, source, dict(setup(name)), seed)


class Slip(NamedTuple):
    """A slip, and words that its verdict has and has not."""

    task: str
    source: str
    has: str
    lacks: str = "no such words"


PADDED = "def attend_padded(q, k, v, real):\n"
T, N = (
    "    s = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5\n",
    ("    s = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])\n"),
)
N_SOFTMAX = (
    "    e = np.exp(s - s.max(-1, keepdims=True))\n    return e / e.sum(-1, keepdims=True) @ v"
)
MASKED = "def masked_weights(scores, mask):\n"
N_WEIGHTS = "    e = np.exp(s - s.max(-1, keepdims=True))\n    return e / e.sum(-1, keepdims=True)"
SLIPS = {
    "torch code with torch's mistake": Slip(
        "8.5",
        "import torch\n" + PADDED + T + "    return torch.softmax(s, 5) @ v",
        "IndexError at line 4, `return torch.softmax(s, 5)", "axes don't match",
    ),
    "a misspelled argument of torch": Slip(
        "8.3",
        "import torch\n" + MASKED + "    return torch.softmax(scores, dims=-1)",
        "dims", "mixes NumPy and torch",
    ),
    "the pads hidden as queries, in NumPy": Slip(
        "8.5", PADDED + N + "    s = np.where(real[:, None, :, None], s, -np.inf)\n" + N_SOFTMAX,
        "(M27)",
    ),
    "the pads hidden as queries, in torch": Slip(
        "8.5",
        "import torch\n" + PADDED + T
        + "    s = s.masked_fill(~real[:, None, :, None], -torch.inf)\n"
        "    return torch.softmax(s, -1) @ v",
        "(M27)", "axes don't match",
    ),
    "the mask without axes, in NumPy": Slip(
        "8.5", PADDED + N + "    s = np.where(real, s, -np.inf)\n" + N_SOFTMAX, "(M114)",
    ),
    "the mask without axes, in torch": Slip(
        "8.5",
        "import torch\n" + PADDED + T + "    s = s.masked_fill(~real, -torch.inf)\n"
        "    return torch.softmax(s, -1) @ v",
        "(M114)", "axes don't match",
    ),
    "the mask with the axis of heads missing, in NumPy": Slip(
        "8.5", PADDED + N + "    s = np.where(real[:, None, :], s, -np.inf)\n" + N_SOFTMAX,
        "(M115)",
    ),
    "the mask with the axis of heads missing, in torch": Slip(
        "8.5",
        "import torch\n" + PADDED + T + "    s = s.masked_fill(~real[:, None], -torch.inf)\n"
        "    return torch.softmax(s, -1) @ v",
        "(M115)", "axes don't match",
    ),
    **{
        f"an inverted mask in 8.5, {way}": Slip("8.5", source, "(M26)")
        for way, source in {
            "where": PADDED + N
            + "    s = np.where(real[:, None, None, :], -np.inf, s)\n" + N_SOFTMAX,
            "masked_fill": "import torch\n" + PADDED + T
            + "    s = s.masked_fill(real[:, None, None, :], -torch.inf)\n"
            "    return torch.softmax(s, -1) @ v",
            "-1e9": PADDED + N
            + "    s = s + np.where(real[:, None, None, :], -1e9, 0.0)\n" + N_SOFTMAX,
            "-1e9 in place": PADDED + N
            + "    s = np.where(real[:, None, None, :], -1e9, s)\n" + N_SOFTMAX,
        }.items()
    },
    **{
        f"an inverted mask in 8.3, {way}": Slip("8.3", source, "(M26)")
        for way, source in {
            "where": MASKED + "    s = np.where(mask, -np.inf, scores)\n" + N_WEIGHTS,
            "masked_fill": "import torch\n" + MASKED
            + "    return torch.softmax(scores.masked_fill(mask, -torch.inf), -1)",
            "-1e9": MASKED + "    s = scores + np.where(mask, -1e9, 0.0)\n" + N_WEIGHTS,
            "-1e9 in place": MASKED + "    s = np.where(mask, -1e9, scores)\n" + N_WEIGHTS,
            "no maximum": MASKED + "    s = np.where(mask, -np.inf, scores)\n"
            "    return np.exp(s) / np.exp(s).sum(-1, keepdims=True)",
        }.items()
    },
    "one wrong True": Slip(
        "7.6",
        "def is_equivariant(f, x, permutation):\n"
        "    return np.allclose(f(x)[permutation], f(x[permutation]), atol=10)",
        "Your answer is True for every function that the check gave", "exchanged",
    ),
    "a count whose length follows the text": Slip(
        "1.4", "def bag(ids, vocab):\n    return np.bincount(ids)", "minlength", "add a 1",
    ),
    "its argument changed between two calls": Slip(
        "8.7",
        "def is_causal(f, x):\n    before = f(x)\n    for i in range(1, len(x)):\n"
        "        x[i:] += 1\n        if not np.allclose(f(x)[:i], before[:i]):\n"
        "            return False\n    return True",
        "(M36)", "(M119)",
    ),
    "a row for a number": Slip(
        "0.2", "def entry(grid, query, key, queries_in):\n    return grid[query]",
        "One number is expected for the whole input, and yours is an array or a sequence.",
        "broadcast",
    ),
    "a number for a pair": Slip(
        "0.1", "shapes = {'weights': (8, 8), 'output': 5}",
        "yours is one number, and 2 numbers are expected.", "summed",
    ),
    "a wrong sign": Slip(
        "8.8",
        "def next_token_loss(logits, tokens, real):\n"
        "    shifted = logits - logits.max(-1, keepdims=True)\n"
        "    logs = shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))\n"
        "    picked = logs[np.arange(len(tokens) - 1), tokens[1:]]\n"
        "    return picked[real[1:]].mean()",
        "the right one with the wrong sign",
    ),
}  # fmt: skip


def of_two_cases(answer, reference=lambda x: 2 * x, **parts) -> Verdict:
    """The verdict on an answer to a task of this test, whose cases are a vector and a matrix."""
    cases = [Case((np.arange(1.0, 4),)), Case((np.arange(8.0).reshape(2, 4) + 1,))]
    task = Task("5.1", "answer", "A task", 1, 1, 1, reference, lambda rng: cases, **parts)
    return judge(task, answer)


def test_a_case_that_is_not_implemented_is_an_error_where_another_is():
    def answer(x):
        if x.ndim > 1:
            raise NotImplementedError("no matrices yet")
        return 2 * x

    verdict = of_two_cases(answer)
    assert verdict.status == "raised"
    assert "no matrices yet" in repr(verdict)


def test_an_error_counts_by_being_raised_where_numbers_agree():
    def wrong(x):
        if x.ndim > 1:
            raise ValueError("as the wrong writes it")
        return 3 * x

    def raises(words, factor):
        def answer(x):
            if x.ndim > 1:
                raise TypeError(words)
            return factor * x

        return answer

    named = [Wrong("M01", wrong)]
    assert of_two_cases(raises("as I write it", 3), wrong=named).misconceptions == ("M01",)
    assert of_two_cases(raises("as I write it", 4), wrong=named).misconceptions == ()


def test_where_nothing_is_named_the_first_broken_law_is_told():
    laws = [
        Law(
            None, "the result is not negative", lambda answer, case: (answer(*case.args) >= 0).all()
        ),
        Law(None, "nothing grows", lambda answer, case: "it grows"),
    ]
    verdict = of_two_cases(lambda x: x**2 - 5, laws=laws)
    assert verdict.misconceptions == ()
    words = "A right answer has this property, and yours does not: the result is not negative."
    assert verdict.sentences[-1] == words


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (np.array([[800.0, 800.3, 801.0]]), "[[  800 800.3   801]]"),
        (np.array([[800.12], [800.53]]), "[[800.12]\n [800.53]]"),
        (np.array([1800.0, 12.5]), "[1800 12.5]"),
    ],
)
def test_numbers_are_shown_with_the_digits_that_matter(value, shown):
    assert node_text(plain(value)) == shown


@pytest.mark.parametrize(
    ("expected", "came", "words"),
    [
        (1800, 1801, "Your answer is 1801 where 1800 is expected."),
        (1800.0, 1850.5, "Your answer is 1850 where 1800 is expected."),
        ({"Mango": "Greek"}, {"Mango": "Yogurt"}, "`Mango` is 'Yogurt' where 'Greek' is expected."),
        ((["a"], ["b"]), (["b"], ["a"]), "`result 1[0]` is 'b' where 'a' is expected."),
    ],
)
def test_both_sides_are_told(expected, came, words):
    assert words in of_two_cases(lambda x: came, lambda x: expected).sentences


def test_no_message_begins_with_a_number_of_the_list():
    verdict = judged("8.3", SLIPS["an inverted mask in 8.3, where"].source)
    assert verdict.misconceptions == ("M26",)
    assert not any(re.match(r"M\d", sentence) for sentence in verdict.sentences)
    assert repr(verdict).endswith("(M26)")
    assert (
        '<a class="course-misconception" href="../appendix/guide.md#misconception-M26">M26</a>'
        in (verdict._repr_html_())
    )


@pytest.mark.parametrize("slip", SLIPS)
def test_a_slip_is_told_in_words_that_are_true(slip):
    slip = SLIPS[slip]
    verdict = judged(slip.task, slip.source)
    assert not verdict.passed
    assert slip.has.lower() in repr(verdict).lower(), verdict
    assert slip.lacks not in repr(verdict), verdict
