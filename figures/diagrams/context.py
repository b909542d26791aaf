"""Schematics of chapter 3: weights as arrows, the two roles of a word, a query and a key."""

from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Real
from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch
from matplotlib.path import Path

from figures import palette, plots
from figures.drawing import Length, put_arrow, put_box, put_text, sheet
from figures.svg import Figure, styled

WIDTH, BAND = 360, 104  # of the canvas, and the height of one sentence
LETTER, SPACE = 7.2, 56  # the room of a letter, and of the gap between two words
MINUS = "\N{MINUS SIGN}"
Weights = Real[np.ndarray, " n"] | Sequence[Length]
Score = Length | str


@styled()
def arrows_of_weights(
    words: Sequence[str],
    attempts: Mapping[str, Weights],
    index: int | Sequence[int],
    *,
    alt: str,
    caption: str,
) -> Figure:
    """Draw one sentence per attempt, with an arrow for each weight of the word at `index`.

    The thickness of an arrow is its weight, which also stands below the word; a sequence of
    indices has the attending word of each attempt.
    Raises: ValueError if an attempt does not have one weight for each word.
    """
    fig, axes = plots.canvas(WIDTH, BAND * len(attempts))
    x = _centres(words)
    attending = [index] * len(attempts) if isinstance(index, int) else index
    for number, (title, weights) in enumerate(attempts.items()):
        own = attending[number]
        if len(weights) != len(words):
            raise ValueError(
                f"{title!r} must have one weight for each of {len(words)} words; "
                f"got {len(weights)}."
            )
        y = -BAND * number
        axes.text(0, y - 10, title, va="center", weight="bold")
        for j, (word, weight) in enumerate(zip(words, weights, strict=True)):
            bold = "bold" if j == own else "normal"
            axes.text(x[j], y - 68, word, ha="center", va="center", weight=bold)
            axes.text(x[j], y - 84, f"{weight:.2f}", ha="center", va="center",
                      color=palette.light("muted"))  # fmt: skip
            if weight > 0.005:
                _arc(axes, (x[own], y - 58), x[j], float(weight))
    axes.set(xlim=(0, WIDTH), ylim=(-BAND * len(attempts) + 8, 2))
    axes.axis("off")
    return plots.figure(fig, alt=alt, caption=caption)


def _centres(words: Sequence[str]) -> list[float]:
    """Return the middle of each word on a line that the words fill from left to right."""
    widths = [LETTER * len(word) for word in words]
    gap = min(SPACE, (WIDTH - 8 - sum(widths)) / max(len(words) - 1, 1))
    lefts = [4 + sum(widths[:j]) + gap * j for j in range(len(words))]
    return [left + width / 2 for left, width in zip(lefts, widths, strict=True)]


def _arc(axes: Axes, start: tuple[float, Length], end: float, weight: float) -> None:
    """Draw an arc from the attending word to a word, or a loop to itself."""
    (x, y), own = start, abs(end - start[0]) < 1
    high = y + (26 if own else 16 + 0.17 * abs(end - x))
    side = 6 if end < x else -6
    left, right = (x - 8, x + 16) if own else (x - side, end)
    begin, tip = (x, x + 9) if own else (x - side, end)
    path = Path([(begin, y), (left, high), (right, high), (tip, y)], [1, 4, 4, 4])
    axes.add_patch(
        FancyArrowPatch(
            path=path, arrowstyle="-|>", mutation_scale=9, linewidth=0.5 + 9 * weight,
            color=palette.light("accent"), joinstyle="miter", capstyle="butt", alpha=0.85,
        )
    )  # fmt: skip


@styled()
def two_roles(similarity: Mapping[str, Score], roles: Mapping[str, Score]) -> Figure:
    """Draw how *tower* is compared with three words: by similarity, and with two roles.

    Each mapping has the score of `miniature`, `Eiffel` and `the`, in this order, as a number or
    in words such as "ln 8".
    Raises: ValueError for other words.
    """
    others = ["miniature", "Eiffel", "the"]
    if list(similarity) != others or list(roles) != others:
        raise ValueError(f"Give the scores of {others}; got {list(similarity)} and {list(roles)}.")
    fig, axes = plots.canvas(WIDTH, 420)
    _compared(axes, 0, "Similarity: what I am, with what you are", "tower is:\ntall", "ink",
              [("is: not tall", similarity["miniature"]), ("is: tall, Paris", similarity["Eiffel"]),
               ("is: none of these", similarity["the"])], others)  # fmt: skip
    _compared(axes, -212, "Two roles: what I look for, with what you are",
              "tower\nlooks for:\ndescribing\nwords", "query",
              [("is: describing", roles["miniature"]), ("is: describing", roles["Eiffel"]),
               ("is: not describing", roles["the"])], others)  # fmt: skip
    axes.set(xlim=(0, WIDTH), ylim=(-420, 2))
    axes.axis("off")
    scores = "; ".join(
        f"{name}: " + ", ".join(f"{word} {_score(score)}" for word, score in row.items())
        for name, row in (("by similarity", similarity), ("with two roles", roles))
    )
    return plots.figure(
        fig,
        alt="Two comparisons. Above, tower, which is tall, is compared with miniature, which is "
        "not tall, with Eiffel, which is tall and in Paris, and with the. Below, tower looks for "
        f"describing words and finds miniature and Eiffel. Scores {scores}.",
        caption="Above, one row per word is used twice. Below, each word has one row for what it "
        "looks for and one for what it is.",
    )


def _compared(axes, top, title, asks, role, parts, others) -> None:
    """Draw the attending word on the left, three words on the right and a score on each arrow."""
    middle = top - 118
    axes.text(0, top - 10, title, va="center", weight="bold")
    _card(axes, 48, middle, asks, role)
    for (part, score), word, y in zip(parts, others, (top - 52, middle, top - 184), strict=True):
        _card(axes, 288, y, f"{word}\n{part}", "ink" if role == "ink" else "key")
        put_arrow(axes, (98, middle), (222, y))
        box = {"facecolor": palette.light("paper"), "edgecolor": "none", "pad": 2}
        number = _score(score).replace("-", MINUS)
        axes.text(172, middle + (y - middle) * 0.6, number, ha="center", va="center",
                  weight="bold", bbox=box)  # fmt: skip


def _score(score: Score) -> str:
    """Write a score that is a number, or is in words already."""
    return score if isinstance(score, str) else f"{score:g}"


def _card(axes: Axes, x: Length, y: Length, text: str, role: str) -> None:
    box = {"facecolor": palette.light("surface"), "edgecolor": palette.light(role),
           "linewidth": 1.6, "boxstyle": "round,pad=0.35"}  # fmt: skip
    axes.text(x, y, text, ha="center", va="center", color=palette.light(role), bbox=box)


@styled()
def query_meets_key(
    words: Sequence[str], query: int, key: int, describing: Sequence[str]
) -> Figure:
    """Draw how a query, a list of penalties, meets a one-hot key: component by component.

    The first component is ln 8 for a `describing` word; then each position has minus its distance
    from the query's own position, times ln 2.
    Raises: ValueError if the key is not one of the `describing` words.
    """
    if words[key] not in describing:
        raise ValueError(f"The key must be one of {list(describing)}; got {words[key]!r}.")
    row, top = 22, 52
    bottom = top + row * (len(words) + 1)
    fig, axes = sheet(bottom + 58, WIDTH)
    for x, title, word, role in (
        (156, "query of", f"{words[query]} ({query})", "query"),
        (238, "key of", f"{words[key]} ({key})", "key"),
        (316, "product", "", "ink"),
    ):
        put_text(axes, x, 16, title, role, weight="bold")
        put_text(axes, x, 32, word, role)
    steps = [abs(position - query) for position in range(len(words))]
    names = ["describing word", *(f"position {i}, {word}" for i, word in enumerate(words))]
    asks = ["ln 8", *map(_penalty, steps)]
    answers = [1, *(int(position == key) for position in range(len(words)))]
    for number, (name, ask, answer) in enumerate(zip(names, asks, answers, strict=True)):
        y = top + row * (number + 0.5)
        weight, line = ("bold", 2) if answer else ("normal", 1)
        put_text(axes, 0, y, name, ha="left", weight=weight)
        for x, width, text, role in ((156, 72, ask, "query"), (238, 34, str(answer), "key")):
            put_box(axes, x, y, width, 18, role, linewidth=line)
            put_text(axes, x, y, text, role, weight=weight)
        put_text(axes, 316, y, ask if answer else "0", "ink" if answer else "muted", weight=weight)
    axes.plot([284, 348], [bottom + 6] * 2, color=palette.light("ink"), linewidth=1)
    score = f"ln 8 {_penalty(steps[key]).replace(MINUS, MINUS + ' ')}"
    fraction = f"8/{2 ** steps[key]}"
    put_text(axes, 352, bottom + 20, f"score = {score}", ha="right", weight="bold")
    put_text(axes, 352, bottom + 40, f"exponential of the score = {fraction}", ha="right")
    return plots.figure(
        fig,
        alt=f"A query and a key of {len(names)} components, side by side. The query of "
        f"{words[query]} at position {query} has ln 8 for a describing word, then for each "
        "position minus its distance times ln 2. The key of "
        f"{words[key]} has 1 for a describing word and 1 at position {key}, and 0 elsewhere. So "
        f"two products remain, and the score is {score}.",
        caption="The query lists a penalty for every position; the key picks one of them.",
    )


def _penalty(steps: int) -> str:
    """Write minus the distance, times ln 2."""
    return "0" if steps == 0 else f"{MINUS}{'' if steps == 1 else f'{steps} '}ln 2"
