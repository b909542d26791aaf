"""The joined book in Chromium: set, measured against its text block, and printed."""

from __future__ import annotations

import mimetypes
from pathlib import Path
from urllib.parse import unquote, urlsplit

from playwright.sync_api import Page, Route

HERE = "http://book.invalid"  # no host: every request is answered from the built book
WIDTHS = {"a4": 210, "letter": 215.9}  # in millimetres
MARGIN = 22  # left and right, as book/assets/print.css has it
PIXEL = 25.4 / 96

READY = """async () => {
    await document.fonts.ready;
    return [...document.querySelectorAll(".math")]
        .filter((one) => !one.querySelector(".katex") || one.querySelector(".katex-error"))
        .map((one) => one.textContent.slice(0, 80));
}"""
OVERFULL = """(width) => {
    const found = [];
    const name = (one, by) => found.push(
        `${one.closest("article")?.id}: ${Math.ceil(by)} px: ${one.outerHTML.slice(0, 140)}`);
    // What stretches inside a formula is cut on purpose; the formula itself is measured.
    const inner = "svg *, .katex-mathml, .katex-mathml *, .katex svg";
    for (const one of document.querySelectorAll(`body *:not(${inner})`)) {
        const box = one.getBoundingClientRect();
        if (!box.width || !box.height) continue;
        const out = Math.max(box.right - width, -box.left);
        const cut = one.scrollWidth - one.clientWidth;
        const hides = getComputedStyle(one).overflowX !== "visible" && !one.closest(".katex");
        if (out > 1) name(one, out);
        else if (hides && cut > 1) name(one, cut);
    }
    return found;
}"""
# As wide whatever the number is (with spaces as wide as a digit), so filling in moves nothing.
FILL = """(numbers) => document.querySelectorAll("[data-of]").forEach(
    (one) => (one.textContent = String(numbers[one.dataset.of]).padStart(3, "\u2007")))"""


class NotPrintedError(Exception):
    """The PDF is not as it should be."""


def refuse(wrong: list[str], what: str, fix: str) -> None:
    """Stop in words, where anything is wrong."""
    if wrong:
        shown = "\n  ".join(wrong[:10])
        raise NotPrintedError(f"{len(wrong)} {what}:\n  {shown}\n{fix}")


class Printing:
    """The joined document, open in Chromium."""

    def __init__(self, page: Page, folder: Path, text: str, paper: str):
        self.page, self.folder, self.text, self.paper = page, folder, text, paper
        self.problems: list[str] = []
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        page.route("**/*", self.answer)
        page.emulate_media(media="print", color_scheme="light")
        page.set_viewport_size({"width": int((WIDTHS[paper] - 2 * MARGIN) / PIXEL), "height": 1000})
        page.goto(f"{HERE}/", wait_until="load", timeout=300_000)

    def answer(self, route: Route) -> None:
        """Give Chromium a file of the book, and nothing else."""
        asked = urlsplit(route.request.url)
        path = (self.folder / unquote(asked.path).lstrip("/")).resolve()
        if asked.path == "/":
            route.fulfill(body=self.text, content_type="text/html; charset=utf-8")
        elif route.request.url.startswith(HERE) and path.is_file():
            kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
            route.fulfill(body=path.read_bytes(), content_type=kind)
        else:
            self.problems.append(f"asked for {route.request.url}")
            route.abort()

    def check(self) -> None:
        """Refuse mathematics that is not set, and what is wider than the text."""
        unset = self.page.evaluate(READY)
        refuse(unset, "formulas are not set", "See the page itself: make serve.")
        refuse(
            self.page.evaluate(OVERFULL, self.page.viewport_size["width"]),
            "elements are wider than the text block, or cut off",
            "Fix the page, or how book/assets/print.css sets such a thing.",
        )
        refuse(self.problems, "things went wrong on the page", "The book must be whole: make book.")

    def print(self, numbers: dict[str, int]) -> bytes:
        """One printing, with these page numbers in the contents."""
        self.page.evaluate(FILL, numbers)
        return self.page.pdf(format=self.paper, outline=True, tagged=True)
