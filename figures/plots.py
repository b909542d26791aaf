"""Pictures of arrays: each returns a `Figure` whose numbers follow the page's light and dark."""

from collections.abc import Mapping, Sequence
from html import escape

import numpy as np
from jaxtyping import Bool, Real
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure as Drawing
from matplotlib.patches import Rectangle

from figures import palette
from figures.plane import arrows, scatter
from figures.svg import Figure, canvas, described, figure, legend_size, picture, put_head, styled

__all__ = [
    "Figure", "arrows", "bars", "canvas", "figure", "heatmap", "heatmaps", "lines", "scatter",
]  # fmt: skip

_NEGATIVE = [f"n{step}" for step in range(palette.STEPS, 0, -1)]
_POSITIVE = [f"w{step}" for step in range(palette.STEPS + 1)]
RAMP = ListedColormap([palette.light(name) for name in _NEGATIVE + _POSITIVE], "ramp")
"""The colours of numbers from -1 to 1: below 0 one hue, above 0 another."""

_MARKERS = "osD^v"
Row = Real[np.ndarray, " n"] | Sequence[float | int]
Table = Real[np.ndarray, "query key"] | Sequence[Row]


@styled()
def heatmap(
    matrix: Table,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    alt: str,
    caption: str,
    values: bool = True,
    digits: int = 2,
    mask: Bool[np.ndarray, "query key"] | None = None,
    high: float | None = None,
    title: str = "",
    row_label: str = "query",
    column_label: str = "key",
) -> Figure:
    """Draw a table as coloured cells, with its numbers in them; masked cells are hatched.

    The colour runs from 0 to `high` (default: the largest magnitude); below 0 the hue changes.
    Raises: ValueError if alt or caption is missing, or rows and columns do not fit the matrix.
    """
    described(alt, caption)
    labels = row_label, column_label
    fig = _table(matrix, rows, columns, labels, values, digits, mask, high, title)
    return figure(fig, alt, caption)


@styled()
def heatmaps(
    matrices: Sequence[Table] | Real[np.ndarray, "head query key"],
    titles: Sequence[str],
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    alt: str,
    caption: str,
    values: bool = False,
    digits: int = 2,
    masks: Sequence[Bool[np.ndarray, "query key"] | None] | None = None,
    high: float | None = None,
    row_label: str = "query",
    column_label: str = "key",
) -> Figure:
    """Draw several tables of one shape on one colour scale; they wrap on a narrow page.

    Raises: ValueError if alt or caption is missing, or there is not one title to a matrix.
    """
    described(alt, caption)
    if len(matrices) != len(titles):
        raise ValueError(f"{len(matrices)} matrices need as many titles, and got {len(titles)}.")
    highest = high or max(float(np.abs(matrix).max()) for matrix in matrices)
    labels = row_label, column_label
    panels = [
        picture(
            _table(matrix, rows, columns, labels, values, digits, mask, highest, title),
            'aria-hidden="true"',
        )
        for matrix, title, mask in zip(
            matrices, titles, masks or [None] * len(matrices), strict=True
        )
    ]
    grid = "display:flex;flex-wrap:wrap;gap:.5rem 1.25rem"
    cell = '<div style="flex:1 1 min(100%,15rem);max-width:30rem">'
    inner = "".join(f"{cell}{panel}</div>" for panel in panels)
    return Figure(
        f'<div role="img" aria-label="{escape(alt)}" style="{grid}">{inner}</div>', alt, caption
    )


def _table(matrix, rows, columns, labels, values, digits, mask, high, title) -> Drawing:
    matrix = np.asarray(matrix, dtype=float)
    if matrix.shape != (len(rows), len(columns)):
        raise ValueError(
            f"A matrix of shape {matrix.shape} needs {matrix.shape[0]} rows' names and "
            f"{matrix.shape[-1]} columns' names, and got {len(rows)} and {len(columns)}."
        )
    finite = np.where(np.isfinite(matrix), matrix, 0.0)
    largest = float(np.abs(finite).max())
    shares = finite / (high or largest or 1.0)
    longest = max((len(str(name)) for name in columns), default=0)
    wide = max(len(columns), 4)
    # A cell is higher where it holds a number, and all of them fit a telephone's width.
    cell = min(38.0, 300 / wide)
    slanted = longest * 6.6 > cell
    head = min(longest, 14) * 5 + 30 if slanted else 34
    width = min(360.0, 60 + 7 * max(len(str(name)) for name in rows) + cell * wide + 20)
    fig, ax = canvas(max(width, 200), head + (28 if title else 8) + cell * 0.82 * len(rows) + 8)
    edges = np.arange(len(columns) + 1), np.arange(len(rows) + 1)
    ax.pcolormesh(
        *edges, shares, cmap=RAMP, vmin=-1, vmax=1, edgecolor=palette.light("paper"),
        linewidth=1 if cell > 8 else 0,
    )  # fmt: skip
    _name_cells(ax, rows, columns, labels, slanted, title)
    blocked = np.zeros(matrix.shape, bool) if mask is None else ~np.asarray(mask, dtype=bool)
    for row, column in np.argwhere(blocked).tolist():
        _hatch(ax, row, column)
    if values:
        short = cell < 30 and largest <= 1
        size = min(11.5, cell / (0.62 * max(3, digits + 2 - short)))
        for (row, column), share in np.ndenumerate(shares):
            if not blocked[row, column]:
                text = _number(matrix[row, column], digits)
                if short:  # .25 and 1.0 are as wide as each other
                    text = text.replace("0.", ".", 1) if "0." in text[:3] else text[:-1]
                colour = palette.light(palette.ink(share))
                ax.text(
                    column + 0.5, row + 0.5, text, ha="center", va="center", color=colour,
                    fontsize=size,
                )  # fmt: skip
    return fig


def _number(value: float, digits: int) -> str:
    text = f"{value:.{digits}f}".replace("inf", "\N{INFINITY}").replace("-", "\N{MINUS SIGN}")
    return (
        text if any(d in text for d in "123456789\N{INFINITY}") else text.lstrip("\N{MINUS SIGN}")
    )


def _name_cells(ax: Axes, rows, columns, labels, slanted, title) -> None:
    ax.set_xticks(
        np.arange(len(columns)) + 0.5, columns, rotation=50 if slanted else 0,
        ha="left" if slanted else "center", rotation_mode="anchor",
    )  # fmt: skip
    ax.set_yticks(np.arange(len(rows)) + 0.5, rows)
    ax.tick_params(length=0, top=True, labeltop=True, bottom=False, labelbottom=False)
    ax.invert_yaxis()
    ax.xaxis.set_label_position("top")
    for axis, label in ((ax.yaxis, labels[0]), (ax.xaxis, labels[1])):
        role = label if label in ("query", "key") else "muted"
        axis.set_label_text(label, color=palette.light(role))
    ax.spines[:].set_visible(False)
    ax.set_title(title)


def _hatch(ax: Axes, row: int, column: int) -> None:
    box = {"facecolor": palette.light("surface"), "edgecolor": palette.light("masked")}
    ax.add_patch(Rectangle((column + 0.05, row + 0.05), 0.9, 0.9, hatch="////", lw=0, **box))


@styled()
def bars(
    heights: Row | Mapping[str, Row],
    names: Sequence[str],
    *,
    alt: str,
    caption: str,
    role: str = "accent",
    digits: int = 2,
    values: bool = True,
    title: str = "",
    label: str = "",
) -> Figure:
    """Draw lying bars with their numbers beside them; a dict of sequences draws groups.

    Raises: ValueError if alt or caption is missing.
    """
    described(alt, caption)
    groups = heights if isinstance(heights, Mapping) else {"": heights}
    thick = 0.74 / len(groups)
    row = max(24, 19 * len(groups))
    fig, ax = canvas(360, 60 + row * len(names) + 24 * bool(title) + 22 * legend_size(groups)[0])
    at = np.arange(len(names))
    for i, (group, lengths) in enumerate(groups.items()):
        name = f"series-{i + 1}" if len(groups) > 1 else role
        middle = at + (i - (len(groups) - 1) / 2) * thick
        ax.barh(middle, lengths, thick * 0.92, color=palette.light(name), label=group)
        for y, length in zip(middle, lengths, strict=True):
            if values:
                place = {"ha": "left" if length >= 0 else "right", "va": "center"}
                shift = (4 if length >= 0 else -4, 0)
                text = _number(length, digits)
                ax.annotate(text, (length, y), shift, textcoords="offset points", **place)
    ax.set_yticks(at, names)
    ax.tick_params(axis="y", length=0)
    ax.invert_yaxis()
    ax.axvline(0, color=palette.light("muted"), linewidth=0.8)
    ax.spines[["left"]].set_visible(False)
    ax.margins(x=0.16)
    if min(min(lengths) for lengths in groups.values()) >= 0:
        ax.set_xlim(left=0)
    ax.set_xlabel(label)
    put_head(ax, title, groups)
    return figure(fig, alt, caption)


@styled()
def lines(
    x: Row,
    curves: Mapping[str, Row],
    *,
    alt: str,
    caption: str,
    bands: Mapping[str, tuple[Row, Row]] | None = None,
    roles: Mapping[str, str] | None = None,
    markers: bool = False,
    log_x: bool = False,
    log_y: bool = False,
    title: str = "",
    x_label: str = "",
    y_label: str = "",
) -> Figure:
    """Draw named curves, each with a dash of its own; `bands` shade from low to high round them.

    Raises: ValueError if alt or caption is missing.
    """
    described(alt, caption)
    fig, ax = canvas(360, 230 + 18 * legend_size(curves)[0] + 20 * bool(title))
    for i, (name, y) in enumerate(curves.items()):
        role = (roles or {}).get(name, f"series-{i % 5 + 1}")
        marker = _MARKERS[i % 5] if markers else None
        ax.plot(x, y, color=palette.light(role), label=name, marker=marker, markersize=5)
        if bands and name in bands:
            ax.fill_between(x, *bands[name], color=palette.light(role), alpha=0.18, linewidth=0)
    if log_x:
        ax.set_xscale("log", base=2 if _powers_of_two(x) else 10)
        if _powers_of_two(x):
            shown = list(x)[:: -(-len(x) // 7)]
            ax.set_xticks(shown, [f"{int(value)}" for value in shown])
    if log_y:
        ax.set_yscale("log")
    ax.minorticks_off()
    ax.grid(axis="y")
    ax.set_xlabel(x_label)
    ax.set_ylabel(y_label)
    put_head(ax, title, curves)
    return figure(fig, alt, caption)


def _powers_of_two(x: Sequence[float]) -> bool:
    return all(value >= 1 and np.log2(value) % 1 == 0 for value in x)
