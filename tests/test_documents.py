"""README, ARCHITECTURE, CONTRIBUTING and the other texts at the root say what is true."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from lib import LAYERS
from tests.test_rules import CHAPTERS, FILES, PACKAGES, ROOT, read

TARGETS = set(re.findall(r"^([a-z-]+):", read(Path("Makefile")), re.MULTILINE))
TEXTS = [Path(name) for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md",
                                 "requirements/README.md", "book/live/README.md",
                                 ".github/SECURITY.md", ".github/CODE_OF_CONDUCT.md",
                                 ".github/PULL_REQUEST_TEMPLATE.md")]  # fmt: skip
FOLDERS = {f"{path.parts[0]}/" for path in FILES if len(path.parts) > 1}
PACKAGE_FILES = [path for path in FILES if path.name == "__init__.py" and path.parts[0] in PACKAGES]


def first_line(package: Path) -> str:
    """The first line of a package's docstring."""
    return (ast.get_docstring(ast.parse(read(package))) or "").partition("\n")[0]


def map_of_the_readme() -> dict[str, str]:
    """Folder and description of each line of the map, such as `lib/  What the course defines`."""
    block = read(Path("README.md")).partition("## Where things live")[2].partition("\n## ")[0]
    return dict(re.findall(r"^([\w./]+/) {2,}(.+)$", block, re.MULTILINE))


def paragraphs_of_the_architecture() -> dict[str, str]:
    """Folder and first sentence of each paragraph that describes a folder."""
    return dict(re.findall(r"^\*\*`([\w./]+/)`\*\* (.+)$", read(Path("ARCHITECTURE.md")), re.M))


def test_the_readme_is_short_and_its_map_has_one_line_for_each_folder():
    assert len(read(Path("README.md")).splitlines()) < 120
    assert set(map_of_the_readme()) == FOLDERS


def test_the_map_of_the_readme_says_what_the_packages_say():
    for folder, line in map_of_the_readme().items():
        package = Path(folder, "__init__.py")
        if folder.rstrip("/") in PACKAGES:
            assert f"{line}." == first_line(package), package


def test_the_architecture_has_a_paragraph_for_each_folder_and_package_and_no_others():
    packages = {f"{path.parent.as_posix()}/" for path in PACKAGE_FILES}
    assert set(paragraphs_of_the_architecture()) == FOLDERS | packages


def test_a_paragraph_of_the_architecture_begins_as_the_folder_describes_itself():
    sentences = paragraphs_of_the_architecture()
    for package in PACKAGE_FILES:
        assert sentences[f"{package.parent.as_posix()}/"] == first_line(package), package
    for folder, line in map_of_the_readme().items():
        assert sentences[folder] == f"{line}.", folder


def test_the_arrows_of_the_architecture_are_the_imports_that_the_rules_allow():
    arrows = re.findall(r"^    (\w+) --> (\w+)$", read(Path("ARCHITECTURE.md")), re.MULTILINE)
    reached = {package: {package} for package in PACKAGES}
    for _ in PACKAGES:
        for start, end in arrows:
            reached[start] |= reached[end]
    assert len(arrows) == len(set(arrows))
    assert reached == PACKAGES


def test_the_architecture_lists_the_layers_of_lib_in_their_order():
    assert f"\n{', '.join(LAYERS)}.\n" in read(Path("ARCHITECTURE.md"))


def test_the_readme_lists_the_chapters_as_the_first_page_of_the_book_does():
    rows = {name: re.findall(r"^\| (\d+ \|[^|]+\|[^|]+)\|", read(Path(name)), re.MULTILINE)
            for name in ("README.md", "index.md")}  # fmt: skip
    assert rows["README.md"] == rows["index.md"]
    assert len(rows["README.md"]) == len(CHAPTERS)


def test_the_example_of_the_readme_prints_what_it_shows():
    example = r"```python\n(.*?)```\n\n```text\n(.*?)```"
    code, printed = re.search(example, read(Path("README.md")), re.DOTALL).groups()
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout == printed, done.stderr


@pytest.mark.parametrize("path", TEXTS, ids=str)
def test_a_text_names_only_files_and_commands_that_exist(path):
    text = read(path)
    for link in re.findall(r"\]\(([^)#]+)", text):
        if "://" not in link:
            assert (ROOT / path.parent / link).exists(), link
    for target in re.findall(r"(?:`|^)make ([a-z-]+)", text, re.MULTILINE):
        assert target in TARGETS, f"make {target}"
    for name in re.findall(r"`((?:\w+/)+[\w.]+\.\w+)`", text):
        assert "NN_" in name or (ROOT / name).exists(), name


def test_the_pictures_of_the_readme_are_small_and_described():
    pictures = re.findall(r"^!\[(.+)\]\((.+)\)$", read(Path("README.md")), re.MULTILINE)
    assert len(pictures) == 2
    for description, name in pictures:
        assert len(description.split()) > 10
        assert (ROOT / name).stat().st_size < 600_000
