"""Plots of chapter 5: how strongly two weights react to their scores, for each divisor."""

from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Real

from figures import palette, plots
from figures.svg import Figure, legend_size, put_head, styled


@styled()
def saturation(difference: float | int, divisors: Mapping[str, float | int]) -> Figure:
    """Draw the first of two weights and its derivative, with a dot where each divisor starts.

    `difference` is the raw difference of the two scores; every divisor has its name.
    Raises: ValueError unless the difference and the divisors are positive.
    """
    if difference <= 0 or not divisors or min(divisors.values()) <= 0:
        raise ValueError(
            "The difference and the divisors must be positive; got "
            f"{difference} and {list(divisors.values())}."
        )
    starts = {name: difference / c for name, c in divisors.items()}
    furthest = max(starts.values())
    x = np.linspace(-0.3 * furthest, 1.05 * furthest, 601)
    w = 1 / (1 + np.exp(-x))
    fig, axes = plots.canvas(360, 270)
    curves = {"weight w": w, "derivative w (1 \N{MINUS SIGN} w)": w * (1 - w)}
    for i, (name, y) in enumerate(curves.items(), 1):
        axes.plot(x, y, color=palette.light(f"series-{i}"), label=name)
    words = []
    for i, (name, start) in enumerate(sorted(starts.items(), key=lambda item: item[1])):
        height = float(np.exp(-start) / (1 + np.exp(-start)) ** 2)
        number = f"x = {start:.2f}".rstrip("0").rstrip(".")
        words.append(f"{name}: {number}, derivative {height:.2f}")
        axes.scatter([start], [height], s=38, color=palette.light("series-2"), zorder=3)
        style: dict = {"ha": "left", "va": "bottom", "textcoords": "offset points"}
        place = (9, 1)
        if i == 0 and len(starts) > 1:  # above the next dot, with a line to its own
            place = (34, 42)
            style["arrowprops"] = {"arrowstyle": "-", "color": palette.light("muted"),
                                   "linewidth": 1, "relpos": (0, 0), "shrinkB": 4}  # fmt: skip
        elif start == furthest:
            place, style["ha"] = (4, 10), "right"
        axes.annotate(f"{name}\n{number}", (start, height), place, **style)
    axes.set_ylim(-0.03, 1.04)
    axes.grid(axis="y")
    axes.set_xlabel("difference of the two scores, x")
    put_head(axes, "", curves)
    return plots.figure(
        fig,
        alt="Two curves against the difference x of two scores. The weight rises from 0 to 1 "
        "around x = 0. The derivative is a hump of height 0.25 at 0, and practically 0 from x = 8 "
        f"on. A dot on it for each divisor: {'; '.join(words)}.",
        caption="Softmax over two keys. With no division, the typical pair starts where the "
        "derivative is practically 0.",
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
    for i, (name, curve) in enumerate(curves.items(), 1):
        role = f"series-{i}"
        axes.plot(divisors, curve, color=palette.light(role), label=name)
        axes.scatter(list(marks), np.interp(list(marks), divisors, curve), s=34,
                     color=palette.light(role), zorder=3)  # fmt: skip
    axes.set_xscale("log")
    axes.set_xticks(list(marks), [f"{c:.3g}\n{name}" for c, name in marks.items()])
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
        axes.plot(rates, row, color=palette.light(f"series-{i + 1}"), label=name,
                  marker="os"[i % 2], markersize=6)  # fmt: skip
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
