"""The book as its readers meet it: every page, wide and narrow, light and dark, in Chromium."""

import posixpath
import re
from collections.abc import Iterable
from difflib import SequenceMatcher
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import yaml
from bs4 import BeautifulSoup
from playwright.sync_api import Browser, Page, expect

from tests.support.accessibility import objections
from tests.support.built import tree
from tests.support.page_weight import too_much

ROOT = Path(__file__).resolve().parents[2]


def contents() -> list[str]:
    """Every page that the table of contents names, as it is called in the book."""
    files = []

    def walk(entry: dict) -> None:
        files.append(entry.get("root") or entry.get("file"))
        for below in ("parts", "chapters", "sections"):
            for child in entry.get(below, []):
                walk(child)

    walk(yaml.safe_load((ROOT / "_toc.yml").read_text("utf8")))
    return [name.removesuffix(".ipynb").removesuffix(".md") + ".html" for name in files if name]


PAGES = contents()
# The structure and the colours of a page come from the theme, from its kind and from the palette,
# whose contrasts have a test of their own; axe reads every page by night.
ONE_OF_EACH_KIND = {
    "index.html", "chapters/00_start.html", "chapters/06_softmax.html",
    "chapters/06_softmax_deeper.html", "exercises/06_softmax.html", "appendix/glossary.html",
    "appendix/guide.html", "appendix/reference/attention.html",
}  # fmt: skip


def one_of_each_kind(names: Iterable[str]) -> list:
    """The pages as parameters of a test: one of each kind every time, the others by night."""
    return [name if name in ONE_OF_EACH_KIND else pytest.param(name, marks=pytest.mark.nightly)
            for name in names]  # fmt: skip


class Visit:
    """One page, opened and waited for, with all that went wrong on it."""

    def __init__(self, browser: Browser, book: str, name: str, width: int, theme: str):
        self.context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=theme, reduced_motion="reduce"
        )
        self.page: Page = self.context.new_page()
        self.problems: list[str] = []
        self.fetched: set[str] = set()
        note = self.problems.append
        self.page.on("pageerror", lambda error: note(f"error: {error}"))
        self.page.on("requestfailed", lambda request: note(f"failed: {request.url}"))
        self.page.on("response", lambda got: got.status >= 400 and note(f"{got.status}: {got.url}"))
        self.page.on(
            "console",
            lambda message: (
                message.type in ("error", "warning") and note(f"console: {message.text}")
            ),
        )
        self.page.on("requestfinished", lambda got: self.fetched.add(urlsplit(got.url).path))
        self.page.on(
            "request",
            lambda asked: (
                asked.url.startswith((book, "data:", "blob:")) or note(f"another host: {asked.url}")
            ),
        )
        self.page.goto(f"{book}/{name}", wait_until="networkidle")

    def unfold(self) -> None:
        """Open all that is folded, so that nothing goes unseen."""
        self.page.evaluate("document.querySelectorAll('details').forEach((d) => (d.open = true))")


@pytest.fixture
def visit(browser, book):
    visits = []

    def open_page(name: str, width: int = 1280, theme: str = "light") -> Visit:
        visits.append(Visit(browser, book, name, width, theme))
        return visits[-1]

    yield open_page
    for visit in visits:
        visit.context.close()


@pytest.mark.parametrize("name", PAGES)
def test_the_sidebar_of_a_page_leads_to_all_others_and_marks_it(book_folder, name):
    sidebar = BeautifulSoup((book_folder / name).read_text("utf8"), "html.parser").find(
        "nav", class_="bd-docs-nav"
    )
    links = [link["href"] for link in sidebar.find_all("a")]
    here = posixpath.dirname(name)
    reached = [posixpath.normpath(posixpath.join(here, link)) if link != "#" else name
               for link in links]  # fmt: skip
    assert reached == PAGES[1:]  # the first page is behind the book's name
    marked = [link["href"] for link in sidebar.select("a[aria-current=page]")]
    assert marked == ([] if name == PAGES[0] else ["#"])
    chapters = sidebar.select("li.toctree-l1.current")
    assert len(chapters) == len(marked)
    for pages in chapters[:1] and chapters[0].select("details"):
        assert pages.has_attr("open"), "the pages of this chapter are shown"
    assert len(sidebar.select("details[open]")) <= 1


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_whole_light_and_quiet(visit, book_folder, name):
    seen = visit(name)
    page = seen.page
    expect(page.locator(".course-widget:not([data-mounted=true])")).to_have_count(0)
    assert too_much(seen.fetched, book_folder) == ""
    seen.unfold()
    assert raw_tex(page) == []
    for theme, width in (("light", 1280), ("dark", 390)):
        page.emulate_media(color_scheme=theme)
        page.set_viewport_size({"width": width, "height": 900})
        expect(page.locator("html")).to_have_attribute("data-theme", theme)
        assert boxes_of_the_other_theme(page) == []
        assert wider_than_the_page(page) == [], f"{width} pixels wide"
    assert seen.problems == []


@pytest.mark.parametrize("name", one_of_each_kind(PAGES))
def test_a_page_is_accessible_and_legible(visit, name):
    seen = visit(name, width=390, theme="dark")
    expect(seen.page.locator(".course-widget:not([data-mounted=true])")).to_have_count(0)
    seen.unfold()
    assert objections(seen.page) == []


def test_a_page_of_each_kind_is_in_the_book():
    assert set(PAGES) >= ONE_OF_EACH_KIND


def raw_tex(page: Page) -> list[str]:
    """Formulas that a reader would see as they were typed."""
    return page.evaluate(r"""() => {
        const text = document.createTreeWalker(document.querySelector(".bd-article"), 4);
        const typed = /\\[[(]|\\[a-z]{2,}|\$[^$\d\s][^$]*\$/;
        const found = [];
        while (text.nextNode()) {
            const { textContent, parentElement } = text.currentNode;
            if (parentElement.closest("code, pre, script, style, .katex")) continue;
            if (typed.test(textContent)) found.push(textContent.trim().slice(0, 80));
        }
        return found;
    }""")


def wider_than_the_page(page: Page) -> list[str]:
    """What sticks out at the right and makes the whole page scroll sideways."""
    return page.evaluate("""() => {
        const wide = document.documentElement.clientWidth;
        if (document.documentElement.scrollWidth <= wide) return [];
        return [...document.querySelectorAll(".bd-article *")]
            .filter((e) => e.getBoundingClientRect().right > wide + 1)
            .slice(0, 5).map((e) => e.outerHTML.slice(0, 120));
    }""")


def boxes_of_the_other_theme(page: Page) -> list[str]:
    """Outputs that keep a light box on a dark page, or a dark one on a light page."""
    return page.evaluate("""() => {
        const light = (css) => {
            const [r, g, b, a] = [...css.matchAll(/[\\d.]+/g)].map(Number);
            return a === 0 ? null : (0.2126 * r + 0.7152 * g + 0.0722 * b) / 255 > 0.5;
        };
        const page = light(getComputedStyle(document.body).backgroundColor);
        return [...document.querySelectorAll(".cell_output .output, pre, figure, .course-widget")]
            .filter((e) => light(getComputedStyle(e).backgroundColor) === !page)
            .map((e) => e.outerHTML.slice(0, 120));
    }""")


@pytest.mark.parametrize("name", PAGES)
def test_every_picture_is_described_and_every_figure_states_its_claim(book_folder, name):
    page = tree(book_folder / name)
    for image in page.iter("img"):
        assert image.get("alt"), image.get("src")
    for figure in page.find_class("course-figure"):
        drawn = figure.xpath(".//*[@role='img']")
        assert drawn, figure.text_content()[:80]
        seen, claim = drawn[0].get("aria-label", ""), figure.find(".//figcaption").text_content()
        assert len(claim) > 20
        assert re.fullmatch(r"[A-Z\d].+\.", seen), f"no sentence: {seen!r}"
        assert len(seen.split()) >= 5, seen
        assert not re.match(r"(?i)(an? |the )?(plot|figure|image|picture|graph|chart)\b", seen)
        assert SequenceMatcher(None, seen, claim).ratio() < 0.8, f"the caption again: {seen}"


@pytest.mark.parametrize("name", PAGES)
def test_a_page_describes_itself_in_a_sentence(book_folder, name):
    (description,) = tree(book_folder / name).xpath("//meta[@name='description']/@content")
    assert 20 < len(description) <= 160


@pytest.mark.parametrize(
    "name", one_of_each_kind(n for n in PAGES if re.match(r"chapters/(?!.*_deeper)", n))
)
def test_the_text_the_figures_and_the_formulas_of_a_chapter_stand_without_scripts(
    browser, book, name
):
    page = browser.new_page(java_script_enabled=False)
    page.goto(f"{book}/{name}")
    expect(page.locator(".bd-article h1 + p")).to_be_visible()
    expect(page.locator(".bd-article figure svg").first).to_be_visible()
    formula = page.locator(".bd-article section > p > .math .katex-html").first
    expect(formula).to_be_visible()
    assert 5 < formula.bounding_box()["height"] < 100
    page.close()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_page_is_painted_in_its_theme_before_any_script_has_come(browser, book, theme):
    page = browser.new_page(color_scheme=theme)
    page.route("**/*.js*", lambda asked: asked.abort())
    page.goto(f"{book}/appendix/glossary.html")
    expect(page.locator("html")).to_have_attribute("data-theme", theme)
    assert boxes_of_the_other_theme(page) == []
    page.close()


def test_the_theme_is_switched_by_its_button_and_remembered(visit):
    seen = visit("chapters/06_softmax.html")
    html, button = seen.page.locator("html"), seen.page.locator(".theme-switch-button").first
    for theme in ("light", "dark", "light", "dark"):
        button.click()
        if html.get_attribute("data-mode") == theme == "dark":
            break
    expect(html).to_have_attribute("data-theme", "dark")
    seen.page.reload()
    expect(html).to_have_attribute("data-theme", "dark")


def test_the_search_finds_a_word_without_a_server(visit, book_folder):
    seen = visit("search.html?q=softmax")
    expect(seen.page.locator("#search-results a").first).to_be_visible()
    assert seen.problems == []
    assert too_much(visit("search.html").fetched, book_folder) == ""  # unasked, it reads no page


def test_the_keyboard_reaches_the_text_and_shows_where_it_is(visit):
    page = visit("index.html").page
    page.keyboard.press("Tab")
    assert "skip" in page.evaluate("document.activeElement.textContent").lower()
    page.locator(".bd-article a").first.focus()
    page.keyboard.press("Tab")
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"


DARK = "@media (prefers-color-scheme: dark)"


@pytest.mark.parametrize(
    ("style", "markup", "objection"),
    [(f"{DARK} {{ .x {{ color: #333 }} }}", "", "dark: color-contrast"),
     (f".x {{ color: #ccc }} {DARK} {{ .x {{ color: #eee }} }}", "", "light: color-contrast"),
     ("", "<img src='data:,'>", "image-alt")],
)  # fmt: skip
def test_a_fault_of_contrast_or_structure_is_found(browser, style, markup, objection):
    page = browser.new_page()
    paragraph = "<p>Text <code>code</code></p>"
    page.set_content(f"""<html lang="en"><title>t</title><style>
        body {{ color: #111; background: #fff }}
        {DARK} {{ body {{ color: #eee; background: #111 }} }} {style}
        </style><main class="bd-article"><h1>Title</h1><h2>Part</h2>{paragraph * 5}
        <p class="x">Text</p>{paragraph}{markup}</main></html>""")
    (objected,) = objections(page)
    assert objected.startswith(objection)
    page.close()
