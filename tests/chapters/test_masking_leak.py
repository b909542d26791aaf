"""The leak of chapter 08 is no luck: the page's own cells, run from five other seeds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from lib import seeds
from tests.support.pages import names_of
from tests.support.seeds import training_seeds


@pytest.fixture(scope="module")
def page(bare_lib) -> dict[str, Any]:
    """The names that the page's cells tagged `leak` define: its language, model and training."""
    return names_of("08_masking", "leak")


@pytest.fixture(scope="module", params=training_seeds())
def pair(request, page) -> dict[bool, tuple[Any, torch.Tensor]]:
    """A model trained with the mask (True) and one without (False), and stories new to both."""
    seed = request.param
    stories = page["draw"](1000, seeds.generator(2000 + seed))
    return {m: (page["train"](m, seed)[0], stories) for m in (True, False)}


def held_out(page, pair, masked: bool) -> float:
    model, stories = pair[masked]
    with torch.no_grad():
        return page["training_loss"](model, stories, masked).item()


def share_allowed(page, model, masked: bool) -> float:
    return np.mean([page["allowed"](story) for story in page["write"](model, masked, 200, 0)])


def test_the_language_has_the_entropy_that_the_page_states(page):
    stories = page["draw"](20000, seeds.generator(0))
    free = sum(np.log(len(set(stories[:, i].tolist()))) for i in range(1, 9))
    assert free / 10 == pytest.approx(page["FLOOR"])
    assert torch.equal(stories[:, 8:], stories[:, 4:7])
    assert all(page["allowed"](story[:10]) for story in stories[:100])


def test_with_the_mask_the_loss_meets_the_floor_in_training_and_without_the_future(page, pair):
    assert abs(held_out(page, pair, True) - page["FLOOR"]) < 0.05
    assert abs(page["honest_loss"](*pair[True], True).mean() - page["FLOOR"]) < 0.05


def test_without_the_mask_the_loss_collapses_and_without_the_future_it_is_worse_than_a_guess(
    page, pair
):
    assert held_out(page, pair, False) < 0.01
    honest = page["honest_loss"](*pair[False], False)
    assert honest.mean() > page["GUESS"]
    assert honest[-1] < 0.1


def test_the_stories_are_allowed_with_the_mask_and_useless_without(page, pair):
    assert share_allowed(page, pair[True][0], True) > 0.9
    assert share_allowed(page, pair[False][0], False) < 0.1


def test_a_model_trained_with_the_mask_changes_without_it_and_survives(page, pair):
    model, stories = pair[True]
    with torch.no_grad():
        gap = (model(stories[:, :6], True) - model(stories[:, :6], False))[:, -1].abs().max()
    assert gap > 0.1
    assert page["honest_loss"](model, stories, False).mean() < 1.2
    assert share_allowed(page, model, False) > 0.8
