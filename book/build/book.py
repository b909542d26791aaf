"""Build the book as the course does: every page again, and each warning an error.

    python book/build/book.py [--all] [OPTIONS OF jupyter-book build]

It is `jupyter-book build`, and starts in half the time.
"""

import sys
from pathlib import Path

# To know an address in any alphabet when it sees one, jsonschema would compile 38 grammars for two
# seconds. No notebook and no setting of ours has such a field; without them, none is asked.
sys.modules["rfc3987_syntax"] = None

ROOT = Path(__file__).resolve().parents[2]
STRICT = ["-W", "-n", "--keep-going", "-q"]


def build_book(*options: str) -> None:
    """Read and write what changed, or with --all everything; SystemExit if there is a warning."""
    from jupyter_book.cli.main import main as jupyter_book  # after what is barred above

    jupyter_book(["build", str(ROOT), *STRICT, *options], standalone_mode=False)


if __name__ == "__main__":
    build_book(*sys.argv[1:])
