"""What pages load is laid in by a process of its own; the book waits for it, or says why not."""

import json
import subprocess
import sys
from subprocess import PIPE
from types import SimpleNamespace

import pytest
from sphinx.errors import ExtensionError

from book.extensions import live
from book.live import front_end


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    """An application of Sphinx as the extension sees it, at work on a new folder."""
    folder = tmp_path_factory.mktemp("html")
    app = SimpleNamespace(
        builder=SimpleNamespace(format="html"), outdir=folder, fresh_env_used=True
    )
    live.begin(app)
    live.wait(app, None)
    return app


def test_everything_that_it_names_is_there(book):
    folder = book.outdir / "_static" / "live"
    assert (folder / book.live.script).stat().st_size > 1000
    for model in filter(None, (book.live.model, book.live.minilm)):
        assert (folder / "model" / model["file"]).stat().st_size == model["bytes"]
    size = sum(path.stat().st_size for path in (folder / "python").rglob("*") if path.is_file())
    assert 0 < book.live.megabytes <= size / 1e6 + 1
    assert (book.outdir / "offline.js").exists()


def test_a_new_build_forgets_the_scripts_of_the_one_before(book):
    stale = book.outdir / "_static" / "live" / "live-OLD.js"
    for again, there in ((False, True), (True, False)):
        stale.write_text("")
        book.fresh_env_used = again
        live.begin(book)
        live.wait(book, None)
        assert stale.exists() is there


def test_without_what_npm_installs_it_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setattr(front_end, "ESBUILD", tmp_path / "none")
    with pytest.raises(front_end.FrontEndMissingError, match="make book"):
        front_end.lay_in(tmp_path)


def test_what_the_process_complains_of_stops_the_book():
    program = "import sys; sys.exit('The front end is not installed')"
    process = subprocess.Popen([sys.executable, "-c", program], stdout=PIPE, stderr=PIPE, text=True)
    app = SimpleNamespace(builder=SimpleNamespace(format="html"), live_at_work=process)
    with pytest.raises(ExtensionError, match="not installed"):
        live.wait(app, None)


def test_another_kind_of_book_has_no_scripts(tmp_path):
    app = SimpleNamespace(builder=SimpleNamespace(format="latex"), outdir=tmp_path)
    live.begin(app)
    live.wait(app, None)
    assert not list(tmp_path.iterdir())


def test_what_it_prints_is_what_pages_must_know(book):
    command = [sys.executable, "-m", "book.live.front_end", book.outdir / "_static" / "live"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert json.loads(printed) == vars(book.live)
