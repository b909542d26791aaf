"""Schematic of chapter 17: the numbers of one hunt, with the model examined beside a right one."""

from collections.abc import Mapping

import numpy as np
from jaxtyping import Bool, Float
from matplotlib.axes import Axes

from figures import plots
from figures.drawing import Length, put_box, put_text, sheet
from figures.svg import Figure, styled

Table = Float[np.ndarray, "_ _"]  # tables of different shapes in one call

CELL = 26  # the height of a cell
PANELS = (("future", "1. Last token changed: each token moves by", 24),
          ("swap", "2. First two tokens swapped: each token moves by", 106),
          ("heads", "3. Two heads: the outputs of three tokens", 188),
          ("exact", "4. One head: the outputs of three tokens", 322))  # fmt: skip


@styled()
def hunt_steps(
    right: Mapping[str, Table], examined: Mapping[str, Table], ruled_out: Mapping[str, Table]
) -> Figure:
    """Draw four experiments on a right model and on another, with impossible numbers outlined.

    `ruled_out` has the results of a wrong merge under "heads", and those of a softmax down the
    columns under "exact".
    """
    fig, axes = sheet(434)
    for key, title, top in PANELS:
        put_text(axes, 2, top - 12, title, ha="left", weight="bold")
        shown = [("right model", right[key]), ("this model", examined[key])]
        if key in ruled_out:
            fault = "merge" if key == "heads" else "softmax"
            shown.append((f"ruled out: {fault}", ruled_out[key]))
        else:
            shown = [(name, table[:, :1].T) for name, table in shown]  # a row of tokens
        for place, (name, table) in enumerate(shown):
            left = place * 366 / len(shown)
            put_text(axes, left + 2, top + 8, name, "muted", ha="left")
            outlined = never(key, table, shown[0][1])
            _grid(axes, left, top + 20, 342 / len(shown), table, outlined)
    words = [_numbers(examined[key][:, 0]) for key in ("future", "swap")]
    new = _numbers(np.unique(examined["heads"][never("heads", examined["heads"], right["heads"])]))
    return plots.figure(
        fig,
        alt=f"Four experiments. The last token changed: the four tokens of this model move by "
        f"{words[0]}; in a right model only the last moves. The first two swapped: {words[1]}; in "
        f"a right model the last two do not move. Two heads: {new} occur nowhere in a right model, "
        "but a wrong merge only puts its numbers elsewhere. One head: this model is right, and a "
        "softmax down the columns is not.",
        caption="The four steps in numbers. Outlined: a number that a right model cannot have "
        "there, or, with two heads, anywhere.",
    )


def never(key: str, table: Table, right: Table) -> Bool[np.ndarray, "_ _"]:
    """Return where a number stands that a right model shows nowhere, or not at that token."""
    if key == "heads":
        return ~np.isclose(table[..., None], right.ravel()).any(-1)
    if key == "exact":
        return ~np.isclose(table, right)
    return (table > 1e-6) & (right == 0)


def _numbers(numbers: Float[np.ndarray, " _"]) -> str:
    """Write numbers as words of a sentence."""
    return ", ".join(_short(number) for number in numbers)


def _short(number: float) -> str:
    """Write a number in at most five characters; a small one keeps one digit."""
    return f"{number:.3f}" if 0 < number < 0.01 else f"{round(number, 2):g}"


def _grid(
    axes: Axes, left: Length, top: Length, width: Length, table: Table, outlined: np.ndarray
) -> None:
    """Draw a table of numbers, with some cells outlined."""
    cell = min(width / table.shape[1], 42)
    for (i, j), number in np.ndenumerate(table):
        x, y = left + cell * (j + 0.5) + 1, top + CELL * (i + 0.5)
        strong = outlined[i, j]
        put_box(axes, x, y, cell - 2, CELL - 3, "accent" if strong else "line",
                linewidth=2.2 if strong else 1)  # fmt: skip
        put_text(axes, x, y, _short(number), size=10.5)
