"""Plots of chapter 5: how strongly two weights react to their scores, for each divisor."""

from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Real

from figures import palette, plots
from figures.svg import Figure, legend_size, put_head, styled

# Each divisor has one colour and one dash in all figures of the chapter.
ROLES = {"no division": "series-1", "√d_k": "series-2", "d_k": "series-3"}
DASHES = {"no division": "-", "√d_k": "--", "d_k": "-."}
BAR = 0.2  # the height that a spread takes below the curves


@styled()
def saturation(spreads: Mapping[str, float | int], caption: str) -> Figure:
    """Draw the first of two weights and its derivative, and below them how far x spreads.

    `spreads` has the standard deviation of x for divisors named in ROLES.
    Raises: ValueError unless there are spreads, all positive.
    """
    if not spreads or min(spreads.values()) <= 0 or not set(spreads) <= set(ROLES):
        raise ValueError(f"The spreads need names in ROLES and must be positive; got {spreads}.")
    reach = max(6, 1.12 * max(spreads.values()))
    x = np.linspace(-reach, reach, 801)
    w = 1 / (1 + np.exp(-x))
    fig, axes = plots.canvas(360, 250 + 34 * len(spreads))
    curves = {"weight w": w, "derivative w (1 \N{MINUS SIGN} w)": w * (1 - w)}
    for role, dash, (name, y) in zip(("series-4", "ink"), ":-", curves.items(), strict=True):
        axes.plot(x, y, color=palette.light(role), linestyle=dash, label=name)
    axes.axhline(0, color=palette.light("muted"), linewidth=0.8, linestyle="-")
    words = []
    for i, (name, spread) in enumerate(spreads.items()):
        height = float(np.exp(-spread) / (1 + np.exp(-spread)) ** 2)
        number = f"{spread:.2f}".rstrip("0").rstrip(".")
        words.append(f"{name}: {number}, derivative {height:.2f}")
        colour, y = palette.light(ROLES[name]), -0.1 - BAR * i
        axes.plot([-spread, spread], [y, y], color=colour, linewidth=5, linestyle="-",
                  solid_capstyle="butt")  # fmt: skip
        axes.annotate(f"{name}: sd {number}", (0, y), (0, -6), textcoords="offset points",
                      ha="center", va="top", color=colour)  # fmt: skip
        axes.scatter([spread], [height], s=38, color=colour, zorder=3)
    axes.set_ylim(-0.06 - BAR * len(spreads), 1.04)
    axes.set_yticks([0, 0.25, 0.5, 0.75, 1])
    axes.set_xlabel("difference x of the two scores")
    put_head(axes, "", curves)
    return plots.figure(
        fig,
        alt="Two curves against the difference x of two scores. The weight rises from 0 to 1 "
        "around x = 0. The derivative is a hill of height 0.25 at 0, and practically 0 beyond 8. "
        "Below, a bar reaches one standard deviation of x to each side, and a dot on the "
        f"derivative marks its end. {'; '.join(words)}.",
        caption=caption,
    )


@styled()
def divisor_curve(
    divisors: Real[np.ndarray, " n"], curves: Mapping[str, Real[np.ndarray, " n"]], d_k: int
) -> Figure:
    """Draw how far a weight moves with the raw difference, against the divisor; mark three.

    Raises: ValueError unless 1 and d_k lie in the range of the divisors.
    """
    if not divisors[0] <= 1 < d_k <= divisors[-1]:
        raise ValueError(
            f"The divisors must reach from 1 to d_k = {d_k}; they reach from {divisors[0]:g} to "
            f"{divisors[-1]:g}."
        )
    marks = {1: "no\ndivision", d_k**0.5: "√d_k", d_k: "d_k"}
    fig, axes = plots.canvas(360, 270 + 18 * legend_size(curves)[0])
    for c in marks:
        axes.axvline(c, color=palette.light("muted"), linewidth=1, linestyle="--")
    for role, (name, curve) in zip(("ink", "series-4"), curves.items(), strict=False):
        axes.plot(divisors, curve, color=palette.light(role), label=name)
        axes.scatter(list(marks), np.interp(list(marks), divisors, curve), s=42,
                     color=[palette.light(r) for r in ROLES.values()], zorder=3)  # fmt: skip
    axes.set_xscale("log")
    axes.set_xticks(list(marks), [f"{c:.3g}\n{name}" for c, name in marks.items()])
    for label, role in zip(axes.get_xticklabels(), ROLES.values(), strict=True):
        label.set_color(palette.light(role))
    axes.minorticks_off()
    axes.set_ylim(bottom=0)
    axes.set_xlabel("divisor c (logarithmic)")
    axes.set_ylabel("dw/dr")
    put_head(axes, "", curves)
    numbers = "; ".join(
        f"{name}: highest at c = {divisors[curve.argmax()]:.3g}; of this maximum, "
        + ", ".join(
            f"{np.interp(c, divisors, curve) / curve.max():.0%} at c = {c:.3g}" for c in marks
        )
        for name, curve in curves.items()
    )
    return plots.figure(
        fig,
        alt="The derivative dw/dr against the divisor c on a logarithmic axis, "
        f"for d_k = {d_k}. Each curve is a hill. {numbers}.",
        caption=f"How far the weight moves per unit of the raw difference, for d_k = {d_k}: the "
        "square root lies near the top.",
    )


@styled()
def learned_at(
    rates: Real[np.ndarray, " n"], counts: Mapping[str, Sequence[int]], of: int, mark: float
) -> Figure:
    """Draw how many of `of` trainings learned at each learning rate; mark the rate `mark`.

    Raises: ValueError unless every divisor has a count for each rate, and `mark` is a rate.
    """
    if any(len(row) != len(rates) for row in counts.values()) or mark not in rates:
        raise ValueError(
            f"Every divisor needs {len(rates)} counts, and the mark must be one of the rates; got "
            f"{[len(row) for row in counts.values()]} counts and the mark {mark}."
        )
    fig, axes = plots.canvas(360, 240 + 18 * legend_size(counts)[0])
    axes.axvline(mark, color=palette.light("muted"), linewidth=1, linestyle="--")
    for i, (name, row) in enumerate(counts.items()):
        axes.plot(rates, row, color=palette.light(ROLES[name]), linestyle=DASHES[name],
                  label=name, marker="os"[i % 2], markersize=6)  # fmt: skip
    axes.set_xscale("log")
    shown = [rate for rate in rates[::2] if rate < mark / 10]
    names = [f"{rate:f}".rstrip("0") for rate in shown]
    axes.set_xticks([*shown, mark], [*names, f"{mark:g}\n(all others)"])
    axes.minorticks_off()
    axes.set_yticks(range(of + 1))
    axes.grid(axis="y")
    axes.set_xlabel("learning rate of W_q and W_k (logarithmic)")
    axes.set_ylabel(f"seeds that learn, of {of}")
    put_head(axes, "", counts)
    words = "; ".join(f"with {name}, {', '.join(map(str, row))}" for name, row in counts.items())
    return plots.figure(
        fig,
        alt=f"Two lines over the learning rate of W_q and W_k, from {rates[0]:.6f} to "
        f"{rates[-1]:g}. Of {of} seeds learn {words}. A dashed line marks {mark:g}, the rate of "
        "all other parameters.",
        caption="Adam, d_k = 512: both divisors learn, each at learning rates that suit it. The "
        "larger divisor needs a larger rate.",
    )
