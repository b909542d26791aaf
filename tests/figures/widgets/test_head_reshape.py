"""The figure of chapter 09 moves numbers as NumPy does, and shows which ones a wrong view loses."""

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from figures.widgets.head_reshape import HeadReshape
from lib.attention.heads import merge_heads, split_heads
from tests.figures.widgets.node import call

SIZES = [(3, 8, 2), (2, 6, 3), (4, 8, 4), (4, 4, 1), (3, 4, 4)]


def by_lib(widget: HeadReshape) -> list[np.ndarray]:
    """The table after each step, its elements numbered as they stand in memory at the start."""
    n, d_model, heads = widget.n, widget.d_model, widget.heads
    x = np.arange(float(n * d_model)).reshape(n, d_model)
    inside = x.reshape(heads, n, -1) if widget.view_splits else split_heads(x, heads)
    first = inside if widget.view_splits else x.reshape(n, heads, -1)
    merged = inside.reshape(n, d_model) if widget.view_merges else merge_heads(inside)
    back = merged if widget.view_merges else inside.swapaxes(0, 1)
    return [x, first, inside, back, merged]


@pytest.mark.parametrize("merges", [False, True])
@pytest.mark.parametrize("splits", [False, True])
@pytest.mark.parametrize("sizes", SIZES)
def test_every_step_is_numpys(sizes, splits, merges):
    n, d_model, heads = sizes
    widget = HeadReshape(n=n, d_model=d_model, heads=heads, view_splits=splits, view_merges=merges)
    shown = call("head_reshape.js", "steps", widget.state)
    for drawn, expected in zip(shown, by_lib(widget), strict=True):
        assert drawn["shape"] == list(expected.shape)
        assert drawn["ids"] == expected.ravel().tolist()


@pytest.mark.parametrize("sizes", SIZES)
def test_the_right_way_loses_nothing_and_the_wrong_one_is_counted(sizes):
    n, d_model, heads = sizes
    right = HeadReshape(n=n, d_model=d_model, heads=heads)
    wrong = HeadReshape(n=n, d_model=d_model, heads=heads, view_splits=True)
    lost = (by_lib(right)[2] != by_lib(wrong)[2]).sum()
    for step in range(5):
        state = {**right.state, "step": step}
        assert call("head_reshape.js", "report", state)["wrong"] == "none"
    count = call("head_reshape.js", "report", {**wrong.state, "step": 2})["wrong"]
    assert count == (f"{lost} of {n * d_model} numbers" if lost else "none")


def test_two_mistakes_hide_each_other_at_the_end():
    widget = HeadReshape(view_splits=True, view_merges=True, step=4)
    assert np.array_equal(by_lib(widget)[4], by_lib(widget)[0])
    count = call("head_reshape.js", "report", widget.state)["wrong"]
    assert count.startswith("none, and yet 16 were wrong inside the heads")


def test_heads_that_do_not_divide_the_width_are_refused():
    state = HeadReshape(heads=3).state
    assert call("head_reshape.js", "steps", state) is None
    assert "3 heads cannot share 8 features" in call("head_reshape.js", "report", state)["shape"]


def places(page: Page) -> list[int]:
    """The elements in the order of the places where they stand."""
    cells = page.locator("g[data-id]").evaluate_all(
        "all => all.map(one => [Number(one.dataset.place), Number(one.dataset.id)])"
    )
    return [element for _, element in sorted(cells)]


def test_the_slider_moves_the_elements_by_keyboard(widget_page):
    page = widget_page(HeadReshape())
    assert places(page) == by_lib(HeadReshape())[2].ravel().tolist()
    page.get_by_label("step").press("ArrowLeft")
    expect(page.locator("[data-name=shape]")).to_have_text("(3, 2, 4): reshape(3, 2, 4)")
    assert places(page) == list(range(24))
    page.get_by_label("step").press("End")
    assert places(page) == list(range(24))


def test_a_click_on_the_wrong_way_marks_what_it_misplaces(widget_page):
    page = widget_page(HeadReshape())
    expect(page.locator(".misplaced")).to_have_count(0)
    page.get_by_label("split by reshape alone (wrong)").click()
    expect(page.locator("[data-name=wrong]")).to_have_text("16 of 24 numbers")
    expect(page.locator(".misplaced")).to_have_count(16)
    assert places(page) == by_lib(HeadReshape(view_splits=True))[2].ravel().tolist()


def test_sizes_are_chosen_and_three_heads_are_refused(widget_page):
    page = widget_page(HeadReshape())
    page.get_by_role("group", name="heads h").get_by_label("3").click()
    expect(page.locator("[data-name=shape]")).to_have_text(
        "3 heads cannot share 8 features equally"
    )
    page.get_by_role("group", name="features d_model").get_by_label("6").press("Space")
    expect(page.locator("g[data-id]")).to_have_count(18)
    expected = HeadReshape(d_model=6, heads=3)
    assert places(page) == by_lib(expected)[2].ravel().tolist()


def test_who_wants_less_motion_gets_none(widget_page):
    page = widget_page(HeadReshape())
    lasts = "getComputedStyle(document.querySelector('.kit-move')).transitionDuration"
    assert page.evaluate(lasts) == "0.9s"
    page.emulate_media(reduced_motion="reduce")
    assert page.evaluate(lasts) == "0s"


def test_play_runs_to_the_last_step(widget_page):
    page = widget_page(HeadReshape())
    page.get_by_role("button", name="Play the steps").click()
    expect(page.get_by_label("step")).to_have_value("0")
    expect(page.get_by_label("step")).to_have_value("4", timeout=9000)


def test_a_step_by_hand_ends_the_playing(widget_page):
    page = widget_page(HeadReshape())
    page.get_by_role("button", name="Play the steps").click()
    page.get_by_label("step").press("End")
    page.get_by_label("step").press("ArrowLeft")
    page.wait_for_timeout(1800)
    expect(page.get_by_label("step")).to_have_value("3")
