"""Run every page and the numeric tests as on other processors; say what differed and by how much.

    python -m tools.portability                                everything (an hour on two cores)
    python -m tools.portability --settings native sse4         only these settings
    python -m tools.portability --no-tests chapters/05_scaling.md

Writes _build/portability.md. It ends with an error if a page or a test fails under a setting, or if
a number is nearer to its limit than ten times its spread between the settings.
"""

import argparse
import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import nbformat

from book.build import notebooks
from tools.portability import compare, settings
from tools.portability.settings import ROOT, SETTINGS, Setting

START = "from tools.portability import watch; watch.start(get_ipython())"
# A page may have names of its own for these.
END = "import json; from tools.portability import watch; print(json.dumps(watch.RECORDS))"
NUMERIC = ("tests/lib", "tests/chapters")  # the tests that compute
WORKERS = os.cpu_count() or 1


def run_page(page: Path, setting: Setting) -> tuple[list, list]:
    """Execute a page under a setting; return its code cells and what the watch recorded."""
    notebook = notebooks.read_page(page)
    first, last = map(nbformat.v4.new_code_cell, (START, END))
    notebook.cells = [first, *notebook.cells, last]
    notebooks.execute(notebook, page.parent, setting.environment(), allow_errors=True)
    records = json.loads("".join(output.get("text", "") for output in last.outputs))
    notebook.cells = notebook.cells[1:-1]
    notebooks.tidy(notebook)
    return notebooks.code_cells(notebook), records


def report_on(page: Path, runs: Mapping[str, tuple[list, list]]) -> list[compare.CellReport]:
    """Compare what `run_page` returned under each setting, with each other and what is stored."""
    stored = nbformat.read(page.with_suffix(".ipynb"), as_version=4)
    return compare.reports(
        notebooks.code_cells(stored),
        {setting: cells for setting, (cells, _) in runs.items()},
        {setting: records for setting, (_, records) in runs.items()},
    )


def report_on_pages(
    pages: Sequence[Path], chosen: Sequence[Setting]
) -> dict[str, list[compare.CellReport]]:
    """Run each page under each setting, several at a time, and say which are done."""
    results = {}
    with ProcessPoolExecutor(WORKERS) as pool:
        jobs = {page: {setting.name: pool.submit(run_page, page, setting) for setting in chosen}
                for page in pages}  # fmt: skip
        for page, by_setting in jobs.items():
            name = page.relative_to(ROOT).as_posix()
            results[name] = report_on(
                page, {setting: job.result() for setting, job in by_setting.items()}
            )
            failing = [cell for cell in results[name] if not cell.passes]
            print(f"{name}: {f'{len(failing)} cells fail' if failing else 'passes'}")
            for cell in failing:
                print(f"  cell {cell.number}: {compare.verdict(cell)}", flush=True)
    return results


def run_tests(setting: Setting) -> tuple[str, list[str]]:
    """Run the numeric tests under a setting; return pytest's summary and what failed."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=line",
               "-n", str(WORKERS), "--dist", "loadfile",
               "-m", "not book and not linux and not nightly", *NUMERIC]  # fmt: skip
    process = subprocess.run(
        command, env=setting.environment(), cwd=ROOT, capture_output=True, text=True
    )
    lines = process.stdout.strip().splitlines()
    failed = re.findall(r"^(?:FAILED|ERROR) (\S+)", process.stdout, re.MULTILINE)
    if process.returncode and not failed:  # it ended before any test
        failed = [line for line in (process.stdout + process.stderr).splitlines() if line][-1:]
    return lines[-1] if lines else "", failed


def main() -> None:
    """Run what is asked for, print and write the table, and fail if anything did."""
    names = [setting.name for setting in SETTINGS]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pages", nargs="*", type=Path, help="pages (.md); without any, all")
    parser.add_argument("--settings", nargs="+", choices=names, default=names)
    parser.add_argument("--no-tests", action="store_true", help="run the pages only")
    options = parser.parse_args()
    pages = [page.resolve().with_suffix(".md") for page in options.pages] or notebooks.pages()
    if missing := [str(page) for page in pages if not page.exists()]:
        parser.error(f"no such page: {', '.join(missing)}; a page is named chapters/05_scaling.md")
    chosen, skipped = settings.worth_running(
        [setting for setting in SETTINGS if setting.name in options.settings]
    )
    text = ["# Portability", "", "| setting | stands for | |", "|---|---|---|"]
    text += [compare.row(setting.name, setting.stands_for, skipped.get(setting.name, "run"))
             for setting in SETTINGS if setting.name in options.settings]  # fmt: skip
    print("\n".join(text), flush=True)
    results = report_on_pages(pages, chosen)
    text += ["", "## Pages", "", compare.table(results)]
    failed = sum(not cell.passes for cells in results.values() for cell in cells)
    for setting in [] if options.no_tests else chosen:
        summary, tests = run_tests(setting)
        failed += len(tests)
        text += ["", f"## Numeric tests, {setting.name}", "", summary, *(f"- {t}" for t in tests)]
    target = ROOT / "_build" / "portability.md"
    target.parent.mkdir(exist_ok=True)
    target.write_text("\n".join([*text, ""]), "utf8")
    print("\n".join(text[text.index("## Pages") :]))
    sys.exit(f"{failed} cells or tests fail: see {target.relative_to(ROOT)}" if failed else 0)


if __name__ == "__main__":
    main()
