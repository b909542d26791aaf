"""Schematics of softmax: its curve, two ways to divide by the sums, and the columns that leak."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from jaxtyping import Real
from matplotlib.axes import Axes

from figures import palette, plots
from figures.drawing import Length, put_box, put_text, sheet
from figures.svg import Figure, styled

CELL, TOP, MOST = 34, 66, 4  # the size of a cell, where the cells begin, the most rows


@styled()
def exponential_curve(names: Sequence[str], scores: Real[np.ndarray, " key"]) -> Figure:
    """Draw the curve of the exponential with a point for each score.

    Raises: ValueError unless there is a name for each score, and all lie between -5 and 5.
    """
    scores = np.asarray(scores, float)
    if scores.shape != (len(names),) or not np.abs(scores).max() <= 5:
        raise ValueError(
            f"Every name needs a score between -5 and 5; got {len(names)} names and {scores}."
        )
    fig, axes = plots.canvas(360, 230)
    s = np.linspace(scores.min() - 0.6, scores.max() + 0.3, 200)
    axes.plot(s, np.exp(s), color=palette.light("accent"), linestyle="-")
    axes.plot(scores, np.exp(scores), "o", color=palette.light("key"), markersize=6)
    for name, score in zip(names, scores, strict=True):
        text = f"{name}, {np.exp(score):.2f}"
        axes.annotate(text, (score, np.exp(score)), (-8, 8), textcoords="offset points",
                      ha="right" if np.exp(score) > 1 else "center",
                      color=palette.light("ink"))  # fmt: skip
    axes.grid(axis="y")
    axes.set_xlim(s[0] - 0.5, s[-1])
    axes.set_xlabel("score s")
    axes.set_ylabel("exponential of s")
    points = "; ".join(
        f"{name} at {score:g} has {np.exp(score):.2f}"
        for name, score in zip(names, scores, strict=True)
    )
    return plots.figure(
        fig,
        alt="The curve of the exponential, which is positive everywhere and rises ever faster, "
        f"with a point for each score: {points}.",
        caption="The exponential of each score: always positive, and every step of 1 to the right "
        "multiplies it by 2.72.",
    )


@styled()
def two_divisions(exponentials: Real[np.ndarray, "query key"]) -> Figure:
    """Draw which sum each number is divided by, with `keepdims` and without.

    Raises: ValueError unless the matrix is square, with 2 to 4 rows.
    """
    e = np.asarray(exponentials, float)
    n = len(e)
    if e.shape != (n, n) or not 2 <= n <= MOST:
        raise ValueError(f"`exponentials` must be square with 2 to {MOST} rows; got {e.shape}.")
    sums = e.sum(axis=1)
    height = TOP + CELL * (n + 1) + 30
    fig, axes = sheet(height)
    left, right = 4, 356 - CELL * n
    for (i, j), value in np.ndenumerate(e):
        _cell(axes, left + CELL * j, TOP + CELL * i, value, i)
        _cell(axes, right + CELL * j, TOP + CELL * i, value, j)
    column = left + CELL * n + 20
    for i, total in enumerate(sums):
        _cell(axes, column, TOP + CELL * i, total, i)
        _cell(axes, right + CELL * i, TOP + CELL * n + 24, total, i)
    put_text(axes, left + CELL * n + 10, TOP + CELL * n / 2, "÷", size=15)
    put_text(axes, right + CELL * n / 2, TOP + CELL * n + 12, "÷", size=15)
    for x, title in ((left, "keepdims=True"), (right, "without")):
        put_text(axes, x + CELL * n / 2, 14, title, weight="bold")
        put_text(axes, x + CELL * n / 2, 36, f"e ({n}, {n})")
    put_text(axes, column + CELL / 2, 36, f"sums ({n}, 1)")
    put_text(axes, right - 34, TOP + CELL * (n + 0.5) + 24, f"sums ({n},)")
    return plots.figure(
        fig,
        alt=f"Two square matrices of exponentials with the sums of their rows, "
        f"{', '.join(f'{total:.1f}' for total in sums)}. On the left, with keepdims, the sums form "
        "a column, and each row has the colour of its own sum. On the right, without it, the same "
        "sums form a row, and each column has the colour of the sum of another row.",
        caption="Each number is divided by the sum of its own colour. Left, row i meets the sum of "
        "row i. Right, column j meets the sum of row j.",
    )


@styled()
def columns_leak() -> Figure:
    """Draw which weights move with one cell of the last row, if rows or columns are divided."""
    before = np.array([[1, 0, 0], [1, 3, 0], [2, 3, 1]])  # 0 where the mask forbids
    after = before.copy()
    after[2, 0] = 6
    fig, axes = sheet(300)
    for x, title in ((2, "exponentials"), (129, "÷ row sum"), (256, "÷ column sum")):
        put_text(axes, x + 51, 12, title, weight="bold")
    for y, title in ((36, "before"), (180, "after: the last token changes one cell")):
        put_text(axes, 180, y, title, "muted")
    for e, y in ((before, 50), (after, 194)):
        _exact(axes, 2, y, e, 1, e != before)
        for x, axis in ((129, 1), (256, 0)):
            moved = e / e.sum(axis, keepdims=True) != before / before.sum(axis, keepdims=True)
            _exact(axes, x, y, e, e.sum(axis, keepdims=True), moved)
    return plots.figure(
        fig,
        alt="Exponentials of three tokens under a causal mask, before and after the 2 in the last "
        "row becomes a 6. Divided by the sums of their rows, only the last row of weights moves. "
        "Divided by the sums of their columns, the first weights of rows 1 and 2 move too, from "
        "1/4 to 1/8.",
        caption="A softmax down the columns carries the future past a correct mask: rows 1 and 2 "
        "move with row 3, because it is in their sum. Outlined cells moved.",
    )


def _exact(
    axes: Axes, left: Length, top: Length, e: np.ndarray, sums: int | np.ndarray, moved: np.ndarray
) -> None:
    """Draw e divided by the sums, as fractions, with the cells that moved outlined."""
    sums = np.broadcast_to(sums, e.shape)
    for (i, j), value in np.ndenumerate(e):
        x, y = left + CELL * (j + 0.5), top + CELL * (i + 0.5)
        put_box(axes, x, y, CELL - 4, CELL - 4, "accent" if moved[i, j] else "line",
                linewidth=2.5 if moved[i, j] else 1)  # fmt: skip
        if value:
            put_text(axes, x, y, str(Fraction(int(value), int(sums[i, j]))),
                     weight="bold" if moved[i, j] else "normal")  # fmt: skip


def _cell(axes: Axes, x: Length, y: Length, value: float, row: int) -> None:
    """Draw a number on the colour of the row whose sum it is divided by."""
    axes.fill_between([x + 1, x + CELL - 1], y + 1, y + CELL - 1, linewidth=0, alpha=0.35,
                      color=palette.light(f"series-{row + 1}"))  # fmt: skip
    put_text(axes, x + CELL / 2, y + CELL / 2, f"{value:.1f}")
