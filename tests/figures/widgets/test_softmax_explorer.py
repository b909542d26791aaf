"""The figure of chapter 06 shows what lib computes, however its controls are moved."""

import numpy as np
import pytest
from playwright.sync_api import Page

from figures.widgets.softmax_explorer import KEYS, SoftmaxExplorer
from lib import functional
from tests.figures.widgets.node import call

STATES = [
    {},
    {"scores": [2.0, 2.0, 0.0, -1.0], "temperature": 0.1},
    {"scores": [-3.5, 0.2, 4.9, 1.1], "temperature": 7.0, "shift": -25.0},
    {"scores": [5.0, -5.0, 5.0, 0.3], "temperature": 0.3, "shift": 25.0},
]


def weights_of(widget: SoftmaxExplorer) -> np.ndarray:
    moved = np.array(widget.scores) + widget.shift
    return functional.softmax(moved, temperature=widget.temperature)


@pytest.mark.parametrize("state", STATES)
def test_its_numbers_are_libs(state):
    widget = SoftmaxExplorer(**state)
    shown, weights = call("softmax_explorer.js", "explore", widget.state), weights_of(widget)
    slopes = functional.softmax_jacobian(weights)
    np.testing.assert_allclose(shown["weights"], weights, atol=1e-12)
    np.testing.assert_allclose(shown["slopes"], slopes, atol=1e-12)
    np.testing.assert_allclose(shown["entropy"], functional.entropy(weights), atol=1e-12)
    np.testing.assert_allclose(shown["effective"], np.exp(functional.entropy(weights)), atol=1e-12)
    np.testing.assert_allclose(shown["steepest"], np.abs(slopes).max(), atol=1e-12)


@pytest.mark.parametrize(
    "scores", [[2, 1, 0, -1], [12, 3, 0, 0], [11, 11, 3, 2], [-18, -19, -20, -21], [11, 9, 3, 0]]
)
def test_it_foretells_what_half_precision_does(scores):
    message = call("softmax_explorer.js", "naiveInHalf", scores)
    with np.errstate(over="ignore", invalid="ignore"):
        e = np.exp(np.array(scores, np.float16))
        naive = e / e.sum()
    if np.isnan(naive).any():
        assert message.endswith("nan")
    elif naive.sum() == 0:
        assert message == "the sum overflows: all weights 0"
    else:
        assert message == "fits"


def shown_by(page: Page) -> tuple[np.ndarray, np.ndarray, dict[str, str]]:
    def number(text: str) -> float:
        return float(text.replace("\N{MINUS SIGN}", "-"))

    weights = [page.locator(f"[data-name='weights {key}']").inner_text() for key in KEYS]
    cells = page.locator("td[data-cell]").all_inner_texts()
    names = ("entropy", "effective", "steepest", "half")
    readouts = {name: page.locator(f"[data-name={name}]").inner_text() for name in names}
    return (
        np.array([*map(number, weights)]),
        np.array([*map(number, cells)]).reshape(4, 4),
        readouts,
    )


def assert_shows(page: Page, **state: object) -> None:
    weights, slopes, readouts = shown_by(page)
    expected = weights_of(SoftmaxExplorer(**state))
    np.testing.assert_allclose(weights, expected, atol=6e-4)
    np.testing.assert_allclose(slopes, functional.softmax_jacobian(expected), atol=6e-3)
    assert float(readouts["entropy"]) == pytest.approx(
        float(functional.entropy(expected)), abs=6e-3
    )


def test_the_keyboard_moves_a_score_and_the_temperature(widget_page):
    page = widget_page(SoftmaxExplorer())
    assert_shows(page)
    page.get_by_label("score of B").press("Home")
    assert_shows(page, scores=[2.0, -5.0, 0.0, -1.0])
    page.get_by_label("temperature T").press("End")
    assert_shows(page, scores=[2.0, -5.0, 0.0, -1.0], temperature=10.0)
    page.get_by_label("temperature T").press("ArrowLeft")
    assert_shows(page, scores=[2.0, -5.0, 0.0, -1.0], temperature=10**0.95)


def test_the_pointer_moves_a_score(widget_page):
    page = widget_page(SoftmaxExplorer(), width=390)
    box = page.get_by_label("score of D").bounding_box()
    page.mouse.click(box["x"] + box["width"] - 2, box["y"] + box["height"] / 2)
    assert_shows(page, scores=[2.0, 1.0, 0.0, 5.0])
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_what_is_added_to_every_score_changes_no_weight_but_overflows(widget_page):
    page = widget_page(SoftmaxExplorer())
    before, _, readouts = shown_by(page)
    assert readouts["half"] == "fits"
    page.get_by_label("added to every score").press("End")
    after, _, readouts = shown_by(page)
    np.testing.assert_array_equal(before, after)
    assert readouts["half"] == "an exponential overflows: nan"
    page.get_by_role("button", name="Start again").click()
    assert shown_by(page)[2]["half"] == "fits"


@pytest.mark.parametrize(
    ("name", "percent"),
    [("25, 1, 68, 5 %", [25, 1, 68, 5]), ("uniform", [25] * 4), ("saturated", [100, 0, 0, 0])],
)
def test_a_button_shows_a_row_worth_seeing(widget_page, name, percent):
    page = widget_page(SoftmaxExplorer(), width=360)
    page.get_by_role("button", name=name, exact=True).click()
    weights, slopes, readouts = shown_by(page)
    assert np.round(100 * weights).tolist() == percent
    np.testing.assert_allclose(slopes, functional.softmax_jacobian(weights), atol=6e-3)
    assert float(readouts["steepest"]) <= 0.25
    page.get_by_role("button", name="Start again").click()
    assert_shows(page)


def test_two_even_keys_reach_the_steepest_slope(widget_page):
    page = widget_page(SoftmaxExplorer(scores=[2.0, 2.0, 0.0, -1.0]), theme="dark")
    page.get_by_label("temperature T").press("Home")
    weights, slopes, readouts = shown_by(page)
    assert weights.tolist() == [0.5, 0.5, 0.0, 0.0]
    assert readouts["steepest"] == "0.250"
    assert slopes[0, 1] == -0.25
