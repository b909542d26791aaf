"""The cache of chapter 14 counts what lib's model computes and keeps."""

import pytest
from playwright.sync_api import Page, expect

from figures.widgets.kv_cache import SIZES, TOKENS, KVCache
from lib.models.llama import LlamaConfig, parameter_shapes
from tests.figures.widgets.node import call

STATES = [
    {"step": step, "cached": cached, "kv_heads": heads, "window": window}
    for step in (1, 5, 9)
    for cached in (True, False)
    for heads in (9, 3, 1)
    for window in (0, 4)
]


@pytest.mark.parametrize("state", STATES)
def test_the_page_counts_as_python_does(state):
    widget = KVCache(**state)
    assert call("kv_cache.js", "counts", widget.state) == widget.counts()
    kinds = call("kv_cache.js", "cells", widget.state)
    now = sum(kind == "now" for line in kinds for kind in line)
    assert now * SIZES["layers"] * SIZES["heads"] == widget.counts()["scores"]


@pytest.mark.parametrize("kv_heads", [9, 3, 1])
def test_the_weights_read_are_the_parameters_of_the_model(kv_heads):
    def total(shapes):
        if isinstance(shapes, dict):
            return sum(map(total, shapes.values()))
        if isinstance(shapes, list):
            return sum(map(total, shapes))
        product = 1
        for length in shapes:
            product *= length
        return product

    config = LlamaConfig(kv_heads=kv_heads)
    widget = KVCache(kv_heads=kv_heads, cached=False)
    assert widget.counts()["read"] == 2 * total(parameter_shapes(config))


def test_a_cached_token_of_smollm2_takes_23_kilobytes():
    assert KVCache(step=1).counts()["kept"] == 2 * 30 * 3 * 64 * 2 == 23_040
    report = call("kv_cache.js", "report", KVCache(step=9, window=4).state)
    assert report["kept"] == "keys and values of 4 tokens: 92.2 kB"
    assert report["full"] == "92.2 kB"


def test_the_next_token_adds_a_column_and_one_row(widget_page):
    page: Page = widget_page(KVCache())
    expect(page.locator("td", has_text="●")).to_have_count(2 * 5 + 5)
    page.get_by_role("button", name="Next token").click()
    expect(page.locator("td", has_text="●")).to_have_count(2 * 6 + 6)
    page.get_by_label("KV cache", exact=True).first.click()
    expect(page.locator("[data-name=kept]")).to_have_text("nothing")
    expect(page.locator("td", has_text="●")).to_have_count(sum(range(1, 7)))
    page.get_by_role("group", name="window").get_by_label("the last 4").click()
    expect(page.locator("td", has_text="●")).to_have_count(1 + 2 + 3 + 4 * 3)


def test_it_fits_a_telephone(widget_page):
    page = widget_page(KVCache(), width=360)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_without_a_script_the_step_is_drawn():
    figure = KVCache(step=9, window=4).still()
    assert "4 scores are computed" in figure.alt
    assert f"{len(TOKENS)} by {len(TOKENS)}" in figure.alt


def test_on_a_phone_every_column_of_the_cache_is_in_sight(widget_page):
    page = widget_page(KVCache(step=9), width=360)
    boxes = page.locator(".kit-scroll")
    assert boxes.count() == 2
    for box in boxes.all():
        assert box.evaluate("e => e.scrollWidth <= e.clientWidth")
