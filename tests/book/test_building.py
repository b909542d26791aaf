"""A build in several processes makes the same book, and a draft of it forgets no warning."""

import gc
import importlib
import os
import sys
from types import SimpleNamespace

import pytest
from pybtex import plugin
from sphinxcontrib.bibtex.directives import BibliographyKey

from book.build import draft
from book.extensions import citations, teachers_guide
from book.extensions.teachers_guide import GUIDE
from tests.conftest import ROOT

# Sphinx and docutils are stood in for by what a function asks of them.
pytestmark = pytest.mark.usefixtures("bare_calls")


def test_the_words_of_the_search_are_stemmed_by_the_compiled_stemmer():
    import snowballstemmer

    assert type(snowballstemmer.stemmer("porter")).__module__ == "Stemmer"


@pytest.mark.parametrize(("text", "notebook", "newer"), [(2, 1, True), (1, 2, False), (1, 0, True)])
def test_a_draft_makes_a_notebook_whose_text_is_newer_or_that_is_missing(
    tmp_path, text, notebook, newer
):
    for name, when in (("page.md", text), ("page.ipynb", notebook)):
        if when:
            (tmp_path / name).touch()
            os.utime(tmp_path / name, (when, when))
    assert draft.is_newer(tmp_path / "page.md") is newer


@pytest.mark.parametrize("before", ["known", ""])
@pytest.mark.parametrize("code", [0, 1])
def test_a_draft_with_a_warning_is_read_again(tmp_path, monkeypatch, code, before):
    environment = tmp_path / "environment.pickle"
    if before:
        environment.write_text(before)

    def build_book():
        environment.write_text("known and read")
        if code:
            sys.exit(code)

    monkeypatch.setattr(draft, "build_book", build_book)
    if code:
        with pytest.raises(SystemExit):
            draft.build_strictly(environment)
    else:
        draft.build_strictly(environment)
    left = environment.read_text() if environment.exists() else ""
    assert left == (before if code else "known and read")


def test_a_draft_imports_what_its_copy_needed_but_nothing_that_may_be_edited(monkeypatch, capsys):
    monkeypatch.setattr(draft, "build_strictly", lambda: importlib.import_module("this"))
    monkeypatch.setattr(draft, "is_newer", lambda text: False)
    monkeypatch.delitem(sys.modules, "this", raising=False)
    again = draft.Copy()
    again([str(ROOT / "chapters" / "06_softmax.md")])
    gc.unfreeze()
    assert "this" in sys.modules
    assert draft.is_ours(citations)
    assert draft.is_ours(draft)
    assert not draft.is_ours(pytest)


def test_a_draft_outlives_a_module_that_cannot_be_imported_by_itself(monkeypatch):
    def needs_a_half():
        sys.modules["half_of_a_circle"] = SimpleNamespace()

    monkeypatch.setattr(draft, "build_strictly", needs_a_half)
    monkeypatch.setattr(draft, "is_newer", lambda text: False)
    draft.Copy()()
    gc.unfreeze()
    assert "half_of_a_circle" not in sys.modules


def test_a_draft_says_what_is_wrong_and_goes_on(monkeypatch, capsys, tmp_path):
    def refuse(text):
        raise RuntimeError("code cell 3 of 7 failed")

    monkeypatch.setattr(draft, "build", refuse)
    text = tmp_path / "page.md"
    text.touch()
    assert "sys" in draft.rebuild([text])
    assert "Not built: code cell 3 of 7 failed" in capsys.readouterr().err


@pytest.mark.parametrize(("drafted", "edited", "left"), [
    ("yes", False, ["index"]), ("yes", True, [GUIDE, "index"]), ("", False, [GUIDE, "index"])
])  # fmt: skip
def test_a_draft_leaves_the_guide_unless_its_own_text_was_edited(
    tmp_path, monkeypatch, drafted, edited, left
):
    text = tmp_path / "guide.md"
    text.touch()
    read = text.stat().st_mtime + (-1 if edited else 1)
    env = SimpleNamespace(all_docs={GUIDE: read * 1e6}, doc2path=lambda page: text)
    monkeypatch.setenv("COURSE_DRAFT", drafted)
    pages = [GUIDE, "index"]
    teachers_guide.leave_for_the_book(None, env, pages)
    assert pages == left


PAGES_AS_READ = ("chapters/09", "appendix/atlas", "chapters/02")


def test_citations_lead_to_the_same_list_whichever_process_read_its_page_first():
    keys = [BibliographyKey(name, "bibtex-bibliography-1") for name in PAGES_AS_READ]
    lists = {key: number for number, key in enumerate(keys)}
    env = SimpleNamespace(get_domain=lambda name: SimpleNamespace(bibliographies=lists))
    citations.order_lists(None, env)
    assert [key.docname for key in lists] == ["appendix/atlas", "chapters/02", "chapters/09"]
    assert [lists[key] for key in keys] == [0, 1, 2]


def test_what_pybtex_looks_up_for_every_citation_is_registered_once(monkeypatch):
    asked = []
    monkeypatch.setattr(plugin, "entry_points", lambda **query: asked.append(query) or [])
    monkeypatch.setattr(plugin, "_RUNTIME_PLUGINS", {})
    app = SimpleNamespace(connect=lambda *_, **__: None)
    with pytest.raises(plugin.PluginNotFound):
        citations.setup(app)
    assert asked, "the lookup is asked for nothing"
    monkeypatch.undo()
    citations.setup(app)
    monkeypatch.setattr(plugin, "entry_points", lambda **query: pytest.fail(f"searches {query}"))
    for group, names in citations.LOOKED_UP.items():
        for name in names:
            assert issubclass(plugin.find_plugin(group, name), plugin.Plugin)
