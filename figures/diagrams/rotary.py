"""Schematics of chapter 18: rotary positions as clock hands, and the cache that stores them."""

import math
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.patches import Arc, Circle, Rectangle

from figures import palette, plots
from figures.drawing import put_arrow, put_box, put_text, sheet
from figures.svg import Figure, styled

STORED, QUESTION = 75, 7  # tokens
WANTED = 7  # the position of the key to fetch


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
    """Draw a query and a key as hands, not rotated and at two pairs of positions."""
    fig, axes = sheet(190)
    angles = []
    for middle, positions in ((62, (0, 0)), (180, (2, 1)), (298, (3, 2))):
        turned = [start + step * at for start, at in zip((query, key), positions, strict=True)]
        angles.append(turned[0] - turned[1])
        for row, (name, at) in enumerate(zip(("query", "key"), positions, strict=True)):
            put_text(axes, middle, 14 + 18 * row, f"{name} at {at}", name)
        for role, angle in zip(("query", "key"), turned, strict=True):
            _hand(axes, middle, 106, 50, math.radians(angle), role)
        axes.add_patch(Arc((middle, 106), 34, 34, theta1=-turned[0], theta2=-turned[1],
                           edgecolor=palette.light("accent"), linewidth=2.2))  # fmt: skip
        put_text(axes, middle, 176, f"{angles[-1]:g}°", "accent", weight="bold")
    return plots.figure(
        fig,
        alt="Three clocks, each with two hands, a query and a key. Both at position 0: the angle "
        f"between them is {angles[0]:g} degrees. The query at 2 and the key at 1: {angles[1]:g} "
        f"degrees. The query at 3 and the key at 2: both hands have turned on by {step:g} degrees, "
        f"and the angle is {angles[2]:g} degrees again.",
        caption=f"Each hand turns by {step:g}° per position. Move both words by one position, and "
        "the angle between their hands stays the same.",
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
    """Draw a question behind 75 stored keys, and the same question rotated as if it came first."""
    fig, axes = sheet(258)
    rows = ((14, STORED, "74 positions back"), (148, 0, "1 position ahead"))
    for top, first, distance in rows:
        last = first + QUESTION - 1
        put_text(axes, 10, top, f"the question begins at {first}", ha="left", weight="bold")
        _positions(axes, top + 50, 0, STORED, "key")
        _positions(axes, top + 50, WANTED, WANTED + 1, "accent")
        put_text(axes, _at(40), top + 50, f"stored keys, 0 to {STORED - 1}", "key", zorder=3)
        put_text(axes, _at(WANTED), top + 29, f"marmalade, {WANTED}", "accent", ha="left")
        _positions(axes, top + 94, first, last + 1, "query")
        side = {"ha": "right"} if first else {"ha": "left"}
        put_text(axes, _at(first - 1 if first else last + 2), top + 94,
                 f"question, {first} to {last}", "query", **side)  # fmt: skip
        put_arrow(axes, (_at(last + 0.5), top + 85), (_at(WANTED + 0.5), top + 61), "accent",
                  order=4, linewidth=2)  # fmt: skip
        put_text(
            axes, _at(STORED + QUESTION if first else 11), top + 71, distance, "accent", **side
        )
    return plots.figure(
        fig,
        alt="Two lines of positions, each with 75 stored keys at 0 to 74; marmalade stands at 7. "
        "Above, the question follows at 75 to 81, and from its last token marmalade is 74 "
        "positions back. Below, the question stands at 0 to 6, under the first keys, and marmalade "
        "is 1 position ahead, as all of the story behind it is ahead.",
        caption="The same keys and the same question. With one wrong number, the password and the "
        "whole story lie ahead of the question, where no token ever looked in training.",
    )


def _at(position: float | int) -> float:
    """Return where a position begins on the line."""
    return 10 + 340 * position / (STORED + QUESTION)


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
