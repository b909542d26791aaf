"""Schematics of chapter 16: cut wires between layers, the parts of a lead, a password's heads."""

from collections.abc import Mapping

from figures import palette, plots
from figures.drawing import put_arrow, put_box, put_text, sheet
from figures.svg import Figure, styled

READERS = {"queries": "query", "keys": "key", "values": "value"}  # with the roles of the cast
PARTS = {  # what each part adds to the lead, and how far it goes in other directions
    "the embedding": (1, 1.5, "ink"),
    "a head of layer 0": (0, 5, "accent"),
    "a head of layer 1": (5, -2, "output"),
    "another of layer 1": (6, 0.5, "output"),
}
UNIT, LEFT, RULER = 20, 36, 206  # pixels of a logit; where the sum begins, and where it is read off


@styled()
def composition_cuts(losses: Mapping[str, float]) -> Figure:
    """Draw the three wires from layer 0 to layer 1, and the loss without each.

    `losses` has that of the whole model, and then, by the names of `READERS`, the losses when the
    queries, the keys or the values of layer 1 are computed without what layer 0 wrote.
    Raises: ValueError unless the names are these.
    """
    if list(losses)[1:] != list(READERS):
        raise ValueError(f"The wires are, after the whole model, {', '.join(READERS)}; "
                         f"got {', '.join(list(losses)[1:])}.")  # fmt: skip
    (whole, uncut), *rest = losses.items()
    fig, axes = sheet(236)
    put_box(axes, 50, 126, 92, 48, "accent")
    put_text(axes, 50, 126, "what layer 0\nwrote")
    put_text(axes, 208, 14, "inputs of\nlayer 1", "muted")
    put_text(axes, 322, 14, "loss if this\nwire is cut", "muted")
    for y, (reader, loss) in zip((64, 126, 188), rest, strict=True):
        role, cut = READERS[reader], 126 + 0.5 * (y - 126)  # the middle of the wire
        put_arrow(axes, (96, 126), (166, y), "ink", linewidth=2)
        for down in (-7, 7):  # a cross
            axes.plot([124, 138], [cut - down, cut + down], color=palette.light("wrong"),
                      linewidth=3, linestyle="-", zorder=3)  # fmt: skip
        put_box(axes, 208, y, 82, 36, role)
        put_text(axes, 208, y, reader, role, weight="bold")
        axes.fill_between([292, 352], y - 15, y + 15, color=palette.light("wrong"),
                          alpha=min(max(loss - uncut, 0), 5) / 9, linewidth=0)  # fmt: skip
        put_text(axes, 322, y, f"{loss:.2f}", weight="bold")
    put_text(axes, 322, 224, f"{whole}: {uncut:.2f}", "muted")
    cuts = "; ".join(f"the wire to the {reader}: {loss:.2f}" for reader, loss in rest)
    return plots.figure(
        fig,
        alt="Three wires lead from what layer 0 wrote to the queries, the keys and the values of "
        f"layer 1. Loss in nats, {whole}: {uncut:.2f}. Loss if one wire is cut: {cuts}.",
        caption="One wire is cut at a time: this input is then computed from the embeddings alone. "
        "Only without the wire to the keys does the loss rise by several nats.",
    )


@styled()
def two_runs(losses: Mapping[str, float]) -> Figure:
    """Draw how one input of layers 17 and 18 comes from a run of SmolLM2 without L16H0.

    `losses` has that of the whole model, and then, by the names of `READERS`, the losses when
    this one input is computed from the vectors of the other run.
    """
    uncut, *_ = losses.values()
    columns = {"keys": 178, "queries": 250, "values": 322}
    fig, axes = sheet(276)
    put_text(axes, 62, 14, "1. without L16H0", weight="bold")
    put_text(axes, 250, 14, "2. the whole model", weight="bold")
    axes.plot([134, 134], [6, 150], color=palette.light("line"), linewidth=1, linestyle="--")
    for x in (62, 250):
        put_box(axes, x, 48, 76, 34, "accent")
        put_text(axes, x, 48, "L16H0")
    for down in (-12, 12):  # a cross
        axes.plot([42, 82], [48 - down, 48 + down], color=palette.light("wrong"), linewidth=3,
                  linestyle="-", zorder=3)  # fmt: skip
    put_arrow(axes, (62, 68), (62, 146), "ink", linewidth=2)
    put_box(axes, 62, 172, 84, 48, "ink")
    put_text(axes, 62, 172, "vectors,\nstored")
    put_arrow(axes, (106, 172), (142, 172), "wrong", linewidth=4)
    put_text(axes, 190, 114, "inputs of\nlayers 17, 18", "muted")
    for name, x in columns.items():
        role, loss = READERS[name], losses[name]
        if name != "keys":
            put_arrow(axes, (250, 68), (250 if x == 250 else 316, 150), "ink", linewidth=2)
        put_box(axes, x, 172, 66, 38, role)
        put_text(axes, x, 172, name, role, weight="bold")
        axes.fill_between([x - 30, x + 30], 224, 254, color=palette.light("wrong"),
                          alpha=min(max(loss - uncut, 0), 5) / 9, linewidth=0)  # fmt: skip
        put_text(axes, x, 239, f"{loss:.2f}", weight="bold")
    put_text(axes, 62, 232, "loss if this\ninput is swapped", "muted")
    put_text(axes, 250, 266, f"nothing swapped: {uncut:.2f}", "muted")
    listed = "; ".join(f"{name}: {losses[name]:.2f}" for name in columns)
    return plots.figure(
        fig,
        alt="Two runs side by side. In run 1, L16H0 is crossed out, and the vectors after it are "
        "stored. In run 2, with the whole model, layers 17 and 18 compute their queries and values "
        "as ever; one wire leads from the stored vectors of run 1 to the keys. Loss with nothing "
        f"swapped: {uncut:.2f}. Loss if one input comes from run 1. {listed}.",
        caption="Two runs and one wire: only the keys come from the run without L16H0. For the "
        "other two losses, the wire leads to the queries, or to the values.",
    )


@styled()
def logit_parts() -> Figure:
    """Draw the residual stream as a sum of arrows, and how far each goes in one direction."""
    fig, axes = sheet(RULER + 60)
    put_arrow(axes, (14, RULER), (14, 16), "muted")
    put_text(axes, 22, 14, "other directions", "muted", ha="left")
    put_arrow(axes, (14, RULER), (350, RULER), "muted")
    put_text(axes, 350, RULER - 14, r"$u_t - \bar{u}$", "muted", ha="right")
    x, y, adds = LEFT, RULER - 22, []
    places = ((16, 4, "left"), (5, 24, "left"), (8, -14, "left"), (0, 16, "center"))
    for (name, (lead, up, role)), (right, down, ha) in zip(PARTS.items(), places, strict=True):
        start, x, y = (x, y), x + UNIT * lead, y - UNIT * up
        put_arrow(axes, start, (x, y), role, order=3, linewidth=3)
        put_text(axes, (start[0] + x) / 2 + right, (start[1] + y) / 2 + down, name, role, ha=ha)
        axes.plot([x, x], [y, RULER], color=palette.light("line"), linewidth=1, linestyle="--",
                  zorder=0)  # fmt: skip
        if lead:
            put_arrow(axes, (start[0], RULER + 12), (x, RULER + 12), role, arrowstyle="<->")
            put_text(axes, (start[0] + x) / 2, RULER + 26, f"{lead}", role, weight="bold")
        adds.append(lead)
    put_text(axes, x + 10, y, "$x$", ha="left", weight="bold")
    summed = " + ".join(map(str, adds))
    put_text(axes, LEFT, RULER + 46, f"the lead: {summed} = {sum(adds)}", ha="left", weight="bold")
    listed = "; ".join(f"{name}: {lead}" for name, (lead, *_) in PARTS.items())
    return plots.figure(
        fig,
        alt="Four arrows, each from where the last one ends, lead to x. How far each goes to the "
        f"right, in the direction of u_t minus the mean of all u, stands below. {listed}; "
        f"together {sum(adds)}. The head of layer 0 goes straight up.",
        caption="A sketch. The farther a part of the residual stream goes to the right, the more "
        "it adds to the lead. The head of layer 0 writes a lot and adds 0.",
    )


@styled()
def password_weights(weights: Mapping[str, tuple[float, float]]) -> Figure:
    """Draw where finders look from the last token of the password text.

    `weights` has for each of them its weight on the password, with all heads and without L16H0.
    """
    columns = {"with all heads": 200, "without L16H0": 306}
    fig, axes = sheet(140 + 34 * len(weights))
    put_text(axes, 4, 16, "The password of the old library is", ha="left")
    put_box(axes, 260, 16, 84, 26, "accent")
    put_text(axes, 260, 16, "marmalade", "accent", weight="bold")
    put_text(axes, 4, 46, "... a story of five sentences ...", "muted", ha="left")
    put_text(axes, 4, 76, "The password of the old library", ha="left")
    put_box(axes, 206, 76, 26, 26, "query")
    put_text(axes, 206, 76, "is", "query", weight="bold")
    put_arrow(axes, (214, 62), (254, 31), "accent", linewidth=3)
    put_text(axes, 246, 52, "looks back", "accent", ha="left")
    for name, x in columns.items():
        put_text(axes, x, 114, name, "muted")
    for at, (head, pair) in enumerate(weights.items()):
        y = 144 + 34 * at
        put_text(axes, 136, y, head, ha="right", weight="bold")
        for x, weight in zip(columns.values(), pair, strict=True):
            axes.fill_between([x - 46, x + 46], y - 14, y + 14, color=palette.light("accent"),
                              alpha=0.55 * weight, linewidth=0)  # fmt: skip
            put_text(axes, x, y, f"{weight:.2f}", weight="bold")
    listed = "; ".join(f"{head}: {a:.2f} and {b:.2f}" for head, (a, b) in weights.items())
    return plots.figure(
        fig,
        alt="The text says what the password is, a story follows, and the text begins its first "
        "sentence again. An arrow leads from its last token, is, back to the password, marmalade. "
        f"Weight of each head on the password, with all heads and without L16H0. {listed}.",
        caption="How much weight each finder gives to the first token of the password, on average "
        "over the six texts. Without L16H0, only L18H6 still looks there.",
    )
