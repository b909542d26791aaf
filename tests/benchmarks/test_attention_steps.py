"""The steps that chapter 14 times are those of `attend`, and its record holds each of them."""

import json
from importlib.resources import files

import torch

from benchmarks.attention_steps import NewMatrices
from lib.attention.dot_product import attend
from lib.attention.masks import causal


def test_attend_makes_a_new_matrix_of_scores_at_each_recorded_step():
    q = torch.randn(2, 16, 4)
    with NewMatrices(2 * 16 * 16) as new:
        attend(q, q, q, causal(16, like=q))
    recorded = json.loads(files("lib.datasets").joinpath("attention_steps.json").read_text("utf8"))
    milliseconds = recorded["milliseconds"]
    assert new.count == len(milliseconds["new"]) == 7
    assert list(milliseconds["reused"]) == list(milliseconds["new"])
    for name, taken in milliseconds["new"].items():
        assert taken > milliseconds["reused"][name]


def test_a_step_that_writes_into_given_memory_makes_none():
    scores, given = torch.randn(2, 16, 16), torch.empty(2, 16, 16)
    with NewMatrices(scores.numel()) as new:
        torch.exp(scores, out=given)
        scores.mul_(2)
        scores.amax(-1)
    assert new.count == 0
