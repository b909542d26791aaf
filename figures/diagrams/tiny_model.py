"""Schematic of chapter 1: the forward pass of the tiny model on the end of a story."""

from figures import plots
from figures.drawing import put_arrow, put_box, put_text, sheet
from figures.svg import Figure

FIRST = 4  # the position of the first word that is drawn
WORDS = ("the", "blue", "fox", ".", "the")
NEXT = ("?", "?", ".", "the", "blue")
COLUMNS = (108, 162, 216, 270, 324)
VECTORS, SUMS = 102, 198
BLUE, LAST = 1, 4


def tiny_model() -> Figure:
    """Draw what `forward` does with five words: embed, attend, add, score."""
    fig, axes = sheet(334)
    for height, name in (
        (20, "position"), (40, "word"), (70, "word +\nposition"), (VECTORS, "x"),
        (150, "heads"), (SUMS, "x + output"), (230, "next_word"), (258, "15 logits"),
        (286, "softmax"), (316, "next word"),
    ):  # fmt: skip
        code = name in ("word +\nposition", "heads", "next_word", "softmax")
        put_text(axes, 4, height, name, "accent" if code else "muted", ha="left")
    for query, x in enumerate(COLUMNS):
        for key in range(query):
            fetched = (key, query) == (BLUE, LAST)
            put_arrow(axes, (COLUMNS[key], VECTORS + 13), (x - 4, SUMS - 13),
                      "accent" if fetched else "masked", order=3 if fetched else 1,
                      linewidth=3 if fetched else 0.8)  # fmt: skip
    for at, (x, word, following) in enumerate(zip(COLUMNS, WORDS, NEXT, strict=True)):
        role, line = ("accent", 2.2) if at in (BLUE, LAST) else ("ink", 1.1)
        put_text(axes, x, 20, str(FIRST + at), "muted")
        put_text(axes, x, 40, word, weight="bold")
        for start, end in ((50, VECTORS - 13), (VECTORS + 13, SUMS - 13), (SUMS + 13, 249),
                           (268, 304)):  # fmt: skip
            put_arrow(axes, (x, start), (x, end))
        put_box(axes, x, VECTORS, 40, 24, role, linewidth=line)
        put_box(axes, x, SUMS, 40, 24, role if at == LAST else "ink",
                linewidth=line if at == LAST else 1.1)  # fmt: skip
        put_text(axes, x, VECTORS, "64")
        put_text(axes, x, SUMS, "64")
        put_text(axes, x, 258, "15")
        put_text(axes, x, 316, following, "muted" if following == "?" else "accent", weight="bold")
    return plots.figure(
        fig,
        alt="Five columns, for positions 4 to 8 of a story: the, blue, fox, full stop, the. In "
        "each column, word plus position gives a vector x of 64 components; x plus the output of "
        "attention gives a second vector of 64; next_word turns it into 15 logits, and softmax "
        "into the next word. Thin arrows of attention lead from each vector to the sums of all "
        "later columns. A thick one leads from blue, at position 5, to the last column, whose next "
        "word is blue.",
        caption="The forward pass on a story, without its first four words. Arrows show what "
        "flows: “the” attends to “blue”, so the thick arrow leads from “blue” to “the”. Only "
        "attention crosses columns. At a question mark, the next word is random.",
    )
