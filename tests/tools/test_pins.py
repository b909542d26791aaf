"""What is installed is what is pinned, and no pin is written twice or out of order."""

import json
import re
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from book.doctor import disagreements, installed, pins
from tools.pins import newer_pins, wheels

ROOT = Path(__file__).resolve().parents[2]
APART = sorted(path.name for path in (ROOT / "requirements").glob("*.txt"))
ALL = ["requirements.txt", *(f"requirements/{name}" for name in APART)]
# Installed in .venv itself; the others lie apart, in folders of their own below it.
HERE = ("requirements.txt", "requirements/site.txt")
# What makes an environment, and the course itself.
UNPINNED = {"pip", "setuptools", "wheel", "attention-course"}
# What torch's wheel for graphics cards brings along, which an ordinary index gives to Linux.
CARDS = re.compile(r"nvidia-|triton$|cuda-")


def lines(file: str) -> list[str]:
    return [
        one for one in (ROOT / file).read_text("utf8").splitlines() if "==" in one and one[0] != "#"
    ]


def test_every_pin_is_installed_in_just_its_version():
    found = installed()
    assert {file: disagreements(pins(file), found) for file in HERE} == {file: {} for file in HERE}


def test_nothing_is_installed_that_no_file_pins():
    pinned = {name for file in HERE for name in pins(file)}
    stray = {one for one in set(installed()) - pinned - UNPINNED if not CARDS.match(one)}
    assert stray == set(), f"pin them or remove them: .venv/bin/pip uninstall {' '.join(stray)}"


def test_all_that_a_pinned_package_needs_is_pinned_too():
    pinned = {name for file in HERE for name in pins(file)}
    for name in pinned:
        lost = {canonicalize_name(one.name) for one in newer_pins.needs(name)} - pinned - UNPINNED
        lost = {one for one in lost if name != "torch" or not CARDS.match(one)}
        assert lost == set(), f"{name} needs them"


def test_what_builds_the_book_needs_nothing_of_the_rest():
    book = pins("requirements/book.txt")
    for name in book:
        assert {canonicalize_name(one.name) for one in newer_pins.needs(name)} <= {
            *book,
            *UNPINNED,
        }, name


@pytest.mark.parametrize("file", ALL)
def test_a_file_of_pins_is_in_order_and_says_nothing_twice(file):
    names = [canonicalize_name(line.split("==")[0]) for line in lines(file)]
    assert names == sorted(set(names))
    assert (ROOT / file).read_text("utf8").startswith("# "), "its first line says what it is for"


def test_no_package_is_pinned_in_two_files_that_are_installed_together():
    every = [line.split("==")[0] for file in newer_pins.FILES for line in lines(file)]
    assert len({*map(canonicalize_name, every)}) == len(every)


@pytest.mark.parametrize("folder", newer_pins.FRONT)
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
    assert there == {name: one["version"] for name, one in lock.items() if name}, "make install"


# Of what is newer, and why it is held.

PINNED = {"requirements/book.txt": {"jupyter-book": "1.0"}, "requirements.txt": {"numpy": "2.0"}}


def test_a_newer_version_that_fits_has_a_row_without_an_excuse():
    (row,) = newer_pins.rows(
        {"requirements.txt": {"numpy": "2.0"}}, {"numpy": "2.1"}, {"numpy": "2.1"}
    )
    assert (row.current, row.fits, row.newest, row.why) == ("2.0", "2.1", "2.1", "")


def test_a_version_that_we_hold_back_says_our_reason():
    found = newer_pins.rows(PINNED, {}, {"jupyter-book": "2.1.7"})
    assert [(row.name, row.fits, row.newest) for row in found] == [("jupyter-book", "1.0", "2.1.7")]
    assert found[0].why == newer_pins.HELD["jupyter-book"][1]


def test_a_version_that_another_package_refuses_names_that_package():
    why = newer_pins.reason("sphinx", "9.0.4", pins("requirements/book.txt"))
    (mine,) = (
        one for one in newer_pins.needs("jupyter-book") if canonicalize_name(one.name) == "sphinx"
    )
    assert f"jupyter-book needs {mine.specifier}" in why
    assert "jupyter-book" not in newer_pins.reason("click", "8.99", pins("requirements/book.txt"))


def test_a_package_that_would_come_along_is_shown():
    (row,) = newer_pins.rows(PINNED, {"novelty": "1.0"}, {})
    assert (row.name, row.current, row.fits) == ("novelty", "", "1.0")


def test_everything_that_is_held_is_pinned_and_its_bound_is_one_that_pip_reads():
    pinned = pins()
    for one in map(Requirement, newer_pins.bounds(pinned)):
        assert pinned[canonicalize_name(one.name)] in one.specifier


def test_the_resolver_is_asked_only_for_what_nothing_else_needs():
    asked = newer_pins.asked_for(pins())
    assert {"jupyter-book", "jupyterlab", "nbval"} <= set(asked)
    assert not {"numpy", "sphinx", "markupsafe"} & set(asked)


def test_what_fits_is_written_and_nothing_else_is_touched():
    text = "# Why they are here.\n-r requirements/book.txt\nJinja2==3.1.6\nzipp==4.1.2\n"
    assert newer_pins.rewritten(text, {}) == text
    changed = newer_pins.rewritten(text, {"jinja2": "3.2", "novelty": "1.0"})
    assert changed == text.replace("3.1.6", "3.2").replace("zipp", "novelty==1.0\nzipp")
    for file in newer_pins.FILES:
        whole = (ROOT / file).read_text("utf8")
        assert newer_pins.rewritten(whole, {}) == whole


def test_a_newer_package_of_the_pages_is_shown():
    said = {
        "katex": {"current": "0.19.1", "wanted": "0.19.1", "latest": "0.20.0"},
        "axe-core": {"current": "4.14.1", "wanted": "4.14.1", "latest": "4.15.0"},
        "not-installed": {"wanted": "1.0.0", "latest": "1.0.0"},
    }
    axe, katex = newer_pins.front_end(".", json.dumps(said))
    assert (axe.fits, axe.why) == ("4.15.0", "")
    assert (katex.current, katex.fits) == ("0.19.1", "0.20.0")
    assert newer_pins.front_end(".", "") == []
    (apart,) = newer_pins.front_end(
        "book/build/audit", '{"lighthouse": {"wanted": "13", "latest": "14"}}'
    )
    assert (apart.file, apart.current) == ("book/build/audit/package.json", "13")
    assert "package.json" in newer_pins.table([axe, katex])


# Of the wheels.


class Pip:
    """An index that lacks some packages, and now and then does not answer."""

    def __init__(self, lacks=(), silent=()):
        self.lacks, self.silent = set(lacks), list(silent)

    def __call__(self, pins, python, tags):
        names = [pin.split("==")[0] for pin in pins]
        lost = next((name for name in names if name in self.lacks), None)
        if self.silent and self.silent[0] in names:
            lost = self.silent.pop(0)
        self.returncode = int(lost is not None)
        self.stderr = f"ERROR: No matching distribution found for {lost}==1"
        return self


def test_every_pin_without_a_wheel_is_named():
    pinned = ["a==1", "b==1", "c==1", "future==1"]
    assert wheels.lacking(pinned, "3.13", [], Pip(lacks="ac")) == ["a", "c"]
    assert wheels.lacking(pinned, "3.13", [], Pip()) == []


def test_an_index_that_did_not_answer_once_is_asked_again():
    assert wheels.lacking(["a==1", "b==1"], "3.13", [], Pip(silent=["b"])) == []


def test_only_a_package_of_plain_python_may_come_as_source():
    for name in wheels.SOURCE:
        files = metadata.distribution(name).files
        assert files
        assert not [file for file in files if file.suffix in {".so", ".pyd", ".c"}], name
    assert {pin.split("==")[0] for pin in wheels.pinned()} >= wheels.SOURCE
    assert len(wheels.pinned()) == len(pins())
