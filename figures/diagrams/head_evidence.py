"""Schematics of chapter 16: which wire between two layers a run cuts, and the parts of a lead."""

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
def composition_cuts(
    losses: Mapping[str, float],
    writes: str = "layer 0",
    reads: str = "layer 1",
    instead: str = "computed from the embeddings alone",
) -> Figure:
    """Draw the three wires from one layer or head to a later one, and the loss without each.

    `losses` has that of the whole model, and then, by the names of `READERS`, those of the runs in
    which the queries, the keys or the values of `reads` are computed without what `writes` wrote.
    `instead` ends the sentence of the caption that says what they are.
    Raises: ValueError unless the names are these.
    """
    if list(losses)[1:] != list(READERS):
        raise ValueError(f"The runs are, after the whole model, {', '.join(READERS)}; "
                         f"got {', '.join(list(losses)[1:])}.")  # fmt: skip
    (whole, uncut), *rest = losses.items()
    fig, axes = sheet(236)
    put_box(axes, 50, 126, 92, 48, "accent")
    put_text(axes, 50, 126, f"what {writes}\nwrote")
    put_text(axes, 208, 14, f"inputs of\n{reads}", "muted")
    put_text(axes, 322, 14, "loss if this\nwire is cut", "muted")
    for run, (y, (reader, loss)) in enumerate(zip((64, 126, 188), rest, strict=True), 1):
        role, cut = READERS[reader], 126 + 0.5 * (y - 126)  # the middle of the wire
        put_arrow(axes, (96, 126), (166, y), "ink", linewidth=2)
        for down in (-7, 7):  # a cross
            axes.plot([124, 138], [cut - down, cut + down], color=palette.light("wrong"),
                      linewidth=3, linestyle="-", zorder=3)  # fmt: skip
        put_box(axes, 208, y, 82, 36, role)
        put_text(axes, 208, y, reader, role, weight="bold")
        axes.fill_between([292, 352], y - 15, y + 15, color=palette.light("wrong"),
                          alpha=min(max(loss - uncut, 0), 5) / 9, linewidth=0)  # fmt: skip
        put_text(axes, 270, y, f"run {run}", "muted", size=10)
        put_text(axes, 322, y, f"{loss:.2f}", weight="bold")
    put_text(axes, 322, 224, f"{whole}: {uncut:.2f}", "muted")
    runs = "; ".join(f"the wire to the {reader}: {loss:.2f}" for reader, loss in rest)
    return plots.figure(
        fig,
        alt=f"Three wires lead from what {writes} wrote to the queries, the keys and the values of "
        f"{reads}. Loss in nats, {whole}: {uncut:.2f}. Loss if one wire is cut: {runs}.",
        caption=f"Each run cuts one wire, so that this input is {instead}. Only for the keys does "
        "the loss rise by several nats.",
    )


@styled()
def logit_parts() -> Figure:
    """Draw the residual stream as a sum of arrows, and how far each goes in one direction."""
    fig, axes = sheet(RULER + 60)
    put_arrow(axes, (14, RULER), (14, 16), "muted")
    put_text(axes, 22, 14, "other directions", "muted", ha="left")
    put_arrow(axes, (14, RULER), (350, RULER), "muted")
    put_text(axes, 350, RULER - 14, "the direction of the lead", "muted", ha="right")
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
        f"right, in the direction of u_t minus the mean column, is measured below. {listed}; "
        f"together {sum(adds)}. The head of layer 0 goes straight up.",
        caption="A sketch with a direction of length 1: each part of the residual stream adds to "
        "the lead as far as it goes in this direction. The head of layer 0 writes a lot and adds "
        "0.",
    )
