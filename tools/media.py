"""Make the two pictures of the README from the built book: `make media`.

    python tools/media.py [_build/html]

A headless Chromium opens chapter 5, moves its figure, and records an animation; then it shows the
verdict on a function that forgot the scale, and takes a picture. Look at both before you commit.
"""

import importlib
import io
import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Locator, Page, sync_playwright
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from book.build.local_browser import chromium, served
from checks import Verdict, grade_source

ROOT = Path(__file__).resolve().parents[1]
PICTURES = ROOT / ".github" / "media"
WIDTH = 800
MOST_BYTES = 600_000
HELD, STEP = 1800, 260  # milliseconds that a frame is shown
FORGOTTEN = '''\
def scaled_scores(x, W_q, W_k):
    """x (n, d_model), W_q and W_k (d_model, d_k) -> scores (n, n)"""
    return (x @ W_q) @ (x @ W_k).T
'''


def photograph(place: Locator) -> Image.Image:
    """A picture of an element, as wide as the README shows it."""
    picture = Image.open(io.BytesIO(place.screenshot())).convert("RGB")
    return picture.resize((WIDTH, round(picture.height * WIDTH / picture.width)), Image.LANCZOS)


def record_figure(page: Page) -> list[tuple[Image.Image, int]]:
    """Frames of chapter 5's figure: the dimension grows, then the scores are divided."""
    figure = page.locator('.course-widget[data-module="scaling_lab.js"][data-mounted="true"]')
    figure.wait_for()
    slider, keys = figure.locator("input[type=range]").all()
    options = figure.locator("input[type=radio]")
    keys.fill("10")
    figure.locator("button").first.click()  # these vectors show the effect at every dimension
    options.nth(0).check(force=True)
    pictures = []
    for position in range(1, int(slider.get_attribute("max")) + 1):
        slider.fill(str(position))
        pictures.append(photograph(figure))
    options.nth(1).check(force=True)
    times = [HELD, *[STEP] * (len(pictures) - 2), HELD, 2 * HELD]
    return list(zip([*pictures, photograph(figure)], times, strict=True))


def verdict_on_forgotten_scale() -> Verdict:
    """What the check of task 5.1 says of scores that nobody divided."""
    task = importlib.import_module("exercises.05_scaling").EXERCISE["5.1"]
    return grade_source(task, FORGOTTEN)


def show_verdict(page: Page) -> Image.Image:
    """The forgetful function and its verdict, in the looks of the exercise's page."""
    code = highlight(FORGOTTEN, PythonLexer(), HtmlFormatter(cssclass="highlight"))
    verdict = verdict_on_forgotten_scale()._repr_html_()
    article = page.locator("article.bd-article")
    show = "(place, text) => { place.innerHTML = text; place.style.padding = '1rem' }"
    article.evaluate(show, f"{code}<br>{verdict}")
    return photograph(article)


def opened(browser: Browser, address: str) -> Page:
    """A page of the book, light, sharp, and as narrow as its figures, which keeps text large."""
    page = browser.new_page(viewport={"width": 640, "height": 1200}, device_scale_factor=2,
                            color_scheme="light", reduced_motion="reduce")  # fmt: skip
    page.set_default_timeout(120_000)  # a busy machine is slow, not broken
    page.goto(address)
    return page


def write(frames: list[tuple[Image.Image, int]], path: Path) -> None:
    """Save frames as one small WebP, an animation if there are several."""
    (first, *rest), times = zip(*frames, strict=True)
    first.save(
        path, save_all=bool(rest), append_images=rest, duration=list(times), loop=0, quality=80
    )
    size = path.stat().st_size
    print(f"{path.name}: {len(frames)} frames, {size / 1000:.0f} kB")
    if size > MOST_BYTES:
        raise SystemExit(
            f"{path.name} must be under {MOST_BYTES:,} bytes; got {size:,}. Record less."
        )


def main(built: str = "_build/html") -> None:
    """Make both pictures from a built book."""
    PICTURES.mkdir(exist_ok=True)
    with served(ROOT / built) as book, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        page = opened(browser, f"{book}/chapters/05_scaling.html")
        write(record_figure(page), PICTURES / "live-figure.webp")
        page = opened(browser, f"{book}/exercises/05_scaling.html")
        write([(show_verdict(page), HELD)], PICTURES / "named-mistake.webp")
        browser.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
