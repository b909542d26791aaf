"""SmolLM2 in the page, in Chromium: what is offered, and what a press brings."""

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.support.accessibility import objections

SECONDS = 180_000  # milliseconds that Python and the model may take on a busy machine
PAGES = ["chapters/01_first_lap.html", "chapters/16_heads.html", "chapters/18_llama.html"]
WIDE, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
MEMORY = "Object.defineProperty(navigator, 'deviceMemory', { get: () => %s })"


@pytest.fixture
def reader(browser: Browser) -> Iterator[Page]:
    """Somebody with a computer, and all that the page asked for and complained of."""
    context = browser.new_context(viewport=WIDE)
    page = context.new_page()
    page.add_init_script(MEMORY % 8)
    page.fetched, page.problems = set(), []
    context.on("requestfinished", lambda got: page.fetched.add(urlsplit(got.url).path))
    page.on("pageerror", lambda error: page.problems.append(str(error)))
    page.on("console", lambda line: line.type == "error" and page.problems.append(line.text))
    yield page
    context.close()


@pytest.mark.parametrize("name", PAGES)
def test_a_computer_is_offered_the_model_and_nothing_of_it_is_loaded(reader, book, name):
    reader.goto(f"{book}/{name}", wait_until="networkidle")
    place = reader.locator(".live-language-model")
    expect(place.get_by_role("button")).to_have_text(
        re.compile(r"^Load SmolLM2 \(1\d\d MB, once\)$")
    )
    expect(place).to_contain_text("0.8 GB of memory")
    assert not [path for path in reader.fetched if "live/python" in path or "live/model" in path]
    assert reader.problems == []


@pytest.mark.parametrize(
    ("size", "memory", "words"), [(PHONE, 8, "too narrow"), (WIDE, 2, "2 GB of memory")]
)
def test_a_small_device_is_told_why_it_gets_the_recording(browser, book, size, memory, words):
    page = browser.new_page(viewport=size)
    page.add_init_script(MEMORY % memory)
    page.goto(f"{book}/{PAGES[0]}", wait_until="networkidle")
    place = page.locator(".live-language-model")
    expect(place).to_contain_text("Not on this device: ")
    expect(place).to_contain_text(words)
    expect(place.get_by_role("button")).to_have_count(0)
    page.close()


def open_model(page: Page, address: str) -> None:
    page.goto(address, wait_until="networkidle")
    page.locator(".live-language-model").get_by_role("button").click()
    expect(page.locator(".live-model output[data-name=model]")).not_to_be_empty(timeout=SECONDS)


@pytest.mark.nightly
def test_the_model_answers_the_riddle_loses_a_head_and_runs_the_readers_lines(reader, book):
    address = f"{book}/{PAGES[0]}"
    open_model(reader, address)
    panel = reader.locator(".live-model")
    answer = panel.locator("output[data-name=model]")

    def press(name: str) -> None:
        panel.get_by_role("button", name=name, exact=True).click()

    expect(answer).to_contain_text("as it is: most likely is are, 13%; were 12%; was 1.9%")
    expect(panel).to_contain_text("Head L26H0: from table, most weight, 0.75, goes to keys.")
    press("Take head L26H0 out")
    expect(answer).to_contain_text("were 12% → 8.7%; was 1.9% → 9.6%", timeout=SECONDS)
    press("All heads in")
    expect(answer).to_contain_text("as it is", timeout=SECONDS)
    panel.locator("summary").click()
    lines = panel.locator(".cm-content")
    own = lines.inner_text().replace(", where=where", "")
    for text, words in ((own, "with your lines: most likely is was"), ("1 / 0", None)):
        lines.click()
        reader.keyboard.press("Control+a")
        reader.keyboard.insert_text(text)
        press("Run with these lines")
        if words:
            expect(answer).to_contain_text(words, timeout=SECONDS)
    expect(panel.get_by_role("alert")).to_contain_text("ZeroDivisionError", timeout=SECONDS)
    press("Reset")
    expect(answer).to_contain_text("as it is", timeout=SECONDS)
    expect(panel.get_by_role("alert")).to_be_hidden()
    panel.get_by_label("A text of your own:").fill("One, two, three, four,")
    press("Continue")
    expect(panel.get_by_label("A text of your own:")).to_have_value(
        re.compile("^One, two, three, four, five"), timeout=SECONDS
    )
    press("Stop")
    expect(panel.locator(".live-status")).to_contain_text("a second.", timeout=SECONDS)
    assert reader.problems == []
    assert [path for path in reader.fetched if path.endswith(".gguf")]
    reader.fetched.clear()
    open_model(reader, address)  # the second time from the browser's cache
    assert not [path for path in reader.fetched if path.endswith(".gguf")]
    assert objections(reader) == []


@pytest.mark.nightly
def test_stop_ends_lines_that_never_end(reader, book):
    open_model(reader, f"{book}/{PAGES[0]}")
    panel = reader.locator(".live-model")
    panel.locator("summary").click()
    panel.locator(".cm-content").click()
    reader.keyboard.press("Control+a")
    reader.keyboard.insert_text("while True: pass")
    panel.get_by_role("button", name="Run with these lines").click()
    panel.get_by_role("button", name="Stop").click()
    place = reader.locator(".live-language-model")
    expect(place).to_contain_text("Stopped. Press to start it again.", timeout=SECONDS)
    place.get_by_role("button").click()
    expect(reader.locator("output[data-name=model]")).not_to_be_empty(timeout=SECONDS)
