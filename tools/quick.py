"""Run the checks that a change can reach, in a minute and a half: `make quick`.

    .venv/bin/python tools/quick.py            what differs from origin/main, committed or not
    .venv/bin/python tools/quick.py --plan     only print what would run, and why
    .venv/bin/python tools/quick.py --lint     only the linters, which make test runs too

Lint and spelling run first, then the rules of the architecture; a broken rule ends the run. Tests
and notebooks follow in the order of their distance: first those that import a changed file, then
those that import these. The last line counts what did not start; `make test` runs everything.
"""

import ast
import json
import os
import re
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parents[1]
SECONDS = 70  # from the start, lint included, until the last test may begin
RULES = "tests/test_rules.py"
TEXTS = ("tests/book/test_page.py", "tests/book/test_notebooks.py", "tests/book/test_appendix.py",
         *(f"tests/chapters/test_{name}.py" for name in ("quizzes", "style", "sizes")))  # fmt: skip
EXERCISES = "tests/checks/test_exercises.py"
PAGES = ("chapters", "exercises", "appendix")
NAMED = re.compile(r"[\w.-]+\.\w+|\bMakefile\b")
# Where replaced_words.txt holds: the prose of pages, and what pages quote, follow when rewritten.
WORDED = ("README.md", "ARCHITECTURE.md", "BENCHMARKS.md", "CHANGELOG.md", "CONTRIBUTING.md",
          "Makefile", "benchmarks", "checks", "classroom", "tools/bundle", "tools/recordings",
          "tests/classroom", "tests/lib", "tests/tools", "requirements/README.md")  # fmt: skip
CODE = re.compile(r"^```\{code-cell\}.*?^```", re.DOTALL | re.MULTILINE)
MIRRORED = ("lib", "figures")  # in tests the other packages are flat: no folder below theirs


def git(*arguments: str) -> str:
    """Return what git prints, or nothing where git cannot answer."""
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True).stdout


def listed(*arguments: str) -> set[str]:
    return {name for name in git(*arguments, "-z").split("\0") if name}


def base() -> str:
    """Return the commit that the change starts from."""
    return git("merge-base", "HEAD", "origin/main").strip() or "HEAD"


def changed_files() -> set[str]:
    """Return the files that differ from the base, committed or not, and the new ones."""
    new = listed("ls-files", "--others", "--exclude-standard")
    return listed("diff", "--name-only", base()) | new


def all_files() -> set[str]:
    """Return every file of the repository that exists in the working tree."""
    names = listed("ls-files", "--cached", "--others", "--exclude-standard")
    return {name for name in names if (ROOT / name).is_file()}


def code_changed(page: str) -> bool:
    """Say whether the code cells of a page differ from those at the base."""
    before = git("show", f"{base()}:{page}")
    return CODE.findall(before) != CODE.findall((ROOT / page).read_text("utf8"))


def python_of(path: Path) -> str:
    """Return the Python of a module or of a notebook, without the notebook's commands."""
    text = path.read_text("utf8")
    if path.suffix == ".py":
        return text
    cells = (cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "code")
    lines = "".join(f"{''.join(cell['source'])}\n" for cell in cells).splitlines()
    return "\n".join("" if line.startswith(("%", "!")) else line for line in lines)


def imported_modules(source: str) -> set[str]:
    """Return the dotted names that a source may import: of `from a import b`, a and a.b."""
    try:
        tree = ast.parse(source)
    except SyntaxError:  # ruff reports it
        return set()
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names


def needed_files(name: str, files: set[str], data: dict[str, set[str]], root: Path) -> set[str]:
    """Return the files that a module, a notebook or a script names: imports and data files."""
    path, needed = PurePosixPath(name), set()
    if path.suffix in (".py", ".ipynb"):
        for module in imported_modules(python_of(root / name)):
            stem = module.replace(".", "/")
            needed |= {f"{stem}.py", f"{stem}/__init__.py"} & files
    if path.suffix in (".py", ".js"):
        text = (root / name).read_text("utf8", errors="replace")
        for word in {path.stem, *NAMED.findall(text)}:
            near = {
                other for other in data.get(word, ()) if PurePosixPath(other).parent == path.parent
            }
            needed |= data.get(word, set()) if path.parts[0] == "tests" else near
    return needed - {name}


def distances(changed: Iterable[str], files: set[str], root: Path = ROOT) -> dict[str, int]:
    """Return how many imports lie between a changed file and each file that can reach one."""
    data = defaultdict(set)  # what is no Python, by its name and by its name without the ending
    for path in map(PurePosixPath, files):
        if path.suffix not in (".py", ".ipynb"):
            data[path.name].add(str(path))
            data[path.stem].add(str(path))
    sources = [name for name in files if name.endswith((".py", ".js", ".ipynb"))]
    needed = {name: needed_files(name, files, data, root) for name in sources}
    known, frontier = dict.fromkeys(changed, 0), set(changed)
    while frontier:
        frontier = {name for name in sources if name not in known and needed[name] & frontier}
        known |= dict.fromkeys(frontier, 1 + max(known.values(), default=0))
    return known


def order(reached: tuple[str, int]) -> tuple[int, bool, str]:
    """Sort by distance; at one distance notebooks come last, because they take longest."""
    name, distance = reached
    return distance, name.endswith(".ipynb"), name


def is_test(name: str) -> bool:
    path = PurePosixPath(name)
    return path.parts[0] == "tests" and path.name.startswith("test_") and path.suffix == ".py"


def mirror(name: str) -> str:
    """Return the path at which the tests of a module stand."""
    path = PurePosixPath(name)
    folders = path.parts[:-1] if path.parts[0] in MIRRORED else path.parts[:-1][:1]
    return str(PurePosixPath("tests", *folders, f"test_{path.stem}.py"))


def select(
    changed: set[str], files: set[str], edits_code: Callable[[str], bool], root: Path = ROOT
) -> dict[str, str]:
    """Return the tests and notebooks to run, in order, each with the reason."""
    chosen = {RULES: "always"}
    pages = {name for name in changed if name.endswith(".md") and name.split("/")[0] in PAGES}
    # A notebook is generated from its page: only the page's code cells can change what it shows.
    notebooks = {name for name in changed if name.endswith(".ipynb")}
    chosen |= dict.fromkeys(TEXTS if pages else (), "a page changed")
    for page in sorted(pages):
        notebook = str(PurePosixPath(page).with_suffix(".ipynb"))
        if notebook in files and edits_code(page):
            chosen[notebook] = "its code cells changed"
    for name in sorted(changed - pages - notebooks):
        if mirror(name) in files:
            chosen[mirror(name)] = f"tests {name}"
        if re.fullmatch(r"exercises/\d\d_\w+\.py", name):
            chosen[EXERCISES] = f"tests {name}"
    reached = distances(changed - pages - notebooks, files, root)
    for name, distance in sorted(reached.items(), key=order):
        is_near_notebook = name.endswith(".ipynb") and distance == 1
        if is_test(name) or is_near_notebook:
            reason = ("changed", "imports a changed file")[distance] if distance < 2 else (
                f"{distance} imports away"
            )  # fmt: skip
            chosen.setdefault(name, reason)
    return {name: reason for name, reason in chosen.items() if name in files}


def exercise_filter(changed: Iterable[str]) -> list[str]:
    """Restrict the tests of all exercises to the exercises that changed."""
    stems = [PurePosixPath(name).stem for name in changed if name.startswith("exercises/")]
    if not stems:
        return []
    return ["-k", " or ".join([f"not {PurePosixPath(EXERCISES).stem}", *sorted(stems)])]


def run_tests(chosen: Iterable[str], changed: set[str], until: float) -> int:
    """Run what was chosen with pytest, on two processes, until the time is over."""
    grades = any(name.startswith(("classroom/", "tests/classroom/")) for name in changed)
    here = "" if grades and sys.platform == "linux" else " and not linux"
    pytest_alone = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    if subprocess.run([*pytest_alone, RULES], cwd=ROOT).returncode:
        print("A rule of the architecture is broken; fix it first. No other test ran.")
        return 1
    command = [
        *pytest_alone, "-n", "2", "--dist", "loadfile", "--no-loadscope-reorder",
        "-p", "tools.time_limit", "--nbval", "--nbval-sanitize-with", "tests/nbval.cfg",
        *exercise_filter(changed), "-m", f"not book and not nightly{here}",
    ]  # fmt: skip
    environment = os.environ | {"ATTENTION_QUICK": f"{until} {SECONDS}", "ATTENTION_RECORD": "off"}
    rest = [name for name in chosen if name != RULES]
    return subprocess.run([*command, *rest], cwd=ROOT, env=environment).returncode if rest else 0


def lint() -> int:
    """Run the linters over everything; say of each that failed what to do, and return how many."""
    tools, worded = Path(sys.executable).parent, [name for name in WORDED if (ROOT / name).exists()]
    steps = [
        ([str(tools / "ruff"), "check", "--quiet"], "Run: ruff check --fix"),
        ([str(tools / "ruff"), "format", "--quiet", "--check"], "Run: ruff format"),
        ([str(tools / "codespell")], "Fix these words, or add a correct one to pyproject.toml."),
        ([str(tools / "codespell"), "-D", "tools/replaced_words.txt", "--skip", "*.yml,*.json",
          *worded], "Use the plain words."),
        ([sys.executable, "book/build/notebooks.py", "--check"], "Run: make notebooks"),
    ]  # fmt: skip
    failed = [todo for command, todo in steps if subprocess.run(command, cwd=ROOT).returncode]
    print("\n".join(failed), flush=True)
    return len(failed)


def main(arguments: list[str]) -> int:
    """Lint, select, run; return 0 if all that ran passed."""
    if "--lint" in arguments:
        return int(lint() > 0)
    started, changed, files = time.time(), changed_files(), all_files()
    chosen = select(changed, files, code_changed)
    print(f"{len(changed)} changed files reach {len(chosen)} files of tests and notebooks:")
    for name, reason in chosen.items():
        print(f"  {name:<52}{reason}")
    if "--plan" in arguments:
        return 0
    failures = lint() + run_tests(chosen, changed, started + SECONDS)
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
