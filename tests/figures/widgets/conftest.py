"""A page with one interactive figure on it, mounted as the book mounts it, in real Chromium."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from book.build.local_browser import served
from figures import palette, widgets
from figures.widgets import Interactive

ROOT = Path(widgets.__file__).parents[2]
PAGE = """<!doctype html><html lang="en" data-theme="light"><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><title>A figure</title>
<link rel="icon" href="data:,"><link rel="stylesheet" href="palette.css">
<link rel="stylesheet" href="kit.css">
<style>body{{background:var(--paper);color:var(--ink);font:16px sans-serif}}</style>
<main>{figure}</main><script type="module" src="mount.js"></script></html>"""


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """A folder with the figures' modules and styles, and the address at which it is served."""
    folder = tmp_path_factory.mktemp("figures")
    shutil.copytree(ROOT / "figures" / "widgets", folder / "widgets")
    shutil.copy(ROOT / "book" / "assets" / "mount.js", folder)
    shutil.copy(ROOT / "figures" / "widgets" / "kit.css", folder)
    (folder / "palette.css").write_text(palette.css(), "utf8")
    with served(folder) as address:
        yield folder, address


@pytest.fixture
def widget_page(browser: Browser, site: tuple[Path, str]) -> Iterator[Callable[..., Page]]:
    """Open a figure on a page of its own; afterwards, assert that nothing went wrong on it."""
    folder, address = site
    pages, problems = [], []

    def show(widget: Interactive, width: int = 1000, theme: str = "light") -> Page:
        figure = widget._repr_mimebundle_()[0]["text/html"]
        name = f"{type(widget).__name__}-{theme}.html"
        text = PAGE.format(figure=figure).replace('"light"', f'"{theme}"', 1)
        (folder / name).write_text(text, "utf8")
        page = browser.new_page(viewport={"width": width, "height": 900})
        page.on(
            "console", lambda message: message.type == "error" and problems.append(message.text)
        )
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.goto(f"{address}/{name}")
        expect(page.locator(".course-widget")).to_have_attribute("data-mounted", "true")
        pages.append(page)
        return page

    yield show
    for page in pages:
        page.close()
    assert problems == []
