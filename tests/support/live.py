"""The page's Python under node, for tests."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import PIPE

from book.node import node

ROOT = Path(__file__).resolve().parents[2]
RUNNER = ROOT / "book" / "live" / "node" / "in_node.mjs"
CELLS = """
import json
import sys
from book.live.page import driver
from checks.run import call

printed = []
limits = driver.SECONDS, call.SECONDS
while asked := sys.stdin.readline():
    before, cells = json.loads(asked)
    driver.SECONDS, call.SECONDS = limits
    driver.start(lambda kind, text: printed.append([kind, text]))
    exec(before)
    ends = []
    for number, cell in enumerate(cells):
        end = json.loads(driver.run_cell(cell, f"<cell {number}>"))
        ends.append({**end, "printed": printed[:], "heap": heap()})
        printed.clear()
    print(json.dumps(ends), flush=True)
"""


def in_node(made: Path, script: Path, *arguments: str) -> str:
    """What a script prints in the page's Python, where the checkout is at /host."""
    command = [node(), RUNNER, made, ROOT, script, *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    return done.stdout


@contextmanager
def page_python(made: Path, folder: Path) -> Iterator[Callable[..., list[dict]]]:
    """A function that runs cells and gives what came of each, as in a page that was just opened.

    Python starts once, in seconds; what a page's visit leaves (names, notes, limits) is forgotten.
    """
    script = folder / "cells.py"
    script.write_text(CELLS, "utf8")
    command = [node(), RUNNER, made, ROOT, script]
    with subprocess.Popen(command, stdin=PIPE, stdout=PIPE, text=True) as python:

        def run(*cells: str, before: str = "") -> list[dict]:
            print(json.dumps([before, cells]), file=python.stdin, flush=True)
            return json.loads(python.stdout.readline())

        yield run
        python.stdin.close()
