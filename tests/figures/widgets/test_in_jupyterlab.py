"""Every interactive figure is alive in JupyterLab too, and speaks with the kernel there."""

import importlib
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import Browser, Page, expect

from figures import widgets
from figures.widgets import Interactive
from tests.support.jupyterlab import jupyterlab

ROOM = Path(widgets.__file__).parent
OWN = """from lib.pretrained.minilm import load_minilm
from figures.playground.sentence import OwnSentence
OwnSentence(load_minilm(), "She ate an apple.", "apple", ("microsoft", "orange"))"""
TALK = """from figures.playground.conversation import OwnConversation
OwnConversation(prompt="The keys that the man with the two large dogs had left on the table")"""
FIGURES = sorted(path.stem for path in ROOM.glob("*.py") if path.stem != "__init__")


def class_of(module: str) -> str:
    """The one figure that a module of figures.widgets defines."""
    members = vars(importlib.import_module(f"figures.widgets.{module}")).values()
    kinds = [
        member for member in members if isinstance(member, type) and issubclass(member, Interactive)
    ]
    (kind,) = [member for member in kinds if member.__module__ == f"figures.widgets.{module}"]
    return kind.__name__


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a JupyterLab that serves one notebook with every figure."""
    folder = tmp_path_factory.mktemp("lab")
    show = "from figures.widgets.{0} import {1}\n{0} = {1}()\n{0}"
    cells = [nbformat.v4.new_code_cell(show.format(name, class_of(name))) for name in FIGURES]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3 (ipykernel)"}}
    notebook = nbformat.v4.new_notebook(cells=cells, metadata=kernel)
    nbformat.write(notebook, folder / "figures.ipynb")
    for name, source in {"playground": OWN, "conversation": TALK}.items():
        cell = nbformat.v4.new_code_cell(source)
        playground = nbformat.v4.new_notebook(cells=[cell], metadata=kernel)
        nbformat.write(playground, folder / f"{name}.ipynb")
    with jupyterlab(folder) as address:
        yield address


def test_every_figure_starts_and_a_switch_reaches_the_kernel(lab: str, browser: Browser):
    page = browser.new_page(viewport={"width": 1280, "height": 6000})
    page.goto(f"{lab}/lab/tree/figures.ipynb")
    page.get_by_text("Python 3 (ipykernel) | Idle").wait_for(timeout=60_000)
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
    expect(page.locator(".kit[role=group]")).to_have_count(len(FIGURES), timeout=60_000)

    page.get_by_label("causal mask").press("Space")
    first = page.locator("table:has(caption:text-is('weights')) td button").first
    expect(first).to_have_text("1")
    page.keyboard.press("Escape")
    page.locator(".jp-CodeCell").last.click(position={"x": 300, "y": 20})
    page.get_by_role("button", name="Insert a cell below").first.click()
    page.keyboard.press("Enter")
    page.keyboard.type("print('the kernel says', output_arithmetic.causal)")
    page.keyboard.press("Shift+Enter")
    expect(page.get_by_text("the kernel says True")).to_be_visible(timeout=20_000)
    page.close()


def run_first_cell(lab: str, browser: Browser, name: str) -> Page:
    """Open a notebook in a workspace of its own, so that the others stay away, and run its cell."""
    page = browser.new_page(viewport={"width": 1280, "height": 1800})
    page.goto(f"{lab}/lab/workspaces/{name}/tree/{name}.ipynb")
    page.get_by_text("Python 3 (ipykernel) | Idle").wait_for(timeout=60_000)
    page.locator(".jp-CodeCell").first.click(position={"x": 300, "y": 20})
    page.keyboard.press("Shift+Enter")
    return page


def test_a_sentence_of_the_reader_s_own_goes_to_the_kernel_and_comes_back(
    lab: str, browser: Browser
):
    page = run_first_cell(lab, browser, "playground")
    field = page.get_by_role("textbox", name="sentence")
    field.wait_for(timeout=60_000)
    expect(page.locator(".widget-html figure svg")).to_have_count(2)
    field.fill("The phone is made by apple")
    field.press("Enter")
    caption = page.locator(".widget-html figcaption").first
    expect(caption).to_contain_text("apple attends to phone", timeout=20_000)
    page.keyboard.press("Tab")  # the layer, reached and changed without a mouse
    page.keyboard.press("ArrowUp")
    expect(caption).to_contain_text("Head 0 of layer 1", timeout=20_000)
    field.fill("")
    field.press("Enter")
    expect(page.get_by_role("status")).to_contain_text("write at least one word", timeout=20_000)
    page.close()


# What the figure shows is tested in test_conversation.py, the way to the kernel above.
@pytest.mark.nightly
def test_a_reader_looks_at_a_token_of_smollm2_takes_a_head_out_completes_and_chats(
    lab: str, browser: Browser
):
    page = run_first_cell(lab, browser, "conversation")
    page.get_by_role("button", name="Load SmolLM2").click(timeout=60_000)
    attention, following = page.get_by_role("table").first, page.get_by_role("table").nth(1)
    expect(attention).to_contain_text("Head L26H0: token 14, table", timeout=120_000)
    expect(attention.locator("tbody tr").first).to_have_text("keys (token 1)0.745")
    expect(following).to_contain_text("were")
    page.get_by_role("button", name="dogs", exact=True).press("Enter")
    expect(attention).to_contain_text("token 9, dogs", timeout=20_000)
    page.get_by_role("button", name="table", exact=True).click()

    out = page.get_by_role("textbox", name="heads out")
    out.fill("L26H0")
    out.press("Enter")
    expect(following).to_contain_text("without L26H0", timeout=60_000)
    was = following.locator("tbody tr").filter(has=page.get_by_role("rowheader", name="was"))
    without, whole = (float(cell.inner_text()) for cell in was.locator("td").all()[:2])
    assert without > 3 * whole
    out.fill("L30H0")
    out.press("Enter")
    expect(page.get_by_role("status")).to_contain_text("There is no head L30H0", timeout=20_000)
    out.fill("")
    out.press("Enter")
    expect(page.get_by_role("status")).to_have_count(0, timeout=20_000)

    text, count = page.locator(".widget-html pre"), page.get_by_label("new tokens")
    count.fill("3")
    count.press("Enter")
    page.get_by_role("button", name="Complete the text").click()
    expect(text.locator("b")).to_contain_text("are:", timeout=60_000)
    prompt = page.get_by_role("textbox", name="text", exact=True)
    prompt.fill("What is the capital of Japan?")
    prompt.press("Enter")
    page.get_by_role("button", name="Send as chat").click()
    expect(text).to_contain_text("You: What is the capital of Japan?", timeout=60_000)
    expect(text.locator("b")).to_contain_text("The capital of", timeout=60_000)
    page.close()
