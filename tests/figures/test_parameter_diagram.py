"""The schematic of chapter 15 draws a block's matrices to scale."""

from figures.diagrams.parameters import MATRICES, budget_curves, parameter_areas
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

    figure = budget_curves(loss, 1.0, {"a": 6 * 4e8**2, "b": 6 * 3e10**2}, {"Gopher": (1e8, 1e8)})
    assert "a near 400 million; b near 30 billion parameters" in figure.alt
    assert figure.svg.count(">Gopher<") == 1
