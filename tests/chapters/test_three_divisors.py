"""What chapter 5 says of its training with three divisors holds for the starts that it counts."""

from __future__ import annotations

import math

import pytest
import torch

from lib.training.story_model import sample_stories
from tests.support.pages import names_of

DIVISORS = {"none": 1, "root": 512**0.5, "d_k": 512}
ADAM = {"optimizer": torch.optim.Adam, "learning_rate": 0.005}


@pytest.fixture(scope="module")
def train(bare_lib):
    """The function that trains, from the page's cells tagged `seeds`."""
    return names_of("05_scaling", "seeds")["train"]


def at_the_end(train, name: str, seed: int, steps: int = 300, **how) -> tuple[float, float]:
    """The mean probability of the right adjective, and the head's mean largest weight there."""
    model, _ = train(DIVISORS[name], steps, seed=seed, **how)
    new = sample_stories(500, seed=10_000)
    with torch.no_grad():
        right = model(new[:, :10])[:, 8].softmax(-1).gather(1, new[:, 9:10])
    return right.mean().item(), model.weights[:, 8].amax(-1).mean().item()


def learned(train, name: str, seed: int, steps: int = 300, **how) -> bool:
    """Whether a model repeats the adjective with a probability above 0.9."""
    return at_the_end(train, name, seed, steps, **how)[0] > 0.9


@pytest.mark.nightly
@pytest.mark.parametrize(("name", "low", "high"), [("none", 0, 2), ("root", 5, 7), ("d_k", 0, 0)])
def test_in_plain_descent_the_root_learns_from_most_starts(train, name, low, high):
    assert low <= sum(learned(train, name, seed) for seed in range(1, 8)) <= high


@pytest.mark.nightly
@pytest.mark.parametrize(("name", "low", "high"), [("none", 0, 1), ("root", 0, 1), ("d_k", 6, 7)])
def test_with_adam_division_by_the_dimension_learns(train, name, low, high):
    assert low <= sum(learned(train, name, seed, **ADAM) for seed in range(1, 8)) <= high


@pytest.mark.nightly
def test_division_by_the_dimension_learns_by_plain_descent_in_five_times_as_many_steps(train):
    assert 5 <= sum(learned(train, "d_k", seed, 1500) for seed in range(1, 8)) <= 7


@pytest.mark.nightly
def test_with_adam_the_root_saturates_the_head_on_a_wrong_position(train):
    right, largest = at_the_end(train, "root", 1, **ADAM)
    assert right < 0.5
    assert largest > 0.95


@pytest.mark.nightly
def test_without_division_more_steps_do_not_help(train):
    assert sum(learned(train, "none", seed, 1500) for seed in range(1, 8)) <= 2


@pytest.mark.nightly
def test_division_by_the_dimension_learns_if_queries_and_keys_learn_faster(train):
    assert sum(learned(train, "d_k", seed, factor=50) for seed in range(1, 8)) >= 6


@pytest.mark.nightly
def test_a_learning_rate_20_times_as_large_for_all_parameters_diverges(train):
    how = {"learning_rate": 2.0}
    rights = [at_the_end(train, "d_k", seed, **how)[0] for seed in range(1, 8)]
    assert all(math.isnan(right) for right in rights)


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("d_k", "divisor", "factor", "starts", "low", "high"),
    [
        (16, 4, 1, 7, 4, 7), (64, 8, 1, 7, 5, 7), (2048, 2048**0.5, 1, 7, 4, 7),
        (16, 16, 50, 7, 3, 7), (64, 64, 50, 7, 5, 7), (2048, 2048, 50, 7, 0, 1),
        (16, 16, 400, 3, 0, 1), (64, 64, 400, 3, 0, 2), (2048, 2048, 400, 3, 2, 3),
    ],
)  # fmt: skip
def test_with_the_root_one_rate_fits_every_dimension(
    train, d_k, divisor, factor, starts, low, high
):
    count = 0
    for seed in range(1, starts + 1):
        _, right = train(divisor, 300, seed=seed, d_k=d_k, factor=factor)
        count += sum(right[-20:]) / 20 > 0.9
    assert low <= count <= high


def ends_well(train, divisor: float, seeds: int, **how) -> int:
    """How many starts give the right adjective more than 0.9 in the last 20 of 300 steps."""
    ends = [train(divisor, 300, seed=seed, **ADAM, **how)[1][-20:] for seed in range(1, seeds + 1)]
    return sum(sum(right) / 20 > 0.9 for right in ends)


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("name", "factor", "low", "high"),
    [("root", 0.003, 6, 7), ("root", 0.03, 6, 7), ("root", 0.3, 2, 7), ("root", 1, 0, 2),
     ("d_k", 0.003, 0, 2), ("d_k", 0.03, 6, 7), ("d_k", 0.3, 6, 7), ("d_k", 1, 6, 7)],
)  # fmt: skip
def test_with_adam_both_divisors_learn_at_rates_that_suit_them(train, name, factor, low, high):
    assert low <= ends_well(train, DIVISORS[name], 7, factor=factor) <= high


@pytest.mark.nightly
@pytest.mark.parametrize("factor", [0.0003, 0.003, 0.01, 0.03, 0.3])
def test_with_adam_no_rate_makes_more_than_a_lucky_start_learn_without_division(train, factor):
    assert ends_well(train, DIVISORS["none"], 3, factor=factor) <= 1


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("d_k", "divisor", "low", "high"),
    [(16, 4, 3, 7), (64, 8, 0, 4), (2048, 2048**0.5, 0, 1), (16, 16, 4, 7), (64, 64, 6, 7),
     (2048, 2048, 4, 7)],
)  # fmt: skip
def test_with_adam_one_rate_fits_every_dimension_with_the_divisor_d_k(
    train, d_k, divisor, low, high
):
    assert low <= ends_well(train, divisor, 7, d_k=d_k) <= high
