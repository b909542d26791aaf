"""The schematic of chapter 6: scores, their exponentials, and the weights."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Real
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from figures import palette, plots
from figures.drawing import put_arrow, put_text, sheet
from figures.svg import Figure

ROW, TOP = 27, 62
SCORE, EXPONENTIAL, WEIGHT = 66, 178, 290  # the left edges of the three columns of bars
BAR, WIDTH = 34, 70  # the longest bar; a bar with its number
MOST, LARGEST = 6, 700


def three_bars(names: Sequence[str], scores: Real[np.ndarray, " key"]) -> Figure:
    """Draw a softmax: a bar for each score, for its exponential, and for its weight.

    Raises: ValueError unless there are 2 to 6 names with a score each, between -700 and 700.
    """
    if not 2 <= len(names) <= MOST or np.shape(scores) != (len(names),):
        raise ValueError(
            f"`names` must hold 2 to {MOST} words, and `scores` one number for each; got "
            f"{len(names)} names and scores of shape {np.shape(scores)}."
        )
    if not np.abs(scores).max() <= LARGEST:
        raise ValueError(
            f"`scores` must lie between -{LARGEST} and {LARGEST}, so that their exponentials are "
            f"finite; got {list(scores)}."
        )
    scores = np.asarray(scores, float)
    exponentials = np.exp(scores)
    weights = exponentials / exponentials.sum()
    n = len(names)
    height = TOP + ROW * n + 40
    fig, axes = sheet(height)
    for i, name in enumerate(names):
        put_text(axes, 60, TOP + ROW * (i + 0.5), name, ha="right", role="key", weight="bold")
    columns = (
        (SCORE, "scores", "ink", scores, 0),
        (EXPONENTIAL, "exponentials", "accent", exponentials, 2),
        (WEIGHT, "weights", "query", weights, 2),
    )
    for left, title, role, numbers, digits in columns:
        put_text(axes, left + WIDTH / 2 - 2, 14, title, role=role, weight="bold")
        put_text(axes, left + WIDTH / 2 - 2, 31, f"({n},)", size=10.5)
        _bars(axes, left, role, numbers, digits)
    _step(axes, 156, "exp")
    _step(axes, 269, "÷ sum")
    rows = zip(names, scores, exponentials, weights, strict=True)
    listed = "; ".join(
        f"{name}: score {s:g}, exponential {e:.2f}, weight {w:.2f}" for name, s, e, w in rows
    )
    return plots.figure(
        fig,
        alt=f"Three columns of bars, from left to right scores, exponentials and weights. {listed}."
        f" The exponentials sum to {exponentials.sum():.2f}, the weights to 1.",
        caption="Softmax in two steps. The exponential makes every score positive and keeps the "
        "order; dividing by the sum makes the sum 1.",
    )


def _bars(axes: Axes, left: int, role: str, numbers: Real[np.ndarray, " key"], digits: int) -> None:
    """Draw a column of bars, their numbers and the sum; negative bars lie left of a line at 0."""
    low, high = min(0, numbers.min()), max(0, numbers.max())
    scale = BAR / (high - low) if high > low else 0
    zero = left - low * scale
    for i, number in enumerate(numbers):
        y = TOP + ROW * (i + 0.5)
        start, length = zero + min(0, number) * scale, max(abs(number) * scale, 0.8)
        axes.add_patch(Rectangle((start, y - 7), length, 14, facecolor=palette.light(role)))
        put_text(axes, left + WIDTH - 4, y, _number(number, digits), ha="right")
    thin = {"color": palette.light("muted"), "linewidth": 0.8, "linestyle": "-"}
    bottom, right = TOP + ROW * len(numbers), left + WIDTH - 4
    axes.plot([zero, zero], [TOP + 3, bottom - 3], **thin)
    axes.plot([left, right], [bottom + 5, bottom + 5], **thin)
    total = f"sum {_number(numbers.sum(), digits)}"
    put_text(axes, right, bottom + 19, total, ha="right", role=role)


def _step(axes: Axes, x: int, word: str) -> None:
    """Draw an arrow from one column to the next under the word for the step."""
    put_text(axes, x, TOP - 12, word, size=10.5)
    put_arrow(axes, (x - 13, TOP + 1), (x + 13, TOP + 1))


def _number(number: np.floating, digits: int) -> str:
    """Write a number with this many digits; digits 0 leaves a score as short as it is."""
    text = f"{number:.{digits}f}" if digits else f"{round(float(number), 1):g}"
    text = text if len(text) < 7 else f"{number:.0e}".replace("e+", "e")
    return text.replace("-", "\N{MINUS SIGN}")
