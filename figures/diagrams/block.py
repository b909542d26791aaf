"""Schematics of chapter 11: a hidden component, its matrices, layer norm, orders, the block."""

from collections.abc import Sequence
from statistics import fmean, pstdev

from matplotlib.axes import Axes

from figures import palette, plots
from figures.drawing import Length, put_arrow, put_box, put_text, sheet
from figures.svg import Figure

TOP, BOTTOM = 62, 352
FIRST, SECOND = 84, 218  # where the copies for the two sublayers branch off
PRE, POST = 22, 212  # the two residual streams, from the left
AWAY, WIDE = 86, 112  # from a residual stream to the middle of a sublayer, and its width
NETWORK = "feed-forward\nnetwork"
ORIGIN, UNIT = (108, 182), (150, 110)  # the plane of the question: its origin, and a step to 1
TOKENS = {(0, 0): ("neither", "0.00"), (1, 0): ("not alone", "−0.05"),
          (0, 1): ("good alone", "−0.05"), (1, 1): ("not good", "1.95")}  # fmt: skip
WORDS = ("not", "good", "bad")  # the three components of the token in `two_matrices`
ZERO, APART = 130, 32  # on the number lines of a norm: where 0 lies, and how far 1 is from it
ROWS = (38, 116, 194)  # the heights of these lines
STEPS = {  # where each copy branches off, and for each part: what it does, and what comes out
    42: {"norm": ("gives a standard size", "(n, d)"),
         "attention": ("brings what other tokens offer", "(n, d); weights (h, n, n)")},
    162: {"norm": ("gives a standard size", "(n, d)"),
          "times W₁": ("asks questions of each token", "(n, 4d)"),
          "GELU": ("lets each yes through", "(n, 4d)"),
          "times W₂": ("gives the answers", "(n, d)")},
}  # fmt: skip


def two_orders() -> Figure:
    """Draw pre-norm beside post-norm: the norms before the sublayers, or after the additions."""
    fig, axes = sheet(384)
    for left, title in ((PRE, "pre-norm (GPT-2)"), (POST, "post-norm (2017, BERT)")):
        put_text(axes, left - 16, 14, title, ha="left", weight="bold")
        put_text(axes, left - 16, 40, "x  (n, d_model)", "muted", ha="left")
        put_arrow(axes, (left, TOP - 8), (left, BOTTOM), "accent", linewidth=3)
        put_text(axes, left - 16, BOTTOM + 16, "to the next block", "muted", ha="left")
    _branch(axes, PRE, FIRST, ["norm", "attention"])
    _branch(axes, PRE, SECOND, ["norm", NETWORK])
    _branch(axes, POST, FIRST, ["attention"])
    _branch(axes, POST, SECOND, [NETWORK])
    for x, y, name in ((PRE, FIRST + 100, "x₁"), (PRE, SECOND + 116, "x₂"),
                       (POST, FIRST + 118, "x₁"), (POST, SECOND + 124, "x₂")):  # fmt: skip
        put_text(axes, x + 9, y, name, "accent", ha="left", weight="bold")
    for y, divisor in ((FIRST + 90, "÷ σ₁"), (SECOND + 96, "÷ σ₂")):
        put_box(axes, POST + 3, y, 46, 20, "accent", zorder=3)
        put_text(axes, POST + 3, y, "norm", zorder=4)
        put_text(axes, POST + 32, y, divisor, "accent", ha="left", weight="bold")
    for y in (FIRST + 24, SECOND + 24):
        put_text(axes, PRE + 7, y, "× 1", "accent", ha="left", weight="bold")
    return plots.figure(
        fig,
        alt="Two blocks side by side, read downwards. In pre-norm the residual stream runs "
        "straight from top to bottom. Twice a copy branches off, through a norm and attention, "
        "then through a norm and the feed-forward network, and is added to it. In post-norm the "
        "copies branch off without a norm, and two norms stand on the residual stream itself, one "
        "after each addition. Beside the residual stream, the factor on this path: "
        "1 for each sublayer of pre-norm, and 1/sigma for each norm of post-norm.",
        caption="The two orders of the same parts. The thick line is the residual stream; "
        "beside it, the factor by which each part multiplies or divides it.",
    )


def _branch(axes: Axes, left: Length, y: Length, parts: list[str]) -> None:
    """Lead a copy of the residual stream through some parts, and add what comes out."""
    middle = left + AWAY
    put_arrow(axes, (left, y), (middle, y), arrowstyle="-")
    here = y
    for part in parts:
        tall = 36 if "\n" in part else 22
        put_arrow(axes, (middle, here), (middle, here + 13))
        put_box(axes, middle, here + 13 + tall / 2, WIDE if part != "norm" else 60, tall, "ink")
        put_text(axes, middle, here + 13 + tall / 2, part)
        here += 13 + tall
    end = here + 14
    put_arrow(axes, (middle, here), (middle, end), arrowstyle="-")
    put_arrow(axes, (middle, end), (left + 10, end))
    axes.scatter(left, end, s=190, color=palette.light("surface"),
                 edgecolors=palette.light("accent"), zorder=3)  # fmt: skip
    put_text(axes, left, end, "+", "ink", zorder=4)


def one_question() -> Figure:
    """Draw four tokens by two components, and the line beyond which the question gets a yes."""
    fig, axes = sheet(232)

    def at(x: Length, y: Length) -> tuple[Length, Length]:
        return ORIGIN[0] + UNIT[0] * x, ORIGIN[1] - UNIT[1] * y

    border = [at(0.2, 1.3), at(1.35, 0.15)]  # on it, the two components add to 1.5
    axes.fill(*zip(*border, at(1.35, 1.3), strict=True), color=palette.light("accent"),
              alpha=0.13, linewidth=0)  # fmt: skip
    axes.plot(*zip(*border, strict=True), color=palette.light("accent"), linewidth=1.6)
    put_text(axes, *at(1.22, 0.62), "yes", "accent", weight="bold")
    put_text(axes, *at(0.52, 0.5), "no", "accent", weight="bold")
    for tip, name, align in ((at(1.42, 0), "a: has not", "right"),
                             (at(0, 1.42), "b: is good", "center")):  # fmt: skip
        put_arrow(axes, at(0, 0), tip)
        down = -12 if align == "right" else -8
        put_text(axes, tip[0], tip[1] + down, name, "muted", ha=align)
    for (x, y), (token, answer) in TOKENS.items():
        axes.scatter(*at(x, y), s=42, color=palette.light("ink"), zorder=3)
        left, down = (-10, 0) if x == 0 else (0, 18 if y == 0 else -16)
        put_text(axes, at(x, y)[0] + left, at(x, y)[1] + down, f"{token}\n{answer}" if x == 0
                 else f"{token}: {answer}", ha="right" if x == 0 else "center")  # fmt: skip
    return plots.figure(
        fig,
        alt="A plane. Across: 1 if the token has not beside it, else 0; upwards: 1 if it is good. "
        "Four points with the component's value after GELU: neither 0.00 at the origin, not alone "
        "-0.05, good alone -0.05, not good 1.95. A slanting line separates not good, on the side "
        "of yes, from the three others, on the side of no.",
        caption="The question: is 4a + 4b above 6? Only “not good”, where both are 1, "
        "lies beyond the line.",
    )


def two_matrices() -> Figure:
    """Draw a token through W₁, GELU and W₂, with the column and the row of one question."""
    fig, axes = sheet(292)
    asks = [["", "4", "", ""], ["", "4", "", ""], ["", "0", "", ""]]
    answers = [["", "", ""], ["0", "−0.5", "0.5"], ["", "", ""], ["", "", ""]]
    _cells(axes, 8, 52, 27, [["1", "1", "0"]])
    _cells(axes, 138, 28, 27, asks, column=1)
    _cells(axes, 138, 108, 27, [["", "−6", "", ""]], column=1)
    _cells(axes, 138, 174, 27, [["", "1.95", "", ""]], column=1)
    _cells(axes, 267, 138, 30, answers, row=1)
    _cells(axes, 267, 260, 30, [["0", "−0.98", "0.98"]], row=0)
    for i, word in enumerate(WORDS):
        put_text(axes, 8 + 27 * (i + 0.5), 42, word, "muted")
        put_text(axes, 132, 28 + 24 * (i + 0.5), word, "muted", ha="right")
        put_text(axes, 267 + 30 * (i + 0.5), 128, word, "muted")
    for x, y, name in ((48, 90, "token"), (192, 16, "W₁: questions"), (312, 108, "W₂: answers")):
        put_text(axes, x, y, name, weight="bold")
    for x, y, name in ((132, 120, "plus b₁"), (132, 186, "hidden"), (261, 272, "update")):
        put_text(axes, x, y, name, weight="bold", ha="right")
    for start, end in (((178.5, 134), (178.5, 173)), ((248, 186), (266, 186)),
                       ((312, 236), (312, 259))):  # fmt: skip
        put_arrow(axes, start, end, "accent")
    put_text(axes, 186, 153, "GELU", "accent", ha="left", weight="bold")
    return plots.figure(
        fig,
        alt="A token with the components not 1, good 1, bad 0 is multiplied by the matrix W1 of "
        "three rows and four columns. Its second column, 4, 4, 0, is marked, and so is -6 below "
        "it in b1. GELU makes 1.95 of the sum, the second of four hidden components. The second "
        "row of W2, 0, -0.5, 0.5, is marked, and the update is 0, -0.98, 0.98.",
        caption="One question of four: the marked column of W₁ and its −6 ask, and the marked row "
        "of W₂, times 1.95, answers. Added to the token, it makes good 0.02 and bad 0.98.",
    )


def _cells(
    axes: Axes, left: Length, top: Length, wide: Length, rows: list[list[str]],
    *, row: int | None = None, column: int | None = None,
) -> None:  # fmt: skip
    """Draw a grid with what its cells hold, and mark one of its rows or columns."""
    for i, texts in enumerate(rows):
        for j, text in enumerate(texts):
            x, y = left + wide * j, top + 24 * i
            corners = [x, x + wide, x + wide, x], [y, y, y + 24, y + 24]
            if i == row or j == column:
                axes.fill(*corners, color=palette.light("accent"), alpha=0.16, linewidth=0)
            axes.fill(*corners, fill=False, edgecolor=palette.light("muted"), linewidth=0.6,
                      linestyle="-")  # fmt: skip
            put_text(axes, x + wide / 2, y + 12, text)


def centre_and_divide(x: Sequence[Length]) -> Figure:
    """Draw one vector's components as points, minus their mean, and divided by their deviation."""
    mean, deviation = fmean(x), pstdev(x)
    centred = [number - mean for number in x]
    divided = [number / deviation for number in centred]
    lines = {"x": x, f"minus the mean, {mean:g}": centred, f"divided by σ, {deviation:g}": divided}
    fig, axes = sheet(238)

    def at(number: Length) -> Length:
        return ZERO + APART * number

    axes.plot(
        [at(0)] * 2, [ROWS[0] - 9, ROWS[-1] + 9], "-", color=palette.light("muted"), linewidth=0.6
    )
    for path in zip(*lines.values(), strict=True):
        axes.plot([at(number) for number in path], ROWS, "-", color=palette.light("line"),
                  linewidth=0.9)  # fmt: skip
    for row, (y, (name, numbers)) in enumerate(zip(ROWS, lines.items(), strict=True)):
        low, high = fmean(numbers) - pstdev(numbers), fmean(numbers) + pstdev(numbers)
        axes.fill([at(low), at(high), at(high), at(low)], [y - 9, y - 9, y + 9, y + 9],
                  color=palette.light("accent"), alpha=0.16, linewidth=0)  # fmt: skip
        put_text(
            axes, 16 if row == 0 else 352, y, name, ha="right" if row else "left", weight="bold"
        )
        axes.scatter([at(number) for number in numbers], [y] * len(numbers), s=30,
                     color=palette.light("accent"), zorder=3)  # fmt: skip
        for place, number in enumerate(sorted(numbers)):
            right, down = ((0, -18), (-9, -16), (0, 18 + 14 * (place % 2)))[row]
            put_text(axes, at(number) + right, y + down, f"{number:g}".replace("-", "−"))
    listed = "; ".join(f"{name}: {_listed(numbers)}" for name, numbers in lines.items())
    return plots.figure(
        fig,
        alt=f"Three number lines with the components of a vector as points. {listed}. The points "
        "move to both sides of 0, then closer together.",
        caption="Layer norm of one token's vector: minus the mean, its components lie around 0; "
        "divided by their standard deviation σ, they have a standard deviation of 1. The band "
        "reaches from one standard deviation below the mean to one above.",
    )


def _listed(numbers: Sequence[Length]) -> str:
    return ", ".join(f"{number:g}" for number in numbers)


def whole_block() -> Figure:
    """Draw a pre-norm block, read downwards: what each part does, and the shape it returns."""
    fig, axes = sheet(378)
    put_text(axes, PRE - 16, 14, "x  (n, d)", ha="left", weight="bold")
    put_arrow(axes, (PRE, 26), (PRE, 350), "accent", linewidth=3)
    put_text(axes, PRE - 16, 366, "to the next block: x  (n, d)", ha="left", weight="bold")
    for start, parts in STEPS.items():
        _branch(axes, PRE, start, list(parts))
        for row, (task, shape) in enumerate(parts.values()):
            put_text(axes, PRE + 152, start + 16 + 35 * row, task, ha="left")
            put_text(axes, PRE + 152, start + 32 + 35 * row, shape, "muted", ha="left")
        put_text(axes, PRE + 152, start + 19 + 35 * len(parts), "added to x", "accent", ha="left")
    put_text(axes, PRE + 17, 256, "feed-forward", "muted", rotation=90, va="center")
    listed = "; ".join(f"{name} {task}, {shape}" for parts in STEPS.values()
                       for name, (task, shape) in parts.items())  # fmt: skip
    return plots.figure(
        fig,
        alt="A pre-norm block, read downwards. The residual stream x, of shape (n, d), runs "
        f"straight through. Twice a copy branches off and is added to it at the end: {listed}.",
        caption="The block of GPT-2. Only attention moves anything from one token to another; "
        "every other part works on each token alone.",
    )
