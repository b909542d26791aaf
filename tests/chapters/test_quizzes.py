"""What is folded stays folded, opens by keyboard and reads well: on a page and in JupyterLab."""

import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import nbformat
import pytest
from markdown_it import MarkdownIt
from playwright.sync_api import Browser, Locator, Page, expect

from tests.support.jupyterlab import jupyterlab

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted(
    path for room in ("chapters", "exercises") for path in (ROOT / room).glob("*.ipynb")
)
FOLD = """<details class="choice"><summary>{0}</summary>

{1}

</details>"""
CELL = "\n".join([
    "**1. Which is the divisor?**\n",
    FOLD.format("The width of the model", "Not so: take `d_k`."),
    "",
    FOLD.format("The root of d_k", "Right: $\\sqrt{64} = 8$."),
    "",
    FOLD.format("Their number", "Not so:\n\n$$\n\\sum_j w_j = 1\n$$\n\nholds before it."),
])  # fmt: skip


class Folds(HTMLParser):
    """The folds of a rendered cell: each with its summary and the text that it hides."""

    def __init__(self, html: str):
        super().__init__()
        self.open: list[dict[str, str]] = []
        self.all: list[dict[str, str]] = []
        self.into = "hidden"
        self.feed(html)
        self.close()
        assert self.open == [], "a fold is never closed"

    def handle_starttag(self, tag, attrs):
        if tag == "details":
            self.open.append({"summary": "", "hidden": ""})
        self.into = "summary" if tag == "summary" else self.into

    def handle_endtag(self, tag):
        self.into = "hidden" if tag == "summary" else self.into
        if tag == "details":
            assert self.open, "a fold is closed that was never opened"
            self.all.append(self.open.pop())

    def handle_data(self, data):
        if self.open:
            assert len(self.open) == 1, "a fold within a fold"
            self.open[0][self.into] += data.strip()


def cells(path: Path) -> list[str]:
    read = json.loads(path.read_text("utf8"))["cells"]
    return ["".join(cell["source"]) for cell in read if cell["cell_type"] == "markdown"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_every_renderer_of_markdown_finds_the_same_folds(path):
    """VS Code, the classic notebook and Colab read a cell as CommonMark with HTML."""
    for cell in cells(path):
        folds = Folds(MarkdownIt("commonmark", {"html": True}).render(cell)).all
        assert len(folds) == cell.count("<details")
        for fold in folds:
            assert fold["summary"], fold
            assert fold["hidden"], fold
            assert not re.search(r"[$`]", fold["summary"]), "a summary is HTML: no $ and no `"
        # jupyterlab-myst unfolds what begins in the line after another fold.
        assert "</details>\n<details" not in cell
        assert not re.search(r"</details>\n(?=\S)", cell)


def tab_to(page: Page, wanted: Locator) -> None:
    """Press Tab until the focus is there."""
    for _ in range(400):
        if wanted.evaluate("one => one === document.activeElement"):
            return
        page.keyboard.press("Tab")
    raise AssertionError("the keyboard does not reach it")


def test_a_quiz_is_answered_by_keyboard_and_counts_first_tries(browser: Browser, book: str):
    page = browser.new_page()
    page.goto(f"{book}/chapters/09_multi_head.html", wait_until="networkidle")
    page.locator("#check-yourself a").first.focus()
    choices, count = page.locator("details.choice"), page.locator(".quiz-count")
    expect(count).to_have_role("status")
    expect(count).to_be_empty()
    first, second = choices.nth(0), choices.nth(1)
    tab_to(page, first.locator("summary"))
    expect(first.locator("p")).not_to_be_visible()
    page.keyboard.press("Enter")
    expect(first.locator("p").first).to_be_visible()
    expect(first.locator("summary")).to_contain_text("not so")
    expect(count).to_have_text("0 of 1 right at the first try, 2 to go.")
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    expect(second.locator("summary")).to_contain_text("right")
    expect(count).to_have_text("0 of 1 right at the first try, 2 to go.")
    page.keyboard.press("Space")
    expect(second.locator("p")).not_to_be_visible()
    for question in range(1, 3):
        choice = choices.filter(has_text="Right:").nth(question).locator("summary")
        tab_to(page, choice)
        page.keyboard.press("Enter")
    expect(count).to_have_text("2 of 3 right at the first try.")
    # Two choices of a question never have one name, and the verdict is part of the name.
    names = [summary.inner_text() for summary in page.locator("details.choice > summary").all()]
    assert len(set(names[:3])) == 3
    assert "✓ right" in names[1]
    page.close()


def test_without_scripts_the_words_say_what_is_right(browser: Browser, book: str):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{book}/chapters/09_multi_head.html")
    choice = page.locator("details.choice").nth(1)
    choice.locator("summary").click()
    expect(choice.locator("p").first).to_contain_text("Right:")
    context.close()


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a JupyterLab that shows a quiz, one of ours, and a page of hints."""
    folder = tmp_path_factory.mktemp("quiz")
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3 (ipykernel)"}}
    quiz = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(CELL)], metadata=kernel)
    nbformat.write(quiz, folder / "quiz.ipynb")
    for path in NOTEBOOKS:
        if path.stem == "09_multi_head" and path.parent.name == "exercises":
            (folder / "hints.ipynb").write_text(path.read_text("utf8"), "utf8")
    with jupyterlab(folder) as address:
        yield address


def test_in_jupyterlab_a_choice_opens_by_keyboard_and_shows_code_and_formulas(lab, browser):
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(f"{lab}/lab/tree/quiz.ipynb?reset")
    choices = page.locator("details.choice")
    expect(choices).to_have_count(3, timeout=60_000)
    texts = [choice.locator("summary ~ *").first for choice in choices.all()]
    for text in texts:
        expect(text).not_to_be_visible()
    for choice, text in zip(choices.all(), texts, strict=True):
        choice.locator("summary").focus()
        page.keyboard.press("Enter")
        expect(text).to_be_visible()
    expect(choices.nth(0).locator("code")).to_have_text("d_k")
    expect(choices.nth(1).locator("mjx-container")).to_be_visible()
    expect(choices.nth(2).locator("mjx-container[display=true]")).to_be_visible()
    expect(choices.get_by_text("$")).to_have_count(0)
    marker = "one => getComputedStyle(one).listStyleType"
    assert choices.first.locator("summary").evaluate(marker) == "disclosure-open"
    page.close()


def test_in_jupyterlab_the_hints_of_an_exercise_are_folded(lab, browser):
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(f"{lab}/lab/tree/hints.ipynb?reset")
    hints = page.locator("details.hint")
    expect(hints.nth(5)).to_be_attached(timeout=60_000)
    for hint in hints.all()[:6]:
        assert hint.locator("summary ~ *").count() > 0, hint.inner_html()
        expect(hint.locator("summary ~ *").first).not_to_be_visible()
    page.close()
