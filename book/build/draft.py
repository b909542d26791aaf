"""Write with the book open: `make draft` serves it, and what you save is on the page in seconds.

    python book/build/draft.py PORT

watches the texts. When one is saved, it makes the notebook again if its text is newer, then builds
what of the book has changed; and the browser loads its page again. Half the time of a build goes
into imports, so each one is run by a copy of this process, which has imported already what the
build before it needed.

It says the warnings of the pages that it reads, and no others, and leaves the guide's counts of
words as they were: `make book` is what counts.
"""

import contextlib
import gc
import importlib
import io
import logging
import multiprocessing
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from types import ModuleType

from livereload import Server

from book.build import require_checkout
from book.build.notebooks import ROOMS, ROOT, build, pages
from book.build.sphinx_build import build_book

BOOK = ROOT / "_build" / "html"
ENVIRONMENT = ROOT / "_build" / ".doctrees" / "environment.pickle"
WATCHED = ("*.md", "chapters/*.md", "exercises/*.md", "references.bib", "book/assets/*")


def is_newer(page: Path) -> bool:
    """Whether a text was written after its notebook."""
    notebook = page.with_suffix(".ipynb")
    return not notebook.exists() or page.stat().st_mtime > notebook.stat().st_mtime


def build_strictly(environment: Path = ENVIRONMENT) -> None:
    """Build the book, and after a warning forget what was read.

    Sphinx says a warning when it reads a page; the page unchanged, the next build would be silent.
    """
    before = environment.read_bytes() if environment.exists() else None
    built = False
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            build_book()
        built = True
    finally:
        if not built and before:
            environment.write_bytes(before)
        elif not built:
            environment.unlink(missing_ok=True)


def rebuild(texts: list[Path]) -> list[str]:
    """Put what was saved into the book, say how long it took or what is wrong; list the imports."""
    start = time.perf_counter()
    try:
        for text in filter(is_newer, texts):
            print(build(text), flush=True)
        build_strictly()
    except RuntimeError as problem:
        print(f"Not built: {problem}", file=sys.stderr, flush=True)
    except SystemExit:
        print("Not whole: each warning above is an error of the page it names.", flush=True)
    else:
        print(f"The book is up to date, after {time.perf_counter() - start:.1f} s.", flush=True)
    return [name for name, module in sys.modules.items() if not is_ours(module)]


def is_ours(module: ModuleType) -> bool:
    """Whether a module is the course's own, so one that may be edited as well."""
    file = Path(getattr(module, "__file__", None) or "/")
    return any(
        file.is_relative_to(ROOT / folder) for folder in ("book", "checks", "figures", "lib")
    )


class Copy:
    """Rebuilds in a copy of this process, where the system can make one (not Windows)."""

    def __init__(self):
        methods = multiprocessing.get_all_start_methods()
        self.context = multiprocessing.get_context("fork" if "fork" in methods else None)

    def __call__(self, saved: list[str] | None = None) -> None:
        """Rebuild; at first look at every text, and later at those that were saved."""
        texts = pages() if saved is None else [Path(name) for name in saved]
        texts = [text for text in texts if text.parent.name in ROOMS]
        with ProcessPoolExecutor(1, mp_context=self.context) as pool:
            imported = pool.submit(rebuild, texts).result()
        for name in imported:
            with contextlib.suppress(ImportError):  # half of a circle, which its other half imports
                importlib.import_module(name)
        gc.freeze()  # an extension looks through all objects, and need not look at these


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit("Expected a port; say: make draft")
    require_checkout(ROOT)
    os.environ["COURSE_DRAFT"] = "yes"  # for book/extensions/teachers_guide.py
    port, again = int(sys.argv[1]), Copy()
    again()
    logging.disable(logging.INFO)  # every file that a browser asks for
    server = Server()
    for pattern in WATCHED:
        server.watch(str(ROOT / pattern), again)
    print(f"http://127.0.0.1:{port}/ follows what you save (stop with Ctrl-C).", flush=True)
    server.serve(port=port, root=str(BOOK))


if __name__ == "__main__":
    main()
