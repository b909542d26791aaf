"""Schematic of chapter 11: a block in both orders, with what stands on the residual stream."""

from matplotlib.axes import Axes

from figures import palette, plots
from figures.drawing import Length, put_arrow, put_box, put_text, sheet
from figures.svg import Figure

TOP, BOTTOM = 62, 352
FIRST, SECOND = 84, 218  # where the copies for the two sublayers branch off
PRE, POST = 22, 212  # the two residual streams, from the left
AWAY, WIDE = 86, 112  # from a residual stream to the middle of a sublayer, and its width
NETWORK = "feed-forward\nnetwork"


def two_orders() -> Figure:
    """Draw pre-norm beside post-norm: the norms before the sublayers, or after the additions."""
    fig, axes = sheet(384)
    for left, title in ((PRE, "pre-norm (GPT-2)"), (POST, "post-norm (2017, BERT)")):
        put_text(axes, left - 16, 14, title, ha="left", weight="bold")
        put_text(axes, left - 16, 40, "x  (n, d_model)", "muted", ha="left")
        put_arrow(axes, (left, TOP - 8), (left, BOTTOM), "accent", linewidth=3)
        put_text(axes, left - 16, BOTTOM + 16, "to the next block", "muted", ha="left")
    _branch(axes, PRE, FIRST, ["norm", "attention"])
    _branch(axes, PRE, SECOND, ["norm", NETWORK])
    _branch(axes, POST, FIRST, ["attention"])
    _branch(axes, POST, SECOND, [NETWORK])
    for x, y, name in ((PRE, FIRST + 100, "x₁"), (PRE, SECOND + 116, "x₂"),
                       (POST, FIRST + 118, "x₁"), (POST, SECOND + 124, "x₂")):  # fmt: skip
        put_text(axes, x + 9, y, name, "accent", ha="left", weight="bold")
    for y, divisor in ((FIRST + 90, "÷ σ₁"), (SECOND + 96, "÷ σ₂")):
        put_box(axes, POST + 3, y, 46, 20, "accent", zorder=3)
        put_text(axes, POST + 3, y, "norm", zorder=4)
        put_text(axes, POST + 32, y, divisor, "accent", ha="left", weight="bold")
    for y in (FIRST + 24, SECOND + 24):
        put_text(axes, PRE + 7, y, "× 1", "accent", ha="left", weight="bold")
    return plots.figure(
        fig,
        alt="Two blocks side by side, read downwards. In pre-norm the residual stream runs "
        "straight from top to bottom. Twice a copy branches off, through a norm and attention, "
        "then through a norm and the feed-forward network, and is added to it. In post-norm the "
        "copies branch off without a norm, and two norms stand on the residual stream itself, one "
        "after each addition. Beside the residual stream, the factor of a derivative on this path: "
        "1 for each sublayer of pre-norm, and 1/sigma for each norm of post-norm.",
        caption="The thick line is the residual stream. In pre-norm it is only added to, and a "
        "derivative that comes back along it is multiplied by 1; in post-norm it passes through "
        "every norm, and the derivative is divided by σ each time.",
    )


def _branch(axes: Axes, left: Length, y: Length, parts: list[str]) -> None:
    """Lead a copy of the residual stream through some parts, and add what comes out."""
    middle = left + AWAY
    put_arrow(axes, (left, y), (middle, y), arrowstyle="-")
    here = y
    for part in parts:
        tall = 36 if "\n" in part else 22
        put_arrow(axes, (middle, here), (middle, here + 13))
        put_box(axes, middle, here + 13 + tall / 2, WIDE if part != "norm" else 60, tall, "ink")
        put_text(axes, middle, here + 13 + tall / 2, part)
        here += 13 + tall
    end = here + 14
    put_arrow(axes, (middle, here), (middle, end), arrowstyle="-")
    put_arrow(axes, (middle, end), (left + 10, end))
    axes.scatter(left, end, s=190, color=palette.light("surface"),
                 edgecolors=palette.light("accent"), zorder=3)  # fmt: skip
    put_text(axes, left, end, "+", "ink", zorder=4)
