"""Right answers pass in any honest style, and an error is no misconception."""

import importlib
from decimal import Decimal

import numpy as np
import pytest

from checks.check import grade_source, judge
from checks.run.plain_data import plain

ATTEND = "torch.softmax(q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5, -1) @ v"
CARRIES = "    one = torch.nn.Parameter(torch.ones(1, dtype=torch.float64))\n"
LINEAR = (
    "def through(x, w):\n    layer = torch.nn.Linear(*w.shape, bias=False, dtype=w.dtype)\n"
    "    layer.weight.data.copy_(w.T)\n    return layer(x)\n"
)
RIGHT = {
    ("07_self_attention", "7.2", "a parameter in it"): (
        f"import torch\ndef attention(q, k, v):\n{CARRIES}    return {ATTEND} * one"
    ),
    ("07_self_attention", "7.3", "nn.Linear"): (
        f"import torch\n{LINEAR}def self_attention(x, w_q, w_k, w_v):\n"
        f"    q, k, v = through(x, w_q), through(x, w_k), through(x, w_v)\n    return {ATTEND}"
    ),
    ("08_masking", "8.3", "a parameter in it"): (
        f"import torch\ndef masked_weights(scores, mask):\n{CARRIES}"
        "    weights = torch.softmax(scores.masked_fill(~mask, -torch.inf), -1)\n"
        "    return torch.nan_to_num(weights) * one"
    ),
    ("09_multi_head", "9.5", "a parameter in it"): (
        f"import torch\ndef changes(outputs, w_o):\n{CARRIES}    heads, n, d_v = outputs.shape\n"
        "    return outputs @ w_o.reshape(heads, d_v, -1) * one"
    ),
    ("10_cross_attention", "10.2", "nn.Linear"): (
        f"import torch\n{LINEAR}def cross_attention(x, source, w_q, w_k, w_v):\n"
        f"    q, k, v = through(x, w_q), through(source, w_k), through(source, w_v)\n"
        f"    return {ATTEND}"
    ),
    ("07_self_attention", "7.2", "bfloat16"): (
        "import torch\ndef attention(*three):\n    q, k, v = (x.bfloat16() for x in three)\n"
        f"    return {ATTEND}"
    ),
    ("07_self_attention", "7.2", "a dataclass in the cell"): (
        "from dataclasses import dataclass\n@dataclass\nclass Settings:\n    axis: int = -1\n"
        "def attention(q, k, v):\n    e = np.exp(q @ k.T / q.shape[-1] ** 0.5)\n"
        "    return e / e.sum(Settings().axis, keepdims=True) @ v"
    ),
}


@pytest.mark.parametrize(("exercise", "number", "style"), RIGHT)
def test_a_right_answer_passes(exercise, number, style):
    task = importlib.import_module(f"exercises.{exercise}").EXERCISE[number]
    verdict = grade_source(task, RIGHT[exercise, number, style], {"np": np})
    assert verdict.passed, verdict


def test_an_error_while_a_law_is_asked_names_no_misconception():
    task = importlib.import_module("exercises.07_self_attention").EXERCISE["7.3"]
    source = (
        "calls = []\ndef self_attention(x, w_q, w_k, w_v):\n    calls.append(1)\n"
        f"    if len(calls) > {len(task.draw())}:\n        raise MemoryError('full')\n"
        "    q, k, v = x @ w_q, x @ w_k, x @ w_v\n"
        "    e = np.exp(q @ np.swapaxes(k, -1, -2) / q.shape[-1] ** 0.5)\n"
        "    return e / e.sum(-1, keepdims=True) @ v"
    )
    verdict = grade_source(task, source, {"np": np})
    assert verdict.misconceptions == ()
    assert "MemoryError" in " ".join(verdict.sentences)


def test_exact_decimals_are_numbers():
    task = importlib.import_module("exercises.06_softmax").EXERCISE["6.1"]
    exact = [Decimal(float(value)) for value in np.ravel(plain(task.reference).as_numbers().values)]
    assert judge(task, exact).passed
