"""Drawings of chapter 14: two memories, the tiles and one row of them, and where the time goes."""

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from figures import palette, plots
from figures.drawing import Length, put_arrow, put_box, put_text, sheet
from figures.svg import Figure, styled

Trip = tuple[str, bool]  # what travels, and whether it goes down into the fast memory
STANDARD: tuple[Trip, ...] = (
    ("Q, K", True), ("scores", False), ("scores", True), ("weights", False), ("weights, V", True),
    ("output", False),
)  # fmt: skip
IN_TILES: tuple[Trip, ...] = (
    ("Q", True), ("K, V", True), ("K, V again", True), ("output", False),
)  # fmt: skip
LARGE = ("scores", "weights", "weights, V")  # hold n times n numbers


@styled()
def slow_and_fast_memory() -> Figure:
    """Draw the trips between the two memories, with whole matrices and in tiles."""
    fig, axes = sheet(372)
    _panel(
        axes,
        0,
        "Standard: the n × n matrices travel",
        STANDARD,
        "one operation at a time",
    )
    _panel(
        axes,
        192,
        "In tiles: only (n, d) matrices travel",
        IN_TILES,
        "scores to output, tile by tile",
    )
    return plots.figure(
        fig,
        alt="Two drawings, each with a slow memory above and a fast memory below. Standard: Q and "
        "K go down, the scores go up, and down again for the softmax, the weights go up and down "
        "again with V, and the output goes up; the four trips of scores and weights are drawn "
        "thick. In tiles: Q goes down once, K and V several times, and the output goes up; scores "
        "and weights stay in the fast memory.",
        caption="Thick arrows move matrices of n × n numbers. Other steps, such as scale and mask, "
        "are not drawn; each moves one more such matrix down and up.",
    )


def _panel(axes: Axes, top: Length, title: str, trips: Sequence[Trip], work: str) -> None:
    """Draw one way to compute attention."""
    put_text(axes, 8, top + 12, title, ha="left", weight="bold")
    put_box(axes, 180, top + 38, 344, 26, "muted")
    put_text(axes, 180, top + 38, "slow memory: large", va="center")
    put_box(axes, 180, top + 160, 344, 26, "accent")
    put_text(axes, 180, top + 160, f"fast memory: {work}", va="center")
    for i, (name, down) in enumerate(trips):
        x = 344 * (i + 0.5) / len(trips) + 8
        ends = ((x, top + 53), (x, top + 145))
        large = name in LARGE
        put_arrow(axes, *(ends if down else ends[::-1]), "wrong" if large else "muted",
                  linewidth=3 if large else 1.5)  # fmt: skip
        last = i == len(trips) - 1
        two_lines = name.replace("weights, ", "weights,\n")  # else the text meets the next arrow
        put_text(axes, x - 5 if last else x + 5, top + (84 if i % 2 else 116), two_lines,
                 ha="right" if last else "left")  # fmt: skip


N, SIDE, NOW, CELL = 6, 2, 5, 30  # tokens, those of a tile, the tile drawn at work, pixels


def tiles_of_causal() -> list[tuple[int, int]]:
    """List the tiles that a causal mask leaves, by queries and then by keys, in their order."""
    return [(i, j) for i in range(N // SIDE) for j in range(N // SIDE) if j <= i]


@styled()
def tiles_in_order() -> Figure:
    """Draw the score matrix of six tokens in tiles, each with its number in the order of work."""
    fig, axes = sheet(292)
    left, top, side, wide = 62, 52, SIDE * CELL, N * CELL
    put_text(axes, left + wide / 2, 12, "keys", weight="bold")
    put_text(axes, 8, 40, "queries", ha="left", weight="bold")
    for i in range(N):
        put_text(axes, left + CELL * (i + 0.5), 40, str(i + 1), "muted")
        put_text(axes, left - 14, top + CELL * (i + 0.5), str(i + 1), "muted", va="center")
    for i in range(N):
        for j in range(i + 1, N):  # forbidden scores, also those inside a tile
            axes.add_patch(
                Rectangle((left + CELL * j, top + CELL * i), CELL, CELL, linewidth=0, hatch="////",
                          facecolor=palette.light("surface"), edgecolor=palette.light("masked"))
            )  # fmt: skip
    for number, (i, j) in enumerate(tiles_of_causal(), 1):
        x, y, now = left + side * j, top + side * i, number == NOW
        if now:
            _bar(axes, x, y, side, side, "accent")
        axes.add_patch(Rectangle((x, y), side, side, fill=False, edgecolor=palette.light("muted")))
        put_text(axes, x + CELL / 2, y + CELL * 1.5, str(number), "ink-on-high" if now else "ink",
                 va="center", weight="bold")  # fmt: skip
    for i in range(N // SIDE):
        y = top + side * (i + 0.5)
        put_arrow(axes, (left + wide + 8, y), (left + wide + 30, y))
        put_text(axes, left + wide + 36, y, "output" if i < N // SIDE - 1 else "unfinished",
                 "ink" if i < N // SIDE - 1 else "accent", ha="left", va="center")  # fmt: skip
    axes.add_patch(Rectangle((left, top + wide - CELL), wide, CELL, fill=False, linewidth=2.5,
                             edgecolor=palette.light("ink"), zorder=4))  # fmt: skip
    put_text(axes, 8, 250, "1 to 4: computed, used, deleted", ha="left")
    put_text(axes, 8, 266, "5: in fast memory now, 6: still to come", "accent", ha="left")
    put_text(axes, 8, 282, "hatched: the mask forbids these scores", "muted", ha="left")
    return plots.figure(
        fig,
        alt="The score matrix of six queries and six keys, cut into nine tiles of two by two. The "
        "three tiles above the diagonal are hatched. The others are numbered row by row: 1; 2, 3; "
        "4, 5, 6. Tiles 1 to 4 are computed, used and deleted; tile 5 is in fast memory. The "
        "first two rows of tiles have their output; the third is unfinished. The row "
        "of query 6 is framed.",
        caption="One tile is in fast memory at a time. Each row of tiles loads its keys and values "
        "again; the larger the tiles, the less often. Fully masked tiles are skipped.",
    )


KEPT = (  # of each tile, its two scores, and what is kept after it
    (("ln 1", "ln 3"), ("m = ln 3", "ℓ = 4/3", "o = (4, 12)")),
    (("ln 6", "ln 2"), ("m = ln 6", "ℓ = 2", "o = (12, 8)")),
    (("ln 4", "ln 12"), ("m = ?", "ℓ = ?", "o = ?")),
)  # fmt: skip


@styled()
def row_in_tiles() -> Figure:
    """Draw one row of scores in three tiles, and below it what is kept after each tile."""
    fig, axes = sheet(204)
    put_text(axes, 4, 12, "the row of query 6, in its three tiles", ha="left", weight="bold")
    put_text(axes, 4, 114, "kept after each tile", ha="left", weight="bold")
    for i, (scores, kept) in enumerate(KEPT):
        x = 60 + 120 * i
        put_text(axes, x, 32, f"tile {4 + i}", "muted")
        put_box(axes, x, 60, 110, 36, "accent")
        for side, score in zip((-26, 26), scores, strict=True):
            put_box(axes, x + side, 60, 48, 24, "muted")
            put_text(axes, x + side, 60, score)
        put_arrow(axes, (x, 80), (x, 102))
        for line, text in enumerate(kept):
            put_text(axes, x, 136 + 20 * line, text, "accent" if "?" in text else "ink")
        if i < len(KEPT) - 1:
            put_arrow(axes, (x + 44, 136), (x + 76, 136))
    put_text(axes, 180, 195, "a larger maximum m: multiply ℓ and o by c first", "muted")
    return plots.figure(
        fig,
        alt="The row of query 6: six scores in three tiles of two. Below each tile stands what is "
        "kept after it: after tile 4 the maximum ln 3, the sum 4/3 and the weighted sum (4, 12); "
        "after tile 5 ln 6, 2 and (12, 8); after tile 6, question marks.",
        caption="Only m, ℓ and o pass from tile to tile, however long the row is.",
    )


SEGMENTS = {  # what standard attention spends its time on, and the colour of it
    "matrix products": "series-1", "exponentials": "series-3", "other passes": "series-4",
    "new memory": "wrong", "not explained": "series-5",
}  # fmt: skip


@styled()
def time_apart(parts: Mapping[str, float], kernels: Mapping[str, float]) -> Figure:
    """Draw the milliseconds of standard attention as one bar of its parts, over those of kernels.

    `parts` has the names of SEGMENTS; each of `kernels` becomes a bar on the same scale.
    """
    whole = sum(parts.values())
    fig, axes = sheet(184)
    scale, left, top, high = 344 / whole, 8, 48, 30
    put_text(axes, left, 12, f"standard attention: {whole:.0f} ms", ha="left", weight="bold")
    for name, role in SEGMENTS.items():
        wide = parts[name] * scale
        middle = left + wide / 2
        _bar(axes, left, top, wide, high, role)
        number = f"{parts[name]:.0f}"
        if name in ("new memory", "other passes"):  # wide enough for its name
            text = f"{name} {number}" if name == "new memory" else f"passes {number}"
            put_text(axes, middle, top + high / 2, text, "ink-on-high", va="center")
        elif name == "exponentials":
            put_text(axes, left, top - 14, f"{name} {number}", ha="left", va="center")
            axes.plot([middle, middle], [top - 6, top], color=palette.light("ink"), linewidth=1)
        else:
            put_text(axes, middle, top + high / 2, number, "ink-on-high", va="center")
            at, side = (8, "left") if name == "matrix products" else (352, "right")
            put_text(axes, at, top + high + 12, name, ha=side, va="center")
        left += wide
    put_text(axes, 8, 120, "fused kernel", ha="left", weight="bold")
    for i, (name, taken) in enumerate(kernels.items()):
        y = 132 + 26 * i
        _bar(axes, 8, y, taken * scale, 20, "accent")
        put_text(axes, 8 + taken * scale / 2, y + 10, f"{taken:.0f}", "ink-on-high", va="center")
        put_text(axes, 14 + taken * scale, y + 10, name, ha="left", va="center")
    return plots.figure(
        fig,
        alt=f"One bar of {whole:.0f} milliseconds for standard attention, cut into "
        + ", ".join(f"{name} {part:.0f}" for name, part in parts.items())
        + ". Below it on the same scale, short bars for the whole fused kernel: "
        + ", ".join(f"{name} {taken:.0f}" for name, taken in kernels.items()) + ".",
        caption=f"Standard attention at 1,024 tokens spends {parts['new memory'] / whole:.0%} of "
        "its time on new memory. “Passes” read and write it without a product: scale, mask, "
        "largest, sums. The bars below are the whole fused kernel.",
    )  # fmt: skip


def _bar(axes: Axes, x: Length, y: Length, wide: Length, high: Length, role: str) -> None:
    """Fill a rectangle with the colour of a role."""
    axes.add_patch(
        Rectangle((x, y), wide, high, facecolor=palette.light(role),
                  edgecolor=palette.light("paper"), linewidth=1)
    )  # fmt: skip
