"""Schematic of chapter 17: the path by which a wrong split carries the last token to the first."""

import numpy as np
from matplotlib.axes import Axes

from figures import palette, plots
from figures.drawing import Length, put_arrow, put_box, put_text, sheet
from figures.svg import Figure, styled

HALVES = np.reshape([[token] * 2 for token in (1, 2, 3, 4)], (2, 4))
"""Two halves of each of four tokens, dealt to (head, row) without a transpose."""
TALL, WIDE = 26, 62  # a cell
LEVELS = ("input", "head 2,\nlayer 1", "after\nlayer 1", "head 2,\nlayer 2", "after\nlayer 2")


@styled()
def split_path() -> Figure:
    """Draw what head 2 gets in two layers of four tokens, and how token 4 reaches token 1."""
    fig, axes = sheet(66 * len(LEVELS) - 30)
    rows = HALVES[1]
    path = [(4, 3), (int(rows[0]), 1)]  # from a token to a row of head 2, in each layer
    lit = {(0, 4), (1, 3), (2, 3), (3, 1), (4, 1)}
    for level, name in enumerate(LEVELS):
        put_text(axes, 2, _y(level), name, "muted", ha="left", va="center", size=11)
        for place in (1, 2, 3, 4):
            text = f"half of {rows[place - 1]}" if level % 2 else f"token {place}"
            _cell(axes, place, level, text, (level, place) in lit)
    for layer, thick in enumerate(path):
        for row, token in enumerate(map(int, rows), 1):
            strong = (token, row) == thick
            _arrow(axes, (token, 2 * layer), row, strong=strong)
            _arrow(axes, (row, 2 * layer + 1), row, strong=strong)
    listed = ", ".join(f"row {row} half of token {token}" for row, token in enumerate(rows, 1))
    return plots.figure(
        fig,
        alt="Four tokens above, and below them, for each of two layers, the four rows of head 2 "
        f"and the four tokens after the layer. In head 2, {listed}. Thick arrows lead from token 4 "
        "to row 3 of layer 1, down to token 3, on to row 1 of layer 2, and down to token 1.",
        caption="The model of the hunt cuts four tokens in the middle, so head 2 gets the halves "
        "of tokens 3 and 4. In layer 1, row 3 holds half of token 4, and writes to token 3. In "
        "layer 2, row 1 holds half of token 3, and writes to token 1.",
    )


def _x(place: int) -> Length:
    """The middle of a column."""
    return 98 + 74 * (place - 1)


def _y(level: int) -> Length:
    """The middle of a level."""
    return 18 + 66 * level


def _cell(axes: Axes, place: int, level: int, text: str, lit: bool) -> None:
    """Draw a token, or on the colour of its head a row of head 2."""
    x, y = _x(place), _y(level)
    put_box(axes, x, y, WIDE, TALL, "accent" if lit else "line", linewidth=2.4 if lit else 1)
    if level % 2:
        axes.fill_between([x - WIDE / 2 + 2, x + WIDE / 2 - 2], y - TALL / 2 + 2, y + TALL / 2 - 2,
                          linewidth=0, alpha=0.35, color=palette.light("series-2"))  # fmt: skip
    put_text(axes, x, y, text, weight="bold" if lit else "normal", size=11)


def _arrow(axes: Axes, start: tuple[int, int], end: int, *, strong: bool) -> None:
    """Draw an arrow from (place, level) down to a place on the next level."""
    place, level = start
    put_arrow(axes, (_x(place), _y(level) + TALL / 2), (_x(end), _y(level + 1) - TALL / 2),
              "accent" if strong else "line", linewidth=2.6 if strong else 1,
              order=2 if strong else 1)  # fmt: skip
