"""The schematic of chapter 15 draws a block's matrices to scale."""

from figures.diagrams.parameters import (
    MATRICES,
    budget_curves,
    memory_squares,
    parameter_areas,
    parameters_and_tokens,
)
from lib.models.parameter_count import PRESETS, by_group


def test_the_areas_are_the_shares_of_the_ledger():
    area = {name: width * height for name, _, _, _, width, height in MATRICES}
    attention = sum(area[name] for name in area if name.startswith("W_"))
    groups = by_group(PRESETS["GPT-3, matrices only"])
    assert (area["up"] + area["down"]) / attention == groups["feed-forward"] / groups["attention"]
    assert "4d²" in parameter_areas().svg


def test_the_lowest_points_of_the_budgets_are_said():
    def loss(size, tokens):  # lowest where the two terms are equal: size = tokens
        return 1 + 1e3 / size**0.5 + 1e3 / tokens**0.5

    budgets = {"a": 6 * 4e8**2, "b": 6 * 3e10**2}
    figure = budget_curves(
        loss, 1.0, budgets, {"Gopher": (1e8, 1e8)}, uniform=9.0, fitted=(1e8, 1e10)
    )
    assert "a near 400 million; b near 30 billion parameters" in figure.alt
    assert figure.svg.count(">Gopher<") == 1
    assert "uniform guess: 9.0" in figure.svg


def test_a_budget_crosses_the_rule_where_it_is_said():
    budgets = {"a": 120 * 4e6**2, "b": 120 * 3e9**2}
    figure = parameters_and_tokens(budgets, {"Gopher": (2e11, 3e11)}, 20)
    assert "a near 4 million; b near 3 billion parameters" in figure.alt
    assert "Gopher with 1.5 tokens for each parameter" in figure.alt
    for words in ("Gopher", "20 tokens for each parameter", "1 trillion"):
        assert f">{words}<" in figure.svg


def test_memory_is_drawn_and_said_in_gigabytes():
    sizes = {"GPT-2, run": 0.25, "GPT-2, train": 2, "GPT-3, run": 349, "GPT-3, train": 2794}
    figure = memory_squares(sizes, 16)
    for words in ("GPT-2, run 0.25", "GPT-2, train 2;", "GPT-3, train 2,794", "a laptop 16."):
        assert words in figure.alt
    assert "a laptop: 16 GB" in figure.svg
