"""Drawings of chapter 15: the matrices of one block as areas, and the best size for a budget."""

from collections.abc import Callable, Mapping

import numpy as np
from matplotlib.patches import Rectangle

from figures import palette, plots
from figures.drawing import put_text, sheet
from figures.svg import Figure, canvas, put_head, styled

UNIT = 56  # the side that stands for d
MATRICES = (  # name, role, left, top, width and height in units of d
    ("W_q", "query", 0, 0, 1, 1), ("W_k", "key", 1, 0, 1, 1), ("W_v", "value", 2, 0, 1, 1),
    ("W_o", "output", 3, 0, 1, 1), ("up", "series-1", 0, 1, 4, 1), ("down", "series-2", 0, 2, 4, 1),
)  # fmt: skip
SIDES = {  # where the name of a dot stands
    "tonight": ((0, 8), "center", "bottom"), "SmolLM2": ((-8, -4), "right", "center"),
    "Gopher": ((6, -8), "center", "top"), "GPT-3": ((-2, 7), "right", "bottom"),
    "Chinchilla": ((8, -8), "right", "top"),
}  # fmt: skip


@styled()
def parameter_areas() -> Figure:
    """Draw the six matrices of a block with d_ff = 4 d, each as large as its parameters."""
    fig, axes = sheet(214)
    for name, role, left, top, width, height in MATRICES:
        corner = (76 + UNIT * left, 18 + UNIT * top + (10 if top else 0))
        axes.add_patch(Rectangle(corner, UNIT * width - 3, UNIT * height - 3, linewidth=1.6,
                                 facecolor=palette.light("surface"),
                                 edgecolor=palette.light(role)))  # fmt: skip
        label = name.replace("W_", "W") if width == 1 else f"{name} projection, 4d²"
        put_text(axes, corner[0] + UNIT * width / 2, corner[1] + UNIT * height / 2,
                 f"{label}\nd²" if width == 1 else label, va="center")  # fmt: skip
    put_text(axes, 68, 46, "attention\n4d²", ha="right", va="center")
    put_text(axes, 68, 140, "feed-\nforward\n8d²", ha="right", va="center")
    return plots.figure(
        fig,
        alt="Six rectangles drawn to scale. Attention: the query, key, value and output "
        "projections, four squares of d squared. Below, the feed-forward network: the up and the "
        "down projection, each as large as all four squares together.",
        caption="The matrices of one block as areas: the feed-forward network is twice as large as "
        "attention.",
    )


@styled()
def budget_curves(
    loss: Callable,
    bound: float,
    budgets: Mapping[str, float],
    models: Mapping[str, tuple[float, float]],
) -> Figure:
    """Draw how far the loss lies above its bound for every size that a budget allows.

    `loss` takes parameters and tokens. `models` are drawn as dots: parameters, tokens.
    """
    fig, axes = canvas(360, 330)
    sizes = 10 ** np.linspace(6, 12, 241)
    lowest = []
    for i, (name, budget) in enumerate(budgets.items()):
        above = loss(sizes, budget / (6 * sizes)) - bound
        drawn = above < 9
        axes.plot(sizes[drawn], above[drawn], color=palette.light(f"series-{i + 1}"), label=name)
        lowest.append(f"{name} near {_in_words(sizes[above.argmin()])}")
    for name, (size, tokens) in models.items():
        side = SIDES.get(name, ((0, -9), "center", "top"))
        axes.plot(
            [size], [loss(size, tokens) - bound], "o", color=palette.light("ink"), markersize=5
        )
        axes.annotate(name, (size, loss(size, tokens) - bound), side[0],
                      textcoords="offset points", ha=side[1], va=side[2])  # fmt: skip
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_yticks([0.1, 0.2, 0.5, 1, 2, 5, 10], ["0.1", "0.2", "0.5", "1", "2", "5", "10"])
    axes.set_ylim(0.1, 10)
    axes.minorticks_off()
    axes.grid(axis="y")
    axes.set_xlabel("parameters")
    axes.set_ylabel("loss above the lower bound (nats)")
    put_head(axes, "", budgets)
    return plots.figure(
        fig,
        alt="U-shaped curves of the loss over the number of parameters, one for each budget. "
        f"Their lowest points: {'; '.join(lowest)} parameters. Dots for {', '.join(models)}: "
        "SmolLM2 lies far to the left of its budget's lowest point, Chinchilla at that of Gopher's "
        "budget, and GPT-3 and Gopher to the right of it.",
        caption="For each budget there is a best size: to its left the model is too small, to its "
        "right it sees too few tokens. Dots: where the formula puts real models.",
    )


def _in_words(size: float) -> str:
    """A size to one digit: 4 million."""
    unit, name = (1e9, "billion") if size >= 1e9 else (1e6, "million")
    return f"{float(f'{size / unit:.0e}'):.0f} {name}"
