"""The figure of chapter 07 shows what lib computes, and says where each number comes from."""

from fractions import Fraction

import numpy as np
import pytest
from playwright.sync_api import Page

from figures.widgets.output_arithmetic import OutputArithmetic
from lib.attention.dot_product import attend
from lib.attention.masks import causal
from tests.figures.widgets.node import call


def by_lib(widget: OutputArithmetic):
    q = np.column_stack([widget.scores, np.zeros(3)])
    mask = causal(3) if widget.causal else None
    values = np.array(widget.values, dtype=float)
    return attend(q, np.eye(4)[:3], values, mask, scale=0.5 if widget.scaled else 1.0)


@pytest.mark.parametrize("scaled", [True, False])
@pytest.mark.parametrize("masked", [True, False])
def test_its_numbers_are_libs(scaled, masked):
    widget = OutputArithmetic(scaled=scaled, causal=masked)
    shown, expected = call("output_arithmetic.js", "compute", widget.state), by_lib(widget)
    np.testing.assert_allclose(shown["weights"], expected.weights, atol=1e-12)
    np.testing.assert_allclose(shown["output"], expected.output, atol=1e-12)


def test_other_numbers_are_shown_as_they_are_given():
    five = float(np.log(5))
    widget = OutputArithmetic(scores=[[0, 0, 2 * five]] * 3, values=[[0, 0], [4, 4], [8, 0]])
    assert "the values (0, 0), (4, 4), (8, 0) into" in widget.still().caption
    assert call("output_arithmetic.js", "logarithm", 2 * five) == "2ln 5"


def test_words_and_components_stand_in_its_labels_and_sentences(widget_page):
    named = OutputArithmetic(words=["dog", "bites", "man"], components=["animal", "human"])
    text = call("output_arithmetic.js", "explain", named.state, "weights", 1, 2)
    assert text == "weight of key man for query bites = 2 / (1 + 1 + 2) = 1/2"
    assert "query bites weighs them 0.25, 0.25, 0.50" in named.still().alt
    page = widget_page(named)
    page.get_by_role("button", name="values: key man, human: 6", exact=True).click()
    assert page.locator("[data-name=arithmetic]").inner_text().startswith("value of key man,")


@pytest.mark.parametrize("number", [Fraction(1, 6), Fraction(9, 14), Fraction(5), Fraction(0)])
def test_it_writes_fractions(number):
    assert call("output_arithmetic.js", "fraction", float(number)) == str(number)


def test_it_explains_an_output_as_a_sum_over_the_values():
    text = call("output_arithmetic.js", "explain", OutputArithmetic().state, "output", 0, 1)
    assert text == "output of query 0, component 1 = 1/6 × 0 + 1/3 × 6 + 1/2 × 6 = 5"


def numbers(page: Page, table: str) -> list[list[float]]:
    cells = page.locator(f"table:has(caption:text-is('{table}')) td button").all_inner_texts()
    columns = 3 if table == "weights" else 2
    return np.array([float(Fraction(cell)) for cell in cells]).reshape(3, columns)


def test_a_click_and_the_arrow_keys_choose_a_number(widget_page):
    page = widget_page(OutputArithmetic())
    readout = page.locator("[data-name=arithmetic]")
    page.get_by_role("button", name="output: query 0, 0: 4", exact=True).click()
    assert readout.inner_text().endswith("1/6 × 6 + 1/3 × 0 + 1/2 × 6 = 4")
    page.keyboard.press("ArrowDown")
    assert readout.inner_text().endswith("1/4 × 6 + 1/4 × 0 + 1/2 × 6 = 9/2")
    page.get_by_role("button", name="weights: query 0, key 2: 1/2", exact=True).click()
    assert readout.inner_text() == "weight of key 2 for query 0 = 3 / (1 + 2 + 3) = 1/2"


def test_the_words_can_be_reversed_and_each_keeps_its_numbers(widget_page):
    scores = [[2, 0, 1], [3, 0, 2], [1, 0, 4]]
    widget = OutputArithmetic(
        scores=scores, words=["dog", "bites", "man"], values=[[12, 0], [0, 0], [0, 12]],
        reversible=True,
    )  # fmt: skip
    page = widget_page(widget)
    page.get_by_label("man bites dog").press("Space")
    expected = by_lib(widget)
    np.testing.assert_allclose(numbers(page, "output"), expected.output[::-1], atol=1e-3)
    np.testing.assert_allclose(numbers(page, "weights"), expected.weights[::-1, ::-1], atol=1e-3)
    heads = page.locator("table:has(caption:text-is('weights')) thead th").all_inner_texts()
    assert heads == ["key man", "key bites", "key dog"]
    still = OutputArithmetic(
        scores=scores, words=widget.words, values=widget.values, reversed=True, causal=True
    ).still()  # fmt: skip
    assert still.alt.startswith("Three queries over three keys: query man weighs them 1.00, 0.00")
    assert OutputArithmetic().reversible is False


def test_the_switches_change_every_number_as_lib_says(widget_page):
    page = widget_page(OutputArithmetic())
    for scaled, masked, label in [
        (False, False, "divide by √d_k = 2"),
        (False, True, "causal mask"),
    ]:
        page.get_by_label(label).press("Space")
        expected = by_lib(OutputArithmetic(scaled=scaled, causal=masked))
        np.testing.assert_allclose(numbers(page, "weights"), expected.weights, atol=1e-3)
        np.testing.assert_allclose(numbers(page, "output"), expected.output, atol=1e-3)
