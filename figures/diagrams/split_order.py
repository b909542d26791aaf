"""Schematic of chapter 9: what a split into heads does with the reading order of the numbers."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from figures import palette, plots
from figures.drawing import Length, put_text, sheet
from figures.svg import Figure, styled

TOKENS, D_MODEL, HEADS = 3, 4, 2
SHADES = ("series-1", "series-2", "series-3")  # one for each token
CELL = 24


def heads_of(*, swap: bool) -> list[list[int]]:
    """List the numbers 0 to 11 of each head in reading order, after a split with or without swap.

    Without the swap the reading order stays: head 0 is the first half of all numbers.
    """
    numbers = range(TOKENS * D_MODEL)
    if not swap:
        half = len(numbers) // HEADS
        return [list(numbers[head * half : (head + 1) * half]) for head in range(HEADS)]
    d_k = D_MODEL // HEADS
    return [[i for i in numbers if i % D_MODEL // d_k == head] for head in range(HEADS)]


@styled()
def split_order() -> Figure:
    """Draw three tokens of four numbers in reading order, and both splits into two heads."""
    fig, axes = sheet(250)
    put_text(axes, 12, 12, "x, in reading order", ha="left", weight="bold")
    _strip(axes, 24, 26, range(TOKENS * D_MODEL))
    for token in range(TOKENS):
        put_text(axes, 24 + CELL * D_MODEL * (token + 0.5), 62, f"token {token}", "muted")
    for top, swap, title in (
        (84, True, "reshape, then swapaxes: right"), (168, False, "reshape alone: wrong"),
    ):  # fmt: skip
        put_text(axes, 12, top + 12, title, "right" if swap else "wrong", ha="left", weight="bold")
        for head, numbers in enumerate(heads_of(swap=swap)):
            left = 24 + head * (6 * CELL + 16)
            _strip(axes, left, top + 26, numbers)
            put_text(axes, left + 3 * CELL, top + 62, f"head {head}", "muted")
    right, wrong = (heads_of(swap=swap)[0] for swap in (True, False))
    return plots.figure(
        fig,
        alt="Twelve boxes with the numbers 0 to 11, four for each of three tokens. After a reshape "
        f"and a swap of axes, head 0 holds {', '.join(map(str, right))}: two numbers of each "
        f"token. After a reshape alone it holds {', '.join(map(str, wrong))}: all of token 0, half "
        "of token 1 and nothing of token 2.",
        caption="The colour of a number is its token. Only the swap of axes gives each head a part "
        "of every token.",
    )


def _strip(axes: Axes, left: Length, top: Length, numbers: Sequence[int]) -> None:
    """Draw numbers as a row of boxes, each in the colour of its token."""
    for at, number in enumerate(numbers):
        role = SHADES[number // D_MODEL]
        corner = (left + CELL * at, top)
        axes.add_patch(Rectangle(corner, CELL, CELL, facecolor=palette.light("surface"),
                                 edgecolor=palette.light(role), linewidth=1.8))  # fmt: skip
        put_text(axes, corner[0] + CELL / 2, top + CELL / 2, str(number), role, weight="bold")
