"""Schematics of chapter 16: cut wires between layers, and the parts of a lead."""

from collections.abc import Mapping, Sequence

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
STEP = 22  # pixels from one step of a sum to the next


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
    fig, axes = sheet(212)
    for at, (cut, loss) in enumerate(rest):
        middle = 60 + 120 * at
        put_text(axes, middle, 12, f"{cut} cut", READERS[cut], weight="bold")
        put_box(axes, middle, 46, 96, 30, "accent")
        put_text(axes, middle, 46, "from layer 0")
        for aside, (reader, role) in zip((-37, 0, 37), READERS.items(), strict=True):
            x, lost = middle + aside, reader == cut
            put_arrow(axes, (middle + aside / 3, 61), (x, 106), "masked" if lost else "ink",
                      linewidth=2)  # fmt: skip
            put_box(axes, x, 120, 32, 28, role)
            put_text(axes, x, 120, reader[0].upper(), role, weight="bold")
            if lost:
                for down in (-7, 7):  # a cross
                    axes.plot([middle + aside * 0.7 - 7, middle + aside * 0.7 + 7],
                              [84 - down, 84 + down], color=palette.light("wrong"),
                              linewidth=3, linestyle="-", zorder=3)  # fmt: skip
        axes.fill_between([middle - 32, middle + 32], 146, 176, color=palette.light("wrong"),
                          alpha=min(max(loss - uncut, 0), 5) / 9, linewidth=0)  # fmt: skip
        put_text(axes, middle, 161, f"{loss:.2f}", weight="bold")
    put_text(axes, 180, 198, f"loss in nats; {whole}: {uncut:.2f}", "muted")
    cuts = "; ".join(f"the wire to the {reader}: {loss:.2f}" for reader, loss in rest)
    return plots.figure(
        fig,
        alt="Three panels. In each, three wires lead from layer 0 to the queries, the keys and "
        "the values of layer 1, and one of the three is crossed out. Loss in nats, "
        f"{whole}: {uncut:.2f}. Loss if one wire is cut: {cuts}.",
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
def lead_steps(adds: Mapping[str, float]) -> Figure:
    """Draw a lead as a sum: what each part of the residual stream adds begins where the last ended.

    The names of heads are like L1H0; the embedding has none.
    """
    left, total = 88, sum(adds.values())
    scale, x, y = (314 - left) / total, float(left), 14
    fig, axes = sheet(STEP * (len(adds) + 1) + 32)
    for name, part in adds.items():
        role = {"L0": "accent", "L1": "output"}.get(name[:2], "ink")
        end = x + scale * part
        put_text(axes, left - 10, y, name, role, ha="right")
        if abs(end - x) > 8:
            put_arrow(axes, (x, y), (end, y), role, linewidth=3)
        else:  # too short for the head of an arrow
            axes.plot([x, x], [y - 6, y + 6], color=palette.light(role), linewidth=3, linestyle="-")
        axes.plot([end, end], [y, y + STEP], color=palette.light("line"), linewidth=1,
                  linestyle="--", zorder=0)  # fmt: skip
        shown = round(part, 1) + 0.0  # no minus before 0.0
        put_text(axes, max(x, end) + 8, y, f"{shown:.1f}", ha="left", weight="bold")
        x, y = end, y + STEP
    put_text(axes, left - 10, y + 4, "the lead", ha="right", weight="bold")
    put_arrow(axes, (left, y + 4), (x, y + 4), "ink", linewidth=3, arrowstyle="<->")
    put_text(axes, x + 8, y + 4, f"{total:.1f}", ha="left", weight="bold")
    listed = "; ".join(f"{name}: {round(part, 1) + 0.0:.1f}" for name, part in adds.items())
    return plots.figure(
        fig,
        alt=f"Steps, each from where the last one ends. {listed}; the lead: {total:.1f}. The heads "
        "of layer 1 make nearly all of it.",
        caption="The lead of the right token, part by part, on average. "
        "The heads of layer 1 add nearly all of it: they copy.",
    )


@styled()
def smollm2_circuit(adds: Mapping[str, Sequence[float]]) -> Figure:
    """Draw the stages of the circuit in SmolLM2, and what each adds to the lead.

    `adds` has a column for all heads and one for a run without the finders. In each: L16H0, the
    finders, four later heads, the feed-forward networks with the embedding, the other heads, and
    the whole lead.
    """
    stages = (
        (66, 46, "L16H0", "looks one token back"),
        (154, 46, "L17H3, L17H4, L17H5, L18H6", "finders: find the match"),
        (242, 46, "L23H1, L23H2, L23H7, L29H1", "write the answer"),
        (294, 46, "feed-forward networks", "and the embedding"),
        (336, 26, "261 other heads", ""),
        (372, 26, "the whole lead", ""),
    )
    fig, axes = sheet(392)
    put_text(axes, 304, 12, "adds to the lead", "muted")
    for x, column in zip((268, 330), ("all\nheads", "without\nfinders"), strict=True):
        put_text(axes, x, 36, column, "muted", size=11)
    for x, parts in zip((268, 330), adds.values(), strict=True):
        for (y, *_), part in zip(stages, parts, strict=True):
            put_text(axes, x, y, f"{part:.1f}", weight="bold")
    for y, tall, heads, does in stages[:5]:
        put_box(axes, 116, y, 228, tall, "accent" if y < 250 else "masked")
        put_text(axes, 116, y - 9 * bool(does), heads, weight="bold" if y < 250 else "normal")
        put_text(axes, 116, y + 10, does)
    put_text(axes, 222, stages[5][0], stages[5][2], ha="right", weight="bold")
    put_arrow(axes, (60, 90), (60, 130), "accent", linewidth=3)
    put_arrow(axes, (60, 178), (60, 218), "accent", linewidth=3, linestyle="--")
    put_text(axes, 74, 109, "into their keys", "muted", ha="left", size=11)
    put_text(axes, 74, 197, "path not measured", "muted", ha="left", size=11)
    listed = "; ".join(
        f"{stage[2]}: " + " and ".join(f"{column[at]:.1f}" for column in adds.values())
        for at, stage in enumerate(stages)
    )
    return plots.figure(
        fig,
        alt="L16H0 looks one token back. A solid arrow leads to the keys of L17H3, L17H4, L17H5 "
        "and L18H6, which find the match. A dashed arrow leads to L23H1, L23H2, L23H7 and L29H1, "
        "which write the answer; the path of the match to them is not measured. What each adds "
        f"to the lead, {' and '.join(adds)}. {listed}.",
        caption="The circuit in SmolLM2, on random tokens, and what each stage adds to the lead. "
        "The finders add almost nothing themselves, but without them the others add less.",
    )
