"""Schematics of chapter 8: inputs and labels as two strips, and the path of a leak."""

from collections.abc import Sequence

from matplotlib.axes import Axes

from figures import palette, plots
from figures.drawing import Length, put_arrow, put_text
from figures.svg import Figure

TOKENS = ("the", "blue", "owl", "sees")
BLUE, OWL, SEES = 1, 2, 3
Point = tuple[Length, Length]


def shifted_strips(tokens: Sequence[str]) -> Figure:
    """Draw n + 1 tokens as a strip of n inputs over the strip of their n labels.

    Raises: ValueError unless there are three to seven tokens.
    """
    if not 3 <= len(tokens) <= 7:
        raise ValueError(f"`tokens` must hold 3 to 7 words to fit a phone; got {len(tokens)}.")
    inputs, labels = list(tokens[:-1]), list(tokens[1:])
    fig, axes = plots.canvas(360, 190)
    for i, (word, label) in enumerate(zip(inputs, labels, strict=True)):
        axes.text(i, 1.62, str(i), ha="center", va="center", color=palette.light("muted"))
        _token(axes, i, 1, word, "ink")
        _token(axes, i, -1, label, "accent")
        put_arrow(axes, (i, 0.62), (i, -0.62))
        if i:
            put_arrow(axes, (i - 0.25, 0.62), (i - 0.78, -0.62), "accent", linestyle="--")
    axes.text(-0.75, 1.62, "position", ha="right", va="center", color=palette.light("muted"))
    axes.text(-0.75, 1, "inputs", ha="right", va="center")
    axes.text(-0.75, 0, "predict", ha="right", va="center", color=palette.light("muted"))
    axes.text(-0.75, -1, "labels", ha="right", va="center", color=palette.light("accent"))
    axes.set(xlim=(-2.0, len(inputs) - 0.4), ylim=(-1.6, 2))
    axes.axis("off")
    return plots.figure(
        fig,
        alt=f"Two strips, one below the other. Inputs: {', '.join(inputs)}. Labels: "
        f"{', '.join(labels)}. A straight arrow leads from each input down to its label; a dashed "
        "arrow leads from each input back to the label before it, which is the same word.",
        caption="The labels are the inputs shifted by one. Dashed arrows: the label of each "
        "position stands among the inputs, one position to the right.",
    )


def leak_path() -> Figure:
    """Draw two masked layers in which a single forbidden arrow leaks a token to two others."""
    fig, axes = plots.canvas(360, 330)
    for layer in (1, 2):
        for query in range(len(TOKENS)):
            for key in range(query + 1):
                put_arrow(axes, (key, layer - 1 + 0.17), (query, layer - 0.17), linewidth=0.8)
    put_arrow(axes, (SEES, 0.17), (BLUE, 1 - 0.17), "wrong", linewidth=2.6, order=2)
    put_arrow(axes, (BLUE, 1.17), (OWL, 2 - 0.17), "wrong", linewidth=2.6, order=2, linestyle="--")
    put_arrow(axes, (BLUE, 1.17), (BLUE, 2 - 0.17), "wrong", linewidth=2.6, order=2, linestyle="--")
    leaked = {(SEES, 0), (BLUE, 1), (BLUE, 2), (OWL, 2)}
    for height in range(3):
        for i, token in enumerate(TOKENS):
            _token(axes, i, height, token, "wrong" if (i, height) in leaked else "ink")
    for height, name in enumerate(("input", "after\nlayer 1", "after\nlayer 2")):
        axes.text(-0.6, height, name, ha="right", va="center", color=palette.light("muted"))
    axes.set(xlim=(-1.5, 3.5), ylim=(-0.3, 2.3))
    axes.axis("off")
    return plots.figure(
        fig,
        alt="Three rows of the tokens the, blue, owl, sees: the input, after layer 1 and after "
        "layer 2. Thin arrows lead from each token up to itself and to all later tokens. One thick "
        "arrow in layer 1 leads backwards from sees to blue. In layer 2, dashed thick arrows lead "
        "on from blue to blue and from blue to owl.",
        caption="The thick arrow is the only forbidden one. The dashed arrows are allowed, and "
        "they carry what blue has read on to owl.",
    )


def _token(axes: Axes, x: Length, y: Length, text: str, role: str) -> None:
    """Write a token into a box whose border has the colour of its role."""
    box = {"facecolor": palette.light("surface"), "edgecolor": palette.light(role),
           "linewidth": 1 if role == "ink" else 2.2, "boxstyle": "round,pad=0.3"}  # fmt: skip
    put_text(axes, x, y, text, va="center", zorder=3, bbox=box)
