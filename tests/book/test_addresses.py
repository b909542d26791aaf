"""What others than readers meet: search engines, previews of a link, whoever follows a dead one."""

import math
import re
import sys
import threading
import tomllib
from collections import Counter
from functools import cache, partial
from http.server import ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit
from xml.etree import ElementTree

import pytest
from bs4 import BeautifulSoup
from PIL import Image

from book.build.local_browser import Quiet
from tests.book.test_book import PAGES, parsed

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "book/extensions"))  # as Sphinx does

from book.extensions import social_cards  # noqa: E402

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf8"))["project"]
HOME = PROJECT["urls"]["Homepage"]
INSIDE = urlsplit(HOME).path


@cache
def head(path: Path) -> BeautifulSoup:
    """The head of a page alone, which is read in no time."""
    return BeautifulSoup(path.read_text("utf8").split("</head>")[0], "html.parser")


def said(page: BeautifulSoup, **named: str) -> list[str]:
    """What the meta tags of a page with this name or property say."""
    return [tag["content"] for tag in page.find_all("meta", attrs=named)]


def address(name: str) -> str:
    return HOME + name.removesuffix("index.html")


@pytest.mark.parametrize("name", PAGES)
def test_a_page_says_once_what_it_is_and_where(book_folder, name):
    page = head(book_folder / name)
    assert page.html["lang"] == "en"
    assert 3 < len(page.title.get_text()) <= 85
    (description,) = said(page, name="description")
    assert 50 <= len(description) <= 160
    assert said(page, name="viewport") == ["width=device-width, initial-scale=1.0"]
    assert said(page, name="robots") == []
    assert [link["href"] for link in page.find_all("link", rel="canonical")] == [address(name)]
    text = (book_folder / name).read_text("utf8")
    assert re.findall(r'<a\b[^>]*(?:onclick=|href="javascript:)[^>]*>', text) == []


def test_no_two_pages_have_the_same_title_or_description(book_folder):
    for told in (
        [head(book_folder / name).title.get_text() for name in PAGES],
        [said(head(book_folder / name), name="description")[0] for name in PAGES],
    ):
        assert [words for words, times in Counter(told).items() if times > 1] == []


@pytest.mark.parametrize("name", PAGES)
def test_the_preview_of_a_link_shows_a_card_with_the_title_of_its_page(book_folder, name):
    page = head(book_folder / name)
    (title,), (about,) = said(page, property="og:title"), said(page, property="og:description")
    assert page.title.get_text().startswith(title)
    assert said(page, name="description") == [about]
    assert said(page, property="og:url") == [address(name)]
    assert said(page, name="twitter:card") == ["summary_large_image"]
    (picture,) = said(page, property="og:image")
    assert picture.startswith(HOME)
    with Image.open(book_folder / picture.removeprefix(HOME)) as card:
        assert card.size == (1200, 630)
        assert card.text["Description"] == f"{title}: {about}"
    stated = [said(page, property=f"og:image:{side}") for side in ("width", "height")]
    assert stated == [["1200"], ["630"]]


def test_a_card_is_drawn_again_only_when_its_words_change(tmp_path):
    class App:
        outdir, srcdir = tmp_path, ROOT

        class config:  # noqa: N801, as Sphinx names it
            html_title = "The course"

    file = tmp_path / social_cards.keep_card(App, "a/page", "A title", "What it is.")
    first = file.stat().st_mtime_ns
    social_cards.keep_card(App, "a/page", "A title", "What it is.")
    assert file.stat().st_mtime_ns == first
    social_cards.keep_card(App, "a/page", "A title", "What it is now.")
    assert file.stat().st_mtime_ns > first
    with Image.open(file) as card:
        assert len(card.convert("RGB").getcolors(256)) > 20, "nothing is drawn"


def test_the_longest_words_stay_inside_their_card(book_folder):
    for name in PAGES:
        page = head(book_folder / name)
        title, about = said(page, property="og:title")[0], said(page, name="description")[0]
        rows = social_cards.lines(title, social_cards.letters(ROOT, 76, 700)).count("\n") + 1
        below = social_cards.lines(about, social_cards.letters(ROOT, 32, 400)).count("\n") + 1
        assert rows * 86 + below * 46 + 180 < 630, f"{name}: {rows} and {below} lines"


def test_the_table_on_a_card_is_one_of_causal_attention():
    for query, row in enumerate(social_cards.weights(7)):
        assert len(row) == query + 1
        assert math.fsum(row) == pytest.approx(1)
        assert row == sorted(row)


def test_icons_have_the_sizes_that_they_are_asked_for(book_folder):
    page = head(book_folder / "chapters/06_softmax.html")
    sizes = {"_static/favicon.ico": (32, 32), "_static/apple-touch-icon.png": (180, 180)}
    icons = page.find_all("link", rel=re.compile("icon"))
    named = {link["href"].removeprefix("../") for link in icons}
    assert named == {"_static/favicon.svg", *sizes}
    for name, size in sizes.items():
        with Image.open(book_folder / name) as opened:
            icon = opened.convert("RGB")
        assert icon.size == size
        assert len(icon.getcolors(size[0] ** 2)) > 3, f"{name} is blank"


def test_the_sitemap_lists_every_page_and_robots_txt_names_it(book_folder):
    root = ElementTree.parse(book_folder / "sitemap.xml").getroot()
    listed = [place.text for place in root.findall(".//{*}loc")]
    assert sorted(listed) == sorted(map(address, PAGES))
    assert f"Sitemap: {HOME}sitemap.xml" in (book_folder / "robots.txt").read_text("utf8")


class Host(Quiet):
    """A static host: the book below its path, and its 404 page for all that is not there."""

    def translate_path(self, path: str) -> str:
        """Where a path of the address lies in the book."""
        inside = path.startswith(INSIDE)
        return super().translate_path("/" + path.removeprefix(INSIDE) if inside else "/no/where")

    def send_error(self, code: int, *_: object) -> None:
        """Send the page that is for this."""
        page = (Path(self.directory) / "404.html").read_bytes()
        self.send_response(code)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(page)


@pytest.mark.parametrize("lost", ["old.html", "chapters/99/old.html"])
def test_whoever_is_lost_finds_the_course_again_at_any_depth_below_a_sub_path(
    browser, book_folder, lost
):
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Host, directory=str(book_folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    page, missing = browser.new_page(), []
    page.on("response", lambda got: got.status >= 400 and missing.append(got.url))
    try:
        got = page.goto(f"http://127.0.0.1:{server.server_port}{INSIDE}{lost}")
        assert got.status == 404
        assert missing == [got.url]
        assert said(BeautifulSoup(page.content(), "html.parser"), name="robots") == ["noindex"]
        for link in ("article a >> nth=0", "article a >> nth=1", ".bd-links a >> nth=0"):
            page.goto(got.url)
            page.click(link)
            page.wait_for_load_state()
            assert INSIDE in page.url
            assert "no page here" not in page.locator("h1").first.inner_text()
    finally:
        page.close()
        server.shutdown()
        server.server_close()


def test_the_front_page_says_how_long_the_course_is(book_folder):
    table = next(
        one for one in parsed(book_folder / "guide.html").find_all("table")
        if "together" in one.get_text()
    )  # fmt: skip
    hours = table.find_all("tr")[-1].find_all("td")[-1].get_text().removesuffix(" h")
    chapters = sum(name.startswith("chapters/") for name in PAGES)
    first = parsed(book_folder / "index.html").get_text(" ")
    assert f"{chapters} chapters, each with" in first
    assert f"{hours} hours in all" in first
