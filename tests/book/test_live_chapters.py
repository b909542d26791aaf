"""Cells of a chapter that run in its page, in Chromium."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, expect

from tests.book.test_book import wider_than_the_page
from tests.support.accessibility import objections
from tests.support.learner import PHONE, SECONDS, WIDE, Learner

PAGE = "chapters/06_softmax.html"


class Reader(Learner):
    """A reader of a chapter."""

    def cell(self, text: str) -> Locator:
        """The first cell that runs whose code has this text, with its code shown."""
        self.page.evaluate("document.querySelectorAll('details.hide').forEach(d => d.open = true)")
        return self.page.locator(f'[data-runs]:has(.cell_input pre:text("{text}"))').first

    def ran(self, cell: Locator) -> str:
        """What a cell says when it has run."""
        expect(cell.locator(".live-status")).to_contain_text("Ran in", timeout=SECONDS)
        return cell.locator(".live-status").inner_text()

    def edit(self, cell: Locator) -> Locator:
        """Press into the code of a cell, and give its editor."""
        cell.locator(".cell_input:not([hidden]) pre, .cm-content").first.click()
        code = cell.locator(".cm-content")
        expect(code).to_be_focused()
        return code

    def change(self, cell: Locator, old: str, new: str) -> None:
        """Put other words into the code of a cell."""
        code = self.edit(cell)
        text = "\n".join(code.locator(".cm-line").all_text_contents())
        assert old in text
        self.page.keyboard.press("Control+a")
        self.page.keyboard.insert_text(text.replace(old, new))


@pytest.fixture(scope="module")
def reader(browser: Browser, address: str) -> Iterator[Reader]:
    """Somebody who reads chapter 6; the tests that share it leave the cells as they were."""
    context = browser.new_context(viewport=WIDE)
    reader = Reader(context, address)
    reader.visit(PAGE)
    yield reader
    context.close()


def test_a_cell_runs_with_those_above_it_and_is_changed_and_reset(reader):
    page, cell = reader.page, reader.cell("naive_softmax(scores)")
    stored = cell.locator(".cell_output").inner_text()
    cell.hover()
    cell.get_by_role("button", name="Run").click()
    expect(cell.locator(".live-status")).to_contain_text("MB, once")
    assert "cells above it" in reader.ran(cell)
    assert cell.locator(".cell_output").inner_text() == stored
    reader.change(cell, "[12, 3]", "[1, 3]")
    page.keyboard.press("Shift+Enter")
    expect(cell.locator(".cell_output")).to_contain_text("[1, 3] exponentials [ 2.719 20.08 ]")
    page.keyboard.press("Escape")
    expect(cell.get_by_role("button", name="Run")).to_be_focused()
    cell.get_by_role("button", name="Reset").click()
    expect(cell.locator(".cell_output")).to_have_text(stored)
    expect(cell.locator(".cm-content")).to_contain_text("[12, 3]")
    assert reader.problems == []


def test_quoted_code_has_the_colours_of_the_stored_page_after_a_run(browser, address):
    context = browser.new_context(viewport=WIDE)
    reader = Reader(context, address)
    reader.visit("chapters/07_self_attention_deeper.html")
    cell = reader.cell("show(attend)")
    code = cell.locator(".cell_output pre")
    stored = code.inner_text().strip()
    cell.hover()
    cell.get_by_role("button", name="Run").click()
    reader.ran(cell)
    assert code.inner_text().strip() == stored
    expect(code.locator(".k", has_text="return")).to_have_count(stored.count("return "))
    expect(code.locator(".nf")).to_have_text(["attend"])
    assert reader.problems == []
    context.close()


def test_a_cell_below_sees_what_was_changed_above(reader):
    above, below = reader.cell("scores = np.array([-3.0"), reader.cell("three_bars(words, scores)")
    reader.change(above, "-3.0", "3.0")
    below.get_by_role("button", name="Run").click()
    reader.ran(below)
    expect(below.locator("figure [role=img]")).to_have_attribute(
        "aria-label", re.compile("fluffy: score 3")
    )
    above.get_by_role("button", name="Reset").click()
    below.get_by_role("button", name="Run").click()
    expect(below.locator("figure [role=img]")).to_have_attribute(
        "aria-label", re.compile("fluffy: score -3")
    )


def test_an_edit_is_there_after_a_reload_and_gone_after_a_reset(reader):
    reader.change(reader.cell("naive_softmax(scores)"), "[12, 3]", "[1, 3]")
    reader.page.reload()
    changed = reader.page.locator("[data-runs]:has(.cm-content)")
    expect(changed.locator(".cm-content")).to_contain_text("[1, 3]")
    expect(changed.locator(".live-status")).to_contain_text("the output is still the original's")
    changed.get_by_role("button", name="Run").click()
    reader.ran(changed)
    expect(changed.locator(".cell_output")).to_contain_text("[1, 3] exponentials [ 2.719 20.08 ]")
    changed.get_by_role("button", name="Reset").click()
    reader.ran(changed)
    reader.page.reload()
    expect(reader.page.locator("[data-runs] .live-run").first).to_be_attached()
    expect(reader.page.locator(".cm-content")).to_have_count(0)
    assert reader.problems == []


def test_a_widget_starts_with_what_was_changed(reader):
    cell = reader.cell("SoftmaxExplorer(scores=")
    reader.change(cell, "scores.tolist()", "[9.0, 0.0, 0.0, 0.0]")
    reader.page.keyboard.press("Shift+Enter")
    reader.ran(cell)
    expect(cell.locator(".course-widget[data-mounted=true] .kit")).to_be_visible()
    expect(cell.locator(".course-widget")).to_contain_text("9")
    assert reader.problems == []


def test_the_keyboard_alone_opens_a_cell_and_runs_it(reader):
    cell = reader.cell("exponentials = np.exp(scores)")
    cell.get_by_role("textbox").focus()
    reader.page.keyboard.press("Enter")
    expect(cell.locator(".cm-content")).to_be_focused()
    reader.page.keyboard.type("print(6 * 7)\n")
    reader.page.keyboard.press("Shift+Enter")
    expect(cell.locator(".cell_output")).to_have_text("42\n", timeout=SECONDS)
    cell.get_by_role("button", name="Reset").click()
    reader.ran(cell)


def test_an_error_is_shown_and_a_loop_is_stopped(reader):
    cell = reader.cell("naive_softmax(scores)")
    reader.change(cell, "def naive_softmax", "1 / 0\ndef naive_softmax")
    reader.page.keyboard.press("Shift+Enter")
    expect(cell.locator(".traceback")).to_contain_text("ZeroDivisionError")
    reader.change(cell, "1 / 0", "while True: pass")
    reader.page.keyboard.press("Shift+Enter")
    cell.get_by_role("button", name="Stop").click()
    expect(cell.get_by_role("button", name="Stop")).to_be_hidden()
    cell.get_by_role("button", name="Reset").click()
    reader.ran(cell)


def test_a_cell_that_cannot_run_keeps_its_output_and_names_the_notebook(reader):
    other = reader.page.locator(".cell:not([data-runs]) .cell_input").first
    expect(other).to_have_attribute("title", re.compile("notebook"))
    assert reader.page.locator(".cell:not([data-runs]) .live-run").count() == 0
    href = reader.page.locator("a.live-notebook").get_attribute("href")
    assert href.endswith("chapters/06_softmax.ipynb")


@pytest.mark.parametrize(
    "size", [pytest.param(WIDE, marks=pytest.mark.nightly), PHONE], ids=["wide", "phone"]
)
def test_at_work_a_chapter_is_accessible_and_never_wider_than_the_screen(reader, size):
    reader.page.set_viewport_size(size)
    cell = reader.cell("naive_softmax(scores)")
    try:
        reader.edit(cell)
        assert wider_than_the_page(reader.page) == []
        assert objections(reader.page) == []
    finally:
        reader.page.set_viewport_size(WIDE)
        reader.visit(PAGE)


def test_a_cell_that_reads_with_the_real_model_asks_first_and_then_gives_what_is_stored(
    browser, address
):
    context = browser.new_context(viewport=WIDE)
    reader = Reader(context, address)
    reader.visit("chapters/00_start.html")
    figure = reader.cell("weights, reading.tokens, reading.tokens")
    stored = figure.locator("[role=img]").get_attribute("aria-label")
    figure.locator(".live-run").click(force=True)
    expect(figure.locator(".live-status")).to_contain_text("must be loaded first")
    assert not any("/live/python/" in path or "/live/model/" in path for path in reader.fetched)
    figure.get_by_role("button", name=re.compile(r"Open the real model \(36 MB, once\)")).click()
    expect(figure.locator(".live-status")).to_contain_text("real model", timeout=SECONDS)
    reader.ran(figure)
    assert figure.locator("[role=img]").get_attribute("aria-label") == stored
    reader.change(
        reader.cell("load_minilm(numpy=True)"), "a fluffy blue creature", "three small green frogs"
    )
    reader.page.keyboard.press("Shift+Enter")
    figure.locator(".live-check").click()
    expect(figure.locator("figure")).to_contain_text("frogs", timeout=SECONDS)
    reader.fetched.clear()
    reader.visit("chapters/02_embeddings.html")
    other = reader.cell("minilm = load_minilm(numpy=True)")
    other.locator(".live-run").click(force=True)
    reader.ran(other)  # without a question, and from the browser's cache
    assert not any("/live/model/" in path for path in reader.fetched)
    assert reader.problems == []
    context.close()
