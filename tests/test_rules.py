"""The rules of the architecture, each held by a test of a dozen lines."""

import ast
import importlib
import inspect
import json
import re
import subprocess
import sys
import tomllib
from collections import Counter
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from lib import LAYERS
from lib.shapes import AXES

ROOT = Path(__file__).resolve().parents[1]
ASKED = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
LISTED = subprocess.run(ASKED, cwd=ROOT, capture_output=True, text=True, check=True).stdout
FILES = sorted(
    path for path in map(Path, LISTED.split("\0")) if path.name and (ROOT / path).exists()
)
TEXTS = {".py", ".md", ".js", ".css", ".yml", ".toml", ".txt", ".cfg", ".json", ".bib", ""}

# Who may import whom, from the outside in. A package that is not named here is on top.
PACKAGES = {
    "lib": {"lib"},
    "checks": {"checks"},
    "figures": {"figures", "lib"},
    "exercises": {"exercises", "checks", "lib"},
    "classroom": {"classroom", "figures", "checks", "exercises", "lib"},
    "book": {"book", "figures", "checks", "lib"},
}
ALSO = {"exercises/00_start.py": {"book"}}  # its task is to examine the installation
NUMPY_ALONE = [
    "lib.shapes", "lib.seeds", "lib.functional", "lib.by_hand", "lib.datasets.stories",
    "lib.attention.dot_product", "lib.attention.masks", "lib.attention.positions",
    "lib.attention.heads", "lib.attention.tiled", "lib.debugging.numpy_gpt2",
    "lib.debugging.broken_models", "lib.debugging.experiments", "lib.debugging.findings",
    "lib.debugging.decision_tree",
    "lib.text.word_vectors", "lib.text.word_pieces", "lib.models.hidden_states",
    "lib.pretrained.minilm", "lib.pretrained.numpy_encoder", "lib.interpretability.linear_probes",
    "checks", "checks.drivers", "checks.capstone_drivers",
]  # fmt: skip

FRAME = ["Before you start", "Exercises", "Check yourself", "Summary", "References"]
ANYWHERE = {"By hand", "In a real model"}  # on every chapter's page, where they serve it best
PAGES_OF_CHAPTERS = sorted((ROOT / "chapters").glob("[0-9]*.md"))
DEEPER = [path for path in PAGES_OF_CHAPTERS if path.stem.endswith("_deeper")]
CHAPTERS = [path for path in PAGES_OF_CHAPTERS if path not in DEEPER]
AFTER_THE_SOURCES = {"18_llama"}  # chapters on which the five sources claim nothing
COLOUR = re.compile(
    r"(?<!#)#(?:[0-9a-fA-F]{3,4}|[0-9a-fA-F]{6}|[0-9a-fA-F]{8})\b(?=[\"';\s,)])|\b(?:rgba?|hsla?|oklch)\("
    r"|(?:color|colour|fill|stroke|background|facecolor|edgecolor)\s*[=:]\s*[\"']?"
    r"(?:black|white|red|green|blue|gr[ae]y|orange|purple|yellow|brown|pink|tab:\w+|C\d)\b"
)

ALLOWED = {  # what matplotlib writes for black, to be replaced; a colour that the reader mixes
    "figures/svg.py": {"#000000"},
    "figures/widgets/colour_mixer.js": {"rgb("},
}


STILL_SHARED = {  # names with two meanings: take one out when it has one, and never add any
    "main",  # of a program, wherever it is
    "exercise",  # in the sandbox a function that does nothing stands for that of checks
}  # fmt: skip


def read(path: Path) -> str:
    return (ROOT / path).read_text("utf8")


def layer_of(path: Path) -> str:
    """The layer of lib that a file belongs to."""
    return path.relative_to("lib").parts[0].removesuffix(".py")


def modules(package: str = "lib") -> list[Path]:
    return [path for path in FILES if path.parts[0] == package and path.suffix == ".py"
            and path.name != "__init__.py"]  # fmt: skip


@cache
def imported(path: Path) -> set[str]:
    """The names that a module imports, whole: `lib.functional`, `IPython.display`."""
    return imported_by(read(path))


def imported_by(source: str) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def roots(path: Path) -> set[str]:
    return {name.split(".")[0] for name in imported(path)}


@pytest.mark.parametrize("package", PACKAGES)
def test_packages_import_one_way(package):
    ours = {path.parts[0] for path in FILES if path.suffix == ".py" and len(path.parts) > 1}
    for path in modules(package):
        foreign = roots(path) & ours - PACKAGES[package] - ALSO.get(path.as_posix(), set())
        assert not foreign, f"{path} may not import {foreign}"


@pytest.mark.parametrize("path", modules(), ids=str)
def test_a_module_of_lib_imports_only_from_its_own_layer_and_those_before_it(path):
    own = LAYERS.index(layer_of(path))
    for name in imported(path):
        if name.startswith("lib."):
            assert LAYERS.index(name.split(".")[1]) <= own, f"{path} may not import {name}"


@pytest.mark.parametrize("package", ["checks", "book", "figures"])
def test_no_two_folders_of_a_package_import_each_other(package):
    folders = {path.parts[1] for path in modules(package) if len(path.parts) > 2}
    arrows = {
        (path.parts[1], name.split(".")[1])
        for path in modules(package) if len(path.parts) > 2
        for name in imported(path) if name.startswith(f"{package}.")
    }  # fmt: skip
    arrows -= {("wire", "run")}  # what is sent is a node of run, and run puts it together again
    order = TopologicalSorter({folder: set() for folder in folders})
    for start, end in arrows:
        if end in folders - {start}:
            order.add(start, end)
    order.prepare()  # raises where the imports form a cycle


def test_every_module_of_lib_stands_in_a_layer():
    assert {layer_of(path) for path in modules()} == set(LAYERS)


@pytest.mark.parametrize(
    "path", [path for path in modules() if layer_of(path) in ("attention", "models")], ids=str
)
def test_plain_is_plain(path):
    nodes = list(ast.walk(ast.parse(read(path))))
    bases = {ast.unparse(base).split(".")[-1] for node in nodes if isinstance(node, ast.ClassDef)
             for base in node.bases}  # fmt: skip
    assert not bases & {"Function", "Linear"}, f"{path}: neither belongs into a plain model"
    attributes = {ast.unparse(node) for node in nodes if isinstance(node, ast.Attribute)}
    of_torch = {name for name in attributes | imported(path) if re.match(r"(torch|nn|F)\.", name)}
    private = {name for name in of_torch if re.search(r"\._(?!_)", name)}
    assert not private, f"{path}: {private} is private"
    assert "torch.compile" not in of_torch, path
    assert "numba" not in roots(path), path


def test_fast_is_outside():
    for path in modules():
        if layer_of(path) != "fast":
            assert not any(name.startswith("lib.fast") for name in imported(path)), path
    for package in ("figures", "checks", "classroom", "book", "exercises"):
        for path in modules(package):
            assert not any(name.startswith("lib.fast") for name in imported(path)), path


def test_what_the_page_runs_needs_numpy_alone():
    blocked = "import sys; sys.modules.update(torch=None, numba=None); "
    program = blocked + "import " + ", ".join(NUMPY_ALONE)
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@cache
def owners() -> dict[str, dict[str, str]]:
    """Each public class or function: the packages or layers of lib that define it, and the file."""
    names: dict[str, dict[str, str]] = {}
    for package in PACKAGES.keys() - {"exercises"}:
        for path in modules(package):
            owner = f"lib.{layer_of(path)}" if package == "lib" else package
            for node in ast.parse(read(path)).body:
                defines = isinstance(node, (ast.ClassDef, ast.FunctionDef))
                if defines and not node.name.startswith("_") and owner != "lib.by_hand":
                    names.setdefault(node.name, {})[owner] = str(path)
    return names


def test_one_word_one_meaning():
    shared = {name: [*files.values()] for name, files in owners().items() if len(files) > 1}
    new = {name: files for name, files in shared.items() if name not in STILL_SHARED}
    assert not new, f"rename one of each, so that a name has one meaning: {new}"


def test_who_may_know_notebooks_and_matplotlib():
    for package in PACKAGES:
        for path in modules(package):
            known = roots(path)
            assert "IPython" not in known or package not in ("lib", "exercises"), path
            assert "matplotlib" not in known or package == "figures", path
            assert "numba" not in known or path.is_relative_to("lib/fast"), path


def test_drawing_knows_no_models():
    for path in modules("figures"):
        if "playground" not in path.parts:
            assert "torch" not in roots(path), f"{path} takes arrays and counts, and no models"


def test_the_palette_needs_nothing_installed():
    assert roots(Path("figures/palette.py")) <= {"math", "typing"}


def test_every_package_says_what_it_is_for():
    for path in FILES:
        if path.name == "__init__.py" and path.parts[0] in PACKAGES:
            assert ast.get_docstring(ast.parse(read(path))), path


def test_every_axis_word_of_a_signature_is_defined_and_on_the_notation_page():
    notation = read(Path("appendix/notation.md"))
    for path in modules():
        for shape in re.findall(
            r'\b(?:Float|Bool|Int|Num|Shaped)\[[\w.]+, "([^"]*)"\]', read(path)
        ):
            for word in re.findall(r"[A-Za-z_]\w*", shape):
                assert word in AXES, f"{path}: {word!r} in {shape!r} is no axis of lib.shapes"
    for word in AXES:
        assert f"| `{word}` |" in notation, f"{word} is not on the notation page"


@pytest.mark.parametrize("path", modules(), ids=str)
def test_every_public_definition_says_what_it_does_and_names_its_source(path):
    room = ".".join(path.with_suffix("").parts[1:])
    module = importlib.import_module(f"lib.{room}")
    assert module.__doc__
    for name, thing in vars(module).items():
        here = getattr(thing, "__module__", None) == module.__name__
        if name.startswith("_") or not here or not callable(thing):
            continue
        assert inspect.getdoc(thing), f"{room}.{name} has no docstring"
        if inspect.isfunction(inspect.unwrap(thing)) and room not in ("shapes", "seeds"):
            assert "Source:" in inspect.getdoc(thing), f"{room}.{name} does not name its source"


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_a_chapter_keeps_the_frame(path):
    text = re.sub(r"^```.*?^```", "", path.read_text("utf8"), flags=re.MULTILINE | re.DOTALL)
    heads = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert [head for head in heads if head in FRAME] == FRAME
    assert (heads[0], heads[-1]) == (FRAME[0], FRAME[-1])
    assert set(heads) >= ANYWHERE
    assert re.findall(r"^# (.+)$", text, re.MULTILINE)[0].startswith(f"{int(path.stem[:2])}. ")
    assert f"../exercises/{path.stem}.ipynb" in text
    owner = path.with_stem(f"{path.stem}_deeper")
    owner = owner if owner in DEEPER else path  # the five sources are answered on deeper pages
    treated = f'sources_say("{path.stem[:2]}")' in owner.read_text("utf8")
    assert treated == (path.stem not in AFTER_THE_SOURCES)
    assert owner in DEEPER or "What the sources say" in heads
    assert text.count('class="prediction"') >= 3


@pytest.mark.parametrize("path", DEEPER, ids=lambda path: path.stem)
def test_a_deeper_page_belongs_to_a_chapter_and_each_leads_to_the_other(path):
    text, chapter = path.read_text("utf8"), path.stem.removesuffix("_deeper")
    assert re.findall(r"^# (\d+)\. .+: deeper$", text, re.MULTILINE) == [str(int(chapter[:2]))]
    assert f"({chapter}.ipynb)" in text
    assert f"({path.stem}.ipynb)" in path.with_stem(chapter).read_text("utf8")
    last = re.findall(r"^## (.+)$", text, re.MULTILINE)[-2:]
    assert last == ["What the sources say", "References"]


@pytest.mark.parametrize("path", PAGES_OF_CHAPTERS, ids=lambda path: path.stem)
def test_a_chapter_ends_with_three_questions_or_more_of_one_right_choice_each(path):
    _, _, rest = path.read_text("utf8").partition("\n## Check yourself\n")
    questions = re.split(r"^\*\*", rest.partition("\n## ")[0], flags=re.MULTILINE)[1:]
    assert path in DEEPER or 3 <= len(questions) <= 5
    for question in questions:
        answers = re.findall(r'<details class="choice">.*?</summary>\s+(\w+)', question, re.DOTALL)
        assert 3 <= len(answers) <= 4, question
        assert answers.count("Right") == 1, question
        assert set(answers) == {"Right", "Not"}, question


@pytest.mark.parametrize(
    "path", [path for path in FILES if path.suffix in {".py", ".js", ".css", ".md"}
             and path.parts[0] in {*PACKAGES, "chapters"}
             and path != Path("figures/palette.py")], ids=str,
)  # fmt: skip
def test_a_colour_is_spelled_in_one_place_only(path):
    colours = {match.group() for match in COLOUR.finditer(read(path))}
    assert colours <= ALLOWED.get(path.as_posix(), set()), (
        f"take these from figures.palette: {colours}"
    )


def test_no_cupboards_no_big_files_no_secrets_of_one_machine():
    for path in FILES:
        assert not {"utils", "helpers", "misc", "common"} & {path.stem, *path.parts}, path
        large = path.suffix == ".whl"  # NumPy for the page, which no registry has
        assert large or (ROOT / path).stat().st_size < 1_000_000, f"{path} is over a megabyte"
        if path.suffix in TEXTS and path.name != "LICENSE":
            text = read(path)
            assert str(ROOT) not in text, path
            assert not re.search(r"(registry\.npm\w+|pypi)\.org|files\.pythonhosted", text), path


LONGER = {  # lines: shorten one and take it out, and never add any
    "book/doctor.py": 392, "figures/plots.py": 261, "lib/debugging/experiments.py": 255,
    "lib/models/seq2seq.py": 254,
    "tools/bundle/start.py": 260,
}  # fmt: skip
FULLER = {"figures/widgets", "figures/diagrams", "book/extensions", "book/build"}
CODE = [path for path in FILES if path.parts[0] in {*PACKAGES, "tools", "benchmarks"}
        and path.parts[0] != "exercises"]  # fmt: skip
MODULES_OF_CODE = [path for path in CODE if path.suffix == ".py"]


@pytest.mark.parametrize("path", MODULES_OF_CODE, ids=str)
def test_files_and_functions_are_short(path):
    text = read(path)
    assert len(text.splitlines()) <= LONGER.get(path.as_posix(), 250)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            body = node.body[1:] if ast.get_docstring(node) else node.body
            lines = body[-1].end_lineno - body[0].lineno + 1 if body else 0
            assert lines <= 40, f"{node.name} has {lines} lines: split it"


def test_a_folder_of_code_has_at_most_twelve_files():
    folders = Counter(path.parent.as_posix() for path in CODE)
    full = {folder for folder, count in folders.items() if count > 12}
    assert full <= FULLER, "divide it by what its files are about"


def test_every_requirement_is_pinned_exactly():
    for name in (
        str(path)
        for path in FILES
        if path.match("requirements*.txt") or path.match("requirements/*.txt")
    ):
        lines = [line for line in read(Path(name)).splitlines() if not line.startswith(("#", "-r"))]
        assert all(re.fullmatch(r"[\w.-]+==[\w.]+", line) for line in lines), name
    assert "torch" not in read(Path("requirements/book.txt")).replace("No torch", "")
    for folder in (Path(), Path("book/build/audit")):
        package = json.loads(read(folder / "package.json"))
        for version in {**package["dependencies"], **package.get("devDependencies", {})}.values():
            assert re.fullmatch(r"[\d.]+", version)
        locked = json.loads(read(folder / "package-lock.json"))["packages"]
        for key, entry in locked.items():
            assert not key or ("integrity" in entry and "resolved" not in entry), key


NAMELESS = {"one", "said", "found", "told"}
CODE_AND_TESTS = [path for path in FILES if path.suffix == ".py"]


def test_types_are_checked_in_every_part_of_the_checks_but_the_one_that_calls_answers():
    """A new part of `checks` must be named in pyproject.toml."""
    options = tomllib.loads((ROOT / "pyproject.toml").read_text("utf8"))["tool"]["pytest"]
    named = re.findall(r"checks\.\w+", options["ini_options"]["addopts"])
    parts = {path.parts[1].removesuffix(".py") for path in FILES
             if path.parts[0] == "checks" and path.suffix == ".py"}  # fmt: skip
    assert sorted(named) == [f"checks.{part}" for part in sorted(parts - {"__init__", "run"})]


def test_no_variable_is_called_one_said_found_or_told():
    assigned = [
        f"{path}:{node.lineno} {name}"
        for path in CODE_AND_TESTS
        for node in ast.walk(ast.parse(read(path)))
        if (name := assigned_name(node)) in NAMELESS
    ]
    assert not assigned, "name the thing: a match, a message, a parameter, a row"


def assigned_name(node: ast.AST) -> str | None:
    """The name that a node binds: a variable, a loop target, a parameter or an attribute."""
    if isinstance(node, ast.arg):
        return node.arg
    if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
        return node.id if isinstance(node, ast.Name) else node.attr
    return None
