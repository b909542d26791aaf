"""What chapter 16 says of its small models is no luck: the page's own cells, from other seeds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from lib.datasets.repeats import repeats
from lib.interpretability.interventions import patch, record_heads
from tests.support.pages import names_of
from tests.support.seeds import training_seeds


@pytest.fixture(scope="module")
def page(bare_lib) -> dict[str, Any]:
    """The names that the page's cells tagged `seeds` define."""
    return names_of("16_heads", "seeds")


@pytest.fixture(scope="module", params=training_seeds())
def two(request, page) -> tuple[Any, list]:
    """A trained model of two layers, and what was seen every ten steps."""
    return page["train"](2, 64, request.param)


def test_two_layers_learn_it_late_and_fast(two):
    losses = [loss for loss, *_ in two[1]]
    assert losses[0] > 3
    assert losses[8] > 2
    assert losses[-1] < 0.1


def test_both_scores_come_late_and_every_head_of_layer_1_matches_prefixes(two):
    prefix = torch.stack([step[1] for step in two[1]])  # (look, layer, head)
    previous = torch.stack([step[2] for step in two[1]])
    assert prefix[-1, 1].max() > 0.8
    assert (prefix[-1, 1] > 0.5).all()
    assert prefix[-1, 0].max() < 0.2
    assert previous[-1, 0].max() > 0.6
    assert prefix[:6].max() < 0.3


@pytest.mark.parametrize("seed", training_seeds())
def test_one_layer_does_not_learn_it(page, seed):
    _, history = page["train"](1, 96, seed)
    assert min(loss for loss, *_ in history) > 2
    assert history[-1][1].max() < 0.3


def test_single_heads_of_layer_1_are_cheap_and_whole_layers_are_not(page, two):
    prices = [page["rise"](two[0], [head]) for head in page["EVERY"]]
    lower, upper = (page["rise"](two[0], page[name]) for name in ("LOWER", "UPPER"))
    assert max(prices[4:]) < 0.5
    assert min(lower, upper) > 3
    assert upper > 3 * sum(prices[4:])


def test_the_fact_passes_two_positions_and_no_other(two):
    model = two[0]
    clean = repeats(np.random.default_rng(5), 64, shortest=16, longest=16)
    corrupted = clean.ids.clone()
    for row in corrupted:
        row[5] = next(token for token in range(40) if token not in row)
    donor = record_heads(model, clean.ids)

    @torch.no_grad()
    def answer(ids):
        chances = model(ids).logits[:, 21].log_softmax(-1)
        return chances.gather(1, clean.targets[:, 21, None]).mean().item()

    def restored(layer, heads, position):
        with patch(model, donor, [(layer, head) for head in heads], [position]):
            return (answer(corrupted) - answer_without) / (answer(clean.ids) - answer_without)

    answer_without = answer(corrupted)
    assert restored(0, range(4), 6) > 0.9
    assert restored(1, range(4), 21) > 0.9
    for position in (4, 5, 7, 20, 22):
        assert all(abs(restored(layer, range(4), position)) < 0.15 for layer in (0, 1))


def test_layer_1_reads_layer_0_in_its_keys_alone(page, two):
    without = {name: page["without_layer_0"](two[0], name) for name in ("query", "key", "value")}
    assert without["key"] > 3
    assert max(without["query"], without["value"]) < 0.3


def test_the_terms_of_the_attribution_are_the_logit_and_layer_1_has_nearly_all_of_it(page, two):
    terms, (ids, targets, known) = page["attribution"](two[0]), page["new"]
    with torch.no_grad():
        logits = two[0](ids).logits[known]
    right = (logits.gather(1, targets[known][:, None])[:, 0] - logits.mean(1)).mean()
    assert sum(terms.values()) == pytest.approx(right.item(), rel=1e-3)
    upper = sum(terms[f"L1H{head}"] for head in range(4))
    assert upper > 0.8 * sum(terms.values())
    assert upper - max(terms[f"L1H{head}"] for head in range(4)) > 0.5 * upper
    assert max(abs(terms[f"L0H{head}"]) for head in range(4)) < 0.5


def test_no_hook_stays_on_the_model(page, two):
    page["rise"](two[0], page["EVERY"])
    assert not any(module._forward_pre_hooks for module in two[0].modules())
