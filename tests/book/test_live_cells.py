"""The cells of chapters in the page's Python, here under node: what they give is what is stored."""

import json

import pytest

from book.live import cells
from book.live.node import replay

# Of the first path: the first lap, a page of drawings, one with MiniLM, and the debugging.
EVERY_TIME = [f"chapters/{name}" for name in (
    "01_first_lap", "06_softmax", "07_self_attention", "17_capstone",
)]  # fmt: skip
WHAT_TO_DO = "the catalogue of cells is old: run `python -m book.live.cells`"


def compare(pages: list[str]) -> None:
    """Hold the catalogue to what comes of every cell."""
    (alone, with_model), known = cells.outcomes(pages), cells.catalogue()
    assert {page: cells.entry(page, alone[page], with_model[page]) for page in pages} == {
        page: known[page] for page in pages
    }, WHAT_TO_DO
    differ = [(page, number, result["why"]) for page in pages
              for number, result in enumerate(with_model[page], 1)
              if result["ran"] and not result["equal"]]  # fmt: skip
    assert differ == [], "what runs in the page must give what is stored"


def test_the_catalogue_is_of_the_cells_that_the_pages_have():
    known = cells.catalogue()
    assert sorted(known) == cells.pages()
    assert [page for page in known if not cells.is_current(page, known[page])] == [], WHAT_TO_DO


def test_cells_of_the_first_path_give_in_the_page_what_is_stored():
    compare(EVERY_TIME)


@pytest.mark.nightly
def test_all_cells_give_in_the_page_what_is_stored():
    compare(cells.pages())


def test_a_cell_that_only_defines_what_no_other_cell_calls_is_not_offered():
    area, square, train = "def area(r): square(r)", "def square(x): x", "def train(): 0"
    sources = ["import math", area, square, train, "area(2)"]
    assert cells.useful([1, 2, 3, 4], sources) == [1]
    assert cells.useful([1, 2, 4, 5], sources) == [1, 2, 5]
    assert cells.useful([1, 3, 2, 5], sources) == [1, 3, 2, 5], "called by what is called"
    assert cells.useful([2, 3, 5], sources) == [2, 5], "defined after its last call"


FIGURE = '<p>two</p><svg viewBox="0 0 1 1" aria-label="bars"><path d="M0"/></svg>'


@pytest.mark.parametrize(
    ("shown", "stdout", "differs"),
    [
        (FIGURE.replace("M0", "M1").replace("0 0 1 1", "0 0 2 2"), "1\n", ""),
        (FIGURE.replace("bars", "lines"), "1\n", "text/html"),
        (FIGURE.replace("two", "three"), "1\n", "text/html"),
        (FIGURE, "2\n", "stdout"),
        (None, "1\n", "0 things"),
    ],
)
def test_two_outputs_are_equal_if_all_but_the_lines_of_a_figure_is(shown, stdout, differs):
    stored = {"stdout": "1\n", "stderr": "", "shown": [{"text/html": FIGURE, "text/plain": "x"}]}
    mine = {"stdout": stdout, "stderr": "", "shown": [("text/html", shown)] if shown else []}
    assert replay.difference(mine, stored).startswith(differs)
    assert bool(replay.difference(mine, stored)) == bool(differs)


def test_the_catalogue_has_a_page_on_each_line(tmp_path, monkeypatch):
    known = cells.catalogue()
    monkeypatch.setattr(cells, "CATALOGUE", tmp_path / "cells.json")
    cells.write_catalogue(known)
    assert json.loads(cells.CATALOGUE.read_text("utf8")) == known
    assert len(cells.CATALOGUE.read_text("utf8").splitlines()) == len(known) + 2
