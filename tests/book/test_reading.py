"""A reader without a mouse, one who wants no movement, one who searches."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Page, expect

from book.extensions import search_words

ROOT = Path(__file__).resolve().parents[2]

WIDE, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}

# What the focus is on, and why a reader could not see that it is there.
FOCUS = """() => {
    const on = document.activeElement;
    if (on === document.body || on.dataset.walked) return null;
    on.dataset.walked = true;
    const drawn = [on, ...on.querySelectorAll("*")].find((e) => e.getBoundingClientRect().width);
    if (!drawn) return `nothing is drawn of ${on.outerHTML.slice(0, 120)}`;
    const { left, right, top, bottom } = drawn.getBoundingClientRect();
    const inside = right > 0 && bottom > 0 && left < innerWidth && top < innerHeight;
    if (!inside) return `out of sight: ${on.outerHTML.slice(0, 120)}`;
    const { outlineStyle, outlineWidth } = getComputedStyle(drawn);
    const marked = outlineStyle !== "none" && parseFloat(outlineWidth) >= 2;
    return marked ? "" : `no outline: ${on.outerHTML.slice(0, 120)}`;
}"""
# Of a group of radio buttons the keyboard meets one, and the arrows do the rest.
MISSED = """() => [...document.querySelectorAll("a[href], button, input, select, summary")]
    .filter((e) => e.tabIndex >= 0 && !e.disabled && !e.dataset.walked && e.type !== "radio")
    .filter((e) => e.checkVisibility({ visibilityProperty: true }) && !e.closest("dialog"))
    .map((e) => e.outerHTML.slice(0, 120))"""


@pytest.fixture
def open_page(browser: Browser, book: str) -> Iterator:
    """Opens a page of the book in a context of its own."""
    contexts = []

    def open_it(name: str, motion: str = "reduce", size: dict = WIDE) -> Page:
        contexts.append(browser.new_context(viewport=size, reduced_motion=motion))
        page = contexts[-1].new_page()
        page.goto(f"{book}/{name}", wait_until="networkidle")
        return page

    yield open_it
    for context in contexts:
        context.close()


@pytest.mark.parametrize(
    ("name", "size"), [("index.html", WIDE), ("chapters/03_context.html", PHONE)]
)
def test_the_keyboard_walks_a_whole_page_and_its_reader_always_sees_where(open_page, name, size):
    page, unseen = open_page(name, size=size), []
    for _ in range(500):
        page.keyboard.press("Tab")
        trouble = page.evaluate(FOCUS)
        if trouble is None:
            break
        unseen += [trouble] if trouble else []
    else:
        pytest.fail("500 stops, and no end of the page: a trap?")
    assert unseen == []
    assert page.evaluate(MISSED) == []


def test_the_first_stop_skips_to_the_text(open_page):
    page = open_page("chapters/06_softmax.html")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_url("**/*#main-content")
    page.keyboard.press("Tab")
    assert page.evaluate("!!document.activeElement.closest('main')")


def test_on_a_phone_the_keyboard_opens_the_contents_and_the_search_and_leaves_them(open_page):
    page = open_page("chapters/06_softmax.html", size=PHONE)
    for button, opened in (
        ("button.primary-toggle", "#pst-primary-sidebar-modal"),
        ("button.secondary-toggle", "#pst-secondary-sidebar-modal"),
        ("button.search-button", "#pst-search-dialog"),
    ):
        page.locator(button).filter(visible=True).first.focus()
        page.keyboard.press("Enter")
        dialog = page.locator(opened)
        expect(dialog).to_be_visible()
        assert page.evaluate(f"!!document.activeElement.closest('{opened}')"), opened
        page.keyboard.press("Tab")
        page.keyboard.press("Escape")
        expect(dialog).to_be_hidden()
        expect(page.locator(button).filter(visible=True).first).to_be_focused()


def test_the_keyboard_switches_the_theme_folds_and_moves_a_figure(open_page):
    page = open_page("chapters/06_softmax.html")
    page.locator(".theme-switch-button").first.focus()
    before = page.locator("html").get_attribute("data-mode")
    page.keyboard.press("Space")
    expect(page.locator("html")).not_to_have_attribute("data-mode", before)
    fold = page.locator("details.prediction").first
    fold.locator("summary").focus()
    page.keyboard.press("Enter")
    expect(fold).to_have_attribute("open", "")
    slider = page.locator(".course-widget[data-mounted=true] input[type=range]").first
    slider.focus()
    value = slider.input_value()
    page.keyboard.press("ArrowRight")
    assert float(slider.input_value()) > float(value)


MOVES = """() => [...document.querySelectorAll("*")].filter((e) => {
    const { transitionDuration, animationName, scrollBehavior } = getComputedStyle(e);
    const lasts = transitionDuration.split(", ").some((time) => parseFloat(time) > 0);
    return lasts || animationName !== "none" || scrollBehavior === "smooth";
}).map((e) => e.outerHTML.slice(0, 120))"""


def test_nothing_moves_by_itself_for_a_reader_who_wants_no_movement(open_page):
    name = "chapters/09_multi_head.html"
    assert open_page(name, motion="no-preference").evaluate(MOVES), "nothing would be tested"
    still = open_page(name)
    assert still.evaluate(MOVES) == []
    still.get_by_role("button", name="Play the steps").click()
    expect(still.locator(".kit-cells")).to_be_visible()
    assert still.evaluate("document.getAnimations().length") == 0


def search(page: Page, words: str) -> list[tuple[str, str]]:
    """Where the first results lead, and what is said of them."""
    page.goto(page.url.split("?")[0] + f"?q={quote(words)}")
    expect(page.locator("#search-results .search-summary")).to_contain_text("best results")
    first = page.locator("#search-results li:nth-child(-n+4)")
    expect(page.locator("#search-results li:not(:has(p.context))")).to_have_count(0)
    return [(hit.locator("a").get_attribute("href"), hit.inner_text()) for hit in first.all()]


FOUND = [  # what is typed: where it leads, what is said there, the chapter that is next
    ("softmax", "appendix/glossary.html#term-softmax", "scores into weights", "06"),
    ("KV cache", "appendix/glossary.html#term-KV-cache", "keys and values", "14"),
    ("mask", "appendix/glossary.html#term-mask", "may attend", "08"),
    ("attend", "appendix/glossary.html#term-query", "asks", "04"),
    ("RoPE", "appendix/glossary.html#term-sinusoidal-positions", "rotary", ""),
    ("d_k", "appendix/notation.html#symbol-", "width of a query and of a key", "04"),
    ("√d", "appendix/notation.html#symbol-", "divided by", "05"),
    ("Q", "appendix/notation.html#symbol-", "ask, offer and hand over", "04"),
    ("QKᵀ", "appendix/notation.html#symbol-", "every query with every key", "04"),
    ("Δe", "appendix/notation.html#symbol-", "adds to an embedding", "07"),
]


def test_what_is_searched_is_found_with_its_meaning_and_then_its_chapter(open_page):
    page = open_page("search.html")
    for typed, where, meaning, chapter in FOUND:
        hits = search(page, typed)
        href, text = hits[0]
        assert href.startswith(where), f"{typed} led to {href}"
        assert meaning in text, f"{typed}: {text}"
        assert "\\(" not in text
        if chapter:
            hrefs = [href for href, _ in hits]
            assert any(href.startswith(f"chapters/{chapter}_") for href in hrefs), (typed, hrefs)


def test_every_symbol_of_the_notation_page_is_indexed_in_all_its_spellings(book_folder):
    text = (book_folder / "searchindex.js").read_text("utf8")
    index = json.loads(text.removeprefix("Search.setIndex(").removesuffix(")"))["indexentries"]
    table = (ROOT / "appendix/notation.md").read_text("utf8").split("## Symbols")[1].split("## ")[0]
    rows = [row.split(" | ")[0] for row in table.splitlines() if row.startswith("| $")]
    assert len(rows) > 12
    for row in rows:
        for symbol in (part for math in re.findall(r"\$(.+?)\$", row) for part in math.split(", ")):
            for typed in search_words.spellings(symbol):
                assert typed.lower() in index, f"{typed} of {symbol}"
