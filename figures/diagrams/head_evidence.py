"""Schematics of chapter 16: which input each run takes away, and the parts of a lead."""

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
def composition_runs(losses: Mapping[str, float]) -> Figure:
    """Draw what layer 1 reads in each run, and the loss.

    `losses` has that of the whole model, and then, by the names of `READERS`, those of the runs in
    which the queries, the keys or the values of layer 1 are computed without layer 0.
    Raises: ValueError unless these are its names.
    """
    if list(losses)[1:] != list(READERS):
        raise ValueError(f"The runs are, after the whole model, {', '.join(READERS)}; "
                         f"got {', '.join(list(losses)[1:])}.")  # fmt: skip
    fig, axes = sheet(44 + 44 * len(losses))
    put_text(axes, 184, 11, "layer 1 computes its", "muted")
    for x, (reader, role) in zip((106, 184, 262), READERS.items(), strict=True):
        put_text(axes, x, 29, reader, role, weight="bold")
    put_text(axes, 334, 29, "loss", weight="bold")
    for row, (changed, loss) in enumerate(losses.items()):
        y = 64 + 44 * row
        put_text(axes, 4, y, f"run {row}" if row else changed, ha="left")
        for x, reader in zip((106, 184, 262), READERS, strict=True):
            without = reader == changed
            put_box(axes, x, y, 70, 36, "wrong" if without else "muted",
                    linewidth=2.4 if without else 1)  # fmt: skip
            put_text(axes, x, y - 8, "without" if without else "with", size=11,
                     weight="bold" if without else "normal")  # fmt: skip
            put_text(axes, x, y + 8, "layer 0", size=11)
        axes.fill_between([310, 358], y - 14, y + 14, color=palette.light("wrong"),
                          alpha=min(loss, 5) / 9, linewidth=0)  # fmt: skip
        put_text(axes, 334, y, f"{loss:.2f}", weight="bold")
    whole, *rest = losses.items()
    runs = "; ".join(
        f"run {row}, the {reader} are computed without layer 0: {loss:.2f}"
        for row, (reader, loss) in enumerate(rest, start=1)
    )
    return plots.figure(
        fig,
        alt=f"Four runs, with the loss of each in nats. {whole[0]}: {whole[1]:.2f}; {runs}.",
        caption="Each run computes one of the three without what layer 0 wrote. Only for the keys "
        "does the loss rise by several nats: K-composition.",
    )


@styled()
def logit_parts() -> Figure:
    """Draw the residual stream as a sum of arrows, and how far each goes in one direction."""
    fig, axes = sheet(RULER + 60)
    put_arrow(axes, (14, RULER), (14, 16), "muted")
    put_text(axes, 22, 14, "other directions", "muted", ha="left")
    put_arrow(axes, (14, RULER), (350, RULER), "muted")
    put_text(axes, 350, RULER - 14, "$u_t - \\bar{u}$", "muted", ha="right")
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
