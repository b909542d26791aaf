"""Schematics of chapter 4: one query, and heads against their controls."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Real
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from figures import palette, plots
from figures.drawing import Length, put_arrow, put_box, put_text, sheet
from figures.svg import Figure

ROW, TOP = 23, 130  # of the rows of keys and values
KEY, SCORE, WEIGHT, VALUE = 40, 116, 178, 306  # where the columns stand
BAR = 48  # the length of the weight 1


def one_query(
    words: Sequence[str],
    query: int,
    scores: Real[np.ndarray, " key"],
    weights: Real[np.ndarray, " key"],
    values: Real[np.ndarray, "key d_v"],
    parts: Sequence[str],
    *,
    d_model: int,
    d_k: int,
) -> Figure:
    """Draw what happens to one query: a score with every key, weights, and the mix of values.

    Raises: ValueError unless there are a score, a weight and a value for each word.
    """
    n, d_v = len(words), len(parts)
    shapes = (np.shape(scores), np.shape(weights), np.shape(values))
    if shapes != ((n,), (n,), (n, d_v)):
        raise ValueError(
            f"{n} words and {d_v} parts need scores and weights ({n},) and values ({n}, {d_v}); "
            f"got {', '.join(map(str, shapes))}."
        )
    bottom = TOP + ROW * n
    fig, axes = sheet(bottom + 98)
    _ask(axes, words[query], d_model, d_k)
    for x, title, shape, role in (
        (KEY, "keys", f"({n}, {d_k})", "key"),
        (SCORE, "scores", f"({n},)", "ink"),
        (WEIGHT + 20, "weights", f"({n},)", "ink"),
        (VALUE, "values", f"({n}, {d_v})", "value"),
    ):
        put_text(axes, x, TOP - 31, title, role=role, weight="bold")
        put_text(axes, x, TOP - 16, shape, size=10.5)
    for i, (word, score, weight, value) in enumerate(
        zip(words, scores, weights, values, strict=True)
    ):
        _answer(axes, TOP + ROW * (i + 0.5), word, score, weight, value)
    output = weights @ values
    _mix(axes, bottom, words[query], output, parts)
    listed = "; ".join(
        f"{word}: score {score:.1f}, weight {weight:.2f}"
        for word, score, weight in zip(words, scores, weights, strict=True)
    )
    mixed = ", ".join(f"{number:.2f} {part}" for part, number in zip(parts, output, strict=True))
    return plots.figure(
        fig,
        alt=f"One query from top to bottom. The embedding of {words[query]}, {d_model} components, "
        f"times W_q is its query, {d_k} components. It meets every key: {listed}. Each word's "
        f"value, {d_v} components, is multiplied by its weight; the sum is the output: {mixed}.",
        caption=f"One row of attention. The query of {words[query]} decides with the keys how much "
        "weight each word gets; the output is made of values only.",
    )


def _ask(axes: Axes, word: str, d_model: int, d_k: int) -> None:
    """Draw the token that asks, its query, and the arrows from the query to the scores."""
    put_box(axes, KEY + 8, 26, 90, 24, "ink")
    put_text(axes, KEY + 8, 26, word, weight="bold")
    put_text(axes, KEY + 8, 50, f"embedding ({d_model},)", size=10.5)
    put_arrow(axes, (KEY + 56, 26), (186, 26), "query")
    put_text(axes, 141, 15, "times $W_q$", role="query")
    put_box(axes, 236, 26, 96, 24, "query", linewidth=2.2)
    put_text(axes, 236, 26, f"query of {word}" if len(word) < 6 else "its query", role="query",
          weight="bold")  # fmt: skip
    put_text(axes, 236, 50, f"({d_k},)", size=10.5)
    axes.plot([236, 236, SCORE], [60, 72, 72], color=palette.light("query"), linewidth=1.5,
              linestyle="-")  # fmt: skip
    put_arrow(axes, (SCORE, 71), (SCORE, TOP - 41), "query")
    put_text(axes, 228, 64, "dot product with each key", role="query", ha="right", size=10.5)
    put_arrow(axes, (142, TOP - 31), (168, TOP - 31))
    put_text(axes, 155, TOP - 44, "softmax", size=10.5)
    put_text(axes, KEY, TOP - 46, "$X W_k$", role="key")
    put_text(axes, VALUE, TOP - 46, "$X W_v$", role="value")


def _answer(
    axes: Axes,
    y: Length,
    word: str,
    score: np.floating,
    weight: np.floating,
    value: Real[np.ndarray, " d_v"],
) -> None:
    """Draw the row of one key: its word, score, weight and value."""
    put_box(axes, KEY, y, 74, 19, "key")
    put_text(axes, KEY, y, word)
    put_text(axes, SCORE + 16, y, _number(score, 1), ha="right")
    length = max(BAR * weight, 0.8)
    axes.add_patch(Rectangle((WEIGHT - 8, y - 6), length, 12, facecolor=palette.light("query")))
    put_text(axes, WEIGHT + length - 3, y, _number(weight, 2), ha="left")
    put_box(axes, VALUE, y, 100, 19, "value")
    for x, number in zip(_columns(len(value)), value, strict=True):
        put_text(axes, x, y, _number(number, 0), weight="bold" if number else "normal")


def _mix(
    axes: Axes,
    bottom: Length,
    word: str,
    output: Real[np.ndarray, " d_v"],
    parts: Sequence[str],
) -> None:
    """Draw the sum of the weighted values: the output of the token that asks."""
    y = bottom + 66
    put_arrow(axes, (VALUE, bottom + 4), (VALUE, y - 15), "output")
    put_text(axes, VALUE - 10, bottom + 22, "each value × its weight, added up", ha="right")
    put_box(axes, VALUE, y, 106, 24, "output", linewidth=2.2)
    for x, part, number in zip(_columns(len(parts)), parts, output, strict=True):
        put_text(axes, x, y + 22, part, size=10.5)
        put_text(axes, x, y, _number(number, 2), role="output", weight="bold")
    name = {"ha": "right", "role": "output", "weight": "bold"}
    put_text(axes, VALUE - 62, y - 8, f"output of {word}", **name)
    put_text(axes, VALUE - 62, y + 8, f"({len(parts)},)", ha="right", size=10.5)


def _columns(d_v: int) -> list[float]:
    """Where the components of a value stand."""
    step = 100 / d_v
    return [VALUE - 50 + step * (i + 0.5) for i in range(d_v)]


def _number(value: np.floating, digits: int) -> str:
    text = f"{value:.{digits}f}".replace("-", "\N{MINUS SIGN}")
    return text if any(digit in text for digit in "123456789") else text.lstrip("\N{MINUS SIGN}")


def heads_against_controls(
    asked: Real[np.ndarray, "layer head"],
    control: Real[np.ndarray, "layer head"],
    named: Sequence[tuple[int, int]],
    *,
    label: str,
    caption: str,
) -> Figure:
    """Draw each head as a point: its control to the right, the weight of interest upwards.

    `named` are the heads, as (layer, head), that get a name; `label` says what is measured.
    """
    fig, axes = plots.canvas(360, 340)
    axes.fill_between([0, 1.06], [0, 1.06], 1.06, color=palette.light("accent"), alpha=0.1,
                      linewidth=0)  # fmt: skip
    axes.plot([0, 1.06], [0, 1.06], color=palette.light("muted"), linewidth=1.2, linestyle="--")
    axes.scatter(control.ravel(), asked.ravel(), s=16, color=palette.light("muted"), linewidth=0)
    for at in named:
        x, y = float(control[at]), float(asked[at])
        axes.scatter([x], [y], s=42, color=palette.light("query"), linewidth=0, zorder=3)
        left = x > 0.7
        axes.annotate("L{}H{}".format(*at), (x, y), (-8 if left else 8, 6 if y > x else -3),
                      textcoords="offset points", ha="right" if left else "left",
                      color=palette.light("query"), weight="bold")  # fmt: skip
    axes.set(xlim=(0, 1.06), ylim=(0, 1.06), aspect="equal", xlabel="largest control",
             ylabel=label)  # fmt: skip
    labels = ", ".join(
        f"L{layer}H{head}: {label} {asked[layer, head]:.2f}, control {control[layer, head]:.2f}"
        for layer, head in named
    )
    above = float((asked - control).max())
    return plots.figure(
        fig,
        alt=f"{asked.size} points, one for each head, with a diagonal. The highest point above the "
        f"diagonal is {above:.2f} above it. {labels}.",
        caption=caption,
    )
