"""A schematic of chapter 5: how far sums of coins spread."""

from collections.abc import Sequence
from math import comb, sqrt

from figures import palette, plots
from figures.drawing import put_text, sheet
from figures.svg import Figure, styled

MIDDLE, STEP, THICK = 216, 4.4, 6.5  # where a sum of 0 stands, the width of 1, and that of a bar
HEAD, HILL, ROW, FOOT = 12, 46, 84, 24  # heights: above, of the highest bar, of a panel, below
REACH = 30  # the largest sum that is drawn


@styled()
def coin_sums(counts: Sequence[int]) -> Figure:
    """Draw how probable each sum of this many coins of +1 and -1 is, one panel for each count.

    Raises: ValueError unless there are 1 to 5 counts between 1 and 100.
    """
    if not 1 <= len(counts) <= 5 or not all(1 <= count <= 100 for count in counts):
        raise ValueError(f"`counts` must hold 1 to 5 numbers from 1 to 100; got {list(counts)}.")
    height = HEAD + ROW * len(counts) + FOOT
    fig, axes = sheet(height)
    ink, muted = palette.light("ink"), palette.light("muted")
    for i, n in enumerate(counts):
        base = HEAD + ROW * i + HILL
        ways = {2 * k - n: comb(n, k) for k in range(n + 1)}
        highest = max(ways.values())
        shown = [total for total in ways if abs(total) <= REACH]
        axes.bar([MIDDLE + STEP * total for total in shown],
                 [-HILL * ways[total] / highest for total in shown], THICK, bottom=base,
                 color=palette.light("key"))  # fmt: skip
        edge = STEP * REACH
        axes.plot([MIDDLE - edge, MIDDLE + edge], [base, base], color=muted, linewidth=0.8,
                  linestyle="-")  # fmt: skip
        spread = STEP * sqrt(n)
        axes.plot([MIDDLE - spread, MIDDLE + spread], [base + 7, base + 7], color=ink,
                  linewidth=2.4, linestyle="-")  # fmt: skip
        put_text(axes, 4, base - 24, f"{n} coin{'s' if n > 1 else ''}", ha="left", weight="bold")
        put_text(axes, MIDDLE, base + 20, f"sd {sqrt(n):g}"[:7])
    for total in (-REACH, -10, 0, 10, REACH):
        number = f"{total}".replace("-", "\N{MINUS SIGN}")
        put_text(axes, MIDDLE + STEP * total, height - 10, number, "muted")
    numbers = "; ".join(f"{sqrt(n):.3g} for {n}" for n in counts)
    return plots.figure(
        fig,
        alt="Bars for the probability of each sum of coins of +1 and -1, in a panel for each "
        f"number of coins. The hills widen slowly: the standard deviation is {numbers}.",
        caption="How probable each sum is. The line below each hill reaches one standard deviation "
        "to each side: with 100 times as many coins it is 10 times as long.",
    )
