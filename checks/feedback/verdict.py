"""The verdict that a learner reads, as text and as HTML."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from checks.feedback.misconceptions import heading_of
from checks.run.compare import kind_of, number
from checks.run.plain_data import Items, Mapping, Numbers, Text, as_numbers

WORDS = {
    "passed": "passed",
    "wrong": "not yet",
    "raised": "stopped with an error",
    "too slow": "too slow",
    "not attempted": "not attempted yet",
    "missing": "not found",
    "syntax error": "syntax error",
    "not understood": "not understood",
    "later": "judged when graded",
}
MOST_SHOWN = 40


@dataclass(frozen=True)
class Shown:
    """A small block of numbers with its caption."""

    caption: str
    body: str


@dataclass(frozen=True)
class Verdict:
    """The result of one check: its status, what was done, and where to read about it."""

    status: str
    task: str
    title: str
    sentences: tuple[str, ...] = ()
    misconceptions: tuple[str, ...] = ()
    about: str = ""
    given: tuple[Shown, ...] = ()
    sides: tuple[Shown, ...] = ()
    read: str = ""
    right: float = 0.0  # the share of the cases on which the answer is right

    @property
    def passed(self) -> bool:
        """Whether the answer is right."""
        return self.status == "passed"

    def __repr__(self) -> str:
        lines = [f"{self.task} {self.title}: {WORDS[self.status]}."]
        lines += self.sentences
        if self.about:
            lines.append(f"Case: {self.about}.")
        for block in self.given:
            lines += [f"  {block.caption}", *(f"    {row}" for row in block.body.splitlines())]
        lines += side_by_side(self.sides)
        if self.read:
            lines.append(f"Read: {place(self.read)}.")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        kind = self.status.replace(" ", "-")
        tone = {"passed": "--right", "not attempted": "--ink", "later": "--ink"}.get(
            self.status, "--wrong"
        )
        style = f"border-left:.3rem solid var({tone}, currentColor);padding:.2rem 0 .2rem .8rem"
        head = f"{self.task} {self.title}: {WORDS[self.status]}."
        parts = [f"<p><strong>{html.escape(head)}</strong></p>"]
        parts += [f"<p>{code(sentence)}</p>" for sentence in self.sentences]
        if self.about:
            parts.append(f"<p>Case: {code(self.about)}.</p>")
        for blocks in (self.given, self.sides):
            if blocks:
                parts.append(row_of(blocks))
        if self.read:
            parts.append(f"<p>Read: {link(self.read)}.</p>")
        inner = "\n".join(parts)
        return f'<div class="course-verdict {kind}" style="{style}">\n{inner}\n</div>'


def code(text: str) -> str:
    """Escape a sentence for HTML and set what stands between backticks as code."""
    pieces = html.escape(text, quote=False).split("`")
    if len(pieces) % 2 == 0:
        return "`".join(pieces)
    return "".join(f"<code>{p}</code>" if n % 2 else p for n, p in enumerate(pieces))


def row_of(blocks: tuple[Shown, ...]) -> str:
    """Blocks beside each other, which wrap on a narrow screen and scroll when wide."""
    cells = [
        '<div style="min-width:0;max-width:100%">'
        f"<div>{code(block.caption)}</div>"
        f'<pre tabindex="0" style="overflow-x:auto;margin:.2rem 0">{html.escape(block.body)}</pre>'
        "</div>"
        for block in blocks
    ]
    style = "display:flex;flex-wrap:wrap;gap:.4rem 2rem;margin-bottom:.8rem"
    return f'<div class="course-blocks" style="{style}">{"".join(cells)}</div>'


def side_by_side(blocks: tuple[Shown, ...]) -> list[str]:
    """Text columns, with the captions above."""
    if not blocks:
        return []
    columns = [[block.caption, *block.body.splitlines()] for block in blocks]
    height = max(map(len, columns))
    wide = [max(map(len, column)) for column in columns]
    lines = []
    for n in range(height):
        cells = [column[n] if n < len(column) else "" for column in columns]
        padded = (cell.ljust(width) for cell, width in zip(cells, wide, strict=True))
        lines.append("  " + "    ".join(padded).rstrip())
    return lines


def show(node: Any) -> str:
    """A node as short text: rounded numbers, or its kind where there are too many."""
    numbers = as_numbers(node)
    if numbers is not None:
        return show_numbers(numbers)
    if isinstance(node, Text):
        return repr(node.text if len(node.text) <= 200 else node.text[:200] + "...")
    if isinstance(node, Items) and node.kind == "set" and len(node.items) <= MOST_SHOWN:
        return "{" + ", ".join(map(show, node.items)) + "}"
    if isinstance(node, Items) and len(node.items) <= 12:
        names = node.names or [f"result {n + 1}" for n in range(len(node.items))]
        parts = zip(names, node.items, strict=True)
        return "\n".join(f"{name}: {indent(show(one))}" for name, one in parts)
    if isinstance(node, Mapping) and len(node.entries) <= 12:
        return "\n".join(f"{key!r}: {indent(show(one))}" for key, one in node.entries.items())
    return kind_of(node)


def indent(text: str) -> str:
    """Put a block of several lines on lines of its own."""
    return text if "\n" not in text else "\n" + "\n".join(f"  {row}" for row in text.splitlines())


def show_numbers(numbers: Numbers) -> str:
    """An array with three digits, its columns aligned."""
    values = numbers.values
    if values is None or values.size > MOST_SHOWN:
        return f"{numbers.dtype} array of shape {numbers.shape}"
    if values.shape == ():
        return number(values[()])
    words = np.vectorize(number, otypes=[object])(values) if values.size else values.astype(object)
    width = max((len(word) for word in words.flat), default=0)
    text = np.array2string(
        words, formatter={"all": lambda word: str(word).rjust(width)}, max_line_width=100
    )
    return text.replace("\n\n", "\n")


def shown(name: str, node: Any) -> Shown:
    """A block for one value, with its shape in the caption."""
    numbers = as_numbers(node)
    shape = f"  shape {numbers.shape}" if numbers is not None and numbers.shape else ""
    return Shown(f"{name}{shape}", show(node))


def split_read(read: str) -> tuple[str, str]:
    """Take `chapters/05_scaling.html#anchor` apart into `05_scaling` and `anchor`."""
    page, _, anchor = read.partition("#")
    page = page.rsplit("/", 1)[-1]
    for suffix in (".html", ".ipynb", ".md"):
        page = page.removesuffix(suffix)
    return page, anchor


def href(read: str) -> str:
    """The link from an exercise to a chapter's notebook; the book turns .ipynb into .html."""
    page, anchor = split_read(read)
    return f"../chapters/{page}.ipynb" + (f"#{anchor}" if anchor else "")


def link(read: str) -> str:
    """The place in words, as a link to it."""
    return f'<a class="course-read" href="{html.escape(href(read))}">{html.escape(place(read))}</a>'


def place(read: str) -> str:
    """The same place in words."""
    page, anchor = split_read(read)
    digits, _, name = page.partition("_")
    said = f"chapter {digits.lstrip('0') or '0'}, {name.replace('_', ' ')}"
    heading = heading_of(page, anchor) if anchor else ""
    if anchor.startswith("claim-") and not heading:
        return f"{said}, at claim {anchor.removeprefix('claim-')}"
    anchor = heading or anchor.replace("-", " ")
    return f"{said}, \u201c{anchor}\u201d" if anchor else said


@dataclass(frozen=True)
class Reading:
    """Places to read, in words or as links."""

    reads: tuple[str, ...]

    def __str__(self) -> str:
        return "; ".join(map(place, self.reads))

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
    return value._repr_html_() if isinstance(value, Reading) else html.escape(str(value))
