"""The schematic of chapter 17's hunt outlines what no right model shows."""

import numpy as np

from figures.diagrams.hunt_steps import hunt_steps, never
from figures.widgets.bug_hunt import RIGHT, SHOWN

SPLIT, MERGE, COLUMNS = "M37", "M38", "M11"


def test_the_four_experiments_show_the_numbers_of_both_models():
    ruled_out = {"heads": SHOWN[MERGE]["heads"], "exact": SHOWN[COLUMNS]["exact"]}
    figure = hunt_steps(RIGHT, SHOWN[SPLIT], ruled_out)
    for number in ("0.004", "19.5", "38.4", "4.36", "9.6"):
        assert f">{number}<" in figure.svg
    assert "3, 4.5, 16.5, 19.5, 26.4, 33, 38.4 occur nowhere" in figure.alt


def test_only_what_a_right_model_never_shows_is_outlined():
    future = np.array([[0.0, 2], [0.3, 0], [1.4, 0]])
    right = np.array([[0.0, 5], [0, 1], [0.7, 1]])
    assert never("future", future, right).tolist() == [[False, False], [True, False], [False] * 2]
    assert never("heads", np.array([[5.0, 2]]), right).tolist() == [[False, True]]
    assert never("exact", np.array([[0.0, 1]]), right[:1]).tolist() == [[False, True]]
    assert not never("heads", SHOWN[MERGE]["heads"], RIGHT["heads"]).any()
