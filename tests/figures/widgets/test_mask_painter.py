"""The figure of chapter 08 weighs as lib does, and its alarm rings for the future alone."""

import numpy as np
import pytest
from playwright.sync_api import Page

from figures.widgets.mask_painter import TOKENS, MaskPainter
from lib.attention import masks
from tests.figures.widgets.node import call

PRESETS = {
    "causal": masks.causal(6),
    "padding": masks.padding(np.array([4]), 6)[0].repeat(6, axis=0),
    "causal and padding": (masks.causal(6) & masks.padding(np.array([4]), 6))[0],
    "window": masks.sliding_window(6, 2),
    "prefix": masks.prefix(6, 3),
    "everything": np.ones((6, 6), dtype=bool),
}


def painted(*changes: tuple[int, int], start: str = "causal", way: str = "infinity") -> MaskPainter:
    mask = PRESETS[start].copy()
    for cell in changes:
        mask[cell] = ~mask[cell]
    return MaskPainter(mask=mask.tolist(), way=way)


@pytest.mark.parametrize("name", PRESETS)
def test_its_presets_are_libs_masks(name):
    np.testing.assert_array_equal(call("mask_painter.js", "preset", name, 6), PRESETS[name])


@pytest.mark.parametrize("way", ["infinity", "billion", "scores", "weights"])
@pytest.mark.parametrize("start", ["causal", "window", "prefix"])
def test_its_weights_are_libs(way, start):
    widget = painted((0, 0), (3, 5), start=start, way=way)
    shown = call("mask_painter.js", "weigh", widget.state)
    np.testing.assert_allclose(shown, widget.weights(), atol=1e-9)


def test_an_empty_row_is_zero_or_even_as_the_way_says():
    assert painted((0, 0)).weights()[0].tolist() == [0] * 6
    np.testing.assert_allclose(painted((0, 0), way="billion").weights()[0], 1 / 6)


def test_the_alarm_is_silent_for_causal_masks_and_names_each_leak():
    for start in ("causal", "causal and padding", "window"):
        assert call("mask_painter.js", "inspect", painted(start=start).state)["leaks"] == []
    report = call("mask_painter.js", "inspect", painted((1, 3)).state)
    assert report["leaks"] == [[1, 3]]
    # Row 3 has read key 2 when row 1 reads row 3; row 2 reads row 1, which has read key 3.
    assert report["later"] == [[1, 2], [2, 3]]
    assert report["empty"] == []


def test_a_second_layer_hears_what_two_steps_through_the_mask_reach():
    widget = painted((1, 5), (3, 4))
    once = np.array(widget.mask) | np.eye(6, dtype=bool)
    twice = np.linalg.matrix_power(once.astype(int), 2) > 0
    expected = np.argwhere(np.triu(twice & ~np.array(widget.mask), 1)).tolist()
    assert call("mask_painter.js", "inspect", widget.state)["later"] == expected


def test_zeroed_scores_leak_past_the_mask():
    report = call("mask_painter.js", "inspect", painted(way="scores").state)
    assert len(report["spills"]) == 15
    assert report["leaks"] == []


def shown(page: Page) -> np.ndarray:
    cells = page.locator("table:has(caption:has-text('weights')) td:not(:empty)").all_inner_texts()
    return np.array([float(cell) for cell in cells]).reshape(6, 7)


def said(page: Page, name: str) -> str:
    return page.locator(f"[data-name={name}]").inner_text()


def test_a_click_paints_a_leak_and_the_alarm_names_it(widget_page):
    page = widget_page(MaskPainter())
    assert said(page, "alarm") == "none. No query sees the future."
    page.get_by_role("button", name="mask", exact=False).and_(
        page.locator("[aria-label$=': blue, sees: –']")
    ).click()
    np.testing.assert_allclose(shown(page)[:, :6], painted((1, 3)).weights(), atol=0.005)
    assert said(page, "alarm") == "LEAK. “blue” may attend to “sees”."
    assert said(page, "later") == "“blue” also contains “owl”; “owl” also contains “sees”."


def test_the_arrow_keys_move_and_the_space_bar_paints(widget_page):
    page = widget_page(MaskPainter())
    page.locator("[aria-label$=': the, the: may']").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    np.testing.assert_allclose(shown(page)[:, :6], painted().weights(), atol=0.005)
    page.keyboard.press("Space")
    np.testing.assert_allclose(shown(page)[:, :6], painted((1, 1)).weights(), atol=0.005)
    assert page.locator(":focus").get_attribute("aria-pressed") == "false"


def test_the_buttons_and_the_ways_give_libs_weights(widget_page):
    page = widget_page(MaskPainter())
    buttons = {"window": "window of 2", "prefix": "prefix of 3"}
    for name in PRESETS:
        page.get_by_role("button", name=buttons.get(name, name), exact=True).click()
        np.testing.assert_allclose(shown(page)[:, :6], painted(start=name).weights(), atol=0.005)
    page.get_by_role("button", name="window of 2", exact=True).click()
    page.locator("[aria-label$=': the, the: may']").click()
    assert said(page, "empty").startswith("“the”: −∞ alone would give NaN")
    for label, way in (("score minus a billion", "billion"), ("scores set to 0", "scores"),
                       ("weights set to 0", "weights")):  # fmt: skip
        page.get_by_label(label).check()
        widget = painted((0, 0), start="window", way=way)
        np.testing.assert_allclose(shown(page)[:, :6], widget.weights(), atol=0.005)
        np.testing.assert_allclose(shown(page)[:, 6], widget.weights().sum(-1), atol=0.005)


def test_the_tokens_are_all_different():
    assert len(set(TOKENS)) == len(TOKENS)
