"""Which cells of the chapters run in the page: found by running them there.

    python -m book.live.cells          run the pages whose cells have changed
    python -m book.live.cells --all    run every page
    python -m book.live.cells --table  how many run, of each page

`cells.json` is written with one line for each page: how many code cells the page shows, a digest
of their text, and the numbers of those that run, give exactly the stored output and are of use,
by what they need: `numpy`, the Python that every page has; `minilm`, the real model, opened on
request.
"""

from __future__ import annotations

import ast
import hashlib
import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from book.live.build import CACHE, build_live
from book.live.model import PLACE, build_minilm
from book.node import node

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).parent
CATALOGUE = HERE / "cells.json"
DEFINITIONS = (ast.FunctionDef, ast.ClassDef)
Page = dict[str, Any]
Outcomes = dict[str, list[dict[str, Any]]]


class ModelMissingError(Exception):
    """The package of the model is not installed."""


def pages() -> list[str]:
    """The pages of the chapters, such as chapters/06_softmax."""
    return [f"chapters/{path.stem}" for path in sorted((ROOT / "chapters").glob("*.ipynb"))]


def shown_cells(page: str) -> list[dict[str, Any]]:
    """The code cells that a page shows, in order."""
    cells = json.loads((ROOT / f"{page}.ipynb").read_text("utf8"))["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    return [cell for cell in code if "remove-cell" not in cell["metadata"].get("tags", ())]


def digest_of_page(page: str) -> str:
    """Ten digits that change with the text of a page's cells."""
    sources = ["".join(cell["source"]) for cell in shown_cells(page)]
    return hashlib.sha256(json.dumps(sources).encode()).hexdigest()[:10]


def catalogue() -> dict[str, Page]:
    """What is written of each page."""
    return json.loads(CATALOGUE.read_text("utf8"))


def is_current(page: str, entry: Page | None) -> bool:
    """Whether an entry is of the cells that the page has now."""
    return entry is not None and entry["text"] == digest_of_page(page)


def asks_for_the_model(page: str) -> bool:
    """Whether a cell of a page loads MiniLM for NumPy."""
    return any("load_minilm(numpy=True" in "".join(cell["source"]) for cell in shown_cells(page))


def replayed(names: Iterable[str], *, model: bool = False) -> Outcomes:
    """What came of each cell of these pages in the page's Python, under node.

    Raises: ModelMissingError, if the model is to be opened and is not installed.
    """
    names = list(names)
    asked: dict[str, Any] = {"notebooks": [f"{page}.ipynb" for page in names]}
    if model:
        packed = build_minilm(CACHE)
        if packed is None:
            raise ModelMissingError("MiniLM is not installed: no cell can read with it.")
        asked["model"] = {"file": str(packed), "place": PLACE}
    folder = HERE / "node"
    program = [folder / "in_node.mjs", build_live(), ROOT, folder / "replay.py"]
    command = [node(), *program, json.dumps(asked)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"The cells could not be run:\n{done.stdout[-2000:]}\n{done.stderr}")
    results = (json.loads(line) for line in done.stdout.splitlines())
    return dict(zip(names, results, strict=True))


def outcomes(names: Iterable[str]) -> tuple[Outcomes, Outcomes]:
    """What came of each cell without the real model, and with it, where a page asks for it."""
    names = list(names)
    alone = replayed(names)
    asking = [page for page in names if asks_for_the_model(page)]
    return alone, alone | (replayed(asking, model=True) if asking else {})


def entry(page: str, alone: list[dict[str, Any]], with_model: list[dict[str, Any]]) -> Page:
    """What the catalogue says of a page, by what came of its cells without and with MiniLM."""
    sources = ["".join(cell["source"]) for cell in shown_cells(page)]
    first = useful(running(alone), sources)
    about = {"cells": len(alone), "text": digest_of_page(page), "numpy": first}
    more = [number for number in useful(running(with_model), sources) if number not in first]
    return about | ({"minilm": more} if more else {})


def running(results: list[dict[str, Any]]) -> list[int]:
    """The numbers of the cells that ran and gave what is stored."""
    return [number for number, result in enumerate(results, 1) if result["equal"]]


def useful(numbers: list[int], sources: list[str]) -> list[int]:
    """These cells, less those that only define what no later one of them calls.

    To run such a cell would show nothing: what calls it needs the notebook.
    """
    kept: list[int] = []
    called: set[str] = set()
    for number in reversed(numbers):
        tree = ast.parse(sources[number - 1])
        names = {part.name for part in tree.body if isinstance(part, DEFINITIONS)}
        if len(names) < len(tree.body) or names & called:
            kept.append(number)
            called |= {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return kept[::-1]


def write_catalogue(entries: dict[str, Page]) -> None:
    """Write the catalogue, one page a line, so that a change is easy to read."""
    lines = (f"{json.dumps(page)}: {json.dumps(entries[page])}" for page in sorted(entries))
    CATALOGUE.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf8")


def bring_up_to_date(*, every: bool = False) -> None:
    """Run the pages whose cells have changed, or every page, and write what runs.

    Raises: PyodideMissingError, with what to do, if there is something to run.
    """
    known = catalogue() if CATALOGUE.exists() else {}
    stale = [page for page in pages()
             if every or not is_current(page, known.get(page))]  # fmt: skip
    alone, with_model = outcomes(stale) if stale else ({}, {})
    new = {page: entry(page, alone[page], with_model[page]) for page in stale}
    write_catalogue({page: new.get(page) or known[page] for page in pages()})
    for page in stale:
        print(f"{page}: {len(running(with_model[page]))} of {new[page]['cells']} cells run")
        for number, result in enumerate(with_model[page], 1):
            if result["ran"] and not result["equal"]:
                print(f"  cell {number} gives something else: {result['why'][:200]}")


def main(arguments: list[str]) -> None:
    """Bring the catalogue up to date, or show it."""
    if "--table" not in arguments:
        bring_up_to_date(every="--all" in arguments)
        return
    for page, about in catalogue().items():
        alone, more = len(about["numpy"]), len(about.get("minilm", ()))
        print(f"{page:<40} {about['cells']:>3} cells, {alone:>3} run, {more:>2} more with MiniLM")


if __name__ == "__main__":
    main(sys.argv[1:])
