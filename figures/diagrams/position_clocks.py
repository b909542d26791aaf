"""Schematic of chapter 7: a sinusoidal position as a set of clock hands."""

import math

from figures import palette, plots
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
            circle = [2 * math.pi * i / 48 for i in range(49)]
            axes.plot([x + 0.38 * math.cos(t) for t in circle],
                      [row + 0.38 * math.sin(t) for t in circle],
                      color=palette.light("line"), linewidth=1.2, linestyle="-")  # fmt: skip
            angle = position * speed
            tip = (x + 0.38 * math.cos(angle), row - 0.38 * math.sin(angle))
            axes.plot([x, tip[0]], [row, tip[1]], color=palette.light("accent"), linewidth=2.4,
                      linestyle="-")  # fmt: skip
            axes.scatter(*tip, s=16, color=palette.light("accent"), zorder=3)
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
