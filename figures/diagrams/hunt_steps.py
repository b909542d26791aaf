"""Schematics of chapter 17: which laws its faults break, and one hunt."""

from collections.abc import Mapping, Sequence
from textwrap import fill

import numpy as np
from jaxtyping import Bool, Float
from matplotlib.axes import Axes

from figures import plots
from figures.drawing import Length, put_arrow, put_box, put_text, sheet
from figures.svg import Figure, styled

Table = Float[np.ndarray, "_ _"]  # tables of different shapes in one call

LINE = 17  # the height of a line of names
CELL = 26  # the height of a cell
TOP, NAMES, MOST = 58, 11, 8  # where the numbers begin, the size of the names, the most of them
TITLES = {
    "future": "last token changed: the logits of each move by",
    "swap": "first two swapped: the output of each moves by",
    "heads": "two heads: what each returns for token 1",
}
"""What the experiment of each step shows, in the order of the steps."""


@styled()
def law_grid(laws: Sequence[str], broken: Mapping[str, Sequence[bool]]) -> Figure:
    """Draw which laws each fault breaks; `broken` has a truth value for each law, by fault.

    Raises: ValueError unless there are two to four laws, and every fault has as many values.
    """
    if not 2 <= len(laws) <= 4 or {len(values) for values in broken.values()} != {len(laws)}:
        raise ValueError(f"`broken` must have a value for each of 2 to 4 laws; got {laws}.")
    fig, axes = sheet(46 + 36 * len(broken))
    for column, law in enumerate(laws):
        put_text(axes, 186 + 48 * column, 20, fill(law, 8), va="center", size=10.5)
    for row, (name, values) in enumerate(broken.items()):
        y = 62 + 36 * row
        put_text(axes, 2, y, fill(name, 22, subsequent_indent="     "), ha="left", va="center")
        for column, value in enumerate(values):
            x, role = 186 + 48 * column, "accent" if value else "line"
            put_box(axes, x, y, 44, 30, role, linewidth=2.2 if value else 1)
            put_text(axes, x, y, "breaks" if value else "obeys", "ink" if value else "muted",
                     size=10.5, weight="bold" if value else "normal")  # fmt: skip
    listed = [
        f"{name} breaks {', '.join(law for law, value in zip(laws, values, strict=True) if value)}"
        if any(values)
        else f"{name} breaks none"
        for name, values in broken.items()
    ]
    return plots.figure(
        fig,
        alt=f"A grid of {len(broken)} faults and {len(laws)} laws. {'; '.join(listed)}.",
        caption="Which laws each broken line breaks"
        + "".join(f"; {name.split()[0]} breaks none" for name in broken if not any(broken[name]))
        + ".",
    )


@styled()
def hunt_step(
    key: str,
    right: Mapping[str, Table],
    examined: Mapping[str, Table],
    remaining: Sequence[Sequence[str]],
    ruled_out: Mapping[str, Table] | None = None,
) -> Figure:
    """Draw one step of a hunt: a correct model, the examined one, and the faults that are left.

    `remaining` has the names that are possible before the first step and after each.
    `ruled_out` has the names of faults that the experiment rules out, each with its numbers.
    Raises: ValueError unless `key` is one of `TITLES`, and `remaining` has a list more than it.
    """
    if key not in TITLES or len(remaining) != len(TITLES) + 1:
        raise ValueError(
            f"`key` must be one of {', '.join(TITLES)}, and `remaining` must have "
            f"{len(TITLES) + 1} lists; got {key} and {len(remaining)}."
        )
    step = list(TITLES).index(key)
    before, left = remaining[step : step + 2]
    shown = [("correct model", right[key]), ("this model", examined[key])]
    if ruled_out:
        shown += [(f"ruled out: {name}", table) for name, table in ruled_out.items()]
    else:
        shown = [(name, table[:, :1].T) for name, table in shown]  # a row of tokens
    lines, tall = _lines(before, left), 30 + CELL * len(shown[0][1])
    bottom = TOP + tall * -(-len(shown) // 2) + 4
    fig, axes = sheet(bottom + LINE * lines + 4)
    _counts(axes, [len(names) for names in remaining], step + 1)
    put_text(axes, 2, TOP - 12, f"{step + 1}. {TITLES[key]}", ha="left", weight="bold")
    for place, (name, table) in enumerate(shown):
        start, top = place % 2 * 183, TOP + place // 2 * tall
        put_text(axes, start + 2, top + 8, name, "muted", ha="left")
        _grid(axes, start, top + 20, 171, table, outlined(table, shown[0][1], key != "heads"))
    _names(axes, bottom, before, left)
    tables = "; ".join(f"{name}: {_said(table)}" for name, table in shown)
    gone = [name for name in before if name not in left]
    moving = np.flatnonzero(outlined(*(table for _, table in shown[1::-1]), key != "heads")[0]) + 1
    return plots.figure(
        fig,
        alt=f"Step {step + 1}, {TITLES[key]}. {tables}. Of {len(before)} faults, {len(left)} left: "
        f"{', '.join(left)}. Crossed out: {', '.join(gone)}.",
        caption="Outlined: numbers that differ from those of the correct model."
        if ruled_out
        else f"Outlined: tokens {_listed(moving)} move here and stay in a correct model."
        + " The numbers are distances, and only whether a token moves counts." * (step == 0),
    )


def outlined(table: Table, right: Table, distances: bool) -> Bool[np.ndarray, "_ _"]:
    """Return where a table differs from the correct one.

    Of the `distances` by which tokens move, the correct model's own are not compared: only
    whether a token moves.
    """
    if distances:
        return (table > 1e-6) & (right == 0)
    return ~np.isclose(table, right)


def _counts(axes: Axes, counts: Sequence[int], current: int) -> None:
    """Draw how many faults are possible before the first step and after each."""
    for place, count in enumerate(counts):
        x = 22 + 79 * place
        lit = place == current
        put_box(axes, x, 16, 38, 24, "accent" if lit else "line", linewidth=2.2 if lit else 1)
        if place <= current:
            put_text(axes, x, 16, str(count), weight="bold" if lit else "normal")
        if place:
            put_arrow(axes, (x - 59, 16), (x - 20, 16), "muted" if place <= current else "line")
    put_text(axes, 48 + 79 * (len(counts) - 1), 16, "faults left", "muted", ha="left")


def _lines(before: Sequence[str], left: Sequence[str]) -> int:
    """Count the lines of names in two columns, and one for the others if there are too many."""
    return -(-len(before) // 2) if len(before) <= MOST else -(-len(left) // 2) + 1


def _names(axes: Axes, top: Length, before: Sequence[str], left: Sequence[str]) -> None:
    """Write the names that were possible before a step; of too many, those that are left."""
    few, lines = len(before) <= MOST, _lines(before, left)
    column = lines if few else lines - 1
    for place, name in enumerate(before if few else left):
        x, y = 2 + 182 * (place // column), top + LINE * (place % column + 0.5)
        _name(axes, x, y, name, kept=name in left)
    if not few:
        others = f"the other {len(before) - len(left)}"
        _name(axes, 2, top + LINE * (lines - 0.5), others, kept=False)


def _name(axes: Axes, x: Length, y: Length, name: str, *, kept: bool) -> None:
    """Write the name of a fault, crossed out if it is ruled out."""
    put_text(axes, x + 12, y, name, "ink" if kept else "muted", ha="left", size=NAMES)
    if not kept:
        put_text(axes, x + 4, y, "\N{MULTIPLICATION SIGN}", "muted", size=14)


def _listed(tokens: Sequence[int] | np.ndarray) -> str:
    """List tokens in words: 1, 2 and 3."""
    *others, last = map(str, tokens)
    return f"{', '.join(others)} and {last}" if others else last


def _said(table: Table) -> str:
    """Write a table in words, row after row."""
    return " | ".join(", ".join(_short(number) for number in row) for row in table)


def _short(number: float) -> str:
    """Write a number in at most five characters; a small one keeps one digit."""
    return f"{number:.3f}" if 0 < number < 0.01 else f"{round(number, 2):g}"


def _grid(
    axes: Axes, left: Length, top: Length, width: Length, table: Table, strong: np.ndarray
) -> None:
    """Draw a table of numbers, with some cells outlined."""
    cell = min(width / table.shape[1], 42)
    for (i, j), number in np.ndenumerate(table):
        x, y = left + cell * (j + 0.5) + 1, top + CELL * (i + 0.5)
        put_box(axes, x, y, cell - 2, CELL - 3, "accent" if strong[i, j] else "line",
                linewidth=2.2 if strong[i, j] else 1)  # fmt: skip
        put_text(axes, x, y, _short(number), size=10.5)
