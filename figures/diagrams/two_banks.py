"""Schematics of chapter 3: how the average moves a bank, and the banks of a real model."""

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from figures import palette, plots
from figures.drawing import Length, put_text, sheet
from figures.svg import Figure, styled

Pair = Sequence[float | int]
ROW, THICK = 20, 12  # the height of a row and of its bar
ZERO, SCALE = 268, 343  # where the bars begin, and the pixels of the number 1
MINUS = "\N{MINUS SIGN}"


@styled()
def moved_halfway(word: str, at: Pair, neighbours: Mapping[str, Pair]) -> Figure:
    """Draw a word in the plane of finance and water, and its average with each neighbour.

    Raises: ValueError if a point does not have two components.
    """
    if any(len(point) != 2 for point in (at, *neighbours.values())):
        raise ValueError("Each word must have two components, finance and water.")
    fig, axes = plots.canvas(360, 270)
    ends = {}
    for number, (neighbour, point) in enumerate(neighbours.items()):
        role = f"series-{number + 1}"
        ends[neighbour] = end = [(a + b) / 2 for a, b in zip(at, point, strict=True)]
        axes.plot(*zip(at, point, strict=True), color=palette.light(role), linewidth=1,
                  linestyle="--", zorder=1)  # fmt: skip
        arrow = {"arrowstyle": "-|>", "color": palette.light(role), "linewidth": 2.4,
                 "shrinkA": 5, "shrinkB": 0}  # fmt: skip
        axes.annotate("", end, at, arrowprops=arrow, zorder=2)
        axes.plot(*point, "o", markersize=7, color=palette.light(role), zorder=3)
        _named(axes, point, neighbour, role, "bold")
        _named(axes, end, f"{word} in {neighbour} {word}", role, "normal")
    axes.plot(*at, "o", markersize=7, color=palette.light("ink"), zorder=3)
    _named(axes, at, word, "ink", "bold")
    axes.set(xlim=(-0.08, 1.3), ylim=(-0.1, 1.12), xlabel="finance", ylabel="water",
             xticks=(0, 0.25, 0.5, 0.75, 1), yticks=(0, 0.25, 0.5, 0.75, 1))  # fmt: skip
    axes.grid(True)
    axes.tick_params(length=0)
    listed = "; ".join(
        f"in {neighbour} {word} it moves halfway to {neighbour}, to {_pair(end)}"
        for neighbour, end in ends.items()
    )
    return plots.figure(
        fig,
        alt=f"The plane of finance and water. The word {word} is at {_pair(at)}; {listed}.",
        caption=f"An average of two words lies halfway between them, so each neighbour pulls "
        f"{word} towards itself.",
    )


def _named(axes: Axes, point: Pair, name: str, role: str, weight: str) -> None:
    """Write the name of a point to its upper right."""
    axes.annotate(name, point, (7, 5), textcoords="offset points", weight=weight,
                  color=palette.light(role))  # fmt: skip


def _pair(point: Pair) -> str:
    return f"({point[0]:g}, {point[1]:g})"


@styled()
def nearer_to(
    poles: tuple[str, str],
    known: Mapping[str, float],
    sentences: Mapping[str, Mapping[str, float]],
    *,
    caption: str,
) -> Figure:
    """Draw numbers below and above 0 as bars: known ones in grey, then those of each sentence.

    `poles` says what lies below 0, and what above.
    Raises: ValueError if a number is beyond -0.3 or 0.18, for which there is no room.
    """
    groups = {"sentences that leave no doubt": known, **sentences}
    numbers = [number for group in groups.values() for number in group.values()]
    if min(numbers) < -0.3 or max(numbers) > 0.18:
        raise ValueError(f"The numbers must lie from -0.3 to 0.18; got {numbers}.")
    bottom = 28 + sum(ROW * len(group) + 32 for group in groups.values())
    fig, axes = sheet(bottom)
    put_text(axes, ZERO - 8, 12, f"← {poles[0]}", "muted", ha="right")
    put_text(axes, ZERO + 8, 12, f"{poles[1]} →", "muted", ha="left")
    axes.plot([ZERO, ZERO], [24, bottom - 2], color=palette.light("muted"), linewidth=0.8)
    y = 40
    for title, group in groups.items():
        box = {"facecolor": palette.light("paper"), "edgecolor": "none", "pad": 1}
        put_text(axes, 0, y, title, ha="left", weight="bold", bbox=box)
        for word, number in group.items():
            y += ROW
            _bar(axes, y, word, number, "masked" if group is known else "accent")
        y += 32
    listed = "; ".join(
        f"{title}: " + ", ".join(f"{word} {number:.2f}" for word, number in group.items())
        for title, group in groups.items()
    )
    return plots.figure(
        fig,
        alt=f"Bars, below 0 nearer to {poles[0]}, above 0 nearer to {poles[1]}. {listed}.",
        caption=caption,
    )


def _bar(axes: Axes, y: Length, word: str, number: float, role: str) -> None:
    """Draw the name of a bar, the bar, and its number at its end."""
    length, known = SCALE * number, role == "masked"
    put_text(axes, 134, y, word, "muted" if known else "ink", ha="right")
    axes.add_patch(Rectangle((min(ZERO, ZERO + length), y - THICK / 2), abs(length), THICK,
                             facecolor=palette.light(role), linewidth=0))  # fmt: skip
    side = 1 if number >= 0 else -1
    put_text(axes, ZERO + length + 5 * side, y, f"{number:.2f}".replace("-", MINUS),
             "muted" if known else "ink", ha="left" if number >= 0 else "right",
             weight="normal" if known else "bold")  # fmt: skip
