"""Schematics of chapter 18: two blocks, the gated network, and shared KV heads."""

import math
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from figures import palette, plots
from figures.drawing import Length, put_arrow, put_box, put_text, sheet
from figures.svg import Figure, styled

GPT2 = ["LayerNorm", "12 query heads\n12 KV heads", "LayerNorm", "GELU network\n768 → 3072 → 768"]
LLAMA = ["RMSNorm", "9 query heads\n3 KV heads\nq, k rotated", "RMSNorm",
         "SwiGLU network\n576 → 2 × 1536 → 576"]  # fmt: skip
ARRANGEMENTS = {
    9: ("multi-head: 9 KV heads (GPT-2's way)", "Multi-head: each reads a KV head of its own."),
    3: ("grouped: 3 KV heads (SmolLM2)", "Grouped: query heads 0 to 2 read KV head 0, 3 to 5 read "
        "KV head 1, 6 to 8 read KV head 2."),
    1: ("multi-query: 1 KV head", "Multi-query: all nine read a single KV head."),
}  # fmt: skip
HEIGHTS = (-1.0, -2.25, -4.1, -5.35)
MINUS = "\N{MINUS SIGN}"


def two_blocks() -> Figure:
    """Draw the block of GPT-2 beside that of Llama, with thick borders round what changed."""
    fig, axes = plots.canvas(360, 400)
    _block(axes, 0.0, "GPT-2", "word + learned position", GPT2, 768, changed=False)
    _block(axes, 4.3, "Llama (SmolLM2)", "word alone", LLAMA, 576, changed=True)
    axes.set(xlim=(-0.5, 8.2), ylim=(-7.5, 1.4))
    axes.axis("off")
    return plots.figure(
        fig,
        alt="Two blocks side by side, read downwards. GPT-2: word plus learned position enters; "
        "LayerNorm, attention with 12 query heads and 12 KV heads, add, LayerNorm, a GELU network "
        "768 to 3072 to 768, add. Llama: the word alone enters; RMSNorm, attention with 9 query "
        "heads, 3 KV heads and rotated queries and keys, add, RMSNorm, a SwiGLU network 576 to "
        "2 times 1536 to 576, add. Llama's boxes, and the word alone, have thick borders.",
        caption="Thick borders mark what changed. The position is no longer added to the word but "
        "rotates queries and keys, RMSNorm replaces LayerNorm, query heads share KV heads, and "
        "SwiGLU replaces the GELU network. The additions and their order stay.",
    )


def _block(
    axes: Axes, left: float, title: str, entry: str, parts: list[str], width: int, *, changed: bool
) -> None:
    """Draw one block: the residual stream at `left`, the sublayers beside it."""
    line = {"color": palette.light("muted"), "linewidth": 1.6, "linestyle": "-", "zorder": 1}
    branch = left + 1.75
    put_text(axes, left - 0.35, 1.15, title, ha="left", weight="bold")
    border = palette.light("accent" if changed else "muted")
    box = {"facecolor": palette.light("surface"), "edgecolor": border,
           "linewidth": 2.2 if changed else 1, "boxstyle": "round,pad=0.3"}  # fmt: skip
    put_text(axes, left - 0.35, 0.5, entry, ha="left", zorder=3, bbox=box)
    axes.plot([left, left], [0.3, -7.0], **line)
    put_text(axes, left + 0.12, -7.1, f"(n, {width})", ha="left")
    for first, second in (HEIGHTS[:2], HEIGHTS[2:]):
        axes.plot([left, branch, branch, left], [first + 0.6, first + 0.6, second - 0.95,
                  second - 0.95], **line)  # fmt: skip
        axes.scatter(left, second - 0.95, s=200, color=palette.light("surface"),
                     edgecolors=palette.light("muted"), zorder=2)  # fmt: skip
        put_text(axes, left, second - 0.93, "+", zorder=3)
    for y, part in zip(HEIGHTS, parts, strict=True):
        put_text(axes, branch + 0.1, y, part, va="center", zorder=3, bbox=box)


@styled()
def gate_times_up(
    gate: Sequence[Length] = (2, -3, 0.5, -1), up: Sequence[Length] = (2, 2, -2, 1)
) -> Figure:
    """Draw SwiGLU on four hidden components: SiLU of the gate projection times the up projection.

    Raises: ValueError unless there are four numbers for each projection.
    """
    if len(gate) != 4 or len(up) != 4:
        raise ValueError(f"`gate` and `up` must hold 4 numbers; got {len(gate)} and {len(up)}.")
    passed = [round(a / (1 + math.exp(-a)), 2) for a in gate]  # so that the products are exact
    product = [a * b for a, b in zip(passed, up, strict=True)]
    fig, axes = sheet(300)
    put_text(axes, 180, 14, "x: one token, (d,)")
    for middle, name in ((87, "gate: x @ W_gᵀ"), (273, "up: x @ W_uᵀ")):
        put_arrow(axes, (180, 24), (middle, 46))
        put_text(axes, middle, 56, name)
    _numbers(axes, 87, 68, gate, "series-1")
    put_arrow(axes, (87, 94), (87, 126))
    put_text(axes, 95, 110, "SiLU", ha="left")
    _numbers(axes, 87, 128, passed, "series-1")
    _numbers(axes, 273, 128, up, "series-2")
    put_arrow(axes, (273, 70), (273, 126))
    put_text(axes, 180, 141, "⊙")
    for start in (87, 273):
        put_arrow(axes, (start, 154), (180, 186))
    _numbers(axes, 180, 188, product, "accent")
    put_text(axes, 180, 226, "each component multiplied by its own gate")
    put_arrow(axes, (180, 236), (180, 264))
    put_text(axes, 188, 250, "@ W_dᵀ", ha="left")
    put_text(axes, 180, 276, "the update of the residual stream, (d,)")
    words = ", ".join(f"{_short(a)} times {_short(b)} is {_short(c)}"
                      for a, b, c in zip(passed, up, product, strict=True))  # fmt: skip
    return plots.figure(
        fig,
        alt="One token x enters two projections, the gate and the up projection. The gate passes "
        f"through SiLU and multiplies the up projection component by component: {words}. "
        "The product passes through W_d and gives the update of the residual stream.",
        caption="SwiGLU: the gate decides, for each component, how much of the up projection "
        "passes on.",
    )


@styled()
def shared_kv_heads(counts: Sequence[int] = (9, 3, 1)) -> Figure:
    """Draw nine query heads once for each count of KV heads that they read: 9, 3 or 1.

    Raises: KeyError for a different count.
    """
    fig, axes = sheet(4 + 132 * len(counts))
    for row, kv_heads in enumerate(counts):
        name = ARRANGEMENTS[kv_heads][0]
        top = 16 + 132 * row
        put_text(axes, 6, top, name, ha="left", weight="bold")
        for head in range(9):
            middle = 76 + 33 * head
            served = head * kv_heads // 9
            target = 76 + 33 * ((9 / kv_heads) * (served + 0.5) - 0.5)
            axes.plot([middle, target], [top + 42, top + 72], color=palette.light("muted"),
                      linewidth=1.4, linestyle="-")  # fmt: skip
            _head(axes, middle, top + 30, head, "query")
        for head in range(kv_heads):
            middle = 76 + 33 * ((9 / kv_heads) * (head + 0.5) - 0.5)
            _head(axes, middle, top + 84, head, "key")
        put_text(axes, 52, top + 30, "query", "query", ha="right")
        put_text(axes, 52, top + 84, "KV", "key", ha="right")
    return plots.figure(
        fig,
        alt=" ".join(["Nine query heads.", *(ARRANGEMENTS[count][1] for count in counts)]),
        caption="Query heads keep their own queries. The cache stores only the KV heads, so "
        "SmolLM2's is a third as large as with nine.",
    )


def _head(axes: Axes, x: Length, y: Length, number: int, role: str) -> None:
    """Draw a head as a box with its number."""
    put_box(axes, x, y, 26, 26, role, linewidth=1.8, zorder=2)
    put_text(axes, x, y, str(number), zorder=3)


def _short(number: Length) -> str:
    """Write a number with at most two decimals, and with a minus sign."""
    return f"{round(number, 2):g}".replace("-", MINUS)


def _numbers(axes: Axes, middle: Length, top: Length, numbers: Sequence[Length], role: str) -> None:
    """Draw four numbers as a row of cells."""
    for i, number in enumerate(numbers):
        left = middle - 82 + 41 * i
        axes.add_patch(Rectangle((left, top), 41, 25, facecolor=palette.light("surface"),
                                 edgecolor=palette.light(role), linewidth=1.6))  # fmt: skip
        put_text(axes, left + 20.5, top + 13, _short(number))
