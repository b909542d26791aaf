"""Put the edits of texts into the built book, in seconds: `make draft`.

    python tools/draft.py COMMAND...

makes the notebooks whose text is newer, then runs the command that builds the book, as the
Makefile spells it, without the `--all` that would read every page again. Both run in this process,
because half the time of each would be spent on importing what the other has.

It says the warnings of the pages that it reads, and no others: `make book` is what counts.
"""

import contextlib
import io
import sys
from pathlib import Path

# To know an address in any alphabet when it sees one, jsonschema would compile 38 grammars, which
# takes a second. No notebook and no setting of ours has such a field; without them it is not asked.
sys.modules["rfc3987_syntax"] = None

from build_notebooks import ROOT, build, pages  # noqa: E402

ENVIRONMENT = ROOT / "_build" / ".doctrees" / "environment.pickle"


def is_newer(page: Path) -> bool:
    """Whether a text was written after its notebook."""
    notebook = page.with_suffix(".ipynb")
    return not notebook.exists() or page.stat().st_mtime > notebook.stat().st_mtime


def build_book(command: list[str], environment: Path = ENVIRONMENT) -> None:
    """Run the command, and after a warning forget what was read.

    Sphinx says a warning when it reads a page; the page unchanged, the next build would be silent.
    """
    from jupyter_book.cli.main import main as jupyter_book  # half a second, after the notebooks

    built = False
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            jupyter_book(command, standalone_mode=False)
        built = True
    finally:
        if not built:
            environment.unlink(missing_ok=True)


def main() -> None:
    if len(sys.argv) < 3:
        sys.exit("Expected the command that builds the book; say: make draft")
    for page in filter(is_newer, pages()):
        try:
            print(build(page), flush=True)
        except RuntimeError as problem:
            sys.exit(f"{page.name}: {problem}")
    build_book(sys.argv[2:])  # the first word is jupyter-book itself
    print("Look at it: make serve, in another terminal.")


if __name__ == "__main__":
    main()
