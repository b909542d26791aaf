"""Every interactive figure is alive in JupyterLab too, and speaks with the kernel there."""

import importlib
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import Browser, expect

from figures import widgets
from figures.widgets import Interactive
from tests.support.jupyterlab import jupyterlab

ROOM = Path(widgets.__file__).parent
OWN = """from lib.pretrained.minilm import load_minilm
from figures.playground.sentence import OwnSentence
OwnSentence(load_minilm(), "She ate an apple.", "apple", ("microsoft", "orange"))"""
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
    playground = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(OWN)], metadata=kernel)
    nbformat.write(playground, folder / "playground.ipynb")
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


def test_a_sentence_of_the_reader_s_own_goes_to_the_kernel_and_comes_back(
    lab: str, browser: Browser
):
    page = browser.new_page(viewport={"width": 1280, "height": 1800})
    page.goto(f"{lab}/lab/workspaces/own/tree/playground.ipynb")  # the other notebook stays away
    page.get_by_text("Python 3 (ipykernel) | Idle").wait_for(timeout=60_000)
    page.locator(".jp-CodeCell").first.click(position={"x": 300, "y": 20})
    page.keyboard.press("Shift+Enter")
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
