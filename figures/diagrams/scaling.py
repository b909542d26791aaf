"""Drawings of chapter 5: scores and weights, coins, histograms, a query that is pushed."""

from collections.abc import Mapping

import numpy as np
from jaxtyping import Real
from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch, Rectangle

from figures import palette, plots
from figures.drawing import put_arrow, put_text, sheet
from figures.svg import Figure, styled

ROW, HEAD, GAP = 18, 58, 16  # heights: of one key, of the words above the keys, between panels
SCORE, REACH = 100, 46  # where a score of 0 stands, and how long the longest bar is
WEIGHT, ONE = 236, 76  # where the bars of the weights begin, and how long a weight of 1 is
LEFT, RIGHT, HALF, HILL = 124, 282, 66, 62  # the two columns of histograms, and their size
PLANE, STEP = 176, 22  # heights: of the arrows of a query and two keys, of a push below them


@styled()
def scores_to_weights(
    scores: Mapping[int, Real[np.ndarray, "..."]], weights: Mapping[int, Real[np.ndarray, "..."]]
) -> Figure:
    """Draw one query's scores and weights for each dimension d_k, one panel above the other.

    Raises: ValueError unless every dimension has as many scores as weights, at most 8.
    """
    for d_k, row in scores.items():
        if d_k not in weights or np.shape(row) != np.shape(weights[d_k]) or len(row) > 8:
            raise ValueError(
                "Every dimension needs as many weights as scores, at most 8; got scores "
                f"{np.shape(row)} and weights {np.shape(weights.get(d_k, ()))} for d_k = {d_k}."
            )
    largest = max(float(np.abs(row).max()) for row in scores.values())
    heights = [HEAD + ROW * len(row) + GAP for row in scores.values()]
    fig, axes = sheet(sum(heights))
    top = 0.0
    for (d_k, row), height in zip(scores.items(), heights, strict=True):
        _panel(axes, top, d_k, row, weights[d_k], largest)
        top += height
    numbers = "; ".join(
        f"with d_k = {d_k} the scores lie between {row.min():.1f} and {row.max():.1f}, and the "
        f"largest weight is {weights[d_k].max():.2f}"
        for d_k, row in scores.items()
    )
    return plots.figure(
        fig,
        alt="One query and its keys, scores as bars on the left, an arrow labelled softmax, and "
        f"weights as bars on the right: {numbers}.",
        caption="One sample: in more dimensions the scores lie further apart, and softmax turns "
        "large differences into a single winner.",
    )


def _panel(
    axes: Axes,
    top: float | int,
    d_k: int,
    scores: Real[np.ndarray, " key"],
    weights: Real[np.ndarray, " key"],
    largest: float | int,
) -> None:
    """Draw the scores and weights of one dimension, below `top`."""
    n = len(scores)
    put_text(axes, 4, top + 14, f"d_k = {d_k}", ha="left", weight="bold", size=13)
    put_text(axes, 356, top + 14, f"q ({d_k},)   K ({n}, {d_k})", "muted", ha="right")
    put_text(axes, SCORE, top + 40, f"scores ({n},)", "key", weight="bold")
    put_text(axes, WEIGHT + ONE / 2, top + 40, f"weights ({n},)", "query", weight="bold")
    bottom = top + HEAD + ROW * n
    axes.plot([SCORE, SCORE], [top + HEAD - 4, bottom], color=palette.light("muted"),
              linewidth=0.8, linestyle="-")  # fmt: skip
    middle = top + HEAD + ROW * n / 2
    axes.add_patch(FancyArrowPatch((194, middle), (230, middle), arrowstyle="-|>", linewidth=1.8,
                                   mutation_scale=13, color=palette.light("ink")))  # fmt: skip
    put_text(axes, 211, middle - 12, "softmax")
    for i, (score, weight) in enumerate(zip(scores, weights, strict=True)):
        y = top + HEAD + ROW * (i + 0.5)
        put_text(axes, 4, y, f"key {i + 1}", ha="left")
        length = REACH * score / largest
        _bar(axes, min(SCORE, SCORE + length), y, abs(length), "key")
        put_text(axes, 184, y, f"{score:.1f}".replace("-", "\u2212"), ha="right")
        _bar(axes, WEIGHT, y, ONE * weight, "query")
        put_text(axes, WEIGHT + ONE * weight + 5, y, f"{weight:.2f}", ha="left")


@styled()
def coin_scores(patterns: Mapping[int, int]) -> Figure:
    """Draw how many patterns of coins give each score, with the standard deviation below.

    Raises: ValueError unless there are patterns and their mean score is 0.
    """
    count = sum(patterns.values())
    if not count or sum(score * times for score, times in patterns.items()):
        raise ValueError(f"The patterns must have the mean score 0; got {dict(patterns)}.")
    sd = (sum(score**2 * times for score, times in patterns.items()) / count) ** 0.5
    fig, axes = sheet(186)
    unit, base, tall = 280 / (max(patterns) - min(patterns) + 2), 112, 84 / max(patterns.values())
    for score, times in sorted(patterns.items()):
        x = 180 + unit * score
        axes.add_patch(Rectangle((x - 18, base - tall * times), 36, tall * times, linewidth=0,
                                 facecolor=palette.light("key"), alpha=0.55))  # fmt: skip
        put_text(axes, x, base - tall * times - 10, f"{times}")
        put_text(axes, x, base + 14, f"{score}".replace("-", "\u2212"), "key")
    axes.plot([40, 320], [base, base], color=palette.light("muted"), linewidth=0.8, linestyle="-")
    put_text(axes, 4, base + 14, "score", "key", ha="left")
    put_text(axes, 4, 18, f"patterns, {count} in all", ha="left")
    axes.plot([180 - unit * sd, 180 + unit * sd], [base + 34, base + 34], linewidth=2.4,
              color=palette.light("ink"), linestyle="-")  # fmt: skip
    put_text(axes, 180, base + 50, f"sd {sd:g}")
    numbers = ", ".join(f"{times} give {score}" for score, times in sorted(patterns.items()))
    return plots.figure(
        fig,
        alt=f"Bars for the scores. Of {count} patterns, {numbers}. A line below reaches the "
        f"standard deviation, {sd:g}, to each side of 0.",
        caption=f"How many of the {count} patterns give each score. The line reaches a typical "
        f"distance, {sd:g}, to each side of 0: the standard deviation (sd).",
    )


@styled()
def widening(products: Mapping[int, Real[np.ndarray, " pair"]]) -> Figure:
    """Draw a histogram of q . k for each dimension d_k, and beside it the one after the division.

    Raises: ValueError unless there are two to four dimensions.
    """
    if not 2 <= len(products) <= 4:
        raise ValueError(f"The drawing has room for 2 to 4 dimensions; got {len(products)}.")
    step = HILL + 34
    fig, axes = sheet(34 + step * len(products) + 18)
    put_text(axes, LEFT, 14, "q · k", weight="bold", size=13)
    put_text(axes, RIGHT, 14, "q · k / √d_k", weight="bold", size=13)
    reach = 2.6 * max(float(np.std(values)) for values in products.values())
    for i, (d_k, values) in enumerate(products.items()):
        base = 34 + step * i + HILL
        put_text(axes, 2, base - 22, f"d_k = {d_k}", ha="left", weight="bold")
        _hill(axes, LEFT, base, np.asarray(values), reach, "key")
        _hill(axes, RIGHT, base, np.asarray(values) / np.sqrt(d_k), 4, "query")
    bottom = 34 + step * (len(products) - 1) + HILL + 32
    for x, edge in ((LEFT, 10 * int(reach / 10)), (RIGHT, 3)):
        span = reach if x == LEFT else 4
        for value in (-edge, 0, edge):
            number = f"{value}".replace("-", "\u2212")
            put_text(axes, x + HALF * value / span, bottom, number, "muted")
    numbers = "; ".join(f"{np.std(values):.1f} for d_k = {d_k}" for d_k, values in products.items())
    return plots.figure(
        fig,
        alt="Histograms of dot products of random queries and keys. In the left column, q · k, "
        f"they widen: the standard deviation is {numbers}. In the right column, divided by the "
        "square root of d_k, all have the same width, with a standard deviation of 1.",
        caption="Left: scores spread further in more dimensions. Right: after the division they "
        "spread equally in every dimension (the right axis is enlarged). The line below each "
        "histogram reaches one standard deviation, as measured (sd), to each side.",
    )


def _hill(
    axes: Axes,
    centre: float | int,
    base: float | int,
    values: np.ndarray,
    reach: float | int,
    role: str,
) -> None:
    """Draw one histogram on a line at `base`, with its standard deviation below."""
    edges = np.linspace(-reach, reach, 42)
    counts, _ = np.histogram(values, bins=edges)
    heights = HILL * counts / counts.max()
    x = centre + HALF * np.repeat(edges, 2)[1:-1] / reach
    axes.fill_between(x, base - np.repeat(heights, 2), base, color=palette.light(role), alpha=0.55,
                      linewidth=0)  # fmt: skip
    axes.plot([centre - HALF, centre + HALF], [base, base], color=palette.light("muted"),
              linewidth=0.8, linestyle="-")  # fmt: skip
    spread = float(np.std(values))
    half = HALF * spread / reach
    axes.plot([centre - half, centre + half], [base + 6, base + 6], color=palette.light("ink"),
              linewidth=2.4, linestyle="-")  # fmt: skip
    put_text(axes, centre, base + 17, f"sd {spread:.1f}")


@styled()
def push_on_query(pushes: Mapping[str, float]) -> Figure:
    """Draw a query that is pushed along the difference of two keys, and how long each push is.

    `pushes` has a length for each divisor, by name. Raises: ValueError unless there are 1 to 5.
    """
    if not 1 <= len(pushes) <= 5:
        raise ValueError(f"The drawing has room for 1 to 5 pushes; got {len(pushes)}.")
    fig, axes = sheet(PLANE + 30 + STEP * len(pushes))
    start, first, second, query = (40, 150), (140, 30), (192, 132), (260, 102)
    for end, name, role in ((first, "$k_1$", "key"), (second, "$k_2$", "key"),
                            (query, "$q$", "query")):  # fmt: skip
        put_arrow(axes, start, end, role, mutation_scale=13, linewidth=2)
        shift = (-14, -6) if end is first else (8, 16)
        put_text(axes, end[0] + shift[0], end[1] + shift[1], name, role, size=14)
    put_arrow(axes, second, first, linestyle=(0, (4, 3)))
    put_text(axes, 172, 66, "$k_1 - k_2$", "muted", ha="left", size=13)
    along = (first[0] - second[0]) * 0.55, (first[1] - second[1]) * 0.55
    put_arrow(axes, query, (query[0] + along[0], query[1] + along[1]), "output",
              mutation_scale=13, linewidth=2.6)  # fmt: skip
    put_text(axes, 256, 66, "the push on q", "output", ha="left", weight="bold")
    put_text(axes, 4, PLANE + 12, "how long the push is", ha="left", weight="bold")
    longest = max(pushes.values())
    for i, (name, length) in enumerate(pushes.items()):
        y = PLANE + 30 + STEP * (i + 0.5)
        put_text(axes, 4, y, name, ha="left")
        end = 108 + 150 * length / longest
        put_arrow(axes, (108, y), (max(end, 109), y), "output", linewidth=2.6,
                  arrowstyle="-|>" if end > 124 else "-")  # fmt: skip
        put_text(axes, max(end, 109) + 8, y, _small(length), ha="left")
    numbers = "; ".join(f"{name}: {_small(length)}" for name, length in pushes.items())
    return plots.figure(
        fig,
        alt="Two keys and a query as arrows from one point. A dashed arrow leads from the tip of "
        "the second key to that of the first, and a parallel arrow from the tip of the query: the "
        f"push. Below, its length for each divisor. {numbers}.",
        caption="To give the first key more weight, training pushes the query along "
        "k1 \N{MINUS SIGN} k2. The divisor decides how strongly.",
    )


def _small(length: float) -> str:
    """Write a number with two digits that count, however small it is."""
    return f"{length:.13f}".rstrip("0") if length < 1e-3 else f"{length:.2g}"


def _bar(
    axes: Axes, left: float | int, middle: float | int, length: float | int, role: str
) -> None:
    axes.add_patch(Rectangle((left, middle - 6), length, 12, facecolor=palette.light(role),
                             linewidth=0))  # fmt: skip
