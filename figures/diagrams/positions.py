"""Schematics of chapter 7: positions above the words of a text, and the curves of sinusoids."""

from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Float, Real

from figures import palette, plots
from figures.drawing import put_box, put_text, sheet
from figures.svg import Figure, styled

DEGREES = 60, 10  # for each position: the fast pair and the slow pair
NAMES = "fast sine", "fast cosine", "slow sine", "slow cosine"
LAST = 12  # the last position that is drawn


@styled()
def positions_above(
    texts: Mapping[str, Sequence[tuple[int, str]]],
    roles: Mapping[str, str],
    *,
    alt: str,
    caption: str,
    behind: str = "",
) -> Figure:
    """Draw texts below their titles, each word with its position above it.

    `roles` colours some words. All texts end at the right edge, so that equal ends align.
    Below each word stands its distance from the word `behind`, if there is one.
    """
    high = 98 if behind else 78
    fig, axes = sheet(high * len(texts))
    for row, (title, words) in enumerate(texts.items()):
        right, top = 356.0, high * row
        last = next((position for position, word in words if word == behind), None)
        put_text(axes, 4, top + 10, title, "muted", ha="left")
        for position, word in reversed(words):
            role, wide = roles.get(word, "ink"), 7 * len(word) + 11
            bold = {"weight": "bold"} if word in roles else {}
            number = str(position).replace("-", "\N{MINUS SIGN}")
            put_text(axes, right - wide / 2, top + 32, number, role, **bold)
            put_box(axes, right - wide / 2, top + 55, wide, 24, role if bold else "line",
                    linewidth=2 if bold else 1.1)  # fmt: skip
            put_text(axes, right - wide / 2, top + 55, word, role, **bold)
            if last is not None:
                put_text(axes, right - wide / 2, top + 78, str(last - position), "muted", **bold)
            right -= wide + 4
    return plots.figure(fig, alt, caption)


def sinusoids(positions: Real[np.ndarray, " n"] | Sequence[int]) -> Float[np.ndarray, "n 4"]:
    """Return the sine and the cosine of the fast and of the slow angle of each position."""
    angles = np.radians(np.outer(positions, DEGREES))  # (n, pair)
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(len(angles), -1)


@styled()
def sinusoid_curves(marked: Sequence[int]) -> Figure:
    """Draw the four components of a position as curves, with the rows of some positions marked."""
    fig, axes = sheet(274)
    across, middles = 92 + 256 * np.arange(LAST + 1) / LAST, [58 + 60 * row for row in range(4)]
    for position, x in enumerate(across):
        bold = {"role": "accent", "weight": "bold"} if position in marked else {"role": "muted"}
        put_text(axes, x, 12, str(position), **bold)
        if position in marked:
            axes.plot([x, x], [22, 270], color=palette.light("accent"), linewidth=1, linestyle="--")
    put_text(axes, 4, 12, "position", "muted", ha="left")
    fine = np.linspace(0, LAST, 20 * LAST + 1)
    behind = {"facecolor": palette.light("paper"), "linewidth": 0, "pad": 0.6}
    for name, middle, curve, dots in zip(
        NAMES, middles, sinusoids(fine).T, sinusoids(marked).T, strict=True
    ):
        colour = palette.light("series-1" if name.startswith("fast") else "series-2")
        put_text(axes, 4, middle, name, ha="left")
        axes.plot(across[[0, -1]], [middle, middle], color=palette.light("line"), linewidth=1,
                  linestyle="-")  # fmt: skip
        axes.plot(92 + 256 * fine / LAST, middle - 20 * curve, color=colour, linestyle="-")
        for x, height in zip(across[list(marked)], dots, strict=True):
            axes.scatter(x, middle - 20 * height, s=22, color=palette.light("accent"), zorder=3)
            text = f"{height:.2f}".replace("-", "\N{MINUS SIGN}")
            put_text(axes, x, middle - 20 * height + 14 * np.sign(height), text, "accent",
                     size=10, bbox=behind, zorder=4)  # fmt: skip
    rows = "; ".join(
        f"{position}: {', '.join(f'{number:.2f}' for number in row)}"
        for position, row in zip(marked, sinusoids(marked), strict=True)
    )
    return plots.figure(
        fig,
        alt=f"Four curves over the positions 0 to {LAST}: {', '.join(NAMES)}. "
        f"Dots mark their values at some positions, {rows}.",
        caption="Sinusoidal positions with four components. Each dashed line crosses the curves at "
        "the four numbers of its position. Where the fast pair repeats, the slow pair differs.",
    )
