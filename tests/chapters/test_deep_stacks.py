"""The stacks of chapter 11 are no luck: the page's own cells, run from five other seeds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from tests.support.pages import names_of
from tests.support.seeds import training_seeds

SEEDS = training_seeds()


@pytest.fixture(scope="module")
def page(bare_lib) -> dict[str, Any]:
    """The names that the page's cells tagged `deep` define."""
    return names_of("11_block", "deep")


def end(page, seed, *, add=True, depth=24, **options) -> torch.Tensor:
    with torch.no_grad():
        layers = page["stack"](24, seed, **options)
        return page["walk"](page["noise"](seed, 8, 16, 64), layers, add=add)[depth]


@pytest.mark.parametrize("seed", SEEDS)
def test_the_gradient_arrives_in_both_orders_but_along_the_bare_stream_only_in_pre_norm(page, seed):
    def at_the_input(**options):
        sizes, _ = page["gradients"](seed, **options)
        return sizes[0] / sizes[-1]

    assert 3 < at_the_input(norm_first=True) < 10
    assert 0.5 < at_the_input(norm_first=False) < 3
    assert at_the_input(norm_first=True, bare=True) == pytest.approx(1)
    assert at_the_input(norm_first=False, bare=True) < 1e-3


@pytest.mark.parametrize("seed", SEEDS)
def test_tokens_become_one_vector_without_additions_and_in_post_norm(page, seed):
    assert page["spread"](end(page, seed, add=False, depth=4)) < 5e-4
    assert page["spread"](end(page, seed, norm_first=False)) < 0.01
    assert page["spread"](end(page, seed)) > 0.3


@pytest.mark.parametrize("blocks", [6, 12, 24])
@pytest.mark.parametrize("seed", SEEDS)
def test_the_stream_grows_with_depth_and_with_the_factor_hardly_at_all(page, seed, blocks):
    assert page["variance"](blocks, seed, False) > 0.5 * blocks
    assert 1.1 < page["variance"](blocks, seed, True) < 1.3


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("norm_first", "scaled"), [(True, False), (False, False), (False, True)])
def test_eight_blocks_learn_to_reverse_but_for_plain_post_norm(page, norm_first, scaled, seed):
    loss, differ = page["learn"](norm_first, scaled, seed)
    if norm_first or scaled:
        assert loss < 0.3
        assert differ > 0.8
    else:
        assert page["bag"] - 0.05 < loss < page["bag"] + 0.25
        assert differ < 0.3


def test_who_knows_the_letters_alone_pays_what_the_page_says(page):
    rng = np.random.default_rng(0)
    texts = rng.integers(8, size=(100_000, 8))
    shares = (texts == texts[:, :1]).mean(axis=1)  # the share of the letter asked for
    assert -np.log(shares).mean() == pytest.approx(page["bag"], abs=0.01)
