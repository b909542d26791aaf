"""Small blocks of numbers, as text and as HTML: what an answer was given and what it gave."""

from __future__ import annotations

import html
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from checks.run.nodes import Items, Mapping, Node, Numbers, Text, number

MOST_SHOWN = 40
MOST_PARTS = 12
MOST_LETTERS = 200


@dataclass(frozen=True)
class Shown:
    """A small block of numbers with its caption."""

    caption: str
    body: str


def value_block(name: str, node: Node) -> Shown:
    """A block for one value, with its shape in the caption."""
    numbers = node.as_numbers()
    shape = f"  shape {numbers.shape}" if numbers is not None and numbers.shape else ""
    return Shown(f"{name}{shape}", node_text(node))


def both_blocks(expected: Node, got: Node) -> tuple[Shown, Shown]:
    """The right value and that of the answer; two numbers with the digits in which they differ."""
    blocks = value_block("expected", expected), value_block("your answer", got)
    pair = [node.as_numbers() for node in (expected, got)]
    single = [each.values for each in pair if each is not None and each.shape == ()]
    if blocks[0].body != blocks[1].body or len(single) < 2:
        return blocks
    for digits in range(4, 18):
        words = [number(value[()], digits) for value in single]
        if words[0] != words[1]:
            return Shown("expected", words[0]), Shown("your answer", words[1])
    return blocks


def node_text(node: Node) -> str:
    """A node as short text: rounded numbers, or its kind where there are too many."""
    numbers = node.as_numbers()
    if numbers is not None:
        return numbers_text(numbers)
    write = WRITERS.get(type(node))
    return (write and write(node)) or node.words


def _items_text(node: Items) -> str:
    if node.kind == "set":
        few = len(node.items) <= MOST_SHOWN
        return "{" + ", ".join(map(node_text, node.items)) + "}" if few else ""
    if len(node.items) > MOST_PARTS:
        return ""
    if node.kind == "list" and all(isinstance(item, Text) for item in node.items):
        return f"[{', '.join(map(node_text, node.items))}]"
    parts = zip(node.item_names, node.items, strict=True)
    return "\n".join(f"{name}: {indent(node_text(item))}" for name, item in parts)


def _mapping_text(node: Mapping) -> str:
    if not node.entries:
        return "{}"
    if len(node.entries) > MOST_PARTS:
        return ""
    pairs = node.entries.items()
    return "\n".join(f"{key!r}: {indent(node_text(entry))}" for key, entry in pairs)


def _text_text(node: Text) -> str:
    long = len(node.text) > MOST_LETTERS
    return repr(node.text[:MOST_LETTERS] + "..." if long else node.text)


WRITERS: dict[type, Callable[[Any], str]] = {
    Items: _items_text,
    Mapping: _mapping_text,
    Text: _text_text,
}


def indent(text: str) -> str:
    """Put a block of several lines on lines of its own."""
    return text if "\n" not in text else "\n" + "\n".join(f"  {row}" for row in text.splitlines())


def numbers_text(numbers: Numbers) -> str:
    """An array with three digits, or what it takes to tell its numbers apart, aligned."""
    values = numbers.values
    if values is None or values.size > MOST_SHOWN:
        return f"{numbers.dtype} array of shape {numbers.shape}"
    if values.shape == ():
        return _whole_word(values[()])
    words = values.astype(object)
    fewest = _digits(values)
    for row in np.ndindex(values.shape[:-1]):
        words[row] = _row_words(values[row], fewest)
    width = max((len(word) for word in words.flat), default=0)
    text = np.array2string(
        words, formatter={"all": lambda word: str(word).rjust(width)}, max_line_width=100
    )
    return text.replace("\n\n", "\n")


def _whole_word(value: np.generic) -> str:
    """A single number: all of its digits if they are few, as those of a number that was typed."""
    words = [number(value, digits) for digits in range(3, 7)]
    if value.dtype.kind != "f":
        return words[0]
    return next((word for word in words if float(word) == float(value)), words[0])


def _digits(values: np.ndarray) -> int:
    """Three digits, or as many as show how numbers differ that are far from 0 and near together."""
    if values.dtype.kind != "f" or values.ndim == 0:
        return 3
    finite = values[np.isfinite(values)]
    spread = float(np.ptp(finite)) if finite.size else 0.0
    if spread == 0.0:
        return 3
    return min(7, max(3, 2 + math.ceil(math.log10(float(np.abs(finite).max()) / spread))))


def _row_words(row: np.ndarray, fewest: int) -> list[str]:
    """The numbers of one row with so many digits, or as many as show which of them differ."""
    by_digits = [[number(value, digits) for value in row] for digits in range(fewest, 8)]
    return next(words for words in by_digits if len({*words}) == len({*by_digits[-1]}))


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


def row_of(blocks: tuple[Shown, ...]) -> str:
    """Blocks beside each other, which wrap on a narrow screen and scroll when wide."""
    cells = [
        '<div style="min-width:0;max-width:100%">'
        f"<div>{html_with_code(block.caption)}</div>"
        f'<pre tabindex="0" style="overflow-x:auto;margin:.2rem 0">{html.escape(block.body)}</pre>'
        "</div>"
        for block in blocks
    ]
    style = "display:flex;flex-wrap:wrap;gap:.4rem 2rem;margin-bottom:.8rem"
    return f'<div class="course-blocks" style="{style}">{"".join(cells)}</div>'


def html_with_code(text: str) -> str:
    """Escape a sentence for HTML and set what stands between backticks as code."""
    pieces = html.escape(text, quote=False).split("`")
    if len(pieces) % 2 == 0:
        return "`".join(pieces)
    return "".join(f"<code>{p}</code>" if n % 2 else p for n, p in enumerate(pieces))
