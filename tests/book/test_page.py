"""What pages call: `show` quotes lib, `sources_say` lists the claims of a chapter."""

from __future__ import annotations

import inspect
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from book.catalogue import SOURCES, VERDICTS, claims
from book.extensions.theme import fold_proofs
from book.page import holds, progress, show, sources_say
from chapters import gpt
from lib import functional
from lib.attention import dot_product, multi_head
from tests.support.pages import executed

ROOT = Path(__file__).resolve().parents[2]
CHAPTERS = sorted({claim.chapter for claim in claims().values()})


class Reader(HTMLParser):
    """Collects tags and checks that each is closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.opened: list[str] = []
        self.seen: list[tuple[str, dict]] = []
        self.feed(text)
        assert not self.opened

    def handle_starttag(self, tag, attrs):
        self.opened.append(tag)
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.opened.pop() == tag


@pytest.mark.parametrize(
    "thing",
    [
        dot_product.attend,
        functional.softmax,
        multi_head.MultiHeadAttention,
        functional.RunningSoftmax,
        gpt.Block,
    ],
)
def test_show_quotes_the_source_with_its_file(thing):
    quoted = show(thing)
    assert quoted.text == inspect.getsource(inspect.unwrap(thing)).rstrip()
    path = thing.__module__.replace(".", "/") + ".py"
    assert quoted._repr_markdown_().startswith(f"```python\n# {path}\n")
    assert repr(quoted).startswith(f"# {path}\n")


def test_show_quotes_a_method_without_its_indentation():
    assert show(multi_head.MultiHeadAttention.forward).text.startswith("def forward(")


def test_show_quotes_several_definitions_of_one_file_as_one_listing():
    quoted = show(gpt.FeedForward, gpt.Block)
    assert quoted.path == "chapters/gpt.py"
    both = (inspect.getsource(gpt.FeedForward), inspect.getsource(gpt.Block))
    assert quoted.text == "\n\n\n".join(text.rstrip() for text in both)


def test_show_refuses_definitions_of_two_files():
    with pytest.raises(ValueError, match="one file"):
        show(gpt.Block, functional.softmax)


@pytest.mark.parametrize("thing", [print, 3, inspect.unwrap, dot_product])
def test_show_refuses_what_is_defined_elsewhere(thing):
    with pytest.raises(TypeError, match="of lib"):
        show(thing)


def test_a_statement_that_no_longer_holds_is_a_sentence_and_not_an_error(capsys):
    holds("one is less than two", 1 < 2)
    holds("two is less than one", np.array(2) < 1)
    true, false = capsys.readouterr().out.splitlines()
    assert true == "Holds: one is less than two"
    assert false == "With these numbers it is not so: two is less than one"


def test_statements_that_hold_are_folded_and_one_that_does_not_is_in_sight(capsys):
    block = (
        '<div class="output stream highlight-myst-ansi notranslate"><div class="highlight">'
        "<pre><span></span>{}</pre></div>\n</div>"
    )

    def built(*truths: bool, printed: str = "") -> str:
        print(printed, end="")
        for number, truth in enumerate(truths):
            holds(f"statement {number}", truth)
        return fold_proofs(block.format(capsys.readouterr().out))

    assert "<details" in built(True, True, True)
    assert "Checked: 3 statements hold" in built(True, True, True)
    assert "Checked: 1 statement holds" in built(True)
    assert "<details" not in built(False) + built(True, False, True)
    seen, folded = built(True, True, printed="a table\n\nof two lines\n").split("<details")
    assert "of two lines" in seen
    assert "statement" not in seen
    assert "table" not in folded
    assert "not so" in built(False, True).split("<details")[0]


def test_a_cell_that_only_prints_leaves_the_statements_of_a_later_cell_folded():
    block = (
        '<div class="output stream highlight-myst-ansi notranslate"><div class="highlight">'
        "<pre><span></span>{}</pre></div>\n</div>\n"
    )
    page = block.format("a table\n") + block.format("Holds: the first\nHolds: the second\n")
    seen, folded = fold_proofs(page).split("<details")
    assert "a table" in seen
    assert "Holds" not in seen
    assert "Checked: 2 statements hold" in folded


@pytest.mark.parametrize("page", sorted(ROOT.glob("chapters/*.ipynb")), ids=lambda path: path.stem)
def test_no_stored_page_says_that_a_statement_of_its_own_is_not_so(page):
    assert "With these numbers it is not so" not in executed(page)


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_the_table_holds_every_claim_of_its_chapter_with_a_link(chapter):
    shown = sources_say(chapter)
    seen = Reader(shown._repr_html_()).seen
    links = [attrs["href"] for tag, attrs in seen if tag == "a"]
    owned = [claim.id for claim in claims().values() if claim.chapter == chapter]
    assert links == [f"#claim-{key}" for key in owned]
    assert sum(tag == "tr" for tag, _ in seen) == len(owned) + 1
    assert all("scope" in attrs for tag, attrs in seen if tag == "th")


def test_the_table_names_source_verdict_and_answer():
    page = sources_say("05")._repr_html_()
    claim = claims()["S4-12"]
    assert f'<td class="verdict-wrong">{VERDICTS["wrong"]}</td>' in page
    assert claim.claim in page
    author, title, _ = SOURCES["S4"]
    assert author in page
    assert title in page


def test_text_and_html_are_the_same_twice():
    assert repr(sources_say("06")) == repr(sources_say("06"))
    assert sources_say("06")._repr_html_() == sources_say("06")._repr_html_()


@pytest.mark.parametrize("chapter", ["5", "99", "scaling"])
def test_a_chapter_without_claims_is_refused(chapter):
    with pytest.raises(ValueError, match="no claim belongs"):
        sources_say(chapter)


def test_progress_counts_and_outside_a_notebook_shows_nothing(capsys):
    assert list(progress(3, "training")) == [0, 1, 2]
    assert capsys.readouterr().out == ""
