"""The files of the page's Python: what they hold, and when they are made."""

import hashlib
import json
import sys
from pathlib import Path

import pytest

from book.live import build
from book.live.contents import headings
from checks.feedback import catalogue_file, misconceptions

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def made() -> Path:
    """The files of the page's Python, as the book has them."""
    return build.build_live()


def test_names_change_with_contents_and_sizes_are_told(made):
    manifest = json.loads((made / build.MANIFEST).read_text("utf8"))
    for name, size in manifest["files"].items():
        assert (made / name).stat().st_size == size
    fetched = [name for name in manifest["files"] if not name.endswith(".mjs")]
    assert manifest["bytes"] == sum(manifest["files"][name] for name in fetched)
    assert manifest["bytes"] < 12.2e6  # what the first check on a page waits for
    assert {manifest["worker"], *manifest["archives"]} < set(manifest["files"])


def test_nothing_is_made_again_whose_inputs_are_the_same(made, monkeypatch):
    monkeypatch.setattr(build, "_make", None)
    assert build.build_live() == made


def test_without_pyodide_the_build_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setattr(build, "PYODIDE", tmp_path / "nowhere")
    with pytest.raises(build.PyodideMissingError, match="make book"):
        build.build_live(tmp_path)


def test_the_wheel_of_numpy_is_the_one_whose_digest_is_written_and_the_one_that_is_pinned():
    wheel = next((ROOT / "book" / "live" / "numpy").glob("*.whl"))
    readme = (wheel.parent / "README.md").read_text("utf8")
    assert hashlib.sha256(wheel.read_bytes()).hexdigest() in readme
    assert f"numpy=={wheel.name.split('-')[1]}\n" in (ROOT / "requirements.txt").read_text("utf8")


def test_a_catalogue_that_is_json_already_needs_no_reader_of_yaml(tmp_path, monkeypatch):
    (tmp_path / "misconceptions.json").write_text('{"M01": "read"}')
    monkeypatch.setattr(catalogue_file.resources, "files", lambda package: tmp_path)
    monkeypatch.setitem(sys.modules, "yaml", None)
    assert catalogue_file.load_catalogue("anywhere", "misconceptions.yml") == {"M01": "read"}


def test_stored_headings_are_those_of_the_pages(monkeypatch):
    places = [each.read for each in misconceptions.misconceptions().values() if each.read]
    parts = [place.removeprefix("chapters/").partition(".html#")[::2] for place in places]
    looked_up = [misconceptions.heading_of(page, anchor) for page, anchor in parts]
    index = headings()
    monkeypatch.setattr(misconceptions, "_stored_headings", lambda: index)
    monkeypatch.setattr(misconceptions, "ROOT", ROOT / "nowhere")
    stored = [misconceptions.heading_of.__wrapped__(page, anchor) for page, anchor in parts]
    assert stored == looked_up
    assert len(set(stored)) > 50
    assert all(map(misconceptions.is_written, places))
    assert not misconceptions.is_written("chapters/99_nowhere.html")
