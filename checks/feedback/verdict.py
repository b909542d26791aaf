"""The verdict that a learner reads, as text and as HTML."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from checks.feedback.blocks import Shown, html_with_code, row_of, side_by_side
from checks.feedback.misconceptions import Misconception, book_address, heading_of, is_written
from checks.run.errors import Mistake
from checks.status import Status
from checks.task import Task

NEUTRAL = (Status.NOT_ATTEMPTED, Status.LATER, Status.NOT_HERE)
AFTERNOON = {1, 2, 3, 4, 7, 8, 9}  # the chapters of the short path
LIST = "../appendix/guide.md"  # the book turns .md into .html
TONES = {Status.PASSED: "--right", **dict.fromkeys(NEUTRAL, "--ink")}


@dataclass(frozen=True)
class Verdict:
    """The result of one check: its status, what was done, and where to read about it."""

    status: Status
    task: str
    title: str
    sentences: tuple[str, ...] = ()
    misconceptions: tuple[str, ...] = ()
    about: str = ""
    given: tuple[Shown, ...] = ()
    sides: tuple[Shown, ...] = ()
    read: str = ""
    right: float = 0.0  # the share of the cases on which the answer is right
    mistake: Mistake | None = None  # the error that the sentences quote

    @property
    def passed(self) -> bool:
        """Whether the answer is right."""
        return self.status == Status.PASSED

    def __repr__(self) -> str:
        lines = [f"{self.task} {self.title}: {self.status.words}."]
        lines += [*self.sentences, *self.case_lines()]
        if self.read:
            numbers = f" ({', '.join(self.misconceptions)})" if self.misconceptions else ""
            lines.append(f"Read: {place_in_words(self.read)}.{numbers}")
        return "\n".join(lines)

    def case_lines(self) -> list[str]:
        """The case on which the verdict is told, what was expected, and what came."""
        lines = [f"Case: {self.about}."] if self.about else []
        for block in self.given:
            lines += [f"  {block.caption}", *(f"    {row}" for row in block.body.splitlines())]
        return [*lines, *side_by_side(self.sides)]

    def _repr_html_(self) -> str:
        kind = self.status.replace(" ", "-")
        tone = TONES.get(self.status, "--wrong")
        style = f"border-left:.3rem solid var({tone}, currentColor);padding:.2rem 0 .2rem .8rem"
        head = f"{self.task} {self.title}: {self.status.words}."
        parts = [f"<p><strong>{html.escape(head)}</strong></p>"]
        parts += [f"<p>{html_with_code(sentence)}</p>" for sentence in self.sentences]
        if self.about:
            parts.append(f"<p>Case: {html_with_code(self.about)}.</p>")
        for blocks in (self.given, self.sides):
            if blocks:
                parts.append(row_of(blocks))
        if self.read:
            parts.append(f"<p>Read: {link(self.read)}.{self._numbers_as_links()}</p>")
        inner = "\n".join(parts)
        return f'<div class="course-verdict {kind}" style="{style}">\n{inner}\n</div>'

    def _numbers_as_links(self) -> str:
        """The numbers of the misconceptions, small, each a link to its line in the list."""
        links: Iterable[str] = map(html.escape, self.misconceptions)
        if book_address() is None:
            links = (
                f'<a class="course-misconception" href="{LIST}#misconception-{n}">{n}</a>'
                for n in links
            )
        return f" <small>({', '.join(links)})</small>" if self.misconceptions else ""


def split_read(read: str) -> tuple[str, str]:
    """Take `chapters/05_scaling.html#anchor` apart into `05_scaling` and `anchor`."""
    page, _, anchor = read.partition("#")
    page = page.rsplit("/", 1)[-1]
    for suffix in (".html", ".ipynb", ".md"):
        page = page.removesuffix(suffix)
    return page, anchor


def place_of(entry: Misconception, task: Task) -> str:
    """Where to read about a misconception.

    The place of the task, if that of the misconception is not written, comes later, or leads from
    the core pages of the afternoon to a page that a reader of these pages has not read.
    """
    later = split_read(entry.read)[0][:2] > task.id.partition(".")[0].zfill(2)
    aside = _of_the_afternoon(task.read) and not _of_the_afternoon(entry.read)
    usable = entry.read and is_written(entry.read) and not later and not aside
    return entry.read if usable else task.read


def _of_the_afternoon(read: str) -> bool:
    page = split_read(read)[0]
    number = page[:2]
    return number.isdecimal() and int(number) in AFTERNOON and not page.endswith("_deeper")


def href(read: str) -> str:
    """The link from an exercise to a chapter's notebook; the book turns .ipynb into .html."""
    page, anchor = split_read(read)
    return f"../chapters/{page}.ipynb" + (f"#{anchor}" if anchor else "")


def link(read: str) -> str:
    """The place in words, as a link to it if the pages are here or the book has an address."""
    page, anchor = split_read(read)
    address, target = book_address(), href(read)
    if address is not None:
        target = f"{address}/chapters/{page}.html#{anchor}".rstrip("#") if address else ""
    words = html.escape(place_in_words(read))
    return f'<a class="course-read" href="{html.escape(target)}">{words}</a>' if target else words


def place_in_words(read: str) -> str:
    """The same place in words."""
    page, anchor = split_read(read)
    digits, _, name = page.partition("_")
    chapter = f"chapter {digits.lstrip('0') or '0'}, {name.replace('_', ' ')}"
    heading = heading_of(page, anchor) if anchor else ""
    if anchor.startswith("claim-") and not heading:
        return f"{chapter}, at claim {anchor.removeprefix('claim-')}"
    anchor = heading or anchor.replace("-", " ")
    return f"{chapter}, \u201c{anchor}\u201d" if anchor else chapter


@dataclass(frozen=True)
class ReadingList:
    """Places to read, in words or as links."""

    reads: tuple[str, ...]

    def __str__(self) -> str:
        return "; ".join(map(place_in_words, self.reads))

    def _repr_html_(self) -> str:
        return "; ".join(map(link, self.reads))


@dataclass(frozen=True)
class Table:
    """A small table that prints as text and as HTML."""

    head: tuple[str, ...]
    rows: Sequence[tuple[Any, ...]]
    foot: str

    def __repr__(self) -> str:
        lines = [tuple(map(str, row)) for row in (self.head, *self.rows)]
        wide = [max(len(line[n]) for line in lines) for n in range(len(self.head))]
        text = [
            "  ".join(cell.ljust(width) for cell, width in zip(line, wide, strict=True)).rstrip()
            for line in lines
        ]
        return "\n".join([*text, self.foot])

    def _repr_html_(self) -> str:
        head = "".join(f'<th scope="col">{html.escape(word)}</th>' for word in self.head)
        rows = []
        for first, *rest in self.rows:
            cells = "".join(f"<td>{_cell(cell)}</td>" for cell in rest)
            rows.append(f'<tr><th scope="row">{html.escape(str(first))}</th>{cells}</tr>')
        body = "\n".join(rows)
        return (
            '<div class="course-table" style="overflow-x:auto" tabindex="0">\n'
            f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>\n"
            f"<p>{html.escape(self.foot)}</p>\n</div>"
        )


def _cell(value: Any) -> str:
    return value._repr_html_() if isinstance(value, ReadingList) else html.escape(str(value))
