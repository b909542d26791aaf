"""Build the book with Jupyter Book, in parallel, every warning an error.

    python book/build/sphinx_build.py [--all] [--output FOLDER]

`jupyter-book build` cannot set the number of processes, but the function that it calls can.
"""

import argparse
import os
import sys
from pathlib import Path

from book.build import require_checkout

ROOT = Path(__file__).resolve().parents[2]


def build_book(output: Path = ROOT / "_build", everything: bool = False) -> None:
    """Read and write the pages that changed, or all of them, below `output`/html.

    Raises: SystemExit if the book has a warning or does not build.
    """
    from jupyter_book.sphinx import build_sphinx  # takes a second, and `--help` does without

    result = build_sphinx(
        ROOT,
        output / "html",
        path_config=ROOT / "_config.yml",
        noconfig=True,
        confoverrides={
            "external_toc_path": "_toc.yml",
            "latex_individualpages": False,  # Jupyter Book asks for it, whatever is built
            "nitpicky": True,
        },
        force_all=everything,
        freshenv=everything,
        quiet=True,
        warningiserror=True,
        keep_going=True,
        jobs=(os.cpu_count() or 1) + 1,  # the first process waits for the others
    )
    if result != 0:
        raise SystemExit("Not built: each warning above is an error of the page it names.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--all", action="store_true", help="read and write every page again")
    parser.add_argument("--output", type=Path, default=ROOT / "_build", help="default: _build")
    args = parser.parse_args()
    require_checkout(ROOT)
    build_book(args.output.resolve(), args.all)


if __name__ == "__main__":
    main()
    sys.stdout.flush()
    os._exit(0)  # to take apart all that was read would take three seconds more
