"""A wrong answer without a name is told the first place where it leaves the truth."""

import importlib
from dataclasses import replace

import numpy as np
import pytest

from checks import Task
from checks.check import grade_source, judge

SOFTMAX = "    e = np.exp(s)\n    w = e / e.sum(-1, keepdims=True)\n"
SCORES = "    s = q @ k.T / np.sqrt(q.shape[-1])\n"
HEAD = "def attention(q, k, v):\n"


def task(number: str, named: bool = False) -> Task:
    """A task, whose misconceptions are left out unless the test is about them."""
    names = {
        "06": "06_softmax",
        "07": "07_self_attention",
        "08": "08_masking",
        "11": "11_block",
        "12": "12_gpt2",
        "17": "17_capstone",
    }
    exercises = importlib.import_module(f"exercises.{names[number.split('.')[0].zfill(2)]}")
    whole = exercises.EXERCISE[number]
    return whole if named else replace(whole, wrong=(), laws=())


def told(source: str, number: str = "7.2") -> str:
    """What the check says of an answer, in one text."""
    return " ".join(grade_source(task(number), source, {"np": np}).sentences)


SLIPS = {
    "divided by the wrong root": (
        HEAD + "    s = q @ k.T / np.sqrt(v.shape[-1])\n" + SOFTMAX + "    return w @ v",
        "your `s = q @ k.T / np.sqrt(v.shape[-1])` (line 2) is 0.894 times what our solution "
        "has there, and 0.894 = sqrt(q.shape[-1]/v.shape[-1]).",
    ),
    "no scale, and the output transposed": (
        HEAD + "    s = q @ k.T\n" + SOFTMAX + "    return (w @ v).T",
        "your `s = q @ k.T` (line 2) is 1.73 times what our solution has there, "
        "and 1.73 = sqrt(q.shape[-1]).",
    ),
    "returned the weights": (
        HEAD + SCORES + SOFTMAX + "    return w",
        "`w = e / e.sum(-1, keepdims=True)` (line 4) is right: these are the weights. "
        "You return them; the result comes after.",
    ),
    "never normalised": (
        HEAD + SCORES + "    e = np.exp(s)\n    return e @ v",
        "Next come the weights: your `e = np.exp(s)` (line 3) is not normalised: each row should "
        "sum to 1, and yours sum to 3.94, 2.75, 3.61.",
    ),
    "normalised down the columns": (
        HEAD + SCORES + "    e = np.exp(s)\n    w = e / e.sum(0)\n    return w @ v",
        "Next come the weights: your `w = e / e.sum(0)` (line 4) is normalised along the wrong "
        "axis: its columns sum to 1, and its rows should.",
    ),
    "a loop over the queries": (
        HEAD + "    out = []\n    for i in range(len(q)):\n"
        "        s = k @ q[i] / q.shape[1] ** 0.5\n"
        "        e = np.exp(s)\n        out.append(e @ v / e.max())\n    return np.array(out)",
        "Your `s = k @ q[i] / q.shape[1] ** 0.5` (line 4) is right: these are the scores. "
        "One small change in line 6, `out.append(e @ v / e.max())`, makes your answer right",
    ),
    "a table filled number by number": (
        HEAD + "    s = np.zeros((len(q), len(k)))\n    for i in range(len(q)):\n"
        "        for j in range(len(k)):\n            s[i, j] = q[i] @ k[j] / q.shape[1] ** 0.5\n"
        + SOFTMAX + "    return w @ k",
        "is right: these are the weights. One small change in line 8, `return w @ k`, makes your",
    ),
    "changed in place": (
        HEAD + "    s = q @ k.T\n    s /= np.sqrt(q.shape[-1])\n    return s @ v",
        "Your `s /= np.sqrt(q.shape[-1])` (line 3) is right: these are the scores.",
    ),
    "something else returned": (
        HEAD + SCORES + SOFTMAX + "    out = w @ v\n    return out + q[0, 0]",
        "Your `out = w @ v` (line 5) is the right result, but something else is returned.",
    ),
    "a function beside it": (
        "def weigh(s):\n    return np.exp(s) / np.exp(s).sum(0)\n" + HEAD + SCORES
        + "    return weigh(s) @ v * 2",
        "your `weigh(s)` (line 5) is normalised along the wrong axis",
    ),
    "torch": (
        "import torch\n" + HEAD + "    s = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5\n"
        "    return torch.softmax(s, 0) @ v * 2",
        "your `torch.softmax(s, 0)` (line 4) is normalised along the wrong axis",
    ),
}  # fmt: skip


@pytest.mark.parametrize("slip", SLIPS)
def test_the_first_wrong_step_is_quoted_with_its_line(slip):
    source, words = SLIPS[slip]
    assert words in told(source)


def test_what_is_right_on_one_case_alone_is_not_called_right():
    source = HEAD + "    s = q @ k.T / np.sqrt(v.shape[-1])\n" + SOFTMAX + "    return w @ v * 2"
    text = told(source)
    assert "is right" not in text
    assert text.startswith("On another case (")


def test_before_an_error_the_last_right_step_is_told_and_nothing_is_guessed():
    text = told(HEAD + SCORES + "    return np.softmax(s) @ v")
    assert text.startswith("Your `s = q @ k.T / np.sqrt(q.shape[-1])` (line 2) is right")
    assert "Next" not in text


def test_heads_that_come_one_in_each_turn_are_seen_as_those_of_a_batch():
    source = (
        "def ln(x, p, name):\n"
        "    x = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)\n"
        "    return x * p[name + '.weight'] + p[name + '.bias']\n"
        "def block(x, p, heads):\n    y, outputs = ln(x, p, 'ln_1'), []\n"
        "    y = y @ p['attn.c_attn.weight'] + p['attn.c_attn.bias']\n"
        "    q, k, v = (np.split(part, heads, -1) for part in np.split(y, 3, -1))\n"
        "    for h in range(heads):\n"
        "        s = q[h] @ k[h].swapaxes(-1, -2) / np.sqrt(x.shape[-1])\n"
        "        s = np.where(np.tri(len(s[0]), dtype=bool), s, -np.inf)\n"
        "        outputs.append(softmax(s) @ v[h])\n"
        "    a = np.concatenate(outputs, -1)\n"
        "    x = x + a @ p['attn.c_proj.weight'] + p['attn.c_proj.bias']\n"
        "    y = ln(x, p, 'ln_2') @ p['mlp.c_fc.weight'] + p['mlp.c_fc.bias']\n"
        "    y = y * (1 + np.tanh(np.sqrt(2 / np.pi) * (y + 0.044715 * y**3))) / 2\n"
        "    return x + y @ p['mlp.c_proj.weight'] + p['mlp.c_proj.bias']\n"
    )
    words = told("from lib.functional import softmax\n" + source, "17.7")
    assert "Next come the scores: your `s = q[h]" in words
    assert "0.447 = 1/sqrt(heads)." in words


def test_a_step_that_overflows_on_another_case_is_not_called_right_on_all():
    source = (
        "def jacobian(scores):\n    w = np.exp(scores) / np.exp(scores).sum()\n"
        "    return np.diag(w) + np.outer(w, w)"
    )
    assert "(line 2) is right here, and not on every case: these are the weights." in told(
        source, "6.6"
    )


def test_a_missing_mask_is_seen_in_the_scores():
    source = "def masked_weights(scores, mask):\n    s = scores * 1.0\n" + SOFTMAX + "    return w"
    words = (
        "First come the scores: your `s = scores * 1.0` (line 2) is not hidden where "
        "the mask forbids"
    )
    assert words in told(source, "8.3")


def test_declared_steps_are_compared_too():
    source = "def embed(ids, words, positions, start):\n    return words[ids] + positions[ids]"
    assert "`words[ids]` (line 2) is right: these are the token embeddings." in told(source, "12.1")


def test_a_named_mistake_keeps_its_name_and_gets_no_place():
    source = HEAD + "    s = q @ k.T\n" + SOFTMAX + "    return w @ v"
    verdict = grade_source(task("7.2", named=True), source, {"np": np})
    assert verdict.misconceptions == ("M01",)
    assert "(line" not in " ".join(verdict.sentences)


def test_looking_for_the_place_changes_nothing_of_the_learner_s():
    calls = []
    world = {"np": np, "calls": calls}
    exec(  # a function that counts, with a helper and a closure
        "def make():\n    seen = []\n    def attention(q, k, v):\n        seen.append(1)\n"
        "        calls.append(len(seen))\n        return q @ k.T\n    return attention\n"
        "attention = make()",
        world,
    )
    before = dict(world)
    judge(task("7.2"), world["attention"])
    assert {name: world[name] for name in before} == before


def test_an_answer_whose_source_is_not_there_gets_the_verdict_of_before():
    world = {"np": np}
    exec("def attention(q, k, v):\n    return q @ k.T", world)
    sentences = judge(task("7.2"), world["attention"]).sentences
    assert not any("line" in sentence for sentence in sentences)


def test_a_task_whose_arguments_are_functions_has_no_steps_of_the_learner_s():
    cases = task("11.4").draw()
    assert any(callable(value) for value in cases[0].args)
    source = "def pre_norm(*arguments):\n    return 2 * arguments[0]"
    assert "Next" not in told(source, "11.4")


def test_only_what_fits_on_every_case_names_a_factor():
    source = HEAD + "    s = q @ k.T / 1.7\n" + SOFTMAX + "    return w @ v + 1"
    assert "times what our solution has there." in told(source)


STACK = "def run_stack(x, projections, mask):\n    for a, b, c in projections:\n"


def test_of_what_a_definition_of_the_course_computes_no_step_is_missed():
    from lib.attention.dot_product import attend

    source = (
        STACK
        + "        x = x + attend(np.sin(x @ a) * 2.3, x @ b, x @ c, mask).output\n    return x"
    )
    given = {"np": np, "attend": attend}
    words = " ".join(grade_source(task("8.6"), source, given).sentences)
    assert "these are the values" in words
    assert "none of your steps" not in words


def test_a_value_that_no_step_gives_is_said_to_be_missing():
    source = HEAD + SCORES + "    return np.tanh(s) @ v"
    assert "In our solution the weights come next; none of your steps gives them." in told(source)
