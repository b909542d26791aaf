"""Schematic of chapter 7: self-attention in five steps, with the shape of every array."""

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from figures import palette, plots
from figures.drawing import put_arrow, put_text, sheet
from figures.svg import Figure

WORDS = ("dog", "bites", "man")
LIT = 1  # the row that is followed through all the steps
WEIGHTS = ((1 / 2, 1 / 4, 1 / 4), (1 / 2, 1 / 6, 1 / 3), (1 / 4, 1 / 4, 1 / 2))
CELL = 15
Number = float | int


def five_steps() -> Figure:
    """Draw X, then Q, K and V, the score matrix, the weights and the output, one below another."""
    fig, axes = sheet(560)
    _array(axes, "X", 196, 26, 4, "ink", "", words=True)
    put_text(axes, 236, 48, "(n, d_model)", role="muted", ha="left")
    for name, x, columns, shape, weights in (
        ("query", 78, 2, "(n, d_k)", "$W_q$"),
        ("key", 190, 2, "(n, d_k)", "$W_k$"),
        ("value", 302, 3, "(n, d_v)", "$W_v$"),
    ):
        put_arrow(axes, (196, 75), (x, 121), role=name)
        put_text(axes, (196 + x) / 2 + (16 if x != 78 else -18), 96, weights, role=name)
        _array(axes, {"query": "Q", "key": "K", "value": "V"}[name], x, 140, columns, name, shape)
    put_arrow(axes, (78, 205), (122, 241))
    put_arrow(axes, (190, 205), (146, 241))
    _array(axes, "Q Kᵀ", 134, 258, 3, "ink", "(n, n)", words=True)
    put_arrow(axes, (134, 324), (134, 362))
    put_text(axes, 144, 336, "÷ √d_k", ha="left")
    put_text(axes, 144, 356, "softmax in each row", ha="left")
    _array(axes, "weights", 134, 380, 3, "ink", "(n, n)", words=True, shades=WEIGHTS)
    put_arrow(axes, (134, 446), (196, 481))
    axes.plot([302, 302], [205, 521], color=palette.light("value"), linewidth=1.5, linestyle="-")
    put_arrow(axes, (302, 521), (231, 521), role="value")
    _array(axes, "output", 203, 498, 3, "output", "(n, d_v)", words=True)
    _number_the_steps(axes)
    return plots.figure(
        fig,
        alt="Five steps, from top to bottom. 1, project: X with a row for each of the words dog, "
        "bites and man, of shape (n, d_model), is multiplied by W_q, W_k and W_v and gives Q and "
        "K of shape (n, d_k) and V of shape (n, d_v). 2, score: Q times K transposed has the shape "
        "(n, n). 3, scale: it is divided by the root of d_k. 4, softmax: each row becomes weights. "
        "5, mix: the weights times V give the output of shape (n, d_v). The row of bites is marked "
        "in every array but the keys and values.",
        caption="Follow the marked row: one word asks, all words answer. The row of bites in the "
        "output needs its own query, and the keys and values of all words.",
    )


def _number_the_steps(axes: Axes) -> None:
    """Put a number and a name beside each step."""
    for number, name, y in (
        (1, "project", 98), (2, "score", 222), (3, "scale", 336), (4, "softmax", 358),
        (5, "mix", 466),
    ):  # fmt: skip
        axes.scatter(11, y, s=190, color=palette.light("accent"), linewidth=0)
        axes.text(11, y + 0.5, str(number), ha="center", va="center", weight="bold",
                  color=palette.light("paper"))  # fmt: skip
        axes.text(24, y + 0.5, name, va="center", weight="bold")


def _array(
    axes: Axes,
    name: str,
    x: Number,
    top: Number,
    columns: int,
    role: str,
    shape: str,
    *,
    words: bool = False,
    shades: tuple[tuple[float, ...], ...] | None = None,
) -> None:
    """Draw an array of one row per word, centred at x; rows that are queries mark the lit row."""
    left = x - columns * CELL / 2
    marked = role not in ("key", "value")
    for row in range(len(WORDS)):
        for column in range(columns):
            share = shades[row][column] if shades else 0
            face = palette.light(f"w{round(palette.STEPS * share)}") if shades else (
                palette.light("surface"))  # fmt: skip
            axes.add_patch(Rectangle((left + column * CELL, top + row * CELL), CELL, CELL,
                                     facecolor=face, edgecolor=palette.light("line"),
                                     linewidth=0.8))  # fmt: skip
    axes.add_patch(Rectangle((left, top), columns * CELL, len(WORDS) * CELL, fill=False,
                             edgecolor=palette.light(role), linewidth=1.6))  # fmt: skip
    if marked:
        axes.add_patch(Rectangle((left - 2, top + LIT * CELL - 1), columns * CELL + 4, CELL + 2,
                                 fill=False, edgecolor=palette.light("accent"),
                                 linewidth=2.6))  # fmt: skip
    if words:
        for row, word in enumerate(WORDS):
            axes.text(left - 6, top + (row + 0.5) * CELL, word, ha="right", va="center",
                      fontsize=10.5)  # fmt: skip
    put_text(axes, x, top - 9, name, role=role, weight="bold")
    put_text(axes, x, top + len(WORDS) * CELL + 11, shape, role="muted")
