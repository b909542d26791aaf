"""The rules of the house, each held by a test of a dozen lines."""

import ast
import importlib
import inspect
import json
import re
import subprocess
from functools import cache
from pathlib import Path

import pytest

from lib.shapes import AXES

ROOT = Path(__file__).resolve().parents[1]
ASKED = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
LISTED = subprocess.run(ASKED, cwd=ROOT, capture_output=True, text=True, check=True).stdout
FILES = sorted(
    path for path in map(Path, LISTED.split("\0")) if path.name and (ROOT / path).exists()
)
TEXTS = {".py", ".md", ".js", ".css", ".yml", ".toml", ".txt", ".cfg", ".json", ".bib", ""}

FLOORS = {  # a module imports only from floors below its own
    "shapes": 0, "repro": 0,
    "bpe": 1, "byhand": 1, "compiled": 1, "evidence": 1, "ledger": 1, "ops": 1,
    "diagnosis": 2, "hub": 2, "masks": 2, "onescreen": 2, "positions": 2, "stories": 2, "tokens": 2,
    "vectors": 2,
    "attention": 3, "experiments": 3, "suspects": 3,
    "onethread": 4, "pretrained": 4, "reading": 4, "tiled": 4,
    "efficient": 5, "multihead": 5,
    "transformer": 6,
    "encoder": 7, "gpt2": 7, "optimising": 7, "probes": 7, "seq2seq": 7, "tasks": 7,
    "checkpoints": 8, "corpus": 8, "generation": 8, "induction": 8, "onetoken": 8,
    "options": 8, "packed": 9, "training": 9,
    "style": 10, "svg": 11, "plane": 12, "plots": 13, "widgets": 14,  # drawing
    "catalogue": 20, "notebook": 21, "checking": 21,  # the roof
    "environment": 21, "inventory": 21, "playground": 21, "grading": 22,
}  # fmt: skip
MODELS, DRAWING, ROOF = range(4, 10), range(10, 20), range(20, 30)

FRAME = ["Before you start", "By hand", "Try it", "In a real model", "Exercises",
         "What the sources say", "Check yourself", "Summary", "References"]  # fmt: skip
CHAPTERS = sorted((ROOT / "chapters").glob("[0-9]*.md"))
COLOUR = re.compile(
    r"(?<!#)#(?:[0-9a-fA-F]{3,4}|[0-9a-fA-F]{6}|[0-9a-fA-F]{8})\b(?=[\"';\s,)])|\b(?:rgba?|hsla?|oklch)\("
    r"|(?:color|colour|fill|stroke|background|facecolor|edgecolor)\s*[=:]\s*[\"']?"
    r"(?:black|white|red|green|blue|gr[ae]y|orange|purple|yellow|brown|pink|tab:\w+|C\d)\b"
)

ALLOWED = {  # what matplotlib writes for black, to be replaced; a colour that the reader mixes
    "figures/svg.py": {"#000000"},
    "figures/widgets/colour_mixer.js": {"rgb("},
}


def read(path: Path) -> str:
    return (ROOT / path).read_text("utf8")


def of_lib(path: Path) -> str:
    """The room of lib that a file belongs to."""
    return path.relative_to("lib").parts[0].removesuffix(".py")


def modules() -> list[Path]:
    return [path for path in FILES if path.parts[0] == "lib" and path.suffix == ".py"
            and path != Path("lib/__init__.py")]  # fmt: skip


@cache
def imported(path: Path) -> set[str]:
    """The names that a module imports, whole: `lib.functional`, `IPython.display`."""
    names = set()
    for node in ast.walk(ast.parse(read(path))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


@pytest.mark.parametrize("path", modules(), ids=str)
def test_imports_only_go_down(path):
    room = of_lib(path)
    for name in imported(path):
        if not name.startswith("lib."):
            continue
        below = name.split(".")[1]
        if below == room:
            continue
        assert FLOORS[below] < FLOORS[room], f"{room} may not import {below}"
        if FLOORS[room] in DRAWING:
            assert FLOORS[below] not in MODELS, "drawing takes arrays and knows no models"


def test_every_room_of_lib_has_a_floor():
    assert {of_lib(path) for path in modules()} == set(FLOORS)


def test_only_the_roof_knows_notebooks_and_only_models_need_torch():
    for path in modules():
        names = {name.split(".")[0] for name in imported(path)}
        floor = FLOORS[of_lib(path)]
        assert "IPython" not in names or floor in ROOF, path
        assert "torch" not in names or floor >= 4 or path.name == "repro.py", path
        assert "matplotlib" not in names or floor in DRAWING, path


def test_the_palette_needs_nothing_installed():
    assert {name.split(".")[0] for name in imported(Path("figures/palette.py"))} <= {"math", "typing"}


def test_the_map_of_the_readme_is_the_tree():
    block = re.search(r"```text\n(.*?)```", read(Path("README.md")), re.DOTALL).group(1)
    mapped = {line.split()[0] for line in block.splitlines() if line.strip()}
    # A module of lib has a line of its own; every other folder is one place.
    places = {
        path.as_posix() if len(path.parts) == 1 or path.parts[:-1] == ("lib",)
        else "/".join(path.parts[: 2 if path.parts[0] == "lib" else 1]) + "/"
        for path in FILES
    } - {"lib/__init__.py"}  # fmt: skip
    assert mapped == places


def test_the_readme_states_the_size_of_lib():
    floors = [path for path in modules() if FLOORS[of_lib(path)] < 10]
    lines = sum(len(read(path).splitlines()) for path in floors)
    stated = re.search(r"([\d,]+) lines", read(Path("README.md"))).group(1)
    assert int(stated.replace(",", "")) == pytest.approx(lines, rel=0.1)


def test_every_axis_word_of_a_signature_is_defined_and_on_the_notation_page():
    notation = read(Path("notation.md"))
    for path in modules():
        for shape in re.findall(
            r'\b(?:Float|Bool|Int|Num|Shaped)\[[\w.]+, "([^"]*)"\]', read(path)
        ):
            for word in re.findall(r"[A-Za-z_]\w*", shape):
                assert word in AXES, f"{path}: {word!r} in {shape!r} is no axis of lib.shapes"
    for word in AXES:
        assert f"| `{word}` |" in notation, f"{word} is not on the notation page"


@pytest.mark.parametrize("room", [room for room, floor in FLOORS.items() if floor < 10])
def test_every_public_definition_says_what_it_does_and_names_its_source(room):
    module = importlib.import_module(f"lib.{room}")
    assert module.__doc__
    for name, thing in vars(module).items():
        here = getattr(thing, "__module__", None) == module.__name__
        if name.startswith("_") or not here or not callable(thing):
            continue
        assert inspect.getdoc(thing), f"{room}.{name} has no docstring"
        if inspect.isfunction(inspect.unwrap(thing)) and room not in ("shapes", "repro"):
            assert "Source:" in inspect.getdoc(thing), f"{room}.{name} does not name its source"


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_a_chapter_keeps_the_frame(path):
    text = re.sub(r"^```.*?^```", "", path.read_text("utf8"), flags=re.MULTILINE | re.DOTALL)
    heads = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert [head for head in heads if head in FRAME] == FRAME
    assert heads[0] == FRAME[0]
    assert re.findall(r"^# (.+)$", text, re.MULTILINE)[0].startswith(f"{int(path.stem[:2])}. ")
    assert f"../exercises/{path.stem}.ipynb" in text
    assert f'sources_say("{path.stem[:2]}")' in path.read_text("utf8")
    assert text.count('class="prediction"') >= 3


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_a_chapter_ends_with_five_questions_of_one_right_choice_each(path):
    quiz = path.read_text("utf8").split("\n## Check yourself\n")[1].split("\n## ")[0]
    questions = re.split(r"^\*\*", quiz, flags=re.MULTILINE)[1:]
    assert len(questions) == 5
    for question in questions:
        answers = re.findall(r'<details class="choice">.*?</summary>\s+(\w+)', question, re.DOTALL)
        assert 3 <= len(answers) <= 4, question
        assert answers.count("Right") == 1, question
        assert set(answers) == {"Right", "Not"}, question


@pytest.mark.parametrize(
    "path", [path for path in FILES if path.suffix in {".py", ".js", ".css", ".md"}
             and path.parts[0] in {"lib", "assets", "book/extensions", "chapters", "exercises"}
             and path != Path("figures/palette.py")], ids=str,
)  # fmt: skip
def test_a_colour_is_spelled_in_one_place_only(path):
    found = {match.group() for match in COLOUR.finditer(read(path))}
    assert found <= ALLOWED.get(path.as_posix(), set()), f"take these from lib.style: {found}"


def test_no_cupboards_no_big_files_no_secrets_of_one_machine():
    for path in FILES:
        assert not {"utils", "helpers", "misc", "common"} & {path.stem, *path.parts}, path
        assert (ROOT / path).stat().st_size < 1_000_000, f"{path} is over a megabyte"
        if path.suffix in TEXTS and path.name != "LICENSE":
            text = read(path)
            assert str(ROOT) not in text, path
            assert not re.search(r"(registry\.npm\w+|pypi)\.org|files\.pythonhosted", text), path


def test_every_requirement_is_pinned_exactly():
    for name in (str(path) for path in FILES if path.match("requirements*.txt")):
        lines = [line for line in read(Path(name)).splitlines() if not line.startswith(("#", "-r"))]
        assert all(re.fullmatch(r"[\w.-]+==[\w.]+", line) for line in lines), name
    assert "torch" not in read(Path("requirements/book.txt")).replace("No torch", "")
    for folder in (Path(), Path("tools/audit")):
        package = json.loads(read(folder / "package.json"))
        for version in {**package["dependencies"], **package.get("devDependencies", {})}.values():
            assert re.fullmatch(r"[\d.]+", version)
        locked = json.loads(read(folder / "package-lock.json"))["packages"]
        for key, one in locked.items():
            assert not key or ("integrity" in one and "resolved" not in one), key
