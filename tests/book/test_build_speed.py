"""A build in less time makes the same book, and a draft of it forgets no warning."""

import gc
import importlib
import os
import pickle
import random
import sys
from types import SimpleNamespace

import pytest
from docutils import nodes
from pybtex.database import Entry
from pybtex.style.formatting import BaseStyle
from sphinx.environment.adapters.toctree import global_toctree_for_doc
from sphinx.util.tags import Tags
from sphinxcontrib.bibtex.directives import BibliographyKey

from book.build import draft
from book.extensions import build_speed, teachers_guide
from tests.conftest import ROOT


@pytest.fixture(scope="module")
def environment(book_folder):
    """What Sphinx knows of the built book."""
    folder = book_folder.parent / ".doctrees"
    env = pickle.loads((folder / "environment.pickle").read_bytes())
    env.doctreedir = folder
    return env


@pytest.mark.parametrize("page", ["index", "chapters/05_scaling", "exercises/05_scaling"])
def test_the_tree_of_titles_is_the_one_that_sphinx_would_give(environment, page):
    builder = SimpleNamespace(tags=Tags(), get_relative_uri=lambda *ends: " to ".join(ends))
    wanted = {"collapse": False, "includehidden": True, "maxdepth": 4, "titles_only": True}
    whole = global_toctree_for_doc(environment, page, builder, **wanted)
    titles = build_speed.Titles(environment)
    small = global_toctree_for_doc(titles, page, builder, **wanted)
    assert small.pformat() == whole.pformat()
    assert len(list(small.findall(nodes.reference))) > 30
    count = [sum(len(list(toc.findall(nodes.reference))) for toc in one.tocs.values())
             for one in (titles, environment)]  # fmt: skip
    assert count[0] * 4 < count[1], "the sections are not left out"


def test_a_tree_with_sections_is_left_to_sphinx():
    asked = []
    app = SimpleNamespace()
    build_speed.tree_of_titles(app, "index", lambda **wanted: asked.append(wanted), maxdepth=2)
    assert asked == [{"titles_only": False, "collapse": True, "maxdepth": 2}]


def tree(rng: random.Random, depth: int = 0) -> nodes.Element:
    """Paragraphs, emphasis and text, one in another."""
    made = rng.choice([nodes.paragraph, nodes.emphasis])()
    for _ in range(rng.randrange(4) if depth < 5 else 0):
        made += rng.choice([nodes.Text("a"), tree(rng, depth + 1)])
    return made


@pytest.mark.parametrize("seed", range(5))
def test_a_walk_without_recursion_meets_what_docutils_meets(monkeypatch, seed):
    page = nodes.section("", *(tree(random.Random(7 * seed + n)) for n in range(3)))
    asked = [{}, {"condition": nodes.emphasis}, {"condition": lambda one: not one.children},
             {"condition": nodes.Text, "include_self": False}, {"descend": False},
             {"siblings": True}, {"ascend": True, "condition": nodes.paragraph}]  # fmt: skip
    starts = [page, *page.children]
    plain = nodes.Node.findall
    wanted = [list(map(id, plain(start, **one))) for start in starts for one in asked]
    monkeypatch.setattr(nodes.Node, "findall", plain)
    build_speed.walk_without_recursion()
    assert nodes.Node.findall is not plain
    assert [list(map(id, start.findall(**one))) for start in starts for one in asked] == wanted


def test_a_work_is_formatted_once_and_keeps_the_label_of_each_list(monkeypatch):
    formatted = []

    def format_entry(style, label, entry, bib_data=None):
        formatted.append(entry.key)
        return SimpleNamespace(text=f"the text of {entry.key}")

    monkeypatch.setattr(BaseStyle, "format_entry", format_entry)
    build_speed.format_entries_once()
    first, second = Entry("book"), Entry("book")
    first.key, second.key = "a", "b"
    style, other = object.__new__(BaseStyle), object.__new__(type("Other", (BaseStyle,), {}))
    said = [style.format_entry(*pair) for pair in (("1", first), ("2", second), ("3", first))]
    assert [(one.key, one.text, one.label) for one in said] == [
        ("a", "the text of a", "1"), ("b", "the text of b", "2"), ("a", "the text of a", "3")
    ]  # fmt: skip
    assert formatted == ["a", "b"]
    other.format_entry("1", first)
    assert formatted == ["a", "b", "a"], "another style writes another text"


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
    assert draft.is_ours(build_speed)
    assert draft.is_ours(draft)
    assert not draft.is_ours(pytest)


def test_a_draft_says_what_is_wrong_and_goes_on(monkeypatch, capsys, tmp_path):
    def refuse(text):
        raise RuntimeError("code cell 3 of 7 failed")

    monkeypatch.setattr(draft, "build", refuse)
    text = tmp_path / "page.md"
    text.touch()
    assert "sys" in draft.rebuild([text])
    assert "Not built: code cell 3 of 7 failed" in capsys.readouterr().err


@pytest.mark.parametrize(("drafted", "edited", "left"), [
    ("yes", False, ["index"]), ("yes", True, ["guide", "index"]), ("", False, ["guide", "index"])
])  # fmt: skip
def test_a_draft_leaves_the_guide_unless_its_own_text_was_edited(
    tmp_path, monkeypatch, drafted, edited, left
):
    text = tmp_path / "guide.md"
    text.touch()
    read = text.stat().st_mtime + (-1 if edited else 1)
    env = SimpleNamespace(all_docs={"guide": read * 1e6}, doc2path=lambda page: text)
    monkeypatch.setenv("COURSE_DRAFT", drafted)
    pages = ["guide", "index"]
    teachers_guide.leave_for_the_book(None, env, pages)
    assert pages == left


PAGES_AS_READ = ("chapters/09", "atlas", "chapters/02")


def test_citations_lead_to_the_same_list_whichever_process_read_its_page_first():
    keys = [BibliographyKey(name, "bibtex-bibliography-1") for name in PAGES_AS_READ]
    lists = {key: number for number, key in enumerate(keys)}
    env = SimpleNamespace(get_domain=lambda name: SimpleNamespace(bibliographies=lists))
    build_speed.order_lists(None, env)
    assert [key.docname for key in lists] == ["atlas", "chapters/02", "chapters/09"]
    assert [lists[key] for key in keys] == [0, 1, 2]
