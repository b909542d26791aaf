"""The PDF of the book, made of a few pages and read by a library that had no part in it."""

import re

import pytest
from pypdf import PdfReader

from book.build.joined_pages import Leaf
from book.build.pdf import course, make


@pytest.fixture(scope="module")
def pdf(browser, book_folder, tmp_path_factory) -> PdfReader:
    """Two chapters, one with its exercises, and the front page, as a PDF."""
    names = {"chapters/00_start", "exercises/00_start", "chapters/15_counting", "index"}
    pages = [Leaf(name, "A part", name.startswith("ex")) for name in sorted(names, key=order)]
    path = tmp_path_factory.mktemp("paper") / "some.pdf"
    make(book_folder, pages, "a4", path, browser)
    return PdfReader(path)


def order(name: str) -> str:
    """Exercises after their chapter."""
    return name.split("/")[-1] + name


def outline(entries, reader: PdfReader, depth: int = 0) -> list[tuple[int, str, int]]:
    """The entries of an outline: their depth, their words, their page from 1."""
    headings = []
    for entry in entries:
        if isinstance(entry, list):
            headings += outline(entry, reader, depth + 1)
        else:
            headings.append((depth, entry.title, reader.get_destination_page_number(entry) + 1))
    return headings


def test_the_outline_of_the_pdf_has_the_headings_at_their_depth(pdf):
    headings = {(depth, title) for depth, title, _ in outline(pdf.outline, pdf)}
    assert {
        (0, "Contents"), (0, "0. Start here"), (0, "15. Counting parameters"),
        (1, "Exercises 0: start here"), (1, "By hand"), (1, "Summary"),
    } <= headings  # fmt: skip


def test_the_contents_name_the_page_that_a_heading_stands_on(pdf):
    lines = pdf.pages[1].extract_text()
    for _, title, number in outline(pdf.outline, pdf):
        if re.match(r"0\. |15\. |Exercises 0", title):
            assert re.search(rf"{re.escape(title)}\s*{number}\b", lines), (title, number, lines)
            # The foot of the page, which comes first, with the number and the name; the heading.
            shown = pdf.pages[number - 1].extract_text()
            assert shown.startswith(f"{number}{title}")
            assert shown.count(title) > 1


def test_every_internal_link_of_the_pdf_leads_to_a_page_of_it(pdf):
    named = pdf.named_destinations
    inside, outside = [], []
    for page in pdf.pages:
        for link in (annotation.get_object() for annotation in page.get("/Annots", [])):
            if "/Dest" in link:
                inside.append(link["/Dest"])
            else:
                outside.append(link["/A"]["/URI"])
    assert len(inside) > 40
    assert set(inside) <= set(named)
    home = course().home
    assert f"{home}appendix/glossary.html" in {address.partition("#")[0] for address in outside}
    assert all(address.startswith(("https://", "http://")) for address in outside)


def test_the_pdf_says_what_it_is_and_its_sheets_are_a4(pdf):
    assert pdf.metadata.title == course().title
    assert pdf.metadata.author == course().author
    assert pdf.metadata.subject
    assert pdf.trailer["/Root"]["/Lang"] == "en"
    assert pdf.trailer["/Root"]["/MarkInfo"]["/Marked"]
    for page in pdf.pages:
        width, height = float(page.mediabox.width), float(page.mediabox.height)
        assert (width * 25.4 / 72, height * 25.4 / 72) == pytest.approx((210, 297), abs=0.5)
