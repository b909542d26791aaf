"""Schematics of chapter 16: repetitions, induction circuits, where hooks attach, a patch."""

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.patches import Circle

from figures import palette, plots
from figures.drawing import put_arrow, put_box, put_text, sheet
from figures.svg import Figure, styled

CELL, TALL = 29, 24  # the width and height of a token of a repetition
ACROSS = 4  # words in a row of a text with its losses
TOKENS = ("7", "9", "1", "5", "9")
COLUMNS = (94, 153, 212, 271, 330)
MATCH, LAST = 2, 4  # the token that followed the earlier 9, and the later 9


@styled()
def repetition(tokens: Sequence[int], count: int) -> Figure:
    """Draw a text whose last `count` tokens repeat those before: one row above the other."""
    once, again = tokens[-2 * count : -count], tokens[-count:]
    others = tokens[: -2 * count]
    fig, axes = sheet(226)
    put_text(axes, 4, 12, f"{len(others)} other tokens", "muted", ha="left")
    for at, token in enumerate(others):
        row, column = divmod(at, 11)
        _token(axes, column, 34 + 28 * row, token, "masked")
    put_text(axes, 4, 98, f"{count} tokens", "muted", ha="left")
    put_text(axes, 4, 210, "their repetition", "muted", ha="left")
    for at, token in enumerate(once):
        _token(axes, at, 120, token, "ink")
        _token(axes, at, 180, again[at], "accent" if at else "masked")
        put_arrow(axes, (_middle(at), 134), (_middle(at), 166), "accent" if at else "masked")
    put_text(axes, _middle(count) + 2, 180, "the last is only\npredicted, not read", "muted",
             ha="left")  # fmt: skip
    return plots.figure(
        fig,
        alt=f"{len(others)} different tokens in two rows, then {count} more in a row: "
        f"{' '.join(map(str, once))}. Below them, the same {count} in the same order. The first "
        f"of these is grey, the other {count - 1} are marked as predictable; the last one is "
        "only predicted, and not read.",
        caption="The coloured tokens can be predicted: each follows a token that occurred before.",
    )


@styled()
def tokens_with_losses(
    words: Sequence[str], parts: Mapping[str, Sequence[float | None]], *, caption: str
) -> Figure:
    """Draw a text once for each part, with the loss that a model has there on each token.

    The first token of a text has no loss: None.
    Raises: ValueError unless each part has a loss for each word.
    """
    if {len(losses) for losses in parts.values()} != {len(words)}:
        counts = [len(losses) for losses in parts.values()]
        raise ValueError(f"Each part needs {len(words)} losses, one for each word; got {counts}.")
    rows = -(-len(words) // ACROSS)
    fig, axes = sheet((28 + 46 * rows) * len(parts) + 4)
    for part, (title, losses) in enumerate(parts.items()):
        top = (28 + 46 * rows) * part
        put_text(axes, 4, top + 12, f"{title}: loss in nats above each token", "muted", ha="left")
        for at, (word, loss) in enumerate(zip(words, losses, strict=True)):
            x, y = 46 + 89 * (at % ACROSS), top + 38 + 46 * (at // ACROSS)
            if loss is not None:
                axes.fill_between([x - 42, x + 42], y - 10, y + 30, color=palette.light("wrong"),
                                  alpha=min(loss, 20) / 36, linewidth=0)  # fmt: skip
            put_text(axes, x, y, "" if loss is None else f"{loss:.1f}", weight="bold")
            put_text(axes, x, y + 18, word, size=11)
    listed = "; ".join(
        f"{title}: {' '.join('none' if loss is None else f'{loss:.1f}' for loss in losses)}"
        for title, losses in parts.items()
    )
    return plots.figure(
        fig,
        alt=f"The tokens {', '.join(words)}, and their losses in nats. {listed}.",
        caption=caption,
    )


@styled()
def induction_circuit() -> Figure:
    """Draw how two heads continue 7 9 1 5 9: one fetches the previous token, one looks it up."""
    fig, axes = sheet(446)
    for y, name in ((18, "token"), (58, "layer 0"), (110, "vector\nholds"), (180, "layer 1"),
                    (236, "vector\nholds"), (284, "next")):  # fmt: skip
        put_text(axes, 2, y, name, "accent" if "layer" in name else "muted", ha="left")
    for at, (x, token) in enumerate(zip(COLUMNS, TOKENS, strict=True)):
        put_text(axes, x, 18, token, weight="bold")
        put_arrow(axes, (x, 30), (x, 88))
        if at:
            thick = at == MATCH
            put_arrow(axes, (COLUMNS[at - 1] + 6, 28), (x - 6, 88), "accent" if thick else "masked",
                      order=3 if thick else 1, linewidth=3 if thick else 1)  # fmt: skip
        put_box(axes, x, 110, 54, 40, "accent" if at in (MATCH, LAST) else "ink")
        put_text(axes, x, 101, token, weight="bold")
        if at:
            put_text(axes, x, 119, f"after {TOKENS[at - 1]}",
                     "accent" if at == MATCH else "muted")  # fmt: skip
    put_arrow(axes, (COLUMNS[LAST], 130), (COLUMNS[LAST], 216))
    put_arrow(axes, (COLUMNS[MATCH], 130), (COLUMNS[LAST] - 24, 216), "output", order=3,
              linewidth=3)  # fmt: skip
    put_text(axes, 202, 150, "key: after 9", "key", ha="right")
    put_text(axes, 202, 168, "value: 1", "value", ha="right")
    put_text(axes, 323, 152, "query: I am 9", "query", ha="right")
    put_box(axes, COLUMNS[LAST], 236, 54, 40, "output")
    put_text(axes, COLUMNS[LAST], 227, "9", weight="bold")
    put_text(axes, COLUMNS[LAST], 245, "next: 1", "output")
    put_arrow(axes, (COLUMNS[LAST], 256), (COLUMNS[LAST], 274))
    put_text(axes, COLUMNS[LAST], 285, "1", "output", weight="bold")
    _components(axes, 314)
    return plots.figure(
        fig,
        alt="Five tokens: 7, 9, 1, 5, 9. In layer 0 an arrow leads from each token to the vector "
        "of the next one, so the vector of 1 holds: 1, after 9. In layer 1 the query of the last "
        "9 meets the key after 9, which the vector of 1 offers; its value, 1, goes to the last "
        "token, and 1 is predicted. Below, three vectors with three components for the token "
        "itself, and three for the one before. The query is the first half of the last 9: 0 0 1. "
        "The key is the second half: of 1 after 9 it is 0 0 1, score 1; of 9 after 1 it is 1 0 0, "
        "score 0.",
        caption="The induction circuit: a head of layer 0 writes which token came before, and a "
        "head of layer 1 uses this as a key. Below, the vectors in numbers.",
    )


@styled()
def hook_points() -> Figure:
    """Draw one attention layer with the two entrances at which the page hangs its hooks."""
    fig, axes = sheet(256)
    put_text(axes, 24, 10, "x", weight="bold")
    put_arrow(axes, (24, 20), (24, 252), "ink", linewidth=2)
    put_text(axes, 36, 128, "residual\nstream", "muted", ha="left")
    put_arrow(axes, (24, 30), (302, 30), arrowstyle="-")
    for x, name in ((142, "query"), (222, "key"), (302, "value")):
        put_arrow(axes, (x, 30), (x, 58))
        put_box(axes, x, 72, 66, 28, name)
        put_text(axes, x, 72, name, name, weight="bold")
        put_arrow(axes, (x, 86), (x, 106))
    put_box(axes, 222, 122, 226, 32, "ink")
    put_text(axes, 222, 122, "attention, head by head")
    put_arrow(axes, (222, 138), (222, 196))
    put_text(axes, 240, 166, "heads side by\nside, (n, 4 · 16)", "muted", ha="left")
    put_box(axes, 222, 210, 66, 28, "output")
    put_text(axes, 222, 210, "out", "output", weight="bold")
    put_arrow(axes, (189, 214), (30, 234))
    put_text(axes, 14, 236, "+", weight="bold")
    _hook(axes, 222, 46, 11, "left")
    _hook(axes, 222, 184, -11, "right")
    return plots.figure(
        fig,
        alt="The residual stream x runs down on the left. The modules query, key and value each "
        "read it; attention combines them head by head; the heads' outputs, side by side, enter "
        "the module out, whose result is added to x. One hook sits at the entrance of key, one "
        "at the entrance of out.",
        caption="A hook changes what one module receives: at out, the outputs of the heads; at "
        "key, what the keys are computed from.",
    )


@styled()
def patching() -> Figure:
    """Draw two runs of one model, and the output of a head carried from one into the other."""
    fig, axes = sheet(206)
    for x, name, letter, answer in ((84, "clean run", "s", "a"), (276, "corrupted run", "d", "a?")):
        put_text(axes, x, 12, name, weight="bold")
        put_text(axes, x, 38, f"... {letter} a ... s")
        put_arrow(axes, (x, 50), (x, 78))
        put_box(axes, x, 96, 116, 36, "accent" if x < 180 else "output")
        put_text(axes, x, 88, "one head,")
        put_text(axes, x, 104, "one position")
        put_arrow(axes, (x, 114), (x, 142))
        put_text(axes, x, 156, "later layers", "muted")
        put_arrow(axes, (x, 166), (x, 184))
        put_text(axes, x, 196, answer, "output", weight="bold")
    put_arrow(axes, (142, 96), (218, 96), "accent", order=3, linewidth=3)
    put_text(axes, 180, 82, "put in", "accent")
    return plots.figure(
        fig,
        alt="Two runs side by side. The clean run reads ... s a ... s and answers a. The "
        "corrupted run reads ... d a ... s. A thick arrow puts the output of one head at one "
        "position of the clean run into the corrupted run; whether it answers a is the question.",
        caption="A patch: the corrupted run goes on with one head's output, at one position, "
        "from the clean run.",
    )


def _hook(axes: Axes, x: int, y: int, aside: int, ha: str) -> None:
    """Draw a hook on an arrow, with its name."""
    axes.add_patch(Circle((x, y), 6, facecolor=palette.light("accent"), zorder=4))
    put_text(axes, x + aside, y, "hook", "accent", ha=ha, weight="bold")


def _middle(at: int) -> float:
    return 4 + CELL * (at + 0.5)


def _token(axes: Axes, at: int, y: int, token: int, role: str) -> None:
    """Draw a token in its box."""
    put_box(axes, _middle(at), y, CELL - 4, TALL, role)
    put_text(axes, _middle(at), y, str(token), "muted" if role == "masked" else role)


def _components(axes: Axes, top: int) -> None:
    """Draw a query and two keys as halves of vectors: the token itself, and the one before."""
    for x, half in ((166, "I am"), (266, "after")):
        put_text(axes, x, top, half, "muted")
        for at, token in enumerate("159"):
            put_text(axes, x + 26 * (at - 1), top + 20, token, "muted")
    rows = (("query: last 9", 2, 1, ""), ("key: 1 after 9", 0, 2, "1"),
            ("key: 9 after 1", 2, 0, "0"))  # fmt: skip
    for row, (name, own, before, score) in enumerate(rows):
        y, part = top + 48 + 32 * row, "key" if score else "query"
        put_text(axes, 116, y, name, part, ha="right")
        for x, hot, read in ((166, own, "query"), (266, before, "key")):
            role = part if part == read else "masked"
            put_box(axes, x, y, 82, 26, role, linewidth=2 if part == read else 1)
            for at in range(3):
                put_text(axes, x + 26 * (at - 1), y, str(int(at == hot)),
                         role if part == read else "muted",
                         weight="bold" if at == hot else "normal")  # fmt: skip
        put_text(axes, 336, y, score or "score", "ink" if score else "muted",
                 weight="bold" if score else "normal")  # fmt: skip
