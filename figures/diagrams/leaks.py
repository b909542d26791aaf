"""Schematics of chapter 8: the paths on which a token reaches a vector that must predict it."""

from collections.abc import Collection, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from figures import palette, plots
from figures.drawing import Length, put_arrow, put_text
from figures.svg import Figure, styled

TOKENS = ("the", "blue", "owl", "sees")
BLUE, OWL, SEES = 1, 2, 3
THREE_ROWS = (
    "Three rows of the tokens the, blue, owl, sees: the input, after layer 1 and after layer 2. "
    "Thin arrows lead from each token up to itself and to all later tokens. "
)


@styled()
def cheat_path() -> Figure:
    """Draw how the second layer reads a label, when the mask is in the first layer alone."""
    return plots.figure(
        _two_layers({(1, OWL, OWL, "--"), (2, OWL, BLUE, "-")}, {(OWL, 0), (OWL, 1), (BLUE, 2)}),
        alt=f"{THREE_ROWS}A dashed thick arrow in layer 1 leads from owl up to itself. In layer 2, "
        "a solid thick arrow leads backwards from owl to blue.",
        caption="Model B: owl keeps itself in layer 1, and blue reads it in layer 2. Thick and "
        "solid: a forbidden arrow. Layer 2 has six of them, as it has no mask; one is drawn.",
    )


@styled()
def leak_path() -> Figure:
    """Draw two masked layers in which a single forbidden arrow leaks a token to two others."""
    return plots.figure(
        _two_layers(
            {(1, SEES, BLUE, "-"), (2, BLUE, OWL, "--"), (2, BLUE, BLUE, "--")},
            {(SEES, 0), (BLUE, 1), (BLUE, 2), (OWL, 2)},
        ),
        alt=f"{THREE_ROWS}One solid thick arrow in layer 1 leads backwards from sees to blue. In "
        "layer 2, dashed thick arrows lead on from blue to blue and from blue to owl.",
        caption="Only the solid thick arrow is forbidden. The dashed arrows are allowed, and they "
        "carry what blue has read on to owl.",
    )


def _two_layers(
    thick: Collection[tuple[int, int, int, str]], reached: Collection[tuple[int, int]]
) -> Canvas:
    """Draw two causal layers, with some arrows (layer, key, query, style) and tokens in red."""
    fig, axes = plots.canvas(360, 330)
    for layer in (1, 2):
        for query in range(len(TOKENS)):
            for key in range(query + 1):
                put_arrow(axes, (key, layer - 1 + 0.17), (query, layer - 0.17), linewidth=0.8)
    for layer, key, query, style in thick:
        put_arrow(axes, (key, layer - 1 + 0.17), (query, layer - 0.17), "wrong", linewidth=2.6,
                  order=2, linestyle=style)  # fmt: skip
    for height in range(3):
        for i, token in enumerate(TOKENS):
            put_token(axes, i, height, token, "wrong" if (i, height) in reached else "ink")
    _name_rows(axes, ("input", "after\nlayer 1", "after\nlayer 2"), len(TOKENS))
    return fig


@styled()
def what_followed() -> Figure:
    """Draw the two steps of a head that finds repetitions, at two positions of one token."""
    fig, axes = plots.canvas(360, 250)
    tokens = ("the", "owl", "sees", "the", "owl")
    first, second = tokens.index(tokens[-1]), len(tokens) - 1
    answer = first + 1
    put_arrow(axes, (first, 0.17), (answer, 0.74), linewidth=2.2)
    put_arrow(axes, (answer, 1.26), (second, 1.83), "accent", linewidth=2.2, linestyle="--")
    put_arrow(axes, (answer, 1.26), (first, 1.83), "wrong", linewidth=2.2)
    roles = {first: "wrong", second: "accent"}
    for i, token in enumerate(tokens):
        put_token(axes, i, 0, token, "ink")
        known = f",\nafter {tokens[first]}" if i == answer else ""
        put_token(axes, i, 1, token + known, "ink")
        put_token(axes, i, 2, token, roles.get(i, "ink"))
    _name_rows(axes, ("input", "1: writes", "2: looks"), len(tokens))
    return plots.figure(
        fig,
        alt=f"The tokens {', '.join(tokens)} in three rows. Step 1: an arrow leads from the first "
        f"{tokens[first]} to {tokens[answer]}, which now says: after {tokens[first]}. Step 2: from "
        f"{tokens[answer]} a dashed arrow leads up to the second {tokens[second]}, and a solid one "
        f"to the first {tokens[first]}.",
        caption="Step 1: each vector is told which token came before it; drawn for sees. Step 2: "
        "each owl looks for the vector that says after owl. Dashed: allowed under the mask. "
        "Thick and solid: forbidden; without the mask, the first owl reads its own label.",
    )


def _name_rows(axes: Axes, names: Sequence[str], columns: int) -> None:
    """Name rows of tokens, from the lowest up, and fit the drawing to them."""
    for height, name in enumerate(names):
        put_text(axes, -0.6, height, name, "muted", ha="right", va="center")
    axes.set(xlim=(-1.5, columns - 0.5), ylim=(-0.3, len(names) - 0.7))
    axes.axis("off")


def put_token(axes: Axes, x: Length, y: Length, text: str, role: str) -> None:
    """Write a token into a box whose border has the colour of its role."""
    box = {"facecolor": palette.light("surface"), "edgecolor": palette.light(role),
           "linewidth": 1 if role == "ink" else 2.2, "boxstyle": "round,pad=0.3"}  # fmt: skip
    put_text(axes, x, y, text, va="center", zorder=3, bbox=box)
