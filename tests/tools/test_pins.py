"""What is installed is what is pinned, and no pin is written twice or out of order."""

import json
import re
import subprocess
import sys
from functools import cache
from importlib import metadata
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from book.doctor import disagreements, installed, pins

ROOT = Path(__file__).resolve().parents[2]
APART = sorted(path.name for path in (ROOT / "requirements").glob("*.txt"))
ALL = ["requirements.txt", *(f"requirements/{name}" for name in APART)]
# Installed in .venv itself; the others lie apart, in folders of their own below it.
HERE = ("requirements.txt", "requirements/site.txt")
# What makes an environment, and the course itself.
UNPINNED = {"pip", "setuptools", "wheel", "attention-course"}
# What torch's wheel for GPUs brings along, which an ordinary index gives to Linux.
CUDA = re.compile(r"nvidia-|triton$|cuda-")


# Folders with a package.json: the pages, and what audits them.
FRONT = (".", "book/build/audit")
# Others bring these; they are asked for because we set a bound.
BOUND = {"jupyter-book", "soupsieve", "torch"}


@cache
def needs(name: str) -> list[Requirement]:
    """What an installed package requires here."""
    every = map(Requirement, metadata.requires(name) or [])
    return [asked for asked in every if not asked.marker or asked.marker.evaluate({"extra": ""})]


def lines(file: str) -> list[str]:
    return [
        line
        for line in (ROOT / file).read_text("utf8").splitlines()
        if "==" in line and line[0] != "#"
    ]


def test_every_pin_is_installed_in_just_its_version():
    present = installed()
    assert {file: disagreements(pins(file), present) for file in HERE} == {
        file: {} for file in HERE
    }


def test_nothing_is_installed_that_no_file_pins():
    pinned = {name for file in HERE for name in pins(file)}
    stray = {name for name in set(installed()) - pinned - UNPINNED if not CUDA.match(name)}
    assert stray == set(), f"pin them or remove them: .venv/bin/pip uninstall {' '.join(stray)}"


def test_all_that_a_pinned_package_needs_is_pinned_too():
    pinned = {name for file in HERE for name in pins(file)}
    for name in pinned:
        lost = {canonicalize_name(need.name) for need in needs(name)} - pinned - UNPINNED
        lost = {lacking for lacking in lost if name != "torch" or not CUDA.match(lacking)}
        assert lost == set(), f"{name} needs them"


def test_what_builds_the_book_needs_nothing_of_the_rest():
    book = pins("requirements/book.txt")
    for name in book:
        assert {canonicalize_name(need.name) for need in needs(name)} <= {
            *book,
            *UNPINNED,
        }, name


WITHOUT = """
import importlib, sys

absent, *extensions = sys.argv[1:]

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in absent.split():
            raise ModuleNotFoundError(f"{name} is not in requirements/book.txt")

sys.meta_path.insert(0, Absent())
for name in extensions:
    importlib.import_module(name)
"""


def test_the_extensions_of_the_book_import_only_what_builds_the_book():
    book = pins("requirements/book.txt").keys() | UNPINNED
    owners = metadata.packages_distributions().items()
    absent = [name for name, of in owners if not {canonicalize_name(owner) for owner in of} & book]
    assert {"torch", "filelock", "pytest"} <= set(absent)
    config = yaml.safe_load((ROOT / "_config.yml").read_text("utf8"))
    command = [sys.executable, "-c", WITHOUT, " ".join(absent)]
    command += config["sphinx"]["extra_extensions"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize("file", ALL)
def test_a_file_of_pins_is_in_order_and_says_nothing_twice(file):
    names = [canonicalize_name(line.split("==")[0]) for line in lines(file)]
    assert names == sorted(set(names))
    assert (ROOT / file).read_text("utf8").startswith("# "), "its first line says what it is for"


def test_the_book_is_pinned_to_the_same_versions_as_the_course():
    assert pins("requirements/book.txt").items() <= pins().items()
    assert not pins("requirements/site.txt").keys() & pins().keys()


@pytest.mark.parametrize("name", ["book", "course"])
def test_what_is_asked_for_is_pinned_and_each_bound_has_its_reason_above_it(name):
    before = ""
    for line in (ROOT / "requirements" / f"{name}.in").read_text("utf8").splitlines():
        if not line.startswith(("#", "-r")):
            asked = Requirement(line)
            assert pins()[canonicalize_name(asked.name)] in asked.specifier
            assert before.startswith("#") or not asked.specifier, f"say why: {line}"
        before = line


@pytest.mark.parametrize(
    ("name", "file"), [("book", "requirements/book.txt"), ("course", "requirements.txt")]
)
def test_nothing_is_asked_for_that_another_package_brings_anyway(name, file):
    text = (ROOT / "requirements" / f"{name}.in").read_text("utf8")
    asked = {
        canonicalize_name(Requirement(line).name)
        for line in text.splitlines() if not line.startswith(("#", "-r"))
    }  # fmt: skip
    brought = {canonicalize_name(needed.name) for pin in pins(file) for needed in needs(pin)}
    assert {"book": "jupyter-book", "course": "jupyterlab"}[name] in asked
    assert asked & brought <= BOUND


@pytest.mark.parametrize("folder", FRONT)
def test_what_a_package_json_asks_for_is_what_its_lock_holds(folder):
    lock = json.loads((ROOT / folder / "package-lock.json").read_text("utf8"))["packages"]
    asked = json.loads((ROOT / folder / "package.json").read_text("utf8"))
    for kind in ("dependencies", "devDependencies"):
        assert lock[""].get(kind) == asked.get(kind), "npm install --package-lock-only"


def test_the_front_end_is_the_one_that_is_locked():
    lock = json.loads((ROOT / "package-lock.json").read_text("utf8"))["packages"]
    folder = ROOT / "node_modules"
    there = {
        str(path.parent.relative_to(ROOT).as_posix()): json.loads(path.read_text("utf8"))["version"]
        for pattern in ("*/package.json", "@*/*/package.json") for path in folder.glob(pattern)
    }  # fmt: skip
    locked = {name: entry["version"] for name, entry in lock.items() if name}
    elsewhere = {name for name, entry in lock.items() if entry.get("optional")}  # other platforms
    assert there.items() <= locked.items(), "make install"
    assert locked.keys() - there.keys() <= elsewhere, "make install"
