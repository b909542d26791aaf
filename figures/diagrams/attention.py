"""The schematic of attention: from X to queries, keys and values, and from these to the output."""

from collections.abc import Collection

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from figures import palette, plots
from figures.drawing import put_arrow, sheet
from figures.svg import Figure

CELL = 12.0
PARTS = {  # name: (horizontal centre, top, colour)
    "X": (180.0, 22.0, "ink"),
    "Q": (62.0, 136.0, "query"),
    "K": (180.0, 136.0, "key"),
    "V": (298.0, 136.0, "value"),
    "scores": (121.0, 234.0, "ink"),
    "weights": (121.0, 328.0, "ink"),
    "output": (180.0, 424.0, "output"),
}


def attention_diagram(
    n: int = 3,
    d_model: int = 6,
    d_k: int = 4,
    d_v: int = 2,
    *,
    masked: bool = False,
    lit: Collection[str] = (),
) -> Figure:
    """Draw one head of attention as matrices with their shapes; `lit` names parts to stress.

    Raises: ValueError if `lit` names a part that there is not, or a size does not fit the drawing.
    """
    unknown = set(lit) - set(PARTS)
    if unknown:
        raise ValueError(f"`lit` must name parts of {', '.join(PARTS)}; got {sorted(unknown)}.")
    limits = {"n": (n, 2, 5), "d_model": (d_model, 1, 8), "d_k": (d_k, 1, 5), "d_v": (d_v, 1, 3)}
    for name, (size, least, most) in limits.items():
        if not least <= size <= most:
            raise ValueError(f"`{name}` must be {least} to {most}; got {size}.")
    columns = {"X": d_model, "Q": d_k, "K": d_k, "V": d_v, "scores": n, "weights": n, "output": d_v}
    fig, axes = sheet(500)
    for name, width in columns.items():
        hidden = masked and name in ("scores", "weights")
        _matrix(axes, name, n, width, hidden=hidden, lit=name in lit)
    _steps(axes, n, d_v, masked)
    mask = " with the upper triangle hidden by the mask" if masked else ""
    return plots.figure(
        fig,
        alt=f"Matrices joined by arrows, read downwards. X, with {n} rows and {d_model} columns, "
        f"goes through three weight matrices to Q and K, each {n} by {d_k}, and V, {n} by {d_v}. "
        f"Q and K make the scores, {n} by {n}{mask}; softmax in each row makes the weights, {n} "
        f"by {n}; weights times V is the output, {n} by {d_v}.",
        caption="One row for each token, everywhere. Queries and keys decide the weights, values "
        "are what is averaged, and the output has one row for each token again.",
    )


def _matrix(axes: Axes, name: str, n: int, columns: int, *, hidden: bool, lit: bool) -> None:
    """Draw a matrix as a grid of cells, with its name above and its shape below."""
    centre, top, role = PARTS[name]
    left, colour = centre - columns * CELL / 2, palette.light(role)
    for row in range(n):
        for column in range(columns):
            masked = hidden and column > row
            cell = Rectangle((left + column * CELL, top + row * CELL), CELL, CELL,
                             facecolor=palette.light("surface"), linewidth=0.8,
                             edgecolor=palette.light("masked") if masked else colour,
                             hatch="////" if masked else None)  # fmt: skip
            axes.add_patch(cell)
    frame = Rectangle((left, top), columns * CELL, n * CELL, fill=False, edgecolor=colour,
                      linewidth=3 if lit else 1.6)  # fmt: skip
    axes.add_patch(frame)
    beside = left + columns * CELL + 7
    axes.text(beside, top + n * CELL / 2 - 8, name, va="center", color=colour, weight="bold")
    axes.text(beside, top + n * CELL / 2 + 8, f"({n}, {columns})", va="center", fontsize=12)


def _steps(axes: Axes, n: int, d_v: int, masked: bool) -> None:
    """Draw the arrows between the matrices, with what happens on them."""
    bottom = {name: top + n * CELL for name, (_, top, _) in PARTS.items()}
    for name, label, side in (("Q", "$W_q$", -1), ("K", "$W_k$", 1), ("V", "$W_v$", 1)):
        centre, top, _ = PARTS[name]
        put_arrow(axes, (180 + (centre - 180) * 0.12, bottom["X"] + 3), (centre, top - 3))
        middle = 180 + (centre - 180) * 0.56
        axes.text(middle + side * 8, (bottom["X"] + top) / 2 - 6, label,
                  ha="left" if side > 0 else "right", va="center")  # fmt: skip
    for name, shift in (("Q", -9), ("K", 9)):
        put_arrow(axes, (PARTS[name][0], bottom[name] + 3), (121 + shift, PARTS["scores"][1] - 3))
    put_arrow(axes, (121, bottom["scores"] + 3), (121, PARTS["weights"][1] - 3))
    put_arrow(axes, (121, bottom["weights"] + 3), (172, PARTS["output"][1] - 3))
    put_arrow(axes, (298, bottom["V"] + 3), (188, PARTS["output"][1] - 3))
    softmax = "mask, then\nsoftmax in\neach row" if masked else "softmax in\neach row"
    formulas = {"scores": "$QK^T$ / √$d_k$", "weights": softmax, "output": "weights · $V$"}
    for name, formula in formulas.items():
        centre, top, _ = PARTS[name]
        left = centre - (n if name != "output" else d_v) * CELL / 2 - 8
        axes.text(left, top + n * CELL / 2, formula, ha="right", va="center",
                  fontsize=12)  # fmt: skip
