"""Schematics of chapter 7: averages, a sum that has no order, four ways to tell the position."""

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np
from jaxtyping import Real
from matplotlib.axes import Axes
from matplotlib.patches import Arc, Circle, Rectangle

from figures import palette, plots
from figures.drawing import Length, put_arrow, put_box, put_text, sheet
from figures.svg import Figure, styled

WEIGHTS = {"dog": Fraction(1, 2), "bites": Fraction(1, 6), "man": Fraction(1, 3)}
TURN = 10  # degrees for each position
APART = 40  # degrees between the query and the key before they are rotated


@styled()
def same_sum() -> Figure:
    """Draw what bites receives in both orders of dog bites man: the same three terms."""
    fig, axes = sheet(268)
    for top, words in ((0, ("dog", "bites", "man")), (134, ("man", "bites", "dog"))):
        put_box(axes, 180, top + 88, 112, 24, "output", linewidth=1.6)
        put_text(axes, 180, top + 88, "output at bites")
        for x, word in zip((64, 180, 296), words, strict=True):
            weight = WEIGHTS[word]
            put_box(axes, x, top + 18, 76, 24, "value")
            put_text(axes, x, top + 18, word, weight="bold" if word == "bites" else "normal")
            end = (180 + (x - 180) * 0.4, top + 74)
            put_arrow(axes, (x, top + 32), end, "value", linewidth=8 * float(weight))
            put_text(
                axes,
                (x + end[0]) / 2 + (14 if x == 180 else 26 if x > 180 else -26),
                top + 51,
                f"{weight}",
            )
        terms = " + ".join(f"{WEIGHTS[word]} {word}" for word in words)
        put_text(axes, 180, top + 113, f"= {terms}", "output")
    return plots.figure(
        fig,
        alt="Two rows. Above, dog bites man: the output at bites is 1/2 times the value of dog "
        "plus 1/6 times that of bites plus 1/3 times that of man. Below, man bites dog: the same "
        "three terms in the opposite order.",
        caption="Without a mask and positions, bites gives each word the same weight in both "
        "orders, because queries and keys are the same. The same terms give the same sum.",
    )


@styled()
def two_layers() -> Figure:
    """Draw what each word has seen in two texts after one layer under a causal mask."""
    texts = ("dog", "bites", "man", "."), ("man", "bites", "dog", ".")
    centres = 136, 288
    fig, axes = sheet(262)
    for x, text in zip(centres, texts, strict=True):
        put_text(axes, x, 12, " ".join(text), weight="bold")
    put_text(axes, 4, 36, "in layer 1 the token has seen", "muted", ha="left")
    for row, token in enumerate(("dog", "bites", "man", ".")):
        y = 60 + 36 * row
        put_text(axes, 4, y, token, ha="left", weight="bold")
        seen = [text[: text.index(token) + 1] for text in texts]
        same = set(seen[0]) == set(seen[1])
        role = "output" if same else "accent"
        for x, words in zip(centres, seen, strict=True):
            put_box(axes, x, y, 124, 26, role, linewidth=1.6)
            put_text(axes, x, y, "all four" if same else " ".join(words), role)
        put_text(axes, 212, y, "=" if same else "\N{NOT EQUAL TO}", role, weight="bold", size=14)
    put_text(axes, 4, 202, "in layer 2 the full stop averages the values of", "muted", ha="left")
    put_text(axes, 4, 236, ".", ha="left", weight="bold")
    for x in centres:
        put_arrow(axes, (x, 210), (x, 222), "accent")
        put_box(axes, x, 237, 124, 28, "accent", linewidth=1.6)
        put_text(axes, x, 237, "these four vectors", "accent")
    put_text(axes, 212, 237, "\N{NOT EQUAL TO}", "accent", weight="bold", size=14)
    return plots.figure(
        fig,
        alt="Two columns for the texts dog bites man and man bites dog, each with a full stop, and "
        "a row for each token. In layer 1, dog has seen dog in the first text and man bites dog in "
        "the second; bites has seen dog bites, or man bites; man has seen dog bites man, or man. "
        "The full stop has seen all four in both. In layer 2 it averages values made from these "
        "four vectors, and they differ.",
        caption="What each token has seen in layer 1 under a causal mask. Compare each row: the "
        "three words have seen different words in the two texts, the full stop the same four. In "
        "layer 2 the full stop averages values made from all four vectors, and three differ.",
    )


@styled()
def first_token_shares() -> Figure:
    """Draw what the last ha gives a special token, beside one ha and beside three."""
    fig, axes = sheet(100)
    left, width, high = 88, 268, 24
    for name, y, count in (("start ha", 18, 1), ("start ha ha ha", 50, 3)):
        put_text(axes, left - 6, y, name, ha="right")
        share = width / (count + 1)
        for place in range(count + 1):
            role = "accent" if place == 0 else "value"
            middle = left + share * (place + 0.5)
            put_box(axes, middle, y, share - 3, high, role, linewidth=2 if place == 0 else 1.1)
            text = f"start {Fraction(1, count + 1)}" if place == 0 else "ha"
            put_text(axes, middle, y, text, role)
    put_text(axes, left + width / 2, 82, "each bar: all the weight of the last ha", "muted")
    return plots.figure(
        fig,
        alt="Two bars, each cut into equal parts for the tokens that the last ha attends to. The "
        "start token has 1/2 of the bar in the text ha, and 1/4 in ha ha ha.",
        caption="With equal scores, the share of the start token tells how many ha there are. A "
        "causal mask changes nothing here, because the last ha may attend to every token.",
    )


@styled()
def two_averages(
    values: Real[np.ndarray, "3 2"], names: Sequence[str], outputs: Sequence[tuple[int, int]]
) -> Figure:
    """Draw the triangle of three values, and the averages of two layers one after the other."""
    fig, axes = plots.canvas(360, 330)
    axes.fill(*values.T, color=palette.light("value"), alpha=0.15)
    axes.scatter(*values.T, s=70, color=palette.light("value"))
    places = ((12, 0.9, "center"), (-0.5, -0.9, "center"), (0.6, 12, "left"))
    for (x, y, side), name in zip(places, names, strict=True):
        put_text(axes, x, y, name, "value", ha=side)
    end = tuple(sum(parts) for parts in zip(*outputs, strict=True))
    for start, stop in (((0, 0), outputs[0]), (outputs[0], end)):
        put_arrow(axes, start, stop, "output", linewidth=2.2, order=3)
    axes.scatter(*end, s=40, color=palette.light("accent"), zorder=4)
    behind = {"facecolor": palette.light("paper"), "linewidth": 0, "pad": 1}
    for x, y, text, role in (
        (4, 0.9, f"layer 1: + {outputs[0]}", "output"),
        (8.4, 4.6, f"layer 2: + {outputs[1]}", "output"),
        (8.4, 8.6, f"sum {end}", "accent"),
    ):
        side = {"ha": "center"} if x == 4 else {"ha": "left", "bbox": behind}
        put_text(axes, x, y, text, role, weight="bold", **side)
    axes.set(xlim=(-2, 14), ylim=(-2, 14), aspect="equal", xlabel="animal", ylabel="human")
    return plots.figure(
        fig,
        alt=f"The triangle of the three values. Layer 1 adds {outputs[0]}, an arrow inside it. "
        f"From its tip, layer 2 adds {outputs[1]}, and the sum lies outside the triangle.",
        caption="What two layers add to bites. Each arrow alone is an average of the values; "
        "their sum leaves the triangle.",
    )


@styled()
def answer_squares(counts: Mapping[str, tuple[int, int, int]]) -> Figure:
    """Draw a square for each text, by its answer: noun after the verb, before it, or neither."""
    fig, axes = sheet(56 * len(counts))
    kinds = ("noun after the verb", "right"), ("before it", "wrong"), ("ball", "muted")
    captions = []
    for row, (name, answers) in enumerate(counts.items()):
        top, at = 56 * row, 4
        shown = [(count, *kind) for count, kind in zip(answers, kinds, strict=True) if count]
        captions.append(", ".join(f"{word} {count}" for count, word, _ in shown))
        put_text(axes, 4, top + 12, f"positions {name}: {captions[-1]}", ha="left")
        for count, _, role in shown:
            for _ in range(count):
                axes.add_patch(Rectangle((at, top + 24), 13, 16, facecolor=palette.light(role)))
                at += 16
    return plots.figure(
        fig,
        alt="A square for each of the texts, by the answer. Positions "
        + "; ".join(f"{name}: {words}" for name, words in zip(counts, captions, strict=True))
        + ".",
        caption="What SmolLM2 predicts: one square for each text.",
    )


@styled()
def four_ways_in() -> Figure:
    """Draw the steps of attention, and where each positional encoding enters them."""
    fig, axes = sheet(272)
    for y, name, role in (
        (46, "X", "ink"), (124, "Q and K", "query"), (190, "scores", "ink"),
        (248, "weights", "ink"),
    ):  # fmt: skip
        put_box(axes, 62, y, 84, 28, role, linewidth=1.6)
        put_text(axes, 62, y, name, weight="bold")
    for start, end, step in (
        (62, 108, "1 project"), (140, 174, "2 score, 3 scale"), (206, 232, "4 softmax"),
    ):  # fmt: skip
        put_arrow(axes, (62, start), (62, end))
        put_text(axes, 70, (start + end) / 2, step, "muted", ha="left")
    put_text(axes, 180, 12, "once, before the first layer", "muted", ha="left")
    put_text(axes, 180, 92, "in every layer", "muted", ha="left")
    for y, words in (
        (34, "position embeddings"), (58, "sinusoids"), (124, "rotary positions"),
        (190, "biases of the score"),
    ):  # fmt: skip
        put_text(axes, 180, y, words, "accent", ha="left", weight="bold")
    for y, verb in ((46, "add"), (124, "rotate"), (190, "add")):
        put_arrow(axes, (172, y), (106, y), "accent")
        put_text(axes, 142, y - 9, verb, "accent")
    return plots.figure(
        fig,
        alt="The steps of attention from X to Q and K, to the scores and to the weights. Position "
        "embeddings and sinusoids are added to X, once, before the first layer. In every layer, "
        "rotary positions rotate Q and K, and biases are added to the scores after the scaling.",
        caption="Four ways to tell the position, and the step at which each one enters.",
    )


@styled()
def rotary_pair() -> Figure:
    """Draw one pair of a query and a key, not rotated, and at two pairs of positions."""
    fig, axes = sheet(168)
    axes.set_aspect("equal")
    cases = {"not rotated": (0, 0), "positions 5 and 2": (5, 2), "positions 8 and 5": (8, 5)}
    apart = []
    for middle, (title, (query, key)) in zip((60, 180, 300), cases.items(), strict=True):
        high, low = APART + TURN * query, TURN * key
        apart.append(high - low)
        put_text(axes, middle, 12, title)
        axes.add_patch(Circle((middle, 92), 44, fill=False, edgecolor=palette.light("line"),
                              linewidth=1.2))  # fmt: skip
        _hand(axes, middle, "query", "q", high)
        _hand(axes, middle, "key", "k", low)
        axes.add_patch(Arc((middle, 92), 34, 34, theta1=-high, theta2=-low,
                           edgecolor=palette.light("ink"), linewidth=1.6))  # fmt: skip
        put_text(axes, middle, 156, f"{high - low}° apart")
    return plots.figure(
        fig,
        alt="Three clocks, each with a hand for the query and one for the key. Not rotated, they "
        f"are {apart[0]} degrees apart; at positions 5 and 2 they are {apart[1]} degrees apart, "
        f"and at positions 8 and 5 again {apart[2]}.",
        caption="One pair of components of a query q and a key k, at 10° per position. Move both "
        "words by three positions, and the angle between the arrows stays the same.",
    )


def _hand(axes: Axes, middle: Length, role: str, name: str, degrees: Length) -> None:
    """Draw an arrow from the middle of a clock, turned counter-clockwise from three o'clock."""
    along = math.cos(math.radians(degrees)), -math.sin(math.radians(degrees))
    put_arrow(axes, (middle, 92), (middle + 44 * along[0], 92 + 44 * along[1]), role, linewidth=2.2)
    put_text(axes, middle + 53 * along[0], 92 + 53 * along[1], name, role, weight="bold")
