"""The schematic of chapter 15 draws a block's matrices to scale."""

import re

import numpy as np

from figures.diagrams.parameters import (
    MATRICES,
    budget_curves,
    memory_squares,
    parameter_areas,
    parameter_shares,
    parameters_and_tokens,
)
from lib.models.parameter_count import PRESETS, by_group


def test_the_areas_are_the_shares_of_the_ledger():
    area = {name: width * height for name, _, _, _, width, height in MATRICES}
    attention = sum(area[name] for name in area if name.startswith("W_"))
    groups = by_group(PRESETS["GPT-3, matrices only"])
    assert (area["up"] + area["down"]) / attention == groups["feed-forward"] / groups["attention"]
    assert "4d²" in parameter_areas().svg


def test_the_shares_are_drawn_and_said_of_the_whole():
    groups = {"embeddings": 1_000_000, "attention": 2_000_000, "feed-forward": 5_000_000}
    figure = parameter_shares({"a": groups, "b": by_group(PRESETS["GPT-3"])})
    assert "a: embeddings 12.5%, attention 25.0%, feed-forward 62.5%; b: embed" in figure.alt
    assert "b: embeddings 0.4%, attention 33.2%, feed-forward 66.4%." in figure.alt
    for words in ("attention", "25%", "66%", "8 million", "175 billion"):
        assert f">{words}<" in figure.svg
    assert ">0%<" not in figure.svg  # too narrow for a number
    sides = re.findall(r'd="M ([\d.]+) 28 L ([\d.]+) 28', figure.svg)  # of the first bar's pieces
    widths = [float(right) - float(left) for left, right in sides]
    assert np.allclose(np.divide(widths, widths[0]), [1, 2, 5], rtol=0.01)


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
