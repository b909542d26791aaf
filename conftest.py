"""What every run of pytest shares, that of a single notebook too: its kernels and the last word."""

import os
from itertools import count
from tempfile import TemporaryDirectory

import nbval.kernel
import pytest
from jupyter_client import KernelManager


def pytest_configure(config: pytest.Config) -> None:
    """Let the kernels of notebooks communicate through files, where the system has such sockets.

    A port that was free may be taken by a browser before the kernel binds it.
    """
    if os.name == "nt":
        return
    folder, number = TemporaryDirectory(), count()
    config.add_cleanup(folder.cleanup)

    def kernel_manager(**options) -> KernelManager:
        return KernelManager(transport="ipc", ip=f"{folder.name}/{next(number)}", **options)

    nbval.kernel.KernelManager = kernel_manager


def pytest_terminal_summary(terminalreporter) -> None:
    """After a failure, say what to do next, by the kind of test that failed."""
    failed = [report.nodeid for kind in ("failed", "error")
              for report in terminalreporter.stats.get(kind, [])]  # fmt: skip
    if any(".ipynb" in name for name in failed):
        terminalreporter.write_line(
            "A notebook stores outputs that its code no longer produces. If the new outputs are "
            "right, run `make notebooks`; if only lib changed, name the pages: "
            "`.venv/bin/python book/build/notebooks.py --force chapters/05_scaling.md`. "
            "Read what changed, then commit it."
        )
    if any("test_book" in name for name in failed):
        terminalreporter.write_line(
            "To see a page that failed: make serve. To run only these tests: "
            ".venv/bin/pytest tests/book/test_book.py"
        )
