"""Without the package of SmolLM2, a page says what is missing and goes on to its end."""

import os

import nbformat
import pytest
from nbclient import NotebookClient

from tests.support.pages import CHAPTERS

BLOCKED = """import sys
from pathlib import Path
from lib.pretrained import smollm2_package
sys.modules[smollm2_package.MODULE] = None
smollm2_package.BESIDE = Path("absent")"""
QUICK = "18_llama"  # the other pages run for a minute each
PAGES = [
    page.stem if page.stem == QUICK else pytest.param(page.stem, marks=pytest.mark.nightly)
    for page in sorted(CHAPTERS.glob("*.md"))
    if "load_smollm2()" in page.read_text("utf8")
]


@pytest.mark.parametrize("page", PAGES)
def test_a_page_that_uses_the_model_says_what_is_missing_and_goes_on(page):
    notebook = nbformat.read(CHAPTERS / f"{page}.ipynb", as_version=4)
    notebook.cells.insert(0, nbformat.v4.new_code_cell(BLOCKED))
    where = {"metadata": {"path": str(CHAPTERS)}}
    NotebookClient(notebook, timeout=600, resources=where).execute(env=os.environ)  # or an error
    texts = [
        output.get("text", "")
        for cell in notebook.cells
        for output in cell.get("outputs", [])
        if output.get("name") == "stdout"
    ]
    missing = [text for text in texts if "SmolLM2 is not installed" in text]
    assert missing
    assert len("".join(missing)) < len("".join(texts))  # the page prints more than that
