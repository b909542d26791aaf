"""Two schematics of chapter 18: the blocks of GPT-2 and Llama, and rotary positions as a clock."""

import math
from collections.abc import Mapping

from matplotlib.axes import Axes

from figures import palette, plots
from figures.svg import Figure

GPT2 = ["LayerNorm", "12 query heads\n12 KV heads", "LayerNorm", "GELU network\n768 → 3072 → 768"]
LLAMA = ["RMSNorm", "9 query heads\n3 KV heads\nq, k rotated", "RMSNorm",
         "SwiGLU network\n576 → 2 × 1536 → 576"]  # fmt: skip
HEIGHTS = (-1.0, -2.25, -4.1, -5.35)


def two_blocks() -> Figure:
    """Draw the block of GPT-2 beside that of Llama, with the four changes in the accent colour."""
    fig, axes = plots.canvas(360, 400)
    _block(axes, 0.0, "GPT-2", "word + learned position", GPT2, 768, changed=False)
    _block(axes, 4.3, "Llama (SmolLM2)", "word alone", LLAMA, 576, changed=True)
    axes.set(xlim=(-0.5, 8.2), ylim=(-7.5, 1.4))
    axes.axis("off")
    return plots.figure(
        fig,
        alt="Two blocks side by side, read downwards. GPT-2: word plus learned position enters; "
        "LayerNorm, attention with 12 query heads and 12 KV heads, add, LayerNorm, a GELU network "
        "768 to 3072 to 768, add. Llama: the word alone enters; RMSNorm, attention with 9 query "
        "heads, 3 KV heads and rotated queries and keys, add, RMSNorm, a SwiGLU network 576 to "
        "2 times 1536 to 576, add.",
        caption="The same block with four changes, drawn with thick borders. The additions and "
        "their order stay.",
    )


def _block(
    axes: Axes, left: float, title: str, entry: str, parts: list[str], width: int, *, changed: bool
) -> None:
    """Draw one block: the residual stream at `left`, the sublayers beside it."""
    line = {"color": palette.light("muted"), "linewidth": 1.6, "linestyle": "-", "zorder": 1}
    branch = left + 1.75
    axes.text(left - 0.35, 1.15, title, va="center", weight="bold")
    axes.text(left - 0.35, 0.6, entry, va="center",
              color=palette.light("accent" if changed else "ink"))  # fmt: skip
    axes.plot([left, left], [0.3, -7.0], **line)
    axes.text(left + 0.12, -7.1, f"(n, {width})", va="center")
    for first, second in (HEIGHTS[:2], HEIGHTS[2:]):
        axes.plot([left, branch, branch, left], [first + 0.6, first + 0.6, second - 0.95,
                  second - 0.95], **line)  # fmt: skip
        axes.scatter(left, second - 0.95, s=200, color=palette.light("surface"),
                     edgecolors=palette.light("muted"), zorder=2)  # fmt: skip
        axes.text(left, second - 0.93, "+", ha="center", va="center", zorder=3)
    border = palette.light("accent" if changed else "muted")
    for y, part in zip(HEIGHTS, parts, strict=True):
        box = {"facecolor": palette.light("surface"), "edgecolor": border,
               "linewidth": 2.2 if changed else 1, "boxstyle": "round,pad=0.3"}  # fmt: skip
        axes.text(branch + 0.1, y, part, ha="center", va="center", zorder=3, bbox=box)


def clock(angles: Mapping[str, float], *, title: str = "") -> Figure:
    """Draw vectors of length 1 as hands of a clock, by their angles in radians.

    Raises: ValueError unless there are two hands.
    """
    if len(angles) != 2:
        raise ValueError(f"`angles` must name two hands; got {len(angles)}.")
    fig, axes = plots.canvas(300, 260)
    circle = [2 * math.pi * i / 72 for i in range(73)]
    axes.plot([math.cos(t) for t in circle], [math.sin(t) for t in circle],
              color=palette.light("line"), linewidth=1.2, linestyle="-")  # fmt: skip
    for (name, angle), role in zip(angles.items(), ("query", "key"), strict=True):
        tip = (math.cos(angle), math.sin(angle))
        arrow = {"arrowstyle": "-|>", "color": palette.light(role), "linewidth": 2.2}
        axes.annotate("", tip, (0, 0), arrowprops=arrow)
        axes.text(1.22 * tip[0], 1.15 * tip[1], name, ha="center", va="center",
                  color=palette.light(role))  # fmt: skip
    low, high = sorted(angles.values())
    arc = [low + (high - low) * i / 30 for i in range(31)]
    axes.plot([0.4 * math.cos(t) for t in arc], [0.4 * math.sin(t) for t in arc],
              color=palette.light("ink"), linewidth=1.6, linestyle="-")  # fmt: skip
    middle = (low + high) / 2
    axes.text(0.62 * math.cos(middle), 0.62 * math.sin(middle),
              f"{math.degrees(high - low):.0f}°", ha="center", va="center")  # fmt: skip
    axes.set(xlim=(-1.7, 1.7), ylim=(-1.4, 1.4), aspect="equal", title=title)
    axes.axis("off")
    (query, q), (key, k) = angles.items()
    return plots.figure(
        fig,
        alt=f"A clock with two hands: {query} at {math.degrees(q):.0f} degrees and {key} at "
        f"{math.degrees(k):.0f} degrees, {math.degrees(abs(q - k)):.0f} degrees apart.",
        caption="The score depends on the angle between the hands. Move both words by the same "
        "number of positions, and both hands turn by the same angle.",
    )
