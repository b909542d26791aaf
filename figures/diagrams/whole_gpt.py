"""Schematic of chapter 12: a whole GPT from ids to logits, with the shapes between its parts."""

from itertools import pairwise

from matplotlib.axes import Axes
from matplotlib.patches import Circle, FancyBboxPatch

from figures import palette, plots
from figures.drawing import Length, Point, put_arrow, put_box, put_text, sheet
from figures.svg import Figure

X, BRANCH, NORM = 96, 258, 158  # the residual stream; the middles of the boxes beside it
TIED, AGAIN = 14, 348  # of the line between both uses of E, and of the line to the next token
WORDS = (("The", 40, 40), ("creature", 96, 64), ("roamed", 164, 64))
TABLES, FIRST_SUM = 70, 108
BLOCK = (140, 314)
SUBLAYERS = (  # height, name of the box, what is inside it, and the height of the sum
    (182, "attention, h heads", "weights: (h, n, n)", 220),
    (256, "feed-forward", "inside: (n, 4d)", 294),
)
AFTER = (  # height, name of the box, and what comes out of it
    (350, "norm", "(n, d)"),
    (396, "LM head: times E, transposed", "logits (n, V)"),
    (442, "softmax of the last row", "probabilities (V)"),
    (488, "sample", ""),
)
SHAPES = ((46, "ids (n)"), (128, "x: (n, d)"), (327, "x: (n, d), the hidden states"))


def whole_gpt() -> Figure:
    """Draw the whole model, read downwards: embeddings, blocks, norm, LM head, the next token."""
    fig, axes = sheet(508)
    _tokens(axes)
    _embeddings(axes)
    _block(axes)
    for height, text in SHAPES:
        put_text(axes, X + 10, height, text, "muted", ha="left")
    put_arrow(axes, (X, BLOCK[1]), (X, AFTER[0][0] - 13))
    for at, (height, name, result) in enumerate(AFTER):
        head = name.startswith("LM head")
        put_box(axes, X + 34, height, 196, 26, "accent" if head else "ink")
        put_text(axes, X + 34, height, name, weight="bold")
        if result:
            put_arrow(axes, (X, height + 13), (X, AFTER[at + 1][0] - 13))
            put_text(axes, X + 10, height + 23, result, "muted", ha="left")
    _line(axes, [(32, TABLES), (TIED, TABLES), (TIED, AFTER[1][0]), (32, AFTER[1][0])], "accent")
    put_text(axes, TIED + 10, 220, "the same matrix E", "accent", rotation=90)
    _line(axes, [(228, AFTER[3][0]), (AGAIN, AFTER[3][0]), (AGAIN, 18), (252, 18)], "muted")
    put_text(axes, 238, AFTER[3][0] - 12, "append, repeat", "muted", ha="left")
    return plots.figure(
        fig,
        alt="A whole GPT, read downwards. n ids, of the tokens The creature roamed, enter. The "
        "token embedding E gives a row for each token, the position embedding P a row for each "
        "position; their sum is x, of shape (n, d). N blocks follow. In each, a norm and attention "
        "with h heads, whose weights have the shape (h, n, n), give (n, d), added to x; then a "
        "norm and a feed-forward network, 4d wide inside, give (n, d), added to x. After the last "
        "block a norm, then the LM head, which multiplies by E transposed, the same matrix as at "
        "the start, and gives logits of shape (n, V). Softmax of the last row gives V "
        "probabilities; a token is sampled, appended to the text, and everything repeats.",
        caption="The whole model. n is the number of tokens, d is d_model, V the size of the "
        "vocabulary. Nothing but attention moves anything from one token to another.",
    )


def _tokens(axes: Axes) -> None:
    for word, x, width in WORDS:
        put_box(axes, x, 18, width - 4, 22, "ink")
        put_text(axes, x, 18, word)
    put_box(axes, 224, 18, 50, 22, "muted", linestyle="--")
    put_text(axes, 224, 18, "?", "muted")
    put_arrow(axes, (X, 30), (X, TABLES - 13))


def _embeddings(axes: Axes) -> None:
    for x, name in ((X, "token embedding E"), (BRANCH, "position embedding P")):
        put_box(axes, x, TABLES, 128 if x == X else 150, 26, "accent" if x == X else "ink")
        put_text(axes, x, TABLES, name, weight="bold")
    put_arrow(axes, (X, TABLES + 13), (X, FIRST_SUM - 8))
    _line(axes, [(BRANCH, TABLES + 13), (BRANCH, FIRST_SUM), (X + 8, FIRST_SUM)], "muted")
    _sum(axes, FIRST_SUM)
    put_arrow(axes, (X, FIRST_SUM + 8), (X, BLOCK[0]))


def _block(axes: Axes) -> None:
    top, bottom = BLOCK
    axes.add_patch(FancyBboxPatch(
        (34, top), 306, bottom - top, boxstyle="round,pad=0,rounding_size=6", facecolor="none",
        edgecolor=palette.light("muted"), linewidth=1.1,
    ))  # fmt: skip
    put_text(axes, 332, top + 13, "block, N times", "muted", ha="right")
    put_arrow(axes, (X, top), (X, bottom), arrowstyle="-")
    for height, name, inside, add in SUBLAYERS:
        put_arrow(axes, (X, height), (NORM - 28, height))
        put_box(axes, NORM, height, 54, 24, "ink")
        put_text(axes, NORM, height, "norm")
        put_arrow(axes, (NORM + 28, height), (BRANCH - 64, height))
        put_box(axes, BRANCH + 6, height, 138, 42, "ink")
        put_text(axes, BRANCH + 6, height - 9, name, weight="bold")
        put_text(axes, BRANCH + 6, height + 9, inside, "muted")
        _line(axes, [(BRANCH, height + 21), (BRANCH, add), (X + 8, add)], "muted")
        put_text(axes, NORM, add - 11, "(n, d)", "muted")
        _sum(axes, add)


def _sum(axes: Axes, y: Length) -> None:
    axes.add_patch(Circle((X, y), 8, facecolor=palette.light("paper"), linewidth=1.3,
                          edgecolor=palette.light("muted"), zorder=3))  # fmt: skip
    put_text(axes, X, y, "+", zorder=4)


def _line(axes: Axes, points: list[Point], role: str) -> None:
    """Draw a line through points, with an arrow's head at the last."""
    for start, end in pairwise(points[:-1]):
        put_arrow(axes, start, end, role, arrowstyle="-")
    put_arrow(axes, points[-2], points[-1], role)
