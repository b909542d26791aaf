"""A schematic of chapter 4: which tokens the output of a head makes more probable."""

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from figures import palette, plots
from figures.drawing import Length, put_arrow, put_box, put_text, sheet
from figures.svg import Figure, styled

TOP, BAR = 154, 11  # where the rows of the tokens begin, and how thick a bar is
TOKEN, FIRST, LAST = 52, 142, 318  # where the tokens stand, and where bars may begin and end
MINUS = "\N{MINUS SIGN}"


@styled()
def raised_tokens(
    word: str,
    tokens: Sequence[str],
    products: Mapping[str, Sequence[float]],
    *,
    head: str,
    d_v: int,
    d_model: int,
    vocabulary: int,
) -> Figure:
    """Draw the way from a head's output at a word to its products with tokens' vectors.

    `products` has for each of one or two subjects the product of each token: a bar to the right
    of a line for what is raised, and to its left for what is lowered.
    Raises: ValueError unless there are 1 to 12 tokens with one or two products each.
    """
    shapes = [len(numbers) for numbers in products.values()]
    if not 1 <= len(tokens) <= 12 or shapes not in ([len(tokens)], [len(tokens)] * 2):
        raise ValueError(
            "The drawing needs 1 to 12 tokens, and for one or two subjects a product for each; "
            f"got {len(tokens)} tokens and {shapes} products."
        )
    row = (BAR + 2) * len(products) + 10
    fig, axes = sheet(TOP + row * len(tokens) + 26)
    put_box(axes, 76, 22, 144, 26, "output", linewidth=2.2)
    put_text(axes, 76, 22, f"output of {head}", "output", weight="bold")
    put_text(axes, 76, 47, f"({d_v},)", size=10.5)
    put_arrow(axes, (150, 22), (218, 22), "output")
    put_text(axes, 183, 11, "times $W_o$")
    put_box(axes, 288, 22, 138, 26, "output", linewidth=2.2)
    put_text(axes, 288, 22, f"added to {word}", "output", weight="bold")
    put_text(axes, 288, 47, f"({d_model},)", size=10.5)
    axes.plot([288, 288, 152], [58, 76, 76], color=palette.light("output"), linewidth=1.5,
              linestyle="-")  # fmt: skip
    put_arrow(axes, (152, 75), (152, 98), "output")
    put_text(axes, 280, 67, "dot product with each token's vector", "output", ha="right", size=10.5)
    put_text(axes, TOKEN, 102, "tokens", "key", weight="bold")
    put_text(axes, TOKEN, 117, f"({d_model},) each", size=10.5)
    put_text(axes, 112, 111, f"{vocabulary:,} products; here {len(tokens)}", ha="left",
             weight="bold")  # fmt: skip
    for i, subject in enumerate(products):
        _put_bar(axes, 118 + 110 * i, 133, 22, first=i == 0)
        put_text(axes, 146 + 110 * i, 133, f"with {subject}", ha="left")
    _put_rows(axes, row, tokens, products)
    listed = "; ".join(
        f"with {subject}, " + ", ".join(f"{t} {n:.1f}" for t, n in zip(tokens, row, strict=True))
        for subject, row in products.items()
    )
    return plots.figure(
        fig,
        alt=f"The output of {head}, {d_v} components, times W_o gives the {d_model} "
        f"components that are added to {word}. Their dot products with the vectors of tokens: "
        f"{listed}.",
        caption="From the output of a head to the next token: what the head adds to the logits "
        "of some tokens.",
    )


def _put_rows(
    axes: Axes, row: int, tokens: Sequence[str], products: Mapping[str, Sequence[float]]
) -> None:
    """Draw a row for each token: its name, and for each subject a bar as long as its product."""
    numbers = [number for listed in products.values() for number in listed]
    low, high = min(0, *numbers), max(0, *numbers)
    scale = (LAST - FIRST) / (high - low or 1)
    zero, bottom = FIRST - scale * low, TOP + row * len(tokens)
    axes.plot([zero, zero], [TOP - 4, bottom], color=palette.light("muted"), linewidth=0.8)
    for i, token in enumerate(tokens):
        middle = TOP + row * (i + 0.5)
        put_box(axes, TOKEN, middle, 88, 19, "key")
        put_text(axes, TOKEN, middle, token)
        for j, listed in enumerate(products.values()):
            y = middle + (BAR + 2) * (j - (len(products) - 1) / 2)
            length, number = scale * listed[i], f"{listed[i]:.1f}".replace("-", MINUS)
            _put_bar(axes, min(zero, zero + length), y, abs(length), first=j == 0)
            put_text(axes, zero + length + (5 if length >= 0 else -5), y, number, size=10.5,
                     ha="left" if length >= 0 else "right")  # fmt: skip
    put_text(axes, zero - 8, bottom + 12, "← lowered", "muted", ha="right")
    put_text(axes, zero + 8, bottom + 12, "raised →", "muted", ha="left")


def _put_bar(axes: Axes, x: Length, y: Length, length: Length, *, first: bool) -> None:
    """Draw a bar from x to the right: filled for the first subject, an outline for the second."""
    inside = "output" if first else "surface"
    axes.add_patch(Rectangle((x, y - BAR / 2), length, BAR, facecolor=palette.light(inside),
                             edgecolor=palette.light("output"), linewidth=1))  # fmt: skip
