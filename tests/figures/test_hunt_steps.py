"""The schematics of chapter 17's hunt list every fault, and outline what is not correct."""

import numpy as np
import pytest

from figures.diagrams.fault_map import MEANS, suspect_map
from figures.diagrams.hunt_steps import TITLES, hunt_step, law_grid, outlined
from figures.widgets.bug_hunt import RIGHT, SHOWN
from lib.debugging.broken_models import SUSPECTS

SPLIT, MERGE, COLUMNS = "M37", "M38", "M11"
NAMES = {kind.key: kind.name for kind in SUSPECTS}
REMAINING = [list(NAMES.values()), ["a", "b", "c"], ["a", "b"], ["a"]]


def test_the_map_has_each_of_the_twenty_faults_once():
    left = [NAMES[SPLIT], NAMES[MERGE]]
    figure = suspect_map(NAMES, left)
    assert set(MEANS) == set(NAMES)
    for key, name in NAMES.items():
        assert figure.svg.count(f">{name}<") == 1
        assert f"{name} ({MEANS[key]})" in figure.alt
    assert figure.alt.endswith(f"Left: {', '.join(left)}.")
    assert figure.svg.count(">\N{MULTIPLICATION SIGN}<") == 18


def test_a_map_without_a_name_for_every_fault_is_refused():
    with pytest.raises(ValueError, match="keys of STEPS"):
        suspect_map({"M01": "no scaling"}, [])


def test_a_step_shows_the_numbers_of_the_models_and_what_is_left():
    gone = {"merge": SHOWN[MERGE]["heads"], "softmax": SHOWN[COLUMNS]["heads"]}
    figure = hunt_step("heads", RIGHT, SHOWN[SPLIT], REMAINING, gone)
    for number in ("33", "19.5", "38.4", "4.36", "20", "3", "2"):
        assert f">{number}<" in figure.svg
    assert "ruled out: merge: 4, 2, 0, 6 | 0, 60, 4.36, 4.91 | 36, 48, 45, 15" in figure.alt
    assert "ruled out: softmax: 0, 15, 0, 1.2 | 45, 15, 3, 1.2 | 75, 90, 9, 9.6" in figure.alt
    assert "Of 2 faults, 1 left: a" in figure.alt


def test_the_first_step_names_what_is_left_and_counts_the_others():
    figure = hunt_step("future", RIGHT, SHOWN[SPLIT], REMAINING)
    assert ">the other 17<" in figure.svg
    assert ">no scaling<" not in figure.svg
    assert "Crossed out: no scaling" in figure.alt
    assert "tokens 1, 2 and 3 move here" in figure.caption


@pytest.mark.parametrize(("key", "remaining"), [("exact", REMAINING), ("swap", REMAINING[:3])])
def test_an_unknown_step_and_a_list_too_few_are_refused(key, remaining):
    assert list(TITLES) == ["future", "swap", "heads"]
    with pytest.raises(ValueError, match="must be one of"):
        hunt_step(key, RIGHT, SHOWN[SPLIT], remaining)


def test_only_what_a_right_model_does_not_show_is_outlined():
    moved, right = np.array([[0.0, 0.3, 1.4]]), np.array([[0.0, 0, 0.7]])
    assert outlined(moved, right, True).tolist() == [[False, True, False]]
    assert outlined(SHOWN[COLUMNS]["exact"], RIGHT["exact"], False).sum() == 5
    assert not outlined(SHOWN[SPLIT]["exact"], RIGHT["exact"], False).any()
    assert outlined(moved, right, False).tolist() == [[False, True, True]]


def test_a_grid_says_which_law_each_fault_breaks():
    figure = law_grid(["call twice", "values of 1"], {"a": [True, False], "b": [False, False]})
    assert "a breaks call twice; b breaks none." in figure.alt
    assert (figure.svg.count(">breaks<"), figure.svg.count(">obeys<")) == (1, 3)


@pytest.mark.parametrize("values", [[True], [True, False, True]])
def test_a_fault_without_a_value_for_every_law_is_refused(values):
    with pytest.raises(ValueError, match="a value for each"):
        law_grid(["call twice", "values of 1"], {"a": values})
