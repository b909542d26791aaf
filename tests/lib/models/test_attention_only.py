"""What chapter 16 says of its small models is no luck: the page's own cells, from five other seeds.

And the texts and the model that it trains are what their definitions say.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from lib.attention.heads import split_heads
from lib.datasets import repeats
from lib.interpretability import head_scores, interventions, same_output
from lib.models import attention_only
from lib.seeds import generator
from tests.support.pages import names_of
from tests.support.seeds import training_seeds

# The texts.


def test_the_known_tokens_are_those_of_one_period_before_and_all_others_are_new():
    texts = repeats.repeats(generator(0), 200, n=23, vocab=29, shortest=3, longest=11)
    for ids, targets, known in zip(*(part.tolist() for part in texts), strict=True):
        text = [*ids, targets[-1]]
        period = sum(known) + 1
        assert 3 <= period <= 11
        assert text[1:] == targets
        assert len(set(text)) == 24 - period
        assert text[-period:] == text[-2 * period : -period]
        assert known == [False] * (23 - sum(known)) + [True] * sum(known)
    assert len({sum(known) for known in texts.known.tolist()}) == 9


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({"n": 10, "longest": 6}, "must fit into 11 tokens: .* got 5 and 6"),
        ({"shortest": 1}, "got 1 and 16"),
        ({"shortest": 9, "longest": 8}, "got 9 and 8"),
        ({"vocab": 27}, "at least 28 different tokens; got 27"),
    ],
)
def test_texts_that_cannot_be_made_are_refused(sizes, message):
    with pytest.raises(ValueError, match=message):
        repeats.repeats(generator(0), 2, **sizes)


# The model.


def test_the_logits_are_a_plain_sum_of_stream_and_heads():
    torch.manual_seed(0)
    model = attention_only.AttentionOnly(11, 7, d_model=15, heads=5, layers=2).double()
    ids = torch.randint(11, (2, 7))
    run = interventions.record_heads(model, ids)
    with torch.no_grad():
        x = model.token_embedding.weight[ids] + model.position_embedding.weight
        for layer, outputs in zip(model.layers, run.outputs, strict=True):
            for head in range(5):
                x = x + outputs[:, head] @ layer.out.weight[:, 3 * head : 3 * head + 3].T
        torch.testing.assert_close(run.result.logits, x @ model.unembed.weight.T)
    assert run.result.weights.shape == (2, 2, 5, 7, 7)


def test_it_is_causal_and_takes_any_leading_axes():
    torch.manual_seed(0)
    model = attention_only.AttentionOnly(11, 7, d_model=15, heads=5, layers=2)
    ids = torch.randint(11, (2, 3, 7))
    changed = ids.clone()
    changed[..., 5:] = (changed[..., 5:] + 1) % 11
    assert torch.equal(model(ids).logits[..., :5, :], model(changed).logits[..., :5, :])
    torch.testing.assert_close(model(ids).logits[1, 2], model(ids[1, 2]).logits)


def test_what_it_cannot_read_is_refused():
    model = attention_only.AttentionOnly(11, 7, d_model=15, heads=5, layers=1)
    with pytest.raises(ValueError, match="7 learned positions; got 8 tokens"):
        model(torch.zeros(8, dtype=int))


def test_a_model_of_attention_alone_has_nothing_but_tables_and_four_maps_a_layer():
    model = attention_only.AttentionOnly(11, 7, d_model=15, heads=5, layers=2)
    count = sum(parameter.numel() for parameter in model.parameters())
    assert count == (11 + 7 + 11) * 15 + 2 * 4 * 15 * 15


# The page, from five other seeds.


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
    assert losses[10] > 2
    assert losses[20] < 0.5
    assert losses[30] < 0.1


def test_an_induction_head_scores_above_eight_tenths_and_both_scores_come_late(two):
    stripes = torch.stack([stripe for _, stripe, _ in two[1]])  # (look, layer, head)
    before = torch.stack([before for *_, before in two[1]])
    assert stripes[-1, 1].max() > 0.8
    assert (stripes[-1, 1] > 0.5).all()
    assert stripes[-1, 0].max() < 0.2
    assert before[-1, 0].max() > 0.6
    assert stripes[:8].max() < 0.3
    assert before[:8].max() < 0.5


@pytest.mark.parametrize("seed", training_seeds())
def test_one_layer_does_not_learn_it(page, seed):
    _, seen = page["train"](1, 96, seed)
    assert min(loss for loss, *_ in seen) > 2
    assert seen[-1][1].max() < 0.3


def test_the_tables_are_as_the_page_says(page, two):
    ids = page["new"].ids
    with torch.no_grad():
        weights = two[0](ids).weights
    assert head_scores.sink_score(weights).mean(0).max() < 0.15
    needed = head_scores.after_same(ids).any(-2)[..., None]
    just_before = torch.from_numpy(np.eye(page["N"], k=-1, dtype=bool))
    useful = head_scores.weight_on(weights, (just_before & needed)[:, None, None]).mean(0)[0]
    over_all = head_scores.previous_token_score(weights).mean(0)[0]
    assert useful.max() > 0.7
    assert useful.max() > over_all[useful.argmax()] > 0.6


def test_the_stripe_cannot_be_argued_away(page, two):
    model, seen = two
    second = seen[-1][1][1].argmax()
    run = interventions.record_heads(model, page["new"].ids)
    own, least = [], []
    with torch.no_grad():
        stream = model.token_embedding(page["new"].ids) + model.position_embedding.weight
        past = torch.ones(page["N"], page["N"], dtype=bool).tril()
        stream = stream + model.layers[0](stream, mask=past).output
        values = split_heads(model.layers[1].value(stream), 4)[:, second].double().numpy()
    for row, v in zip(run.weights[1][:40, second, -1].double().numpy(), values, strict=False):
        most = row.argmax()
        own.append(row[most])
        least.append(same_output.other_weights(row, v, np.eye(page["N"])[most])[most])
    assert np.mean(own) > 0.6
    assert np.mean(own) - np.mean(least) < 0.05


def test_single_heads_of_the_second_layer_are_cheap_and_all_four_are_not(page, two):
    model, _ = two
    mean = interventions.record_heads(model, page["new"].ids)
    zero = [page["price"](model, [head]) for head in page["EVERY"]]
    dull = [page["price"](model, [head], mean) for head in page["EVERY"]]
    assert max(zero[:4]) > 0.5
    assert max(zero[4:]) < 0.3
    assert np.abs(np.subtract(zero, dull)).max() < 0.1
    upper = page["UPPER"]
    assert page["price"](model, upper) > 3.5 > 5 * sum(zero[4:])
    for kept in upper:
        assert page["price"](model, [head for head in upper if head != kept]) > 0.3


def test_the_fact_passes_two_places_and_no_other(page, two):
    model, _ = two
    there, query, runs = page["THERE"] + 1, page["QUERY"], page["both_runs"](model)
    assert page["restored"](model, runs, page["LOWER"], [there]) > 0.95
    assert page["restored"](model, runs, page["UPPER"], [query]) > 0.95
    for layer, head in page["EVERY"]:
        for place in set(range(page["N"])) - {there if layer == 0 else query}:
            assert abs(page["restored"](model, runs, [(layer, head)], [place])) < 0.1
