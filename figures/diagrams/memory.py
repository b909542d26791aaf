"""Schematics of chapter 14: what travels between two memories, and one row cut into tiles."""

from collections.abc import Sequence

from matplotlib.axes import Axes

from figures import plots
from figures.drawing import Length, put_arrow, put_box, put_text, sheet
from figures.svg import Figure, styled

Trip = tuple[str, bool]  # what travels, and whether it goes down into the fast memory
STANDARD: tuple[Trip, ...] = (
    ("Q, K", True), ("scores", False), ("scores", True), ("weights", False), ("weights, V", True),
    ("output", False),
)  # fmt: skip
FUSED: tuple[Trip, ...] = (("Q, K, V", True), ("output", False))
LARGE = ("scores", "weights", "weights, V")  # hold n times n numbers


@styled()
def slow_and_fast_memory() -> Figure:
    """Draw the trips of standard attention and of a fused kernel between the two memories."""
    fig, axes = sheet(372)
    _panel(axes, 0, "Standard: the n × n matrices travel", STANDARD, "one operation at a time")
    _panel(
        axes,
        192,
        "Fused: only (n, d) matrices travel",
        FUSED,
        "scores to output, one tile at a time",
    )
    return plots.figure(
        fig,
        alt="Two drawings, each with a slow memory above and a fast memory below. Standard: Q and "
        "K go down, the scores go up and down again, the weights go up and down again with V, and "
        "the output goes up; the four trips of scores and weights are drawn thick. Fused: Q, K "
        "and V go down and the output goes up; scores and weights stay in the fast memory.",
        caption="Thick: matrices of n × n numbers. A fused kernel computes the same output, and "
        "no n × n matrix is ever in the slow memory.",
    )


def _panel(axes: Axes, top: Length, title: str, trips: Sequence[Trip], work: str) -> None:
    """Draw one way to compute attention."""
    put_text(axes, 8, top + 12, title, ha="left", weight="bold")
    put_box(axes, 180, top + 38, 344, 26, "muted")
    put_text(axes, 180, top + 38, "slow memory: large", va="center")
    put_box(axes, 180, top + 160, 344, 26, "accent")
    put_text(axes, 180, top + 160, f"fast memory: {work}", va="center")
    for i, (name, down) in enumerate(trips):
        x = 344 * (i + 0.5) / len(trips) + 8
        ends = ((x, top + 53), (x, top + 145))
        large = name in LARGE
        put_arrow(axes, *(ends if down else ends[::-1]), "wrong" if large else "muted",
                  linewidth=3 if large else 1.5)  # fmt: skip
        last = i == len(trips) - 1
        two_lines = name.replace("weights, ", "weights,\n")  # else the text meets the next arrow
        put_text(axes, x - 5 if last else x + 5, top + (84 if i % 2 else 116), two_lines,
                 ha="right" if last else "left")  # fmt: skip


KEPT = (  # of each tile, its two scores, and what is kept after it
    (("ln 1", "ln 3"), ("m = ln 3", "ℓ = 4/3", "o = (4, 12)")),
    (("ln 6", "ln 2"), ("m = ln 6", "ℓ = 2", "o = (12, 8)")),
    (("ln 4", "ln 12"), ("m = ?", "ℓ = ?", "o = ?")),
)  # fmt: skip


@styled()
def row_in_tiles() -> Figure:
    """Draw one row of scores in three tiles, and the three numbers that run along below it."""
    fig, axes = sheet(186)
    put_text(axes, 4, 12, "one row of scores, cut into tiles", ha="left", weight="bold")
    put_text(axes, 4, 96, "kept after each tile", ha="left", weight="bold")
    for i, (scores, kept) in enumerate(KEPT):
        x = 60 + 120 * i
        put_box(axes, x, 42, 110, 36, "accent")
        for side, score in zip((-26, 26), scores, strict=True):
            put_box(axes, x + side, 42, 48, 24, "muted")
            put_text(axes, x + side, 42, score)
        put_arrow(axes, (x, 62), (x, 84))
        for line, text in enumerate(kept):
            put_text(axes, x, 118 + 20 * line, text, "accent" if "?" in text else "ink")
        if i < len(KEPT) - 1:
            put_arrow(axes, (x + 44, 118), (x + 76, 118))
    put_text(axes, 180, 177, "a larger maximum m: multiply ℓ and o by c first", "muted")
    return plots.figure(
        fig,
        alt="One row of six scores, cut into three tiles of two. Below each tile stands what is "
        "kept after it: after tile one the maximum ln 3, the sum 4/3 and the weighted sum (4, 12); "
        "after tile two ln 6, 2 and (12, 8); after tile three, question marks.",
        caption="Only the maximum, the sum and the weighted sum run along the row, however long "
        "it is.",
    )
