"""A schematic of chapter 4: which tokens the output of a head makes more probable."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from figures import palette, plots
from figures.drawing import put_arrow, put_box, put_text, sheet
from figures.svg import Figure, styled

ROW, TOP = 23, 130  # the height of a token's row, and where the rows begin
TOKEN, BAR, LONGEST = 52, 112, 190  # where tokens and bars stand, and the length of a bar


@styled()
def raised_tokens(
    word: str,
    products: Sequence[tuple[str, float]],
    *,
    head: str,
    d_v: int,
    d_model: int,
    vocabulary: int,
) -> Figure:
    """Draw the way from a head's output at a word to its products with tokens' vectors.

    `products` are some tokens, each with its product: a bar for each that is positive.
    Raises: ValueError unless there are 1 to 12 products, at least one of them positive.
    """
    if not 1 <= len(products) <= 12 or max(number for _, number in products) <= 0:
        raise ValueError(
            f"The drawing needs 1 to 12 products, one of them positive; got {list(products)}."
        )
    fig, axes = sheet(TOP + ROW * len(products) + 26)
    put_box(axes, 76, 22, 144, 26, "output", linewidth=2.2)
    put_text(axes, 76, 22, f"output of head {head}", "output", weight="bold")
    put_text(axes, 76, 47, f"({d_v},)", size=10.5)
    put_arrow(axes, (150, 22), (218, 22), "output")
    put_text(axes, 183, 11, "times $W_o$")
    put_box(axes, 288, 22, 138, 26, "output", linewidth=2.2)
    put_text(axes, 288, 22, f"added to {word}", "output", weight="bold")
    put_text(axes, 288, 47, f"({d_model},)", size=10.5)
    axes.plot([288, 288, BAR + 40], [58, 76, 76], color=palette.light("output"), linewidth=1.5,
              linestyle="-")  # fmt: skip
    put_arrow(axes, (BAR + 40, 75), (BAR + 40, TOP - 30), "output")
    put_text(axes, 280, 67, "dot product with each token's vector", "output", ha="right", size=10.5)
    put_text(axes, TOKEN, TOP - 28, "tokens", "key", weight="bold")
    put_text(axes, TOKEN, TOP - 13, f"({d_model},) each", size=10.5)
    put_text(axes, BAR, TOP - 15, f"{vocabulary:,} products; here {len(products)}", ha="left",
             weight="bold")  # fmt: skip
    _put_bars(axes, products)
    put_text(axes, BAR, TOP + ROW * len(products) + 12, "the larger, the more this token is raised",
             "muted", ha="left")  # fmt: skip
    listed = ", ".join(f"{token} {number:.1f}" for token, number in products)
    return plots.figure(
        fig,
        alt=f"The output of head {head}, {d_v} components, times W_o gives the {d_model} "
        f"components that are added to {word}. Their dot products with the vectors of tokens: "
        f"{listed}.",
        caption="From the output of a head to the next token: what the head adds to the logits "
        "of some tokens.",
    )


def _put_bars(axes: Axes, products: Sequence[tuple[str, float]]) -> None:
    """Draw a row for each token: its name, and a bar as long as its product."""
    largest = max(number for _, number in products)
    for i, (token, number) in enumerate(products):
        y = TOP + ROW * (i + 0.5)
        put_box(axes, TOKEN, y, 88, 19, "key")
        put_text(axes, TOKEN, y, token)
        length = max(0, LONGEST * number / largest)
        axes.add_patch(Rectangle((BAR, y - 6), length, 12, facecolor=palette.light("output"),
                                 linewidth=0))  # fmt: skip
        text = f"{number:.1f}".replace("-", "\N{MINUS SIGN}")
        put_text(axes, BAR + length + 6, y, text, ha="left")
