"""What the tests share."""

import os
import shutil
from collections.abc import Iterator

import jaxtyping
import pytest
from playwright.sync_api import Browser, sync_playwright

# Chromium starts no service of its own, so that every request is one that the page made.
CHROMIUM = ["--no-sandbox", "--disable-gpu", "--disable-background-networking",
            "--disable-component-update", "--disable-sync", "--no-first-run"]  # fmt: skip


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """The machine's Chromium, headless."""
    found = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    assert found, "No Chromium was found. Install it, or set CHROMIUM to its path."
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=CHROMIUM)
        yield browser
        browser.close()


@pytest.fixture
def bare_calls() -> Iterator[None]:
    """Turn off the shape checks that the tests add, so that lib's own errors are met."""
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)
