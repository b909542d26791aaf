"""The figure of chapter 00 turns a table and reads it aright in both layouts."""

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from figures.widgets.grid_both_ways import GridBothWays
from lib.seeds import generator
from tests.figures.widgets.node import call

MODULE = "grid_both_ways.js"


@pytest.mark.parametrize("queries_in", ["rows", "columns"])
def test_the_live_table_is_the_one_of_python(queries_in):
    weights = generator("both ways", queries_in).dirichlet(np.ones(5), size=3).tolist()
    widget = GridBothWays(weights=weights, queries_in=queries_in)
    np.testing.assert_allclose(call(MODULE, "shown", widget.state), widget.table())


@pytest.mark.parametrize("queries_in", ["rows", "columns"])
def test_only_the_direction_of_the_queries_sums_to_one(queries_in):
    widget = GridBothWays(queries_in=queries_in)
    sums = call(MODULE, "sums", widget.state)
    np.testing.assert_allclose(sums["rows"], widget.table().sum(1))
    np.testing.assert_allclose(sums["columns"], widget.table().sum(0))
    np.testing.assert_allclose(sums[queries_in], 1)
    sentence = call(MODULE, "told", widget.state)
    assert sentence.endswith(f"the {queries_in} are queries")
    assert "1.0, 1.0, 1.0" in sentence
    assert "1.6, 0.9, 0.5" in sentence


def test_a_cell_is_read_alike_in_both_layouts_but_stands_elsewhere():
    rows = call(MODULE, "reading", GridBothWays().state)
    columns = call(MODULE, "reading", GridBothWays(queries_in="columns").state)
    assert rows.startswith("creature attends to fluffy: 0.5 of what it takes in")
    assert rows.replace("[2, 0]", "[0, 2]") == columns
    itself = call(MODULE, "reading", GridBothWays(query=1, key=1).state)
    assert itself.startswith("blue attends to itself: 0.2")


def numbers(page: Page) -> np.ndarray:
    cells = page.locator("table.kit-grid td button").all_inner_texts()
    return np.array([float(cell) for cell in cells]).reshape(3, 3)


def test_turned_by_the_keyboard_it_is_transposed_and_keeps_its_query(widget_page):
    page = widget_page(GridBothWays())
    np.testing.assert_allclose(numbers(page), GridBothWays().table())
    page.get_by_label("rows", exact=True).focus()
    page.keyboard.press("ArrowRight")
    np.testing.assert_allclose(numbers(page), GridBothWays().table().T)
    expect(page.locator("table.kit-grid caption")).to_have_text("weights, queries in columns")
    expect(page.locator("td.selected")).to_have_count(3)
    readout = page.locator("[data-name=reading]")
    expect(readout).to_contain_text("creature attends to fluffy")
    expect(readout).to_contain_text("[0, 2]")


def test_arrow_keys_in_the_table_choose_another_pair(widget_page):
    page = widget_page(GridBothWays())
    page.locator("table.kit-grid td button").first.focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("[data-name=reading]")).to_contain_text("fluffy attends to blue: 0.3")
    page.keyboard.press("ArrowDown")
    expect(page.locator("[data-name=reading]")).to_contain_text("blue attends to itself: 0.2")


def test_a_telephone_shows_it_without_scrolling_the_page(widget_page):
    page = widget_page(GridBothWays(), width=360)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
