"""The figure of chapter 14 keeps, in fractions, what lib's tiles keep, and ends at attention."""

from fractions import Fraction

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from figures.widgets.tile_walk import TileWalk
from lib.attention.masks import causal as causal_mask
from lib.functional import softmax
from tests.figures.widgets.node import call

SIZES = [(1, 1), (2, 3), (3, 2), (6, 1)]


def expected_output(widget: TileWalk) -> np.ndarray:
    """The row of the chosen query from the whole table, by lib's softmax."""
    mask = causal_mask(6) if widget.causal else None
    weights = softmax(np.log(np.array(widget.scores)), where=mask)
    return (weights @ np.array(widget.values, dtype=float))[widget.query - 1]


def fraction(pair: list[int]) -> Fraction:
    return Fraction(*pair)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("sizes", SIZES)
def test_the_tiles_cover_what_may_be_seen_once_and_in_order(sizes, causal):
    rows, columns = sizes
    widget = TileWalk(rows=rows, columns=columns, causal=causal)
    ours = [[a[0], a[-1], b[0], b[-1]] for a, b in widget.visits()]
    assert call("tile_walk.js", "visits", widget.state) == ours
    covered = np.zeros((6, 6), dtype=int)
    for queries, keys in widget.visits():
        covered[np.ix_(list(queries), list(keys))] += 1
    assert covered.max() == 1
    assert covered[causal_mask(6)].all() if causal else covered.all()
    if causal and rows == columns == 1:
        assert covered.sum() == 21


@pytest.mark.parametrize("forgets", [False, True])
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("sizes", SIZES)
def test_every_step_keeps_the_same_fractions_as_python(sizes, causal, forgets):
    rows, columns = sizes
    widget = TileWalk(rows=rows, columns=columns, causal=causal, forgets=forgets)
    walked = call("tile_walk.js", "walk", widget.state)
    assert len(walked) == len(widget.visits()) + 1
    for step, shown in enumerate(walked):
        maximum, total, mixture = widget.kept(step)
        assert shown["maximum"] == maximum
        assert fraction(shown["total"]) == total
        assert [fraction(entry) for entry in shown["mixture"]] == mixture


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("sizes", SIZES)
def test_the_last_tile_leaves_attention(sizes, causal):
    rows, columns = sizes
    for query in range(1, 7):
        widget = TileWalk(rows=rows, columns=columns, causal=causal, query=query)
        _, total, mixture = widget.kept(len(widget.visits()))
        output = np.array([float(entry / total) for entry in mixture])
        np.testing.assert_allclose(output, expected_output(widget), rtol=1e-14)
    report = call("tile_walk.js", "report", {**widget.state, "step": 99})
    assert report["output"].endswith("as from the whole table")
    assert not report["wrong"]


def test_the_first_two_tiles_of_query_4_are_those_of_the_page():
    report = call("tile_walk.js", "report", TileWalk().state)
    assert report["tile"] == "queries 3 to 4, keys 3 to 4"
    assert report["values"] == "(6, 0), (12, 6)"
    assert report["kept"] == "maximum ln 6, total 2, mixture (12, 8)"
    assert report["old"] == "times 1/2"
    assert report["output"] == "(6, 4) so far"
    assert report["memory"] == "4 scores and 8 numbers of 2 rows, where the table has 36 scores"
    assert "maximum ln 6, total 2, mixture (12, 8)" in TileWalk().still().caption


def test_who_forgets_to_rescale_is_told():
    report = call("tile_walk.js", "report", {**TileWalk(forgets=True).state, "step": 6})
    assert report["wrong"]
    assert "the whole table gives (30/7, 6)" in report["output"]
    one_tile = {**TileWalk(forgets=True, columns=6).state, "step": 3}
    assert not call("tile_walk.js", "report", one_tile)["wrong"], "one tile: nothing to rescale"


def shown(page: Page, name: str):
    return page.locator(f"[data-name={name}]")


def test_the_slider_walks_by_keyboard_and_a_cell_is_forgotten(widget_page):
    page = widget_page(TileWalk())
    expect(page.locator("[data-cell='3,2']")).to_have_text("ln 6")
    expect(page.locator("[data-cell='3,0']")).to_have_text("·")
    expect(page.locator("[data-cell='3,4']")).to_have_text("")
    page.get_by_label("tile", exact=True).press("ArrowRight")
    expect(shown(page, "kept")).to_have_text("maximum ln 12, total 7/3, mixture (10, 14)")
    expect(page.locator("[data-cell='3,2']")).to_have_text("·")
    page.get_by_label("tile", exact=True).press("Home")
    expect(shown(page, "kept")).to_have_text("nothing yet")


def test_a_change_of_the_tiles_changes_how_many_there_are(widget_page):
    page = widget_page(TileWalk())
    page.get_by_role("group", name="keys in a tile").get_by_label("1").click()
    expect(page.get_by_label("tile", exact=True)).to_have_attribute("max", "18")
    page.get_by_role("group", name="queries in a tile").get_by_label("6").press("Space")
    expect(page.get_by_label("tile", exact=True)).to_have_attribute("max", "6")
    page.get_by_label("causal", exact=True).click()
    expect(page.locator("td.masked")).to_have_count(15)


def test_the_alarm_shows_at_the_end_of_the_row(widget_page):
    page = widget_page(TileWalk())
    page.get_by_label("forget to rescale (wrong)").click()
    expect(page.locator(".kit-alarm")).to_have_count(0)
    page.get_by_label("tile", exact=True).press("End")
    expect(page.locator(".kit-alarm")).to_have_count(1)
    expect(shown(page, "output")).to_contain_text("the whole table gives (30/7, 6)")


def test_play_runs_to_the_last_tile_and_a_step_by_hand_ends_it(widget_page):
    page = widget_page(TileWalk(columns=6))
    page.get_by_role("button", name="Play the tiles").click()
    expect(page.get_by_label("tile", exact=True)).to_have_value("3", timeout=9000)
    page.get_by_role("button", name="Play the tiles").click()
    page.get_by_label("tile", exact=True).press("End")
    page.get_by_label("tile", exact=True).press("ArrowLeft")
    page.wait_for_timeout(1500)
    expect(page.get_by_label("tile", exact=True)).to_have_value("2")


def test_it_fits_a_telephone(widget_page):
    page = widget_page(TileWalk(), width=360)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
