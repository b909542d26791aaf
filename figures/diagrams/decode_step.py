"""Drawing of chapter 14: one step of writing, with the KV cache above its row of scores."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from figures import palette, plots
from figures.drawing import Length, put_arrow, put_text, sheet
from figures.svg import Figure, styled

TOKENS = ("The", "keys", "that", "the", "man")
LEFT, WIDE, HIGH = 92, 50, 28  # of the first column, and of a cell, in pixels


@styled()
def decode_step(tokens: Sequence[str] = TOKENS) -> Figure:
    """Draw the step that reads the last of `tokens`: what is kept, and what is computed now.

    Raises: ValueError unless there are 2 to 5 tokens, as many as fit.
    """
    if not 2 <= len(tokens) <= 5:
        raise ValueError(f"`tokens` must hold 2 to 5 tokens; got {len(tokens)}.")
    fig, axes = sheet(222)
    *earlier, new = tokens
    for column, token in enumerate(tokens):
        last = column == len(tokens) - 1
        middle = LEFT + WIDE * (column + 0.5)
        style = {"role": "accent", "weight": "bold"} if last else {}
        put_text(axes, middle, 16, token, **style)
        for top in (28, 58):
            _cell(axes, column, top, new=last)
        put_arrow(axes, (middle, 90), (middle, 112))
        _cell(axes, column, 116, new=True)
    put_text(axes, 84, 42, "values", ha="right", va="center")
    put_text(axes, 84, 72, "keys", ha="right", va="center")
    put_text(axes, 84, 130, "scores", ha="right", va="center")
    put_text(axes, 8, 16, "KV cache", ha="left", weight="bold")
    put_text(axes, LEFT, 162, f"one row: the query of “{new}”", ha="left")
    for line, (is_new, text) in enumerate(
        ((True, "computed in this step"), (False, "kept from earlier steps, only loaded"))
    ):
        y = 180 + 20 * line
        _patch(axes, LEFT, y, 18, 13, new=is_new)
        put_text(axes, LEFT + 26, y + 7, text, ha="left", va="center")
    n = len(tokens)
    return plots.figure(
        fig,
        alt=f"A row of values and a row of keys, the KV cache, with a column for each of {n} "
        f"tokens. The columns of {', '.join(earlier)} are kept from earlier steps. The column of "
        f"{new} is computed in this step. Arrows lead from the keys to one row "
        f"of {n} scores, computed in this step.",
        caption=f"One head, in the step that reads “{new}”: a new column in the cache, and one "
        "row of scores.",
    )


def _cell(axes: Axes, column: int, top: Length, *, new: bool) -> None:
    """Draw one key, value or score."""
    _patch(axes, LEFT + WIDE * column + 1, top, WIDE - 2, HIGH, new=new)


def _patch(axes: Axes, x: Length, y: Length, wide: Length, high: Length, *, new: bool) -> None:
    """Fill what this step computes, and outline what earlier steps have kept."""
    colour = palette.light("accent" if new else "muted")
    axes.add_patch(
        Rectangle((x, y), wide, high, linewidth=1.2, edgecolor=colour,
                  facecolor=colour if new else palette.light("surface"))
    )  # fmt: skip
