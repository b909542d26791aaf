"""Schematics of chapter 8: labels, a new row, pads and their mask."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from figures import palette, plots
from figures.diagrams.leaks import put_token
from figures.drawing import Length, put_arrow, put_box, put_text, sheet
from figures.svg import Figure, styled

TOKENS = ("the", "blue", "owl", "sees")
SIZE, CELL = 4, 20


def shifted_strips(tokens: Sequence[str]) -> Figure:
    """Draw n + 1 tokens as a strip of n inputs over the strip of their n labels.

    Raises: ValueError unless there are three to seven tokens.
    """
    if not 3 <= len(tokens) <= 7:
        raise ValueError(f"`tokens` must hold 3 to 7 words to fit a phone; got {len(tokens)}.")
    inputs, labels = list(tokens[:-1]), list(tokens[1:])
    fig, axes = plots.canvas(360, 190)
    for i, (word, label) in enumerate(zip(inputs, labels, strict=True)):
        axes.text(i, 1.62, str(i), ha="center", va="center", color=palette.light("muted"))
        put_token(axes, i, 1, word, "ink")
        put_token(axes, i, -1, label, "accent")
        put_arrow(axes, (i, 0.62), (i, -0.62))
        if i:
            put_arrow(axes, (i - 0.25, 0.62), (i - 0.78, -0.62), "accent", linestyle="--")
    axes.text(-0.75, 1.62, "position", ha="right", va="center", color=palette.light("muted"))
    axes.text(-0.75, 1, "inputs", ha="right", va="center")
    axes.text(-0.75, 0, "predict", ha="right", va="center", color=palette.light("muted"))
    axes.text(-0.75, -1, "labels", ha="right", va="center", color=palette.light("accent"))
    axes.set(xlim=(-2.0, len(inputs) - 0.4), ylim=(-1.6, 2))
    axes.axis("off")
    return plots.figure(
        fig,
        alt=f"Two strips, one below the other. Inputs: {', '.join(inputs)}. Labels: "
        f"{', '.join(labels)}. A straight arrow leads from each input down to its label; a dashed "
        "arrow leads from each input back to the label before it, which is the same word.",
        caption="The labels are the inputs shifted by one. Dashed arrows: the label of a position "
        "is also the input of the next position.",
    )


@styled()
def new_row() -> Figure:
    """Draw the causal mask of five tokens, of which the last has come after the others."""
    tokens, left, top, cell = (*TOKENS, "a"), 60, 58, 32
    last = len(tokens) - 1
    fig, axes = sheet(226)
    put_text(axes, left + cell * last / 2, 14, "stored keys, values", "key")
    put_text(axes, left + cell * (last + 0.5) + 4, 14, "new", "accent", weight="bold")
    for x, width, role in ((left, cell * last, "key"), (left + cell * last, cell, "accent")):
        axes.plot([x + 2, x + width - 2], [24, 24], color=palette.light(role), linestyle="-",
                  linewidth=1.6)  # fmt: skip
    for i, token in enumerate(tokens):
        role, weight = ("accent", "bold") if i == last else ("ink", "normal")
        put_text(axes, left + cell * (i + 0.5), 42, token, role, weight=weight)
        put_text(axes, left - 8, top + cell * (i + 0.5), token, role, ha="right", weight=weight)
        for j in range(len(tokens)):
            role = "surface" if j > i else "accent" if i == last else "masked"
            _cell(axes, left + cell * j, top + cell * i, cell, role)
    side = left + cell * len(tokens) + 10
    put_text(axes, side, top + cell * 2, "these rows stay:\nnot computed\nagain", "muted",
             ha="left", va="center")  # fmt: skip
    put_text(axes, side, top + cell * (last + 0.5), "one new row", "accent", ha="left",
             va="center", weight="bold")  # fmt: skip
    return plots.figure(
        fig,
        alt="The causal mask of the tokens the, blue, owl, sees, a: five rows of queries, five "
        "columns of keys. The first four rows, a triangle, are marked as not computed again, and "
        "the keys and values of the first four columns as stored. Only the last row is new: the "
        "query of the new token a, over all five keys.",
        caption="A new token adds one row, its query over five keys; the rows above it stay as "
        "they were.",
    )


@styled()
def padded_strips(predict: bool = False) -> Figure:
    """Draw a batch of two texts with its pads on the right, and on the left.

    Below stand the positions of the short text; with `predict`, where the next token is predicted.
    """
    long, short, pads = ["the", "blue", "owl", "sees"], ["the", "owl"], ["pad", "pad"]
    fig, axes = sheet(250)
    for top, side, strip in ((14, "right", short + pads), (140, "left", pads + short)):
        put_text(axes, 84, top, f"pads on the {side}", ha="left", weight="bold")
        role, end = ("wrong", "pad") if strip[-1] == "pad" else ("right", "owl")
        if predict:
            put_box(axes, 307, top + 42.5, 64, 64, role, linewidth=2.2)
            put_text(axes, 338, top + 88, f"text 1 is continued after {end}", role, ha="right")
        for row, words in enumerate((long, strip)):
            y = top + 27 + 31 * row
            put_text(axes, 72, y, f"text {row}", "muted", ha="right")
            for column, word in enumerate(words):
                look = "masked" if word == "pad" else "ink"
                put_box(axes, 115 + 64 * column, y, 58, 25, look)
                put_text(axes, 115 + 64 * column, y, word, look)
        if predict:
            continue
        put_text(axes, 72, top + 84, "position", "accent", ha="right")
        for position in range(2):
            column = strip.index(short[position])
            put_text(axes, 115 + 64 * column, top + 84, str(position), "accent")
    texts = "A batch of two texts: the blue owl sees, and the owl. "
    if predict:
        return plots.figure(
            fig,
            alt=f"{texts}A frame around the last column marks where the next token is predicted. "
            "With pads on the right, the second row is the, owl, pad, pad, so text 1 would be "
            "continued after a pad. With pads on the left it is pad, pad, the, owl, and text 1 is "
            "continued after owl.",
            caption="The next token is predicted in the last column. Only with pads on the left "
            "does this column hold a real token of each text.",
        )
    return plots.figure(
        fig,
        alt=f"{texts}With pads on the right, the second row is the, owl, pad, pad; its tokens have "
        "the positions 0 and 1. With pads on the left it is pad, pad, the, owl; its tokens still "
        "have the positions 0 and 1, but the indices 2 and 3.",
        caption="The same batch, padded on either side. On the left, the last index holds a real "
        "token of each text, and a token's position is no longer its index.",
    )


def padding_broadcast(real: Sequence[bool]) -> Figure:
    """Draw how one row of real tokens becomes a mask for all queries, and joins the causal mask.

    Raises: ValueError unless `real` has four entries.
    """
    if len(real) != SIZE:
        raise ValueError(f"`real` must have {SIZE} entries, one for each key; got {len(real)}.")
    queries = range(SIZE)
    repeated = [[bool(on) for on in real] for _ in queries]
    causal = [[key <= query for key in queries] for query in queries]
    both = [[causal[query][key] and repeated[query][key] for key in queries] for query in queries]
    fig, axes = sheet(216)
    put_text(axes, 72, 14, "real tokens")
    _cells(axes, 32, 26, repeated[:1])
    put_arrow(axes, (72, 50), (72, 82))
    put_text(axes, 80, 65, "for every query", "muted", ha="left")
    panels = (32, repeated, "not a pad"), (154, causal, "causal"), (276, both, "both")
    for left, cells, name in panels:
        _cells(axes, left, 88, cells)
        put_text(axes, left + 40, 204, name)
        for key in queries:
            put_text(axes, left + CELL * (key + 0.5), 182, str(key), "key")
            put_text(axes, left - 9, 88 + CELL * (key + 0.5), str(key), "query")
    put_text(axes, 128, 128, "and")
    put_text(axes, 250, 128, "=")
    tokens = [str(key) for key in queries if real[key]]
    return plots.figure(
        fig,
        alt=f"One row of four cells, of which {' and '.join(tokens)} are filled, is repeated for "
        "four queries. Joined with the triangle of the causal mask by and, it leaves these cells: "
        + "; ".join(f"query {query} to {_named(both[query])}" for query in queries) + ".",
        caption="Filled cells may be attended to, queries in rows. The one row of real tokens "
        "serves every query; the rows of the pads allow no key.",
    )  # fmt: skip


def _named(row: Sequence[bool]) -> str:
    """The keys that a row allows, in words."""
    return " and ".join(str(key) for key, on in enumerate(row) if on) or "none"


def _cells(axes: Axes, left: Length, top: Length, rows: Sequence[Sequence[bool]]) -> None:
    """Draw a mask: filled where it allows, hatched where it forbids."""
    for row, columns in enumerate(rows):
        for column, on in enumerate(columns):
            role = "accent" if on else "surface"
            _cell(axes, left + CELL * column, top + CELL * row, CELL, role)


def _cell(axes: Axes, x: Length, y: Length, size: Length, role: str) -> None:
    """Draw a cell of a mask, filled in the colour of its role; hatched where that is surface."""
    hatch, edge = ("////", "masked") if role == "surface" else (None, "paper")
    look = {"facecolor": palette.light(role), "edgecolor": palette.light(edge), "hatch": hatch}
    axes.add_patch(Rectangle((x + 1, y + 1), size - 2, size - 2, linewidth=0, **look))
