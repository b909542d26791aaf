"""Schematic of chapter 12: what top-k and top-p keep of a sharp and of a flat distribution."""

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from figures import palette, plots
from figures.drawing import Length, put_text, sheet
from figures.svg import Figure, styled

LEFT, STEP, HIGH = 34, 40, 90  # of the first bar, from bar to bar, and of a bar of 1


def kept_by_top_p(probabilities: Sequence[float], p: float) -> int:
    """Count the tokens, from the likeliest down, until they reach p."""
    reached, count = 0.0, 0
    while reached < p:
        reached += probabilities[count]
        count += 1
    return count


@styled()
def top_cuts(panels: Mapping[str, Sequence[float]], k: int, p: float) -> Figure:
    """Draw sorted probabilities as bars, with the cuts of top-k and of top-p between them.

    Raises: ValueError unless each panel holds eight falling probabilities.
    """
    for name, probabilities in panels.items():
        if len(probabilities) != 8 or list(probabilities) != sorted(probabilities, reverse=True):
            raise ValueError(f"{name!r} must have 8 falling probabilities; got {probabilities}.")
    fig, axes = sheet(132 * len(panels) + 4)
    listed = []
    for at, (name, probabilities) in enumerate(panels.items()):
        floor, nucleus = 132 * at + 116, kept_by_top_p(probabilities, p)
        put_text(axes, LEFT - 12, floor - 102, name, ha="left", weight="bold")
        for i, probability in enumerate(probabilities):
            height = HIGH * probability
            x, inside = LEFT + STEP * i, i < nucleus
            look = {"facecolor": palette.light("accent" if inside else "surface"),
                    "edgecolor": palette.light("accent" if inside else "masked")}  # fmt: skip
            bar = Rectangle((x - 13, floor - height), 26, height, linewidth=1, **look)
            axes.add_patch(bar)
            put_text(axes, x, floor + 12, f"{probability:.2f}", "ink" if inside else "muted")
        for count, role, label in (
            (k, "wrong", f"top-k, k = {k}"),
            (nucleus, "accent", f"top-p, p = {p}"),
        ):
            _cut(axes, LEFT + STEP * (count - 0.5), floor, role, label, near=count > 6)
        listed.append(f"{name}: {', '.join(f'{each:.2f}' for each in probabilities)}; top-p keeps "
                    f"{nucleus}.")  # fmt: skip
    return plots.figure(
        fig,
        alt=f"Bars of eight probabilities, from the largest down. {' '.join(listed)} Top-k with "
        f"k = {k} keeps the first {k} of each.",
        caption=f"Two invented rows. Top-k keeps {k} tokens of either; top-p keeps few of the "
        "sharp row and most of the flat one.",
    )


def _cut(axes: Axes, x: Length, floor: Length, role: str, label: str, *, near: bool) -> None:
    """Draw a cut: a dashed line through the bars, with its name at its upper end."""
    top = floor - (84 if role == "accent" else 68)
    axes.plot([x, x], [top, floor + 2], linestyle="--", color=palette.light(role), linewidth=1.8)
    put_text(axes, x + (-5 if near else 5), top + 7, label, role, ha="right" if near else "left")
