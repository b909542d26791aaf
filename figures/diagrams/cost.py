"""Drawings of chapter 14: memory against length, and how often a loaded parameter is used."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from figures import palette, plots
from figures.drawing import Length, put_arrow, put_box, put_text, sheet
from figures.svg import Figure, canvas, styled

Measured = Sequence[tuple[int, str, float | None, float | None]]  # tokens, form, milliseconds, MB


@styled()
def memory_of_lengths(rows: Measured, missing: float, room: float) -> Figure:
    """Draw the megabytes of standard attention and of the fused kernel against the length.

    `missing` are the megabytes computed for the longest text, which standard attention could not
    read, and `room` those of the GPU.
    """
    fig, axes = canvas(360, 270)
    forms = {"standard": ("wrong", "o", "-"), "fused": ("accent", "s", "--")}
    for form, (role, marker, dash) in forms.items():
        points = [(n, peak) for n, name, _, peak in rows if name == form and peak]
        axes.plot(*zip(*points, strict=True), dash, color=palette.light(role), marker=marker,
                  markersize=5)  # fmt: skip
    last = next(n for n, _, _, peak in rows if not peak)
    before = max((n, peak) for n, form, _, peak in rows if form == "standard" and peak)
    high = palette.light("wrong")
    axes.plot(*zip(before, (last, missing), strict=True), ":", color=high)
    axes.plot([last], [missing], "o", markersize=8, markerfacecolor=palette.light("paper"),
              markeredgecolor=high, markeredgewidth=2)  # fmt: skip
    axes.axhline(room, color=palette.light("ink"), linewidth=1.2, linestyle=(0, (6, 3)))
    near = {"textcoords": "offset points", "fontsize": 11.5}
    axes.annotate(f"{room / 1000:.0f} GB, the GPU's memory", (1024, room), (-2, -14), **near)
    axes.annotate(
        f"{missing / 1000:.0f} GB", (last, missing), (0, 9), ha="center", color=high, **near
    )
    axes.annotate("standard", (4096, 1628), (-10, 4), ha="right", color=high, **near)
    axes.annotate("fused kernel", (4096, 6.3), (6, -15), color=palette.light("accent"), **near)
    low = {n: peak for n, form, _, peak in rows if form == "fused"}
    fused = low[last]
    axes.annotate(f"{fused:.0f} MB", (last, fused), (4, 9), ha="center",
                  color=palette.light("accent"), **near)  # fmt: skip
    _logarithmic(axes, sorted({n for n, *_ in rows}))
    return plots.figure(
        fig,
        alt=f"Two curves of memory over 1,024 to {last:,} tokens, both axes logarithmic. Standard "
        f"attention rises steeply from {rows[0][3] / 1000:.1f} to {before[1] / 1000:.0f} GB at "
        f"{before[0]:,} tokens; a hollow point at {last:,} tokens is at {missing / 1000:.0f} GB, "
        f"above a line at {room / 1000:.0f} GB. The fused kernel rises from "
        f"{min(low.values()):.0f} to {fused:.0f} MB.",
        caption="Each step upwards is a factor of 10. Filled points: measured on the GPU, for one "
        f"layer. Hollow: {last:,} tokens did not fit; {missing / 1000:.0f} GB is computed, four "
        "times the memory of half the length.",
    )


def _logarithmic(axes: Axes, lengths: Sequence[int]) -> None:
    """Make both axes logarithmic, and name the lengths and the sizes of memory."""
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xticks(lengths, [f"{n:,}" if n not in (2048, 8192) else "" for n in lengths])
    axes.set_yticks([1, 10, 100, 1e3, 1e4, 1e5],
                    ["1 MB", "10 MB", "100 MB", "1 GB", "10 GB", "100 GB"])  # fmt: skip
    axes.set_ylim(0.8, 6e5)
    axes.set_xlim(880, 50_000)
    axes.minorticks_off()
    axes.grid(axis="y")
    axes.set_xlabel("tokens")


CELL = 34  # pixels of a token


@styled()
def prefill_and_decode(prompt: int = 6, written: int = 3) -> Figure:
    """Draw one load of the parameters for a whole prompt, and one for each written token."""
    fig, axes = sheet(286)
    put_text(axes, 8, 14, f"Prefill: {prompt} tokens are read", ha="left", weight="bold")
    _memory(axes, 40)
    left, wide = 180 - CELL * prompt / 2, CELL * prompt
    put_arrow(axes, (180, 54), (180, 92), "wrong", linewidth=3)
    put_text(axes, 192, 76, "loaded once", ha="left")
    _cells(axes, left, 98, range(1, prompt + 1))
    axes.plot([left, left + wide], [94, 94], color=palette.light("wrong"), linewidth=3)
    put_text(axes, 8, 160, "Decode: one token at a time is written", ha="left", weight="bold")
    _memory(axes, 186)
    for i in range(written):
        x = 68 + 112 * i
        put_arrow(axes, (x, 200), (x, 238), "wrong", linewidth=3)
        put_text(axes, x + 8, 222, "again" if i else "loaded", ha="left")
        _cells(axes, x - CELL / 2, 242, [prompt + 1 + i])
    return plots.figure(
        fig,
        alt=f"Two drawings. Prefill: one arrow leads from the parameters in slow memory to "
        f"{prompt} tokens; they are loaded once. Decode: {written} arrows lead from the parameters "
        f"to {written} tokens, one each; they are loaded again for each token.",
        caption="In prefill, a loaded parameter serves every token of the prompt; in decode, it "
        "serves one token.",
    )


def _memory(axes: Axes, middle: Length) -> None:
    """Draw the slow memory with the parameters in it."""
    put_box(axes, 180, middle, 344, 26, "muted")
    put_text(axes, 180, middle, "slow memory: all parameters", va="center")


def _cells(axes: Axes, left: Length, top: Length, numbers: Sequence[int] | range) -> None:
    """Draw tokens beside each other, each with its number."""
    for i, number in enumerate(numbers):
        axes.add_patch(
            Rectangle((left + CELL * i + 1, top), CELL - 2, 28, linewidth=0,
                      facecolor=palette.light("accent"))
        )  # fmt: skip
        put_text(axes, left + CELL * (i + 0.5), top + 14, str(number), "ink-on-high", va="center")
