"""A name must be true of the answer: slips beside which a similar mistake was named once."""

import json
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest

from checks.check import grade_source
from tests.support.attempts import load, setup

FRESH = Path(__file__).with_name("fresh_answers.jsonl")
ANSWERS = [json.loads(line) for line in FRESH.read_text("utf8").splitlines()]


class Slip(NamedTuple):
    """How the slip of an answer begins, its name, and words that its verdict has and has not."""

    task: str
    begins: str
    number: str
    has: str
    lacks: str = "no such words"


SLIPS = [
    Slip("0.4", "divides by the plain sum", "M994", "exponential of the sum"),
    Slip("1.4", "numpy fancy +=", "M360", "adds 1 only once for an id that is repeated"),
    Slip("1.4", "counts over the words that occur", "M990", "only for the words that occur",
         "not the sum of the one-hot"),
    Slip("2.5", "divides by the diagonal", "M992", "your matrix is not symmetric"),
    Slip("3.1", "adds the average to the rows", "M993", "to the row of the neighbour"),
    Slip("4.4", "einsum sums one d", "M991", "only equal components meet"),
    Slip("5.6", "gives the scores to softmax_jacobian", "M165", "apply the softmax first"),
    Slip("6.3", "divides by the largest weight", "M988", "You divided every row", "subtracted"),
    Slip("6.5", "adds a small number", "M995", "kept above a small number"),
    Slip("7.6", "shuffles the output", "M100", "shuffled the output a second time",
         "use the same permutation on both sides"),
    Slip("7.6", "compares the sorted rows", "M989", "both outputs are sorted first", "a sum over"),
    Slip("13.4", "divides each mean gradient", "M272", "weigh each by its tokens"),
    Slip("13.4", "divides the weighted sum", "M271", "by another number, or not at all"),
    Slip("14.5", "keeps a maximum", "M321", "a result for every tile"),
    Slip("15.2", "forgets the bias of the down map", "M987", "one bias of this length is missing",
         "biases of attention"),
]  # fmt: skip


@pytest.mark.parametrize("slip", SLIPS, ids=lambda slip: f"{slip.task} {slip.begins}")
def test_a_slip_has_a_name_that_is_true_of_it(slip):
    (answer,) = (
        answer for answer in ANSWERS
        if answer["task"] == slip.task and answer["slip"].startswith(slip.begins)
    )  # fmt: skip
    name = answer["exercise"]
    verdict = grade_source(load(name)[slip.task], answer["code"], dict(setup(name)))
    words = " ".join(verdict.sentences)
    assert verdict.misconceptions == (slip.number,)
    assert slip.has in words
    assert slip.lacks not in words


def test_entries_along_a_deep_axis_are_listed_in_a_sentence():
    answer = next(answer for answer in ANSWERS if answer["slip"].startswith("divides the head's"))
    nameless = replace(load("14_cost")["14.6"], wrong=())
    verdict = grade_source(nameless, answer["code"], dict(setup("14_cost")))
    assert "Along axis 0 only the indices 2, 4 and 5 differ." in verdict.sentences
