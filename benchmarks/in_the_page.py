"""How long Python in the page lets its reader wait, written to in_the_page.json: `make waits`.

python -m benchmarks.in_the_page

The built book is served on this machine, so that no line of a network is measured. It takes a
minute; nothing else may run meanwhile.
"""

import json
import os
import re
import time
from collections.abc import Callable
from statistics import median

from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect, sync_playwright

from benchmarks.measuring import Setting
from benchmarks.record import circumstances
from benchmarks.speeds import WAITS, waits_rendered
from book.build.local_browser import chromium, served
from book.build.sphinx_build import ROOT

PATIENCE = 180_000  # milliseconds
EXERCISES, TASK = "exercises/06_softmax.html", "6.2 "
ANSWER = """def weights_of_copies(scores, counts):
    e = counts * np.exp(scores)
    return e / e.sum(-1, keepdims=True)"""
CHAPTER, CELL = "chapters/06_softmax.html", "naive_softmax(scores)"
SENTENCE_PAGE, SENTENCE_CELL = "chapters/00_start.html", "weights, reading.tokens"
MODEL_PAGE = "chapters/01_first_lap.html"


def seconds(work: Callable[[], object]) -> float:
    """The time by the clock: what a reader waits."""
    begun = time.perf_counter()
    work()
    return round(time.perf_counter() - begun, 3)


def section(page: Page) -> Locator:
    """The cell of the answer that is checked."""
    heading = page.locator("h2", has_text=TASK)
    return page.locator("section", has=heading).last.locator(".tag_exercise")


def verdict(page: Page) -> None:
    button = section(page).locator(".live-check")
    button.click()
    expect(button).to_be_enabled(timeout=PATIENCE)
    expect(section(page).locator(".live-status")).to_contain_text("Not yet", timeout=PATIENCE)


def write_answer(page: Page) -> None:
    section(page).locator(".cell_input:not([hidden]) pre, .cm-content").first.click()
    section(page).locator(".cm-content").click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(ANSWER)


def cell(page: Page, text: str) -> Locator:
    """The first cell whose code has this text, with its code shown."""
    page.evaluate("document.querySelectorAll('details.hide').forEach(d => d.open = true)")
    return page.locator(f'[data-runs]:has(.cell_input pre:text("{text}"))').first


def run(page: Page, text: str, button: str = ".live-run") -> None:
    cell(page, text).locator(button).first.click(force=True)
    expect(cell(page, text).locator(".live-status")).to_contain_text("Ran in", timeout=PATIENCE)


def answer_of_smollm2(page: Page) -> None:
    page.locator(".live-language-model").get_by_role("button").click()
    expect(page.locator(".live-model output[data-name=model]")).not_to_be_empty(timeout=PATIENCE)


def tokens_a_second(page: Page) -> float:
    """By the page's own words, after a text of one's own."""
    panel = page.locator(".live-model")
    panel.get_by_label("A text of your own:").fill("Once upon a time there was a little")
    panel.get_by_role("button", name="Continue", exact=True).click()
    expect(panel.locator(".live-status")).to_contain_text("a second.", timeout=PATIENCE)
    return float(re.search(r"([\d.]+) a second", panel.locator(".live-status").inner_text())[1])


class Visits:
    """A reader who comes to pages of the book, again and again, in one browser."""

    def __init__(self, context: BrowserContext, address: str):
        self.context, self.address = context, address

    def wait(self, name: str, prepare: Callable, work: Callable) -> float:
        page = self.context.new_page()
        page.goto(f"{self.address}/{name}", wait_until="networkidle")
        prepare(page)
        taken = seconds(lambda: work(page))
        page.close()
        return taken


def nothing(_: Page) -> None:
    """There is nothing to prepare."""


def ask_for_the_sentence(page: Page) -> None:
    cell(page, SENTENCE_CELL).locator(".live-run").click(force=True)
    expect(cell(page, SENTENCE_CELL).locator(".live-status")).to_contain_text("loaded first")


def open_and_read(page: Page) -> None:
    opens = cell(page, SENTENCE_CELL).get_by_role("button", name=re.compile("Open the real model"))
    opens.click()
    expect(cell(page, SENTENCE_CELL).locator(".live-status")).to_contain_text(
        "Ran in", timeout=PATIENCE
    )


def measure(browser: Browser, address: str) -> dict[str, float]:
    """Each first visit in a browser of its own that has nothing stored."""
    waits: dict[str, float] = {}

    def fresh() -> Visits:
        return Visits(browser.new_context(viewport={"width": 1280, "height": 900}), address)

    solver = fresh()
    waits["verdict"] = solver.wait(EXERCISES, write_answer, verdict)
    waits["verdict, later visit"] = solver.wait(EXERCISES, nothing, verdict)
    page = solver.context.new_page()
    page.goto(f"{address}/{EXERCISES}", wait_until="networkidle")
    verdict(page)
    waits["next verdict"] = median(seconds(lambda: verdict(page)) for _ in range(5))
    waits["cell"] = fresh().wait(CHAPTER, nothing, lambda page: run(page, CELL))
    reader = fresh()
    waits["MiniLM"] = reader.wait(SENTENCE_PAGE, ask_for_the_sentence, open_and_read)
    waits["MiniLM, later visit"] = reader.wait(
        SENTENCE_PAGE, nothing, lambda page: run(page, SENTENCE_CELL)
    )
    writer = fresh()
    waits["SmolLM2"] = writer.wait(MODEL_PAGE, nothing, answer_of_smollm2)
    page = writer.context.new_page()
    page.goto(f"{address}/{MODEL_PAGE}", wait_until="networkidle")
    waits["SmolLM2, later visit"] = seconds(lambda: answer_of_smollm2(page))
    waits["tokens a second"] = tokens_a_second(page)
    return waits


def main() -> None:
    with sync_playwright() as driver, served(ROOT / "_build" / "html") as address:
        browser = driver.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        machine = circumstances(Setting())
        kept = {name: machine[name] for name in ("date", "processor", "busy")}
        result = {
            "machine": kept,
            "browser": f"Chromium {browser.version}",
            "cores": os.cpu_count(),
        }
        result["waits"] = measure(browser, address)
        browser.close()
    WAITS.write_text(json.dumps(result, indent=1) + "\n", "utf8")
    print(waits_rendered(result))


if __name__ == "__main__":
    main()
