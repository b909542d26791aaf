"""The figure of chapter 04 shows what lib computes, whatever is typed, tied or turned."""

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from figures.widgets.query_key_grid import QueryKeyGrid
from lib.attention.dot_product import scores
from lib.functional import softmax
from lib.seeds import generator
from tests.figures.widgets.node import call


def by_lib(widget: QueryKeyGrid) -> np.ndarray:
    """Scores with queries in rows, from lib."""
    x, w_q, w_k = (np.array(m, dtype=float) for m in (widget.x, widget.w_q, widget.w_k))
    return scores(x @ w_q, x @ (w_q if widget.tied else w_k), scale=1.0)


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_its_numbers_are_libs(tied, seed):
    rng = generator("query key grid", seed)
    matrices = {name: rng.normal(size=(2, 2)).tolist() for name in ("w_q", "w_k")}
    widget = QueryKeyGrid(tied=tied, **matrices)
    result = call("query_key_grid.js", "compute", widget.state)
    np.testing.assert_allclose(result["table"], by_lib(widget), atol=1e-12)
    np.testing.assert_allclose(result["weights"], softmax(by_lib(widget)), atol=1e-12)


@pytest.mark.parametrize("shows", ["scores", "weights"])
@pytest.mark.parametrize("side", ["rows", "columns"])
def test_both_layouts_and_both_contents_are_those_of_the_still_figure(shows, side):
    widget = QueryKeyGrid(shows=shows, layout_of_queries=side)
    live = call("query_key_grid.js", "shown", widget.state)
    np.testing.assert_allclose(live, widget.table(), atol=1e-12)


def test_one_matrix_for_both_makes_the_table_symmetric():
    assert call("query_key_grid.js", "lopsided", QueryKeyGrid().state) == 3
    for seed in range(3):
        w_q = generator("symmetric", seed).normal(size=(2, 2)).tolist()
        tied = QueryKeyGrid(tied=True, w_q=w_q)
        assert call("query_key_grid.js", "lopsided", tied.state) < 1e-12


def test_it_explains_a_score_and_the_same_pair_turned_round():
    text = call("query_key_grid.js", "explain", QueryKeyGrid(query=2, key=1).state)
    assert text == "creature asks, blue offers: (4, 0) · (1, 0) = 4; the other way round 1"


def test_it_says_what_a_query_takes_in():
    for query, values in (
        (2, [[1, 0], [0, 1], [0, 0], [0, 0]]),
        (3, [[3, 1], [0, 1], [2, 0], [0, 4]]),
    ):
        widget = QueryKeyGrid(query=query, values=values)
        mixed = softmax(by_lib(widget))[query] @ np.array(values)
        text = call("query_key_grid.js", "takesIn", widget.state)
        assert text == f"{widget.words[query]} takes in {mixed[0]:.2f} fluffy, {mixed[1]:.2f} blue"


def test_equal_keys_share_an_arrow_and_zeros_have_none():
    shown = call("query_key_grid.js", "arrowsOf", QueryKeyGrid().state)
    assert [(arrow["name"], arrow["at"]) for arrow in shown["arrows"]] == [
        ("query of creature", [4, 0]),
        ("keys of fluffy, blue", [1, 0]),
        ("key of creature", [0, 1]),
    ]
    assert shown["zeros"] == ["key of roamed"]
    silent = call("query_key_grid.js", "arrowsOf", QueryKeyGrid(query=3).state)
    assert silent["zeros"] == ["query of roamed", "key of roamed"]


@pytest.mark.parametrize(
    "state",
    [
        {},
        {"query": 0},
        {"tied": True},
        {"query": 3},
        {"w_q": [[0, 1], [-3, 2]], "w_k": [[1, 0], [2, -1]]},
        {"w_q": [[9, 9], [-9, -9]], "w_k": [[-9, 9], [9, -9]]},
    ],
)
def test_no_name_in_the_plane_covers_a_different_one_or_is_cut_off(state):
    arrows = call("query_key_grid.js", "arrowsOf", QueryKeyGrid(**state).state)["arrows"]
    plane = call("query_key_grid.js", "places", arrows)
    names = plane["names"]
    for i, box in enumerate(names):
        assert box["left"] >= 0
        assert box["right"] <= 320
        assert box["top"] >= 0
        assert box["bottom"] <= plane["height"]
        for other in names[:i]:
            apart = box["left"] >= other["right"] or other["left"] >= box["right"]
            assert apart or box["top"] >= other["bottom"] or other["top"] >= box["bottom"]


def numbers(page: Page) -> np.ndarray:
    """The table on the page."""
    cells = page.locator("table.kit-grid td button").all_inner_texts()
    return np.array([float(cell.replace("−", "-")) for cell in cells]).reshape(4, 4)


def test_a_number_typed_or_stepped_changes_the_table_as_lib_says(widget_page):
    page = widget_page(QueryKeyGrid())
    np.testing.assert_allclose(numbers(page), by_lib(QueryKeyGrid()))
    page.get_by_label("w_q, row 2, column 2").fill("-1.5")
    np.testing.assert_allclose(numbers(page), by_lib(QueryKeyGrid(w_q=[[0, 1], [4, -1.5]])))
    page.get_by_label("w_k, row 1, column 1").focus()
    page.keyboard.press("ArrowUp")
    expected = by_lib(QueryKeyGrid(w_q=[[0, 1], [4, -1.5]], w_k=[[1.5, 0], [0, 1]]))
    np.testing.assert_allclose(numbers(page), expected)
    page.get_by_role("button", name="Start again").click()
    np.testing.assert_allclose(numbers(page), by_lib(QueryKeyGrid()))


def test_tying_shows_symmetry_and_creature_matches_itself_with_16(widget_page):
    page = widget_page(QueryKeyGrid())
    page.get_by_label("use W_q for the keys too").press("Space")
    table = numbers(page)
    np.testing.assert_allclose(table, table.T)
    assert table[2, 2] == 16
    expect(page.locator("[data-name=lopsided]")).to_have_text("0.00")
    expect(page.get_by_label("w_k, row 1, column 1")).to_be_disabled()
    page.get_by_label("use W_q for the keys too").press("Space")
    np.testing.assert_allclose(numbers(page), by_lib(QueryKeyGrid()))
    expect(page.get_by_label("w_k, row 1, column 1")).to_be_enabled()


def test_the_layout_only_transposes(widget_page):
    page = widget_page(QueryKeyGrid())
    page.get_by_label("weights", exact=True).check()
    weights = numbers(page)
    np.testing.assert_allclose(weights, softmax(by_lib(QueryKeyGrid())), atol=0.006)
    page.get_by_label("columns", exact=True).check()
    np.testing.assert_allclose(numbers(page), weights.T)
    assert page.locator("table.kit-grid caption").inner_text() == "weights, queries in columns"


def test_a_cell_and_the_buttons_choose_a_query(widget_page):
    page = widget_page(QueryKeyGrid())
    readout = page.locator("[data-name=score]")
    expect(readout).to_contain_text("creature asks, fluffy offers: (4, 0) · (1, 0) = 4")
    page.get_by_role("button", name="q blue, k creature").click()
    expect(readout).to_contain_text("blue asks, creature offers: (0, 1) · (0, 1) = 1")
    page.keyboard.press("ArrowDown")
    expect(readout).to_contain_text("creature asks, creature offers: (4, 0) · (0, 1) = 0")
    page.get_by_label("roamed", exact=True).check()
    expect(page.locator("td.selected")).to_have_count(4)
    expect(readout).to_contain_text("roamed asks")


def test_queries_without_a_matrix_share_their_weight_equally(widget_page):
    page = widget_page(QueryKeyGrid())
    for i in (1, 2):
        for j in (1, 2):
            page.get_by_label(f"w_q, row {i}, column {j}").fill("0")
    page.get_by_label("weights", exact=True).check()
    np.testing.assert_allclose(numbers(page), np.full((4, 4), 0.25))
