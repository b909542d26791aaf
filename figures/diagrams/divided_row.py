"""Drawings of chapter 5: one row of a real head at three divisors, and what one step moves."""

from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Real

from figures import palette, plots
from figures.drawing import put_arrow, put_box, put_text, sheet
from figures.svg import Figure, styled
from lib.functional import softmax

ROW, HEAD, WORD = 19, 54, 58  # the height of a key and of the heads, the width of the words
SCORE, CELL = 46, 48  # in a panel: where a score ends, and how wide the cell of its weight is


@styled()
def divided_row(
    tokens: Sequence[str], scores: Real[np.ndarray, " key"], divisors: Mapping[str, float | int]
) -> Figure:
    """Draw one row of scores, divided by each divisor, and beside each score its weight.

    Raises: ValueError unless there is one score to a token and there are two or three divisors.
    """
    if len(tokens) != len(scores) or not 2 <= len(divisors) <= 3:
        raise ValueError(
            "The drawing needs one score to a token and 2 or 3 divisors; got "
            f"{len(tokens)} tokens, {len(scores)} scores and {len(divisors)} divisors."
        )
    fig, axes = sheet(HEAD + ROW * len(tokens) + 6)
    for i, token in enumerate(tokens):
        put_text(axes, WORD - 4, HEAD + ROW * (i + 0.5), token.strip(), ha="right")
    words = []
    width = (360 - WORD) / len(divisors)
    for panel, (name, c) in enumerate(divisors.items()):
        left = WORD + width * panel
        weights = softmax(np.asarray(scores) / c)
        put_text(axes, left + (SCORE + 6 + CELL) / 2, 14, name, weight="bold", size=12.5)
        put_text(axes, left + SCORE, 38, "score", "key", ha="right")
        put_text(axes, left + SCORE + 6 + CELL / 2, 38, "weight", "query")
        for i, (score, weight) in enumerate(zip(np.asarray(scores) / c, weights, strict=True)):
            y = HEAD + ROW * (i + 0.5)
            put_text(axes, left + SCORE, y, _signed(score), ha="right")
            x = left + SCORE + 6
            fill = palette.light(f"w{round(palette.STEPS * weight)}")
            axes.fill([x, x + CELL, x + CELL, x], [y - 8.5, y - 8.5, y + 8.5, y + 8.5],
                      color=fill, linewidth=0)  # fmt: skip
            ink = palette.ink(float(weight))
            put_text(axes, x + CELL / 2, y, f"{weight:.2f}", ink)
        best = int(weights.argmax())
        words.append(
            f"{name}: scores from {_signed(scores.min() / c)} to {_signed(scores.max() / c)}, "
            f"the weight of {tokens[best].strip()} {weights[best]:.2f}, "
            f"all others at most {np.sort(weights)[-2]:.2f}"
        )
    return plots.figure(
        fig,
        alt="One row of a real head: for every token its score and its weight, three times. "
        f"{'; '.join(words)}.",
        caption="Real scores of SmolLM2 (L26H0, the query of table), before and after the "
        "division, and what softmax makes of them.",
    )


def _signed(score: float) -> str:
    text = f"{score:.1f}"
    return "0.0" if text == "-0.0" else text.replace("-", "\N{MINUS SIGN}")


@styled()
def step_chain() -> Figure:
    """Draw how far one step of each optimizer moves q, r and x, with the factor at each arrow."""
    rows = {
        "plain gradient descent": ("∝ 1/c", "× d_k", "1 with √d_k,  1/d_k with d_k"),
        "Adam": ("the same", "× d_k", "√d_k with √d_k,  1 with d_k"),
    }
    fig, axes = sheet(246)
    for i, (name, (first, second, result)) in enumerate(rows.items()):
        top = 122 * i
        put_text(axes, 4, top + 14, name, ha="left", weight="bold", size=13)
        boxes = {"step": 24, "q, k": 112, "r": 190, "x": 258, "w": 338}
        for word, x in boxes.items():
            role = "query" if word == "q, k" else "accent"
            put_box(axes, x, top + 62, 40, 26, role)
            put_text(axes, x, top + 62, word, role, size=13)
        places = list(boxes.values())
        factors = first, second, "÷ c", "× w (1 \N{MINUS SIGN} w)"
        for a, b, text in zip(places[:-1], places[1:], factors, strict=True):
            put_arrow(axes, (a + 20, top + 62), (b - 21, top + 62), mutation_scale=12)
            put_text(axes, (a + b) / 2, top + 36, text, size=12)
        put_text(axes, 4, top + 98, f"x moves in proportion to:  {result}", ha="left")
    return plots.figure(
        fig,
        alt="Two chains: step, q and k, r, x, w. Plain gradient descent: a step moves q in "
        "proportion to 1/c, r by d_k times as much, and x by that divided by c: so 1 with the "
        "divisor √d_k and 1/d_k with d_k. Adam: a step moves q equally far with every divisor, r "
        "by d_k times as much, and x by that divided by c: so √d_k with √d_k, and 1 with d_k. "
        "In both, w moves by w (1 − w) times as much as x.",
        caption="How far one step moves the scaled difference x, for random keys. One learning "
        "rate fits every d_k where the last line says 1.",
    )
