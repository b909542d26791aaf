"""Drawings of chapter 15: matrices, shares, memory as areas, the best size for a budget."""

from collections.abc import Callable, Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from figures import palette, plots
from figures.drawing import Length, Point, put_text, sheet
from figures.svg import Figure, canvas, put_head, styled

UNIT = 56  # the side that stands for d
MATRICES = (  # name, role, left, top, width and height in units of d
    ("W_q", "query", 0, 0, 1, 1), ("W_k", "key", 1, 0, 1, 1), ("W_v", "value", 2, 0, 1, 1),
    ("W_o", "output", 3, 0, 1, 1), ("up", "series-1", 0, 1, 4, 1), ("down", "series-2", 0, 2, 4, 1),
)  # fmt: skip
TICKS = (2, 2.2, 2.5, 3, 4, 6, 10)  # of the loss
SIDES = {  # where the name of a dot stands
    "tonight": ((0, 8), "center", "bottom"), "SmolLM2": ((-8, -4), "right", "center"),
    "Gopher": ((6, -8), "center", "top"),
    "Chinchilla": ((8, -8), "right", "top"),
}  # fmt: skip
LEFT = {  # where the name of a dot stands that is not to its right
    "Gopher": ((-6, -5), "right", "top"), "Chinchilla": ((-12, 0), "right", "center"),
    "SmolLM2": ((-8, -4), "right", "center"),
}  # fmt: skip
WORDS = {1e6: "1 million", 1e9: "1 billion", 1e12: "1 trillion"}  # at the ticks


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
def parameter_shares(models: Mapping[str, Mapping[str, int]]) -> Figure:
    """Draw each model as a bar of its groups of parameters, in per cent of all; norms are too few.

    `models` gives the count of each group, as lib.models.parameter_count.by_group does.
    """
    fig, axes = sheet(34 + 40 * len(models))
    listed = []
    for row, (model, groups) in enumerate(models.items()):
        whole, left, y = sum(groups.values()), 104.0, 28 + 40 * row
        size = f"{whole / 1e9:.3g} billion" if whole >= 1e9 else f"{whole / 1e6:.0f} million"
        put_text(axes, 96, y + 16, f"{model}\n{size}", ha="right", va="center")
        shares = {name: count / whole for name, count in groups.items() if name != "norms"}
        for i, (name, share) in enumerate(shares.items()):
            role, width = f"series-{i + 1}", 250 * share
            box = Rectangle((left, y), width, 30, facecolor=palette.light(role), linewidth=0)
            axes.add_patch(box)
            middle = left + width / 2
            if share > 0.1:
                put_text(axes, middle, y + 15, f"{share:.0%}", "paper", va="center")
            if row == 0:
                put_text(axes, middle, 18, name, role)
            left += width + 1
        listed.append(f"{model}: " + ", ".join(f"{n} {share:.1%}" for n, share in shares.items()))
    return plots.figure(
        fig,
        alt="A bar for each model, cut into the shares of its parameters. "
        + "; ".join(listed)
        + ".",
        caption="The larger the model, the smaller the share of its embeddings. The feed-forward "
        "networks have about twice as much as attention in each.",
    )


@styled()
def memory_squares(gigabytes: Mapping[str, Length], laptop: Length) -> Figure:
    """Draw the memory of GPT-2 and GPT-3, to run and to train, and a laptop's, as squares.

    `gigabytes` has the four names "GPT-2, run", "GPT-2, train", "GPT-3, run" and "GPT-3, train".
    """
    fig, axes = sheet(206)
    unit = 3.5  # the side of one gigabyte
    sizes = {**gigabytes, "a laptop": laptop}
    for name, y in (("GPT-2, run", 18), ("GPT-2, train", 44), ("a laptop", 76)):
        side = unit * np.sqrt(sizes[name])
        role = "right" if name == "a laptop" else "accent"
        _square(axes, (18 - side / 2, y - side / 2), side, role)
        put_text(axes, 32, y, f"{name}: {sizes[name]:.2g} GB", ha="left", va="center")
    for name, left, bottom in (("GPT-3, run", 48, 195), ("GPT-3, train", 167, 195)):
        side = unit * np.sqrt(sizes[name])
        _square(axes, (left, bottom - side), side, "accent")
        lines = name.replace(" ", "\n") + f":\n{sizes[name]:,.0f} GB"
        put_text(axes, left + side / 2, bottom - side / 2, lines, va="center")
    return plots.figure(
        fig,
        alt="Squares whose areas are memory, in gigabytes: "
        + "; ".join(f"{name} {size:,.2f}".rstrip("0").rstrip(".") for name, size in sizes.items())
        + ". The square of the laptop is larger than both of GPT-2 and far smaller than both of "
        "GPT-3.",
        caption="Memory as areas: GPT-2 fits into a laptop, even to train it; GPT-3 does not, even "
        "to run it.",
    )


def _square(axes: Axes, corner: Point, side: Length, role: str) -> None:
    """Draw a square in the colour of a role."""
    axes.add_patch(
        Rectangle(corner, side, side, linewidth=1.6, facecolor=palette.light("surface"),
                  edgecolor=palette.light(role))
    )  # fmt: skip


@styled()
def budget_curves(
    loss: Callable,
    bound: float,
    budgets: Mapping[str, float],
    models: Mapping[str, tuple[float, float]],
    *,
    uniform: float,
    fitted: tuple[float, float],
) -> Figure:
    """Draw the loss for every size that a budget allows, stretched towards its bound.

    `loss` takes parameters and tokens. `models` are drawn as dots: parameters, tokens. `uniform`
    is the loss of a uniform guess, and `fitted` the smallest and the largest size of the fit.
    """
    fig, axes = canvas(360, 350)
    axes.fill_between(fitted, 0.1, 12, color=palette.light("line"), alpha=0.45, linewidth=0)
    axes.text(np.sqrt(fitted[0] * fitted[1]), 4, "sizes of\nthe fit", ha="center", va="center")
    axes.axhline(uniform - bound, color=palette.light("muted"), linewidth=1.2, linestyle=":")
    guess = f"uniform guess: {uniform:.1f}"
    axes.text(1e12, (uniform - bound) * 1.05, guess, ha="right", va="bottom")
    sizes = 10 ** np.linspace(6, 12, 241)
    lowest = []
    for i, (name, budget) in enumerate(budgets.items()):
        above = loss(sizes, budget / (6 * sizes)) - bound
        drawn = above < uniform - bound
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
    ticks = [tick for tick in TICKS if tick - bound > 0.1]
    axes.set_yticks([tick - bound for tick in ticks], [f"{tick:g}" for tick in ticks])
    axes.set_ylim(0.1, 12)
    axes.minorticks_off()
    axes.grid(axis="y")
    axes.set_xlabel("parameters")
    axes.set_ylabel("loss (nats per token)")
    put_head(axes, "", budgets)
    return plots.figure(
        fig,
        alt="U-shaped curves of the loss over the number of parameters, one for each budget. "
        f"Their lowest points: {'; '.join(lowest)} parameters. Dots for {', '.join(models)}: "
        "SmolLM2 lies far to the left of its budget's lowest point, Chinchilla at that of Gopher's "
        f"budget, and Gopher to the right of it. A uniform guess has {uniform:.1f} nats.",
        caption="For each budget there is a best size: to its left the model is too small, to its "
        "right it sees too few tokens. Dots: where the formula puts tonight's model and three "
        f"real ones. The axis is stretched towards the lower bound, {bound:.1f}.",
    )


@styled()
def parameters_and_tokens(
    budgets: Mapping[str, float],
    models: Mapping[str, tuple[float | int, float | int]],
    ratio: float | int,
) -> Figure:
    """Draw each budget as the line of all pairs of parameters and tokens that it pays for.

    A rising line has `ratio` tokens for each parameter. `models` are dots: parameters, tokens.
    """
    fig, axes = canvas(360, 390)
    sizes = 10 ** np.linspace(6, 12, 241)
    rule = f"{ratio} tokens for each parameter"
    curves = {name: budget / (6 * sizes) for name, budget in budgets.items()}
    for i, (name, tokens) in enumerate({**curves, rule: ratio * sizes}.items()):
        drawn = (tokens > 1e6) & (tokens < 1e14)
        color = palette.light(f"series-{i + 1}")
        axes.plot(sizes[drawn], tokens[drawn], color=color, label=name)
    for name, (size, tokens) in models.items():
        side = LEFT.get(name, ((12, 0), "left", "center"))
        axes.plot([size], [tokens], "o", color=palette.light("ink"), markersize=5)
        axes.annotate(name, (size, tokens), side[0],
                      textcoords="offset points", ha=side[1], va=side[2])  # fmt: skip
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xticks(list(WORDS), list(WORDS.values()))
    axes.set_yticks(list(WORDS), list(WORDS.values()))
    axes.set_xlim(7e5, 3e12)
    axes.set_ylim(7e5, 1.5e14)
    axes.minorticks_off()
    axes.grid()
    axes.set_xlabel("parameters P")
    axes.set_ylabel("tokens D")
    put_head(axes, "", [*budgets, rule])
    crossings = [f"{name} near {_in_words((budget / (6 * ratio)) ** 0.5)}"
                 for name, budget in budgets.items()]  # fmt: skip
    dots = [f"{name} with {float(f'{tokens / size:.2g}'):,g} tokens for each parameter"
            for name, (size, tokens) in models.items()]  # fmt: skip
    return plots.figure(
        fig,
        alt="Tokens against parameters, both axes logarithmic. A falling line for each budget, and "
        f"a rising line of {rule}, which crosses them: {'; '.join(crossings)} parameters. Dots: "
        f"{'; '.join(dots)}.",
        caption="All points of a falling line cost the same; by the rule, the best of them is "
        "where the rising line crosses it.",
    )


def _in_words(size: float) -> str:
    """A size to one digit: 4 million."""
    unit, name = (1e9, "billion") if size >= 1e9 else (1e6, "million")
    return f"{float(f'{size / unit:.0e}'):.0f} {name}"
