"""What a chapter's page gives to slides: its question, predictions, pictures, formulas and quiz."""

from __future__ import annotations

import copy
import posixpath
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from bs4 import BeautifulSoup, Tag

LEFT_OUT = ("Before you start", "Exercises", "References")
QUIZ, SUMMARY = "Check yourself", "Summary"
KEPT = "p, figure.course-figure, details.prediction, div.math, div.pst-scrollable-table-container"


@dataclass
class Slide:
    """One slide: its heading, what is seen, what appears at a press, and the speaker's notes."""

    heading: str
    shown: list[Tag] = field(default_factory=list)
    answer: list[Tag] = field(default_factory=list)
    notes: str = ""
    kind: str = ""


def read_page(path: Path) -> BeautifulSoup:
    """Parse a page of the built book; its links lead there from a folder beside its own."""
    page = BeautifulSoup(path.read_text("utf8"), "lxml")
    for extra in page.select("a.headerlink, .live-about, .cell_input, details.admonition"):
        extra.decompose()
    for tag in page.select("[id]"):
        if not tag.find_parent("svg") and tag.name != "section":
            del tag["id"]
    for tag in page.select("a[href], link[href], img[src]"):
        name = "src" if tag.name == "img" else "href"
        if ":" not in tag[name]:
            tag[name] = _from_beside(path, tag[name])
    return page


def _from_beside(path: Path, link: str) -> str:
    target, mark, anchor = link.partition("#")
    return posixpath.normpath(f"../{path.parent.name}/{target or path.name}") + mark + anchor


def chapter_slides(path: Path) -> Iterator[Slide]:
    """Cut a chapter's page into slides, in its order."""
    page = read_page(path)
    chapter = page.select_one("article.bd-article section")
    title = plain_text(chapter.find("h1", recursive=False))
    opening = chapter.find_all(["p", "div"], recursive=False)
    yield Slide(title, [tag for tag in opening if tag.name == "p"], kind="opening")
    yield from (Slide(title, [figure], kind="picture") for figure in _figures(opening))
    yield from (slide for slide in _section(chapter, title) if slide.kind == "prediction")
    for section in chapter.find_all("section"):
        heading = plain_text(section.find(["h2", "h3"]))
        if heading == QUIZ:
            yield from _quiz(section)
        elif heading == SUMMARY:
            yield Slide(SUMMARY, section.find_all("ul", recursive=False))
        elif heading not in LEFT_OUT:
            yield from _section(section, heading)


def plain_text(tag: Tag) -> str:
    """Return the text of a heading or a sentence; a formula stands there once."""
    bare = copy.copy(tag)
    for formula in bare.select(".katex-html"):
        formula.decompose()
    for source in bare.select("annotation"):
        source.decompose()
    return " ".join(bare.get_text().split())


def _section(section: Tag, heading: str) -> Iterator[Slide]:
    """One slide for each prediction, picture, table or formula; the text before it is for notes."""
    spoken: list[Tag] = []
    for tag in section.select(KEPT):
        if tag.find_parent("section") is not section or tag.find_parent(["details", "figure"]):
            continue
        if tag.name == "p":
            spoken.append(tag)
            continue
        notes = " ".join(map(plain_text, spoken))
        if tag.name == "details":
            question, *answer = tag.find_all(recursive=False)
            question.name = "p"
            yield Slide(heading, [question], answer, notes, kind="prediction")
        elif tag.name == "figure":
            yield Slide(heading, [tag], notes=notes, kind="picture")
        else:  # a formula or a table needs the sentence that leads to it
            yield Slide(heading, [*spoken[-1:], tag], notes=notes, kind="formula")
        spoken = []


def _quiz(section: Tag) -> Iterator[Slide]:
    """One slide for each question; a press shows the right choice with its reason."""
    for ask in section.find_all("p", recursive=False):
        choices = list(_choices(ask))
        if choices:
            shown = [choice.find("summary") for choice in choices]
            for choice in shown:
                choice.name = "li"
            right = next(
                choice for choice in choices if plain_text(choice.find("p")).startswith("Right")
            )
            named = copy.copy(shown[choices.index(right)])
            yield Slide(QUIZ, [ask, *shown], [named, *right.find_all("p")], kind="quiz")


def _choices(ask: Tag) -> Iterator[Tag]:
    for tag in ask.find_next_siblings():
        if "choice" not in tag.get("class", []):
            return
        yield tag


def _figures(tags: list[Tag]) -> Iterator[Tag]:
    for tag in tags:
        yield from tag.select("figure.course-figure")
