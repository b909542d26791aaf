"""The stacks of chapter 11 are no luck: its pages' own cells, run from five other seeds."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

import numpy as np
import pytest
import torch

from lib.attention.masks import causal
from tests.support.pages import names_of
from tests.support.seeds import training_seeds

SEEDS = training_seeds()
RECORDED = json.loads(files("lib.datasets").joinpath("block_parts.json").read_text("utf8"))


@pytest.fixture(scope="module")
def page(bare_lib) -> dict[str, Any]:
    """The names that the deeper page's cells tagged `deep` define."""
    return names_of("11_block_deeper", "deep")


@pytest.fixture(scope="module")
def core(bare_lib) -> dict[str, Any]:
    """The names that the core page's cells tagged `recorded` define."""
    return names_of("11_block", "recorded")


def end(page, seed, *, add=True, depth=24, **options) -> torch.Tensor:
    with torch.no_grad():
        layers = page["stack"](24, seed, **options)
        return page["walk"](page["noise"](seed, 8, 16, 64), layers, add=add)[depth]


@pytest.mark.parametrize("seed", SEEDS)
def test_the_gradient_arrives_in_both_orders_but_along_the_skip_path_only_in_pre_norm(page, seed):
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
def test_the_residual_stream_grows_with_depth_and_with_the_factor_hardly_at_all(page, seed, blocks):
    assert page["variance"](blocks, seed, False) > 0.5 * blocks
    assert 1.1 < page["variance"](blocks, seed, True) < 1.3


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("norm_first", "scaled"), [(True, False), (False, False), (False, True)])
def test_post_norm_is_at_the_price_of_the_letters_alone_where_the_others_are_done(
    page, norm_first, scaled, seed
):
    losses, differ = page["learn"](norm_first, scaled, seed=seed)
    loss = np.mean(losses[-20:])
    if norm_first or scaled:
        assert loss < 0.3
        assert differ > 0.8
    else:
        assert page["bag"] - 0.05 < loss < page["bag"] + 0.25


@pytest.mark.nightly
@pytest.mark.parametrize("seed", [3, 4])
def test_post_norm_learns_the_letters_too_if_it_is_given_five_times_the_steps(page, seed):
    losses, differ = page["learn"](False, seed=seed, steps=600)
    assert np.mean(losses[-20:]) < 0.3
    assert differ > 0.8


@pytest.mark.nightly
@pytest.mark.parametrize("seed", [3, 4])
def test_with_a_causal_mask_post_norm_needs_less_than_three_times_the_steps(page, seed):
    mask = causal(15, like=torch.zeros(15, 32))
    needed = {}
    for norm_first in (True, False):
        losses, _ = page["learn"](norm_first, mask=mask, seed=seed, steps=300)
        means = np.convolve(losses, np.ones(20) / 20, "valid")
        needed[norm_first] = int(np.argmax(means < 0.3))
        assert means[-1] < 0.3
    assert needed[True] < needed[False] < 3 * needed[True]


def test_a_predictor_that_knows_the_letters_alone_has_the_loss_that_the_page_says(page):
    rng = np.random.default_rng(0)
    texts = rng.integers(8, size=(100_000, 8))
    shares = (texts == texts[:, :1]).mean(axis=1)  # the share of the letter asked for
    assert -np.log(shares).mean() == pytest.approx(page["bag"], abs=0.01)


@pytest.mark.parametrize("seed", training_seeds(2))
def test_with_a_large_learning_rate_only_pre_norm_learns_the_text(core, seed):
    plain, post, pre = (core["run"](layers, seed, 0.03, steps=60)[1]
                        for layers in core["stacks"](4).values())  # fmt: skip
    assert not plain < 4  # nan, too, is no success
    assert pre < post - 0.3


@pytest.mark.nightly
@pytest.mark.parametrize("seed", [3, 4])
def test_of_24_blocks_pre_norm_learns_the_text_best(core, seed):
    plain, post, pre = (core["run"](layers, seed, 0.003, steps=150)[1]
                        for layers in core["stacks"](24).values())  # fmt: skip
    assert pre < plain - 0.05
    assert pre < post - 0.3


@pytest.mark.parametrize(("kind", "blocks"), [("rates", 4), ("deep", 24)])
def test_the_recorded_runs_are_those_of_the_core_page(core, kind, blocks):
    recorded, stacks = RECORDED[kind], core["stacks"](blocks)
    assert recorded["blocks"] == blocks
    assert list(recorded["losses"]) == list(stacks) == ["no norm", "post-norm", "pre-norm"]
    for losses in recorded["losses"].values():
        assert [len(seeds) for seeds in losses.values()] == [3, 3, 3]
    assert all(0.9 < size / len(core["text"]) < 1.1 for size in recorded["bytes"].values())


def test_both_depths_read_the_same_text_where_they_are_compared():
    assert RECORDED["rates"]["bytes"]["0.003"] == RECORDED["deep"]["bytes"]["0.003"]


def test_every_recorded_stack_learned_the_letters_and_post_norm_was_the_last():
    for curves in RECORDED["letters"]["curves"].values():
        reached = {name: np.argmax(np.array(runs) < 0.3, axis=1) for name, runs in curves.items()}
        assert all(run[-1] < 0.1 for runs in curves.values() for run in runs)
        assert min(reached["post-norm"]) > max(reached["pre-norm"])
