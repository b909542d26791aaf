"""How long the book, an edit and the notebooks take, written to building.json: `make speeds`.

python -m benchmarks.building [--test]

The tree is copied first, so that nothing of yours is edited or removed. It takes three minutes,
with --test, which runs `make test` as a whole, twenty more. Nothing else may run on the machine.
"""

import argparse
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from benchmarks.measuring import Setting
from benchmarks.record import circumstances
from benchmarks.speeds import BUILDING, beyond, rendered
from book.build.notebooks import execute, pages, read_page

ROOT = Path(__file__).resolve().parents[1]

CALM = 0.5  # work already under way, as a share of the machine's processors
EDITED = Path("chapters") / "06_softmax.md"
SENTENCE = "A sentence that was not there before, number {}.\n\n"
READY = "follows what you save"
PATIENCE, PAUSE = 60, 3  # seconds


def copy_of_the_tree(target: Path) -> None:
    """What git knows or would take, with its times, and what is installed, as it stands."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)
    for name in (".venv", "node_modules"):
        (target / name).unlink(missing_ok=True)
        (target / name).symlink_to((ROOT / name).resolve())


def make(goal: str, folder: Path) -> float:
    """The seconds of `make GOAL` in a copy of the tree."""
    settings = os.environ | {"PYTHONPATH": str(folder)}
    command = ["make", "--no-print-directory", goal]

    def run() -> None:
        done = subprocess.run(command, cwd=folder, env=settings, capture_output=True, text=True)
        assert done.returncode == 0, f"make {goal} fails:\n{done.stdout[-3000:]}{done.stderr}"

    return round(Setting().timed(run)(), 2)


@contextmanager
def drafting(folder: Path) -> Iterator[None]:
    """`make draft` at work on a copy of the tree, from when it serves the book."""
    command = ["make", "--no-print-directory", "draft", f"PORT={free_port()}"]
    settings = os.environ | {"PYTHONPATH": str(folder), "PYTHONUNBUFFERED": "1"}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    with subprocess.Popen(
        command, cwd=folder, env=settings, start_new_session=True, **pipes
    ) as run:
        try:
            output = run.stdout.readline()
            while READY not in output:
                assert run.poll() is None, f"make draft ends:\n{output}{run.stdout.read()}"
                output += run.stdout.readline()
            yield
        finally:
            with suppress(ProcessLookupError):
                os.killpg(run.pid, signal.SIGTERM)


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def edit(folder: Path, number: int) -> float:
    """The seconds from saving a chapter with one more sentence until the built page says it."""
    page, sentence = folder / EDITED, SENTENCE.format(number)
    built = folder / "_build" / "html" / EDITED.with_suffix(".html")
    before, after = page.read_text("utf8").split("\n## Summary\n")

    def save_and_wait() -> None:
        page.write_text(f"{before}\n{sentence}\n## Summary\n{after}", "utf8")
        end = time.monotonic() + PATIENCE
        while sentence.strip() not in built.read_text("utf8"):
            assert time.monotonic() < end, f"{EDITED}: not built in {PATIENCE} s"
            time.sleep(0.02)

    taken = round(Setting().timed(save_and_wait)(), 2)
    time.sleep(PAUSE)  # the page is there before the draft looks for the next edit
    return taken


def notebook(page: Path) -> float:
    """The seconds of a page's cells in a fresh kernel."""
    return round(Setting().timed(lambda: execute(read_page(page), page.parent))(), 2)


def measure(test: bool) -> dict:
    """All of it; the longest notebooks begin first, and two run at a time, as in the tests."""
    busy = os.getloadavg()[0] / (os.cpu_count() or 1)
    result = {"machine": circumstances(Setting()), "busy": round(busy, 2)}
    result |= {"seconds": {}, "notebooks": {}}
    with TemporaryDirectory() as name:
        folder = Path(name).resolve()
        copy_of_the_tree(folder)
        result["seconds"] |= {key: make("book", folder) for key in ("book", "book again")}
        with drafting(folder):
            result["seconds"]["draft"] = median(edit(folder, number) for number in range(5))
    order = sorted(pages(), key=lambda page: page.with_suffix(".ipynb").stat().st_size)[::-1]
    with ProcessPoolExecutor(max_workers=2) as pool:
        for page, taken in zip(order, pool.map(notebook, order), strict=True):
            result["notebooks"][f"{page.parent.name}/{page.stem}"] = taken
    if test:
        result["seconds"]["test"] = make("test", ROOT)
    elif BUILDING.exists():  # what was measured before stays, until it is measured again
        known = json.loads(BUILDING.read_text("utf8"))["seconds"]
        result["seconds"] |= {"test": known["test"]} if "test" in known else {}
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the book, an edit, the notebooks.")
    parser.add_argument("--test", action="store_true", help="and `make test`: twenty minutes")
    args = parser.parse_args()
    start = time.perf_counter()
    result = measure(args.test)
    BUILDING.write_text(json.dumps(result, indent=1) + "\n", "utf8")
    print(rendered(result), *beyond(result), sep="\n")
    print(f"{time.perf_counter() - start:.0f} s")
    if result["busy"] > CALM:
        sys.exit("The machine was at work already: measure again when it is quiet.")


if __name__ == "__main__":
    main()
