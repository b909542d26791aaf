"""Schematics of chapter 18: rotary positions as clock hands, and the cache that stores them."""

import math
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.patches import Arc, Circle, Rectangle

from figures import palette, plots
from figures.drawing import put_arrow, put_box, put_text, sheet
from figures.svg import Figure, styled

STORED, QUESTION = 75, 7  # tokens
SENTENCE = 12  # tokens, with which the stored ones begin
WANTED = 7  # the position of the key to fetch
AHEAD = 148  # where the first sentence begins if that key is as far ahead as it was behind
AXIS = 162  # positions
MINUS = "\N{MINUS SIGN}"


@styled()
def clock_hands(
    d_k: int = 6, base: float | int = 100.0, positions: Sequence[int] = (0, 1, 2, 6)
) -> Figure:
    """Draw the pairs of a rotated vector as clock hands, one row for each of four positions.

    Raises: ValueError unless there are three pairs and four positions.
    """
    if d_k != 6 or len(positions) != 4:
        raise ValueError(
            "The drawing has 3 pairs and 4 positions, so `d_k` must be 6 and `positions` hold 4; "
            f"got {d_k} and {len(positions)}."
        )
    speeds = [base ** (-2 * i / d_k) for i in range(d_k // 2)]
    fig, axes = sheet(400)
    for i, speed in enumerate(speeds):
        middle = 125 + 95 * i
        put_text(axes, middle, 14, f"pair {i}", weight="bold")
        put_text(axes, middle, 33, f"{math.degrees(speed):.0f}° a step")
        for row, position in enumerate(positions):
            _hand(axes, middle, 88 + 82 * row, 33, position * speed)
    for row, position in enumerate(positions):
        put_text(axes, 4, 88 + 82 * row, f"position\n{position}", ha="left", va="center")
    steps = ", ".join(f"{math.degrees(speed):.0f}" for speed in speeds)
    return plots.figure(
        fig,
        alt="A grid of clocks: one column for each of three pairs of components, one row for each "
        f"of the positions {', '.join(map(str, positions))}. The hands turn by {steps} degrees a "
        "position: after six positions the first hand has nearly gone round, the last has barely "
        "moved.",
        caption="One key at four positions. At position 6 the hand of pair 0 is nearly back where "
        "it was at position 0: it tells neighbours apart, and the slow hand of pair 2 tells near "
        "from far.",
    )


@styled()
def same_angle(query: float | int = 70, key: float | int = 10, step: float | int = 40) -> Figure:
    """Draw a query and a key as hands, not rotated and at three pairs of positions."""
    fig, axes = sheet(206)
    angles = []
    for middle, positions, where in (
        (46, (0, 0), "not rotated"), (136, (2, 1), "key 1 behind"),
        (226, (3, 2), "key 1 behind"), (316, (1, 2), "key 1 ahead"),
    ):  # fmt: skip
        turned = [start + step * at for start, at in zip((query, key), positions, strict=True)]
        angles.append(turned[0] - turned[1])
        for row, (name, at) in enumerate(zip(("query", "key"), positions, strict=True)):
            put_text(axes, middle, 14 + 18 * row, f"{name} at {at}", name)
        for role, angle in zip(("query", "key"), turned, strict=True):
            _hand(axes, middle, 98, 40, math.radians(angle), role)
        axes.add_patch(Arc((middle, 98), 32, 32, theta1=-turned[0], theta2=-turned[1],
                           edgecolor=palette.light("accent"), linewidth=2.2))  # fmt: skip
        put_text(axes, middle, 160, f"{angles[-1]:g}°", "accent", weight="bold")
        put_text(axes, middle, 186, where)
    return plots.figure(
        fig,
        alt="Four clocks, each with two hands, a query and a key. Both at position 0: the angle "
        f"between them is {angles[0]:g} degrees. The query at 2 and the key at 1: {angles[1]:g} "
        f"degrees. The query at 3 and the key at 2: both hands have turned on by {step:g} degrees, "
        f"and the angle is {angles[2]:g} degrees again. The query at 1 and the key at 2, ahead of "
        f"it: {angles[3]:g} degrees.",
        caption=f"Each hand turns by {step:g}° per position. Move both words by one position, and "
        f"the angle stays {angles[1]:g}°. Put the key ahead, and it is {angles[0]:g}° "
        f"{MINUS} {step:g}° = {angles[3]:g}°.",
    )


@styled()
def growing_cache(degrees: float | int = 30) -> Figure:
    """Draw a cache of rotated keys that grows by one column in each of three steps."""
    fig, axes = sheet(300)
    for column in range(5):
        put_text(axes, 116 + 52 * column, 14, str(column))
    put_text(axes, 4, 14, "position", ha="left")
    for row, used in enumerate((3, 4, 5)):
        middle = 68 + 92 * row
        put_text(axes, 4, middle, ("prompt", "next token", "one more")[row], ha="left")
        for column in range(used):
            new = column == used - 1 and row > 0
            edge = palette.light("accent" if new else "muted")
            box = {"facecolor": palette.light("surface"), "linewidth": 2.4 if new else 1}
            corner = (92 + 52 * column, middle - 38)
            axes.add_patch(Rectangle(corner, 48, 76, edgecolor=edge, **box))
            _hand(axes, 116 + 52 * column, middle - 16, 17, math.radians(degrees * column))
            put_text(axes, 116 + 52 * column, middle + 22, "v", "value")
    return plots.figure(
        fig,
        alt="The cache in three steps. After the prompt it holds three columns, each with a key "
        f"drawn as a clock hand, turned by 0, {degrees} and {2 * degrees} degrees, and a value v. "
        "Each new token adds one column on the right, with its key turned by its own position; "
        "the columns before it stay unchanged.",
        caption="Each new token adds one column: its key, rotated by its own position, and its "
        "value, not rotated. Stored columns never change.",
    )


@styled()
def misplaced_question() -> Figure:
    """Draw the three parts of the prompt at their positions: right, and with two wrong numbers."""
    fig, axes = sheet(352)
    rows = (  # title, where the first sentence and the question begin, the distance and its place
        ("right: the question begins at 75", 0, STORED, "74 behind", (73, 82, "right")),
        ("wrong: the question begins at 0", 0, 0, "1 ahead", (11, 62, "left")),
        ("test: the first sentence begins at 148", AHEAD, STORED, "74 ahead", (155, 67, "right")),
    )
    for row, (title, first, asked, distance, (x, below, side)) in enumerate(rows):
        top = 12 + 108 * row
        put_text(axes, 10, top, title, ha="left", weight="bold")
        last, wanted = asked + QUESTION - 1, first + WANTED
        _positions(axes, top + 40, first, first + SENTENCE, "key")
        _positions(axes, top + 40, SENTENCE, STORED, "key")
        _positions(axes, top + 40, wanted, wanted + 1, "accent")
        middle = _at((SENTENCE + STORED) / 2)
        put_text(axes, middle, top + 40, f"story, {SENTENCE} to {STORED - 1}", "key", zorder=3)
        put_text(axes, _at(first + SENTENCE if first else 0), top + 20,
                 f"first sentence, {first} to {first + SENTENCE - 1}", "key",
                 ha="right" if first else "left")  # fmt: skip
        _positions(axes, top + 82, asked, asked + QUESTION, "query")
        put_text(axes, _at(asked + QUESTION + 2), top + 82, f"question, {asked} to {last}",
                 "query", ha="left")  # fmt: skip
        put_arrow(axes, (_at(last + 0.5), top + 73), (_at(wanted + 0.5), top + 51), "accent",
                  order=4, linewidth=2)  # fmt: skip
        put_text(axes, _at(x), top + below, distance, "accent", ha=side)
    for position in range(0, 161, 40):
        axes.plot([_at(position)] * 2, [326, 331], color=palette.light("muted"), linewidth=1)
        put_text(axes, _at(position), 342, str(position), "muted")
    axes.plot([_at(0), _at(AXIS)], [326, 326], color=palette.light("muted"), linewidth=1)
    return plots.figure(
        fig,
        alt="The parts of the prompt on a line of positions from 0 to 160, three times, with an "
        "arrow from the last token of the question to marmalade. Right: the first sentence at 0 to "
        "11, the story at 12 to 74, the question at 75 to 81; marmalade is 74 positions behind. "
        "Wrong: the same, but the question stands at 0 to 6, under the first sentence, so "
        "marmalade is 1 position ahead, and the story is ahead too. Test: the first sentence "
        "stands at 148 to 159, and marmalade is 74 positions ahead.",
        caption="Where each part of the prompt stands for the rotation. An arrow leads from the "
        "last is to the first piece of marmalade.",
    )


def _at(position: float | int) -> float:
    """Return where a position begins on the line."""
    return 10 + 336 * position / AXIS


def _positions(axes: Axes, y: float | int, start: int, end: int, role: str) -> None:
    """Draw the positions from `start` to before `end` as a bar."""
    face = palette.light("accent" if role == "accent" else "surface")
    axes.add_patch(Rectangle((_at(start), y - 10), _at(end) - _at(start), 20, facecolor=face,
                             edgecolor=palette.light(role), linewidth=1.6, zorder=2))  # fmt: skip


def _hand(
    axes: Axes, x: float | int, y: float | int, radius: float | int, angle: float, role: str = "key"
) -> None:
    """Draw a clock with one hand, turned counter-clockwise from three o'clock."""
    axes.add_patch(Circle((x, y), radius, fill=False, edgecolor=palette.light("line"),
                          linewidth=1.2))  # fmt: skip
    tip = (x + radius * math.cos(angle), y - radius * math.sin(angle))
    put_arrow(axes, (x, y), tip, role, linewidth=2)


@styled()
def two_pairings() -> Figure:
    """Draw the pairs of eight components by both conventions: neighbours, and halves."""
    fig, axes = sheet(214)
    for top, name, step in ((12, "neighbours (the paper)", 1), (118, "halves (this page)", 4)):
        put_text(axes, 4, top, name, ha="left", weight="bold")
        starts = range(0, 8, 2) if step == 1 else range(4)
        for pair, first in enumerate(starts):
            left, right = (30 + 43 * component for component in (first, first + step))
            low = top + 62 + (0 if step == 1 else 9 * pair)
            axes.plot([left, left, right, right], [top + 50, low, low, top + 50],
                      color=palette.light(f"series-{pair + 1}"), linewidth=2.2,
                      linestyle="-")  # fmt: skip
            for component, x in ((first, left), (first + step, right)):
                put_box(axes, x, top + 34, 32, 28, f"series-{pair + 1}", linewidth=2)
                put_text(axes, x, top + 34, str(component), zorder=3)
    return plots.figure(
        fig,
        alt="Eight components, drawn as boxes, with brackets that join each pair. Neighbours: 0 "
        "with 1, 2 with 3, 4 with 5, 6 with 7. Halves: 0 with 4, 1 with 5, 2 with 6, 3 with 7.",
        caption="The same four pairs of clock hands, stored in two orders.",
    )
