"""Schematics of chapter 17: what a wrong split deals, and its path from the last token on."""

import numpy as np
from matplotlib.axes import Axes

from figures import palette, plots
from figures.drawing import Length, put_arrow, put_box, put_text, sheet
from figures.svg import Figure, styled

HALVES = np.reshape([[token] * 2 for token in (1, 2, 3, 4)], (2, 4))
"""Two halves of each of four tokens, dealt to (head, row) without a transpose."""
TALL, WIDE = 26, 62  # a cell
HEADS = ("series-1", "series-2")
LEVELS = ("input", "head 2,\nlayer 1", "after\nlayer 1", "head 2,\nlayer 2", "after\nlayer 2")


@styled()
def split_of_four() -> Figure:
    """Draw what the rows of two heads hold where four tokens are split correctly and wrongly."""
    fig, axes = sheet(194)
    splits = {"correct split": np.array([[1, 2, 3, 4]] * 2), "without a transpose": HALVES}
    phrases = []
    for start, (name, heads) in zip((46, 206), splits.items(), strict=True):
        put_text(axes, start + 2, 12, name, weight="bold", ha="left")
        stored = heads.T if name == "correct split" else heads  # as the halves lie in a line
        owners = np.indices(stored.shape)[int(name == "correct split")]
        for place, (token, head) in enumerate(zip(stored.flat, owners.flat, strict=True)):
            _shade(axes, start + 10 + 18 * place, 38, 16, int(head))
            put_text(axes, start + 10 + 18 * place, 38, str(token), size=10.5)
        for head, role in enumerate(HEADS):
            put_text(axes, start + 36 + 72 * head, 61, f"head {head + 1}", role, size=11)
        for (head, row), token in np.ndenumerate(heads):
            x, y = start + 36 + 72 * head, 88 + 29 * row
            if token > row + 1:
                put_box(axes, x, y, 68, TALL - 2, "accent", linewidth=2.4)
            _shade(axes, x, y, 66, head)
            put_text(axes, x, y, f"half of {token}", size=10.5)
        listed = "; ".join(
            f"head {head} gets halves of {', '.join(map(str, row))}"
            for head, row in enumerate(heads.tolist(), 1)
        )
        phrases.append(f"{name}: {listed}")
    put_text(axes, 2, 38, "halves", "muted", ha="left", size=11)
    for row in (1, 2, 3, 4):
        put_text(axes, 2, 59 + 29 * row, f"row {row}", ha="left")
    return plots.figure(
        fig,
        alt=f"Four tokens of two halves each, split for two heads, row by row. "
        f"{'. '.join(phrases)}. Halves of a later token are outlined.",
        caption="Above, the two halves of each token as the computer stores them; below, what "
        "each row of a head holds. Outlined: half of a later token.",
    )


@styled()
def split_swapped() -> Figure:
    """Draw what tokens 3 and 4 get from the wrong split, before and after tokens 1 and 2 swap."""
    fig, axes = sheet(134)
    orders = {"before the swap": (1, 2, 3, 4), "after the swap": (2, 1, 3, 4)}
    dealt = {name: np.array(order)[HALVES - 1] for name, order in orders.items()}
    phrases = []
    for start, (name, heads) in zip((46, 206), dealt.items(), strict=True):
        put_text(axes, start + 2, 12, name, weight="bold", ha="left")
        for place, token in enumerate(heads.flat):
            _shade(axes, start + 10 + 18 * place, 38, 16, place // 4)
            put_text(axes, start + 10 + 18 * place, 38, str(token), size=10.5)
        for head, role in enumerate(HEADS):
            put_text(axes, start + 36 + 72 * head, 61, f"head {head + 1}", role, size=11)
            for row in (2, 3):
                x, y = start + 36 + 72 * head, 30 + 29 * row
                if len({heads[head, row] for heads in dealt.values()}) > 1:
                    put_box(axes, x, y, 68, TALL - 2, "accent", linewidth=2.4)
                _shade(axes, x, y, 66, head)
                put_text(axes, x, y, f"half of {heads[head, row]}", size=10.5)
        phrases.append(f"{name}: halves of {heads[0, 2]} in head 1, of {heads[1, 2]} in head 2")
    put_text(axes, 2, 38, "halves", "muted", ha="left", size=11)
    for row in (3, 4):
        put_text(axes, 2, 1 + 29 * row, f"row {row}", ha="left")
    return plots.figure(
        fig,
        alt="What rows 3 and 4 of two heads hold where four tokens are split without a transpose. "
        f"{'; '.join(phrases)}. The halves in head 1 are outlined.",
        caption="The last two rows of the wrong split. Outlined: what the swap changes.",
    )


@styled()
def split_path() -> Figure:
    """Draw what head 2 gets in two layers of four tokens, and how token 4 reaches token 1."""
    fig, axes = sheet(66 * len(LEVELS) - 30)
    rows = HALVES[1]
    path = [(4, 3), (int(rows[0]), 1)]  # from a token to a row of head 2, in each layer
    lit = {(0, 4), (1, 3), (2, 3), (3, 1), (4, 1)}
    for level, name in enumerate(LEVELS):
        put_text(axes, 2, _y(level), name, "muted", ha="left", va="center", size=11)
        for place in (1, 2, 3, 4):
            text = f"half of {rows[place - 1]}" if level % 2 else f"token {place}"
            _cell(axes, place, level, text, (level, place) in lit)
    for layer, thick in enumerate(path):
        for row, token in enumerate(map(int, rows), 1):
            strong = (token, row) == thick
            _arrow(axes, (token, 2 * layer), row, strong=strong)
            _arrow(axes, (row, 2 * layer + 1), row, strong=strong)
    listed = ", ".join(f"row {row} half of token {token}" for row, token in enumerate(rows, 1))
    return plots.figure(
        fig,
        alt="Four tokens above, and below them, for each of two layers, the four rows of head 2 "
        f"and the four tokens after the layer. In head 2, {listed}. Thick arrows lead from token 4 "
        "to row 3 of layer 1, down to token 3, on to row 1 of layer 2, and down to token 1.",
        caption="The model of the hunt cuts four tokens in the middle, so head 2 gets the halves "
        "of tokens 3 and 4. In layer 1, row 3 holds half of token 4, and writes to token 3. In "
        "layer 2, row 1 holds half of token 3, and writes to token 1.",
    )


def _x(place: int) -> Length:
    """The middle of a column."""
    return 98 + 74 * (place - 1)


def _y(level: int) -> Length:
    """The middle of a level."""
    return 18 + 66 * level


def _cell(axes: Axes, place: int, level: int, text: str, lit: bool) -> None:
    """Draw a token, or on the colour of its head a row of head 2."""
    x, y = _x(place), _y(level)
    put_box(axes, x, y, WIDE, TALL, "accent" if lit else "line", linewidth=2.4 if lit else 1)
    if level % 2:
        _shade(axes, x, y, WIDE - 4, 1)
    put_text(axes, x, y, text, weight="bold" if lit else "normal", size=11)


def _shade(axes: Axes, x: Length, y: Length, width: Length, head: int) -> None:
    """Fill a cell with the colour of its head, 0 or 1."""
    axes.fill_between([x - width / 2, x + width / 2], y - TALL / 2 + 2, y + TALL / 2 - 2,
                      linewidth=0, alpha=0.35, color=palette.light(HEADS[head]))  # fmt: skip


def _arrow(axes: Axes, start: tuple[int, int], end: int, *, strong: bool) -> None:
    """Draw an arrow from (place, level) down to a place on the next level."""
    place, level = start
    put_arrow(axes, (_x(place), _y(level) + TALL / 2), (_x(end), _y(level + 1) - TALL / 2),
              "accent" if strong else "line", linewidth=2.6 if strong else 1,
              order=2 if strong else 1)  # fmt: skip
