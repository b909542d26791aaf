"""Schematics of chapters 4 and 7: positions as the hands of a clock."""

import math
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

from figures import palette, plots
from figures.drawing import put_arrow
from figures.svg import Figure

POSITIONS = (0, 1, 2, 3, 10, 100)
SPEEDS = {"1": 1.0, "0.1": 0.1, "0.01": 0.01}


def position_clocks() -> Figure:
    """Draw the hands of three speeds (rows) at six positions (columns)."""
    fig, axes = plots.canvas(360, 225)
    for column, position in enumerate(POSITIONS):
        x = 1.75 + column
        axes.text(x, -0.72, str(position), ha="center", va="center")
        for row, speed in enumerate(SPEEDS.values()):
            _clock(axes, x, row, position * speed)
    for row, speed in enumerate(SPEEDS):
        axes.text(0.95, row, speed, ha="right", va="center")
    axes.text(4.25, -1.15, "position", ha="center", va="center", color=palette.light("muted"))
    axes.text(0.05, 1, "radians per position", ha="center", va="center", rotation=90,
              color=palette.light("muted"))  # fmt: skip
    axes.set(xlim=(-0.2, 7.3), ylim=(2.5, -1.4), aspect="equal")
    axes.axis("off")
    return plots.figure(
        fig,
        alt="Clock hands for the positions 0, 1, 2, 3, 10 and 100 in three rows. The first hand "
        "turns by 1 radian per position, the second by a tenth of it, the third by a hundredth: "
        "the second has moved by 1 radian at position 10 and the third at position 100. "
        "All hands point to the right at position 0.",
        caption="Fast hands tell neighbours apart, slow hands tell near from far. "
        "Each hand contributes its height and its horizontal coordinate, a sine and a cosine.",
    )


def positions_as_hands(
    words: Sequence[str], query: int, *, step: float | int, back: float | int
) -> Figure:
    """Draw the position of each word as a hand of a clock, and the hand for which a query asks.

    Word p has its hand at p times `step` radians; the query turns its own hand back by `back`.
    Raises: ValueError if the words do not fit on one turn of the clock.
    """
    if step * len(words) > 2 * math.pi + 1e-9:
        raise ValueError(f"{len(words)} words with a step of {step:.2f} radians exceed one turn.")
    last = step * (len(words) - 1)
    fig, axes = plots.canvas(360, 180)
    fig.set_layout_engine("none")
    axes.set_position((0, 0, 1, 1))
    turn = [-0.3 + (last + 0.6) * i / 90 for i in range(91)]
    axes.plot(np.cos(turn), np.sin(turn), color=palette.light("line"), linewidth=1.2, linestyle="-")
    for position, word in enumerate(words):
        angle = position * step
        tip = (math.cos(angle), math.sin(angle))
        own = position == query
        put_arrow(axes, (0, 0), tip, "key", linewidth=1.3)
        side = "center" if abs(tip[0]) < 0.3 else "left" if tip[0] > 0 else "right"
        axes.text(1.09 * tip[0], 1.09 * tip[1], f"{position} {word}", ha=side, va="center",
                  color=palette.light("key"), weight="bold" if own else "normal")  # fmt: skip
    asked = query * step - back
    tip = (0.97 * math.cos(asked), 0.97 * math.sin(asked))
    put_arrow(axes, (0, 0), tip, "query", linewidth=3.2, order=2)
    arc = [asked + (back - 0.06) * i / 30 for i in range(31)]
    axes.plot(0.55 * np.cos(arc), 0.55 * np.sin(arc), color=palette.light("query"), linewidth=1.4,
              linestyle="--")  # fmt: skip
    axes.text(0, -0.25, f"query of {words[query]}: own hand,\nturned back by "
              f"{back / step:.1f} words", ha="center", va="center",
              color=palette.light("query"))  # fmt: skip
    axes.set(xlim=(-1.75, 1.75), ylim=(-0.5, 1.25), aspect="equal")
    axes.axis("off")
    hands = ", ".join(f"{word} {math.degrees(i * step):.1f}" for i, word in enumerate(words))
    return plots.figure(
        fig,
        alt=f"A clock with a hand for each word, in degrees: {hands}. The query of {words[query]} "
        f"points to {math.degrees(asked):.1f} degrees.",
        caption=f"Positions as hands of a clock. The query of {words[query]} points between the "
        "two words before it, so their hands give the largest dot products.",
    )


def _clock(axes: Axes, x: float | int, row: int, angle: float) -> None:
    """Draw a clock with one hand, turned counter-clockwise from three o'clock."""
    circle = [2 * math.pi * i / 48 for i in range(49)]
    axes.plot([x + 0.38 * math.cos(t) for t in circle], [row + 0.38 * math.sin(t) for t in circle],
              color=palette.light("line"), linewidth=1.2, linestyle="-")  # fmt: skip
    tip = (x + 0.38 * math.cos(angle), row - 0.38 * math.sin(angle))
    axes.plot([x, tip[0]], [row, tip[1]], color=palette.light("accent"), linewidth=2.4,
              linestyle="-")  # fmt: skip
    axes.scatter(*tip, s=16, color=palette.light("accent"), zorder=3)
