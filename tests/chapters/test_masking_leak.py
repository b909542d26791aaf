"""The leak of chapter 8 does not depend on the seed: the same training from other seeds."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy

from lib.attention import masks
from lib.training.story_model import (
    IDS,
    LOWER_BOUND,
    PATTERN,
    UNIFORM_LOSS,
    StoryModel,
    is_allowed,
    sample_stories,
    story_loss,
    train_story_model,
    write_stories,
)
from tests.support.seeds import training_seeds


class Trained(NamedTuple):
    """Two models from one seed, and stories new to both."""

    seed: int
    stories: torch.Tensor
    masked: StoryModel
    unmasked: StoryModel


@pytest.fixture(scope="module", params=training_seeds())
def trained(request, bare_lib) -> Trained:
    seed = request.param
    masked, unmasked = (train_story_model(way, seed=seed)[0] for way in (masks.causal, None))
    return Trained(seed, sample_stories(1000, 2000 + seed), masked, unmasked)


def without_diagonal(n, like):
    return masks.causal(n, like=like) & ~torch.eye(n, dtype=torch.bool)


@torch.no_grad()
def losses_without_future(model, stories, masking) -> np.ndarray:
    losses = [
        cross_entropy(model(stories[:, :k], masking)[:, -1], stories[:, k]).item()
        for k in range(1, 11)
    ]
    return np.array(losses)


@torch.no_grad()
def held_out(model, stories, masking) -> float:
    return story_loss(model, stories, masking).item()


def share_allowed(model, masking) -> float:
    return float(np.mean([is_allowed(story) for story in write_stories(model, 200, 0, masking)]))


def test_the_language_has_the_entropy_that_the_page_states():
    stories = sample_stories(20000, 0)
    free = sum(np.log(len(set(stories[:, i].tolist()))) for i in range(1, 9))
    assert free / 10 == pytest.approx(LOWER_BOUND)
    assert torch.equal(stories[:, 8:], stories[:, 4:7])
    assert all(is_allowed(story[:10]) for story in stories[:100])


def test_a_story_that_breaks_the_grammar_is_not_allowed():
    story = sample_stories(1, 0)[0, :10]
    assert PATTERN[3] == "verb"
    assert PATTERN[1] == PATTERN[5] == "adjective"
    wrong_kind, wrong_object = story.clone(), story.clone()
    wrong_kind[3] = IDS["noun"][0]
    wrong_object[9] = next(token for token in IDS["adjective"] if token != story[5])
    assert is_allowed(story)
    assert not is_allowed(wrong_kind)
    assert not is_allowed(wrong_object)


def test_with_the_mask_the_loss_meets_the_bound_in_training_and_without_the_future(trained):
    assert abs(held_out(trained.masked, trained.stories, masks.causal) - LOWER_BOUND) < 0.05
    alone = losses_without_future(trained.masked, trained.stories, masks.causal)
    assert abs(alone.mean() - LOWER_BOUND) < 0.05


def test_without_the_mask_the_loss_collapses_and_without_the_future_it_exceeds_the_uniform_loss(
    trained,
):
    assert held_out(trained.unmasked, trained.stories, None) < 0.01
    alone = losses_without_future(trained.unmasked, trained.stories, None)
    assert alone.mean() > UNIFORM_LOSS
    assert max(alone[7], alone[9]) < 0.1  # "the" after the full stop, and the last word
    certain = [3, 6, 7, 8, 9]
    assert np.flatnonzero(alone < UNIFORM_LOSS).tolist() == certain


def test_the_stories_are_allowed_with_the_mask_and_useless_without(trained):
    assert share_allowed(trained.masked, masks.causal) > 0.9
    assert share_allowed(trained.unmasked, None) < 0.1


def test_a_model_trained_with_the_mask_changes_without_it_and_survives(trained):
    model, stories = trained.masked, trained.stories
    with torch.no_grad():
        gap = (model(stories[:, :6]) - model(stories[:, :6], None))[:, -1].abs().max()
    assert gap > 0.1
    assert losses_without_future(model, stories, None).mean() < 1.2
    assert share_allowed(model, None) > 0.8


def test_without_the_diagonal_the_loss_meets_the_bound_too(trained):
    """The residual connection carries a token's own content (chapter 8, the diagonal)."""
    model, _ = train_story_model(without_diagonal, seed=trained.seed)
    assert abs(held_out(model, trained.stories, without_diagonal) - LOWER_BOUND) < 0.05
