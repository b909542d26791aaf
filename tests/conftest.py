"""What the tests share: a browser, and the book as its readers meet it."""

import gc
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import hypothesis
import jaxtyping
import pytest
from filelock import FileLock
from playwright.sync_api import Browser, sync_playwright

from book.build.local_browser import chromium, served

ROOT = Path(__file__).resolve().parents[1]
# To look for garbage among modules and tests that stay took 9 of the 23 seconds of a short run.
gc.disable()
# What a test checks is no learner's work; tests of the record itself say where it lies.
os.environ.setdefault("ATTENTION_RECORD", "off")

# Chromium starts no service of its own, so that every request is one that the page made.
CHROMIUM = ["--no-sandbox", "--disable-gpu", "--disable-background-networking",
            "--disable-component-update", "--disable-sync", "--no-first-run"]  # fmt: skip


# No test is timed, and continuous integration draws the same examples every time.
hypothesis.settings.register_profile("course", deadline=None, derandomize="CI" in os.environ)
hypothesis.settings.load_profile("course")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """The machine's Chromium, headless."""
    program = chromium()
    assert program, "No Chromium was found. Install it, or set CHROMIUM to its path."
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=CHROMIUM)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def book_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The book, built from clean with every warning an error, once for all workers.

    `make test` has just built it so and says where: BOOK.
    """
    if built := os.environ.get("BOOK"):
        return ROOT / built
    shared = tmp_path_factory.getbasetemp()
    if os.environ.get("PYTEST_XDIST_WORKER"):
        shared = shared.parent
    pages = shared / "book" / "_build" / "html"
    with FileLock(shared / "book.lock"):
        if not (shared / "book.built").exists():
            command = [sys.executable, ROOT / "book" / "build" / "sphinx_build.py", "--all",
                       "--output", shared / "book" / "_build"]  # fmt: skip
            done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
            assert done.returncode == 0, f"the book does not build:\n{done.stdout}\n{done.stderr}"
            (shared / "book.built").touch()
    return pages


@pytest.fixture(scope="session")
def book(book_folder: Path) -> Iterator[str]:
    """The address at which the built book is served."""
    with served(book_folder) as address:
        yield address


@contextmanager
def without_shape_checks() -> Iterator[None]:
    """Lib as its readers call it, without the shape checks that the tests add."""
    before = jaxtyping.config.jaxtyping_disable
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", before)


@pytest.fixture
def bare_calls() -> Iterator[None]:
    """Turn off the shape checks that the tests add, so that lib's own errors are met."""
    with without_shape_checks():
        yield


@pytest.fixture(scope="module")
def bare_lib() -> Iterator[None]:
    """Train with lib as a page does: to check each shape of each step takes a third of the time."""
    with without_shape_checks():
        yield


def pytest_collection_finish() -> None:
    """Look for garbage from here on, and only among what the tests themselves leave."""
    gc.freeze()
    gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what other systems leave out: the book in its browser, and the grader's sandbox."""
    skip = pytest.mark.skip(reason="The sandbox of the grader needs bubblewrap, which Linux has")
    for item in items:
        if {"book", "book_folder", "browser"} & set(getattr(item, "fixturenames", ())):
            item.add_marker("book")
        if "classroom" in item.path.relative_to(ROOT).parts:
            item.add_marker("linux")
        if sys.platform != "linux" and item.get_closest_marker("linux"):
            item.add_marker(skip)
