"""The figure of chapter 02 shows what lib computes, from every side, wherever Mom is."""

import numpy as np
import pytest
from playwright.sync_api import Page

from figures.widgets.word_space import WordSpace
from tests.figures.widgets.node import call

PLACES = [[0.2, 0.7, 0.9], [0.1, 0.35, 0.45], [0.2, 0.7, 0.1], [1.0, 0.0, 0.3]]


@pytest.mark.parametrize("mom", PLACES)
def test_its_numbers_are_libs(mom):
    widget = WordSpace(mom=mom)
    shown, expected = call("word_space.js", "compare", widget.state), widget.look()
    for name in ("target", "gap", "table"):
        np.testing.assert_allclose(shown[name], expected[name], atol=1e-12)
    assert shown["best"][0] == expected["best"][0]
    assert shown["best"][1] == pytest.approx(expected["best"][1])


@pytest.mark.parametrize(("turn", "tilt"), [(0, 0), (30, 20), (115, 65), (360, 90)])
def test_its_view_is_the_still_figures(turn, tilt):
    widget = WordSpace(turn=turn, tilt=tilt)
    shown = call("word_space.js", "screen", turn, tilt)
    np.testing.assert_allclose([shown["right"], shown["up"]], widget.screen(), atol=1e-12)
    np.testing.assert_allclose(widget.screen() @ widget.screen().T, np.eye(2), atol=1e-12)


def test_parallel_steps_stay_parallel_from_every_side():
    for turn, tilt in [(0, 0), (30, 20), (200, 75)]:
        at = {
            word: np.array(
                call("word_space.js", "project", list(vector), {"turn": turn, "tilt": tilt})
            )
            for word, vector in WordSpace().words().items()
        }
        np.testing.assert_allclose(at["queen"] - at["king"], at["mom"] - at["dad"], atol=1e-9)


def test_a_drag_stays_in_the_plane_of_the_screen_and_in_the_box():
    view = {"turn": 0, "tilt": 0}  # right is the second axis, up the third
    moved = call("word_space.js", "dragged", [0.2, 0.5, 0.5], 19, -38, view)
    assert moved == [0.2, 0.6, 0.7]
    assert call("word_space.js", "dragged", [0.2, 0.5, 0.5], 999, 999, view) == [0.2, 1, 0]


def cells(page: Page) -> np.ndarray:
    texts = page.locator("table.kit-grid td[data-cell]").all_inner_texts()
    return np.array([float(text.replace("−", "-")) for text in texts]).reshape(3, 3)


def said(page: Page, name: str) -> str:
    return page.locator(f"[data-name={name}]").inner_text()


def assert_shows(page: Page, mom: list[float]) -> None:
    expected = WordSpace(mom=mom).look()
    np.testing.assert_allclose(cells(page), expected["table"], atol=6e-3)
    assert float(said(page, "gap")) == pytest.approx(expected["gap"], abs=6e-3)
    word, value = expected["best"]
    assert said(page, "best") == f"{word.title()}, {value:.2f}"


def test_the_first_view_tells_the_story(widget_page):
    page = widget_page(WordSpace())
    assert_shows(page, [0.2, 0.7, 0.9])
    assert said(page, "target") == "(0.20, 0.70, 0.90)"
    assert said(page, "gap") == "0.00"


def test_the_keys_move_mom_and_the_button_brings_her_back(widget_page):
    page = widget_page(WordSpace())
    page.get_by_label("Mom: parent").press("Home")
    assert_shows(page, [0.2, 0.7, 0.0])
    page.get_by_label("Mom: masculine").press("End")
    assert_shows(page, [1.0, 0.7, 0.0])
    page.get_by_label("Mom: masculine").press("ArrowLeft")
    assert_shows(page, [0.95, 0.7, 0.0])
    page.get_by_role("button", name="Start again").press("Enter")
    assert_shows(page, [0.2, 0.7, 0.9])


def test_half_of_mom_has_the_same_cosines(widget_page):
    page = widget_page(WordSpace(), theme="dark")
    before = cells(page)
    page.get_by_role("button", name="Halve Mom").click()
    assert_shows(page, [0.1, 0.35, 0.45])
    np.testing.assert_array_equal(cells(page)[:, 0], before[:, 0])
    assert (cells(page)[:, 1] < before[:, 1]).all()


def test_a_vector_of_zeros_has_no_cosine(widget_page):
    page = widget_page(WordSpace())
    for name in ("masculine", "warm", "parent"):
        page.get_by_label(f"Mom: {name}").press("Home")
    column = [page.locator(f"td[data-cell='{i},0']").inner_text() for i in range(3)]
    assert column == ["none"] * 3


def tip(page: Page) -> np.ndarray:
    box = page.locator("[data-name=tip]").bounding_box()
    return np.array([box["x"] + box["width"] / 2, box["y"] + box["height"] / 2])


def drag(page: Page, start: np.ndarray, by: tuple[float, float]) -> None:
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(*(start + np.array(by) / 2))
    page.mouse.move(*(start + np.array(by)))
    page.mouse.up()


def test_the_pointer_drags_mom_in_the_plane_of_the_screen(widget_page):
    page = widget_page(WordSpace(turn=0, tilt=0), width=390)
    drag(page, tip(page), (-20, 40))
    mom = [
        float(page.get_by_label(f"Mom: {name}").evaluate("e => e.nextElementSibling.textContent"))
        for name in ("masculine", "warm", "parent")
    ]
    assert mom[0] == 0.2
    assert mom[1] < 0.7
    assert mom[2] < 0.9
    assert float(said(page, "gap")) > 0.1
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_the_space_turns_by_pointer_and_by_keys_and_no_number_changes(widget_page):
    page = widget_page(WordSpace())
    before, at = cells(page), tip(page)
    page.get_by_label("turn").press("End")
    page.get_by_label("turn").press("PageDown")
    assert np.abs(tip(page) - at).max() > 1
    at = tip(page)
    box = page.locator("svg.kit-plane").bounding_box()
    drag(page, np.array([box["x"] + 15, box["y"] + box["height"] - 15]), (60, -30))
    assert np.abs(tip(page) - at).max() > 1
    np.testing.assert_array_equal(cells(page), before)
