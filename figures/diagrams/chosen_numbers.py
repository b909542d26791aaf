"""Schematics of chapter 17's hunt: what a swap changes, and numbers chosen for two heads."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

from figures import palette, plots
from figures.drawing import Length, put_arrow, put_box, put_text, sheet
from figures.svg import Figure, styled

ORDERS = {"before": (1, 2, 3, 4), "after": (2, 1, 3, 4)}  # of four tokens, by the swap
QUERIES = ((1, 1, 1, 1), (1, 2, 1, 3), (3, 2, 2, 1))
VALUES = ((6, 0, 60, 0), (0, 6, 0, 60), (6, 6, 60, 60))
"""Of three tokens: the numbers whose logarithms are the query, and the value, two for each head."""

CELL = 26  # the height of a cell
HEADS = ("series-1", "series-2")


@styled()
def swapped_sets() -> Figure:
    """Draw which tokens each of four tokens reads, before and after the first two are swapped."""
    fig, axes = sheet(172)
    sets: dict[str, list[list[int]]] = {}
    for start, (name, order) in zip((62, 190), ORDERS.items(), strict=True):
        put_text(axes, start, 12, f"{name} the swap", weight="bold", ha="left")
        sets[name] = [list(order[: order.index(token) + 1]) for token in (1, 2, 3, 4)]
        for row, read in enumerate(sets[name]):
            for place, token in enumerate(read):
                x, y = start + 13 + 27 * place, 40 + 30 * row
                role = "accent" if token == row + 1 else "line"
                put_box(axes, x, y, 24, 23, role, linewidth=2.2 if token == row + 1 else 1)
                put_text(axes, x, y, str(token))
        times = sum(1 in read for read in sets[name])
        put_text(axes, start, 160, f"1 is read {times} times", "muted", ha="left", size=11)
    phrases = []
    for row, (first, second) in enumerate(zip(*sets.values(), strict=True)):
        same = set(first) == set(second)
        put_text(axes, 2, 40 + 30 * row, f"token {row + 1}", ha="left")
        put_text(axes, 358, 40 + 30 * row, "same set" if same else "different set",
                 "muted" if same else "accent", ha="right")  # fmt: skip
        phrases.append(
            f"token {row + 1} reads {_together(first)} before and {_together(second)} after"
        )
    counts = [sum(1 in read for read in sets[name]) for name in ORDERS]
    phrases.append(f"token 1 is read {counts[0]} times before and {counts[1]} times after")
    return plots.figure(
        fig,
        alt=f"Four tokens under a causal mask, in the order 1, 2, 3, 4 and then 2, 1, 3, 4. "
        f"{'; '.join(phrases)}.",
        caption="The tokens that each token reads in a correct model; outlined, the token itself. "
        "The swap changes the sets of tokens 1 and 2 alone. Below: how many tokens read token 1, "
        "so how many scores its column holds.",
    )


@styled()
def two_heads() -> Figure:
    """Draw the chosen queries and values of two heads, cut correctly, and what the heads return."""
    fig, axes = sheet(262)
    put_text(axes, 122, 12, "query: logarithms of", weight="bold")
    put_text(axes, 276, 12, "value", weight="bold")
    for row in range(3):
        y = 38 + CELL * row
        put_text(axes, 2, y, f"token {row + 1}", ha="left")
        for column in range(4):
            role = HEADS[column // 2]
            _filled(axes, 72 + 29 * column, y, 29, str(QUERIES[row][column]), role)
            _filled(axes, 223 + 35 * column, y, 35, str(VALUES[row][column]), role)
    phrases = []
    for head, start in enumerate((2, 184)):
        a, b = np.array(QUERIES)[:, 2 * head : 2 * head + 2].T
        e = np.tril(np.stack([a, b, a * b], axis=1))  # (query, key), 0 where the mask forbids
        outputs = e / e.sum(1, keepdims=True) @ np.array(VALUES)[:, 2 * head : 2 * head + 2]
        put_text(axes, start, 132, f"head {head + 1}", HEADS[head], ha="left", weight="bold")
        put_text(axes, start + 38, 154, "exponentials", "muted")
        put_text(axes, start + 130, 154, "output", "muted")
        for row in range(3):
            y = 178 + CELL * row
            for column in range(3):
                text = str(e[row, column]) if column <= row else ""
                _filled(axes, start + 13 + 25 * column, y, 25, text, HEADS[head])
            for column in range(2):
                x = start + 110 + 40 * column
                _filled(axes, x, y, 40, f"{outputs[row, column]:.3g}", HEADS[head])
        put_arrow(axes, (start + 78, 204), (start + 89, 204))
        phrases.append(f"head {head + 1} returns {_rows(outputs)}")
    queries, values = (_rows(numbers) for numbers in (QUERIES, VALUES))
    return plots.figure(
        fig,
        alt=f"Three tokens with four numbers each. Queries, logarithms of: {queries}. Values: "
        f"{values}. The first two numbers of each belong to head 1, the last two to head 2. "
        f"{'; '.join(phrases)}.",
        caption="A correct model gives the first two numbers of every token to head 1 and the last "
        "two to head 2. Cells above the diagonal are masked.",
    )


@styled()
def two_cuts() -> Figure:
    """Draw twelve values in one line, cut for two heads in two ways, and what token 1 gets."""
    fig, axes = sheet(226)
    values, phrases = np.ravel(VALUES), []
    for place in range(3):
        put_text(axes, 62 + 120 * place, 12, f"token {place + 1}", "muted")
    cuts = {"correct cut": [0, 0, 1, 1] * 3, "cut in the middle": [0] * 6 + [1] * 6}
    for top, (name, heads) in zip((28, 130), cuts.items(), strict=True):
        got = [np.flatnonzero(np.array(heads) == head)[:2] for head in (0, 1)]
        put_text(axes, 4, top + 6, name, ha="left", weight="bold")
        for place, (number, head) in enumerate(zip(values, heads, strict=True)):
            x = 18 + 29 * place + 4 * (place // 4)
            if place in np.ravel(got):
                put_box(axes, x, top + 32, 28, CELL, "accent", linewidth=2)
            _filled(axes, x, top + 32, 29, str(number), HEADS[head])
        put_text(axes, 4, top + 68, "token 1 gets", "muted", ha="left")
        for head, places in enumerate(got):
            pair = f"({', '.join(map(str, values[places]))})"
            _filled(axes, 130 + 150 * head, top + 68, 64, pair, HEADS[head])
            put_text(axes, 166 + 150 * head, top + 68, f"head {head + 1}", HEADS[head], ha="left")
            phrases.append(f"{name}: in head {head + 1}, token 1 gets {pair}")
    return plots.figure(
        fig,
        alt=f"The twelve values of three tokens in one line: {', '.join(map(str, values))}. "
        f"{'; '.join(phrases)}.",
        caption="Four values for each token, in the order in which the computer stores them; the "
        "colour is the head that gets them. Cut in the middle, head 2 begins with a value of "
        "token 2.",
    )


@styled()
def wrong_split() -> Figure:
    """Draw twelve numbers in one line, cut for two heads correctly and wrongly."""
    fig, axes = sheet(322)
    queries, values = (np.ravel(numbers) for numbers in (QUERIES, VALUES))
    for place in range(3):
        put_text(axes, 62 + 116 * place, 12, f"token {place + 1}", "muted")
    correct, wrong = [0, 0, 1, 1] * 3, [0] * 6 + [1] * 6  # the head of each number
    for y, title, numbers, heads in (
        (60, "correct cut of the values", values, correct),
        (110, "wrong cut of the values", values, wrong),
        (160, "wrong cut of the queries (logarithms of)", queries, wrong),
    ):
        put_text(axes, 4, y - 24, title, "muted", ha="left", size=11)
        for place, (number, head) in enumerate(zip(numbers, heads, strict=True)):
            x = 18 + 29 * place + 4 * (place // 4)
            _filled(axes, x, y, 29, str(number), HEADS[head])
    for head, start in enumerate((2, 184)):
        put_text(axes, start, 204, f"head {head + 1}", HEADS[head], ha="left", weight="bold")
        put_text(axes, start + 75, 204, "query", "muted")
        put_text(axes, start + 139, 204, "value", "muted")
        for row in range(3):
            y = 228 + CELL * row
            put_text(axes, start, y, f"token {row + 1}", ha="left", size=11)
            for column in range(2):
                at = 6 * head + 2 * row + column
                _filled(axes, start + 61 + 27 * column, y, 27, str(queries[at]), HEADS[head])
                _filled(axes, start + 123 + 32 * column, y, 32, str(values[at]), HEADS[head])
    put_text(axes, 2, 310, "token 2: (6 + 60) / 2 = 33", "accent", ha="left", size=11)
    put_text(axes, 184, 310, "token 1: a value of token 2", "accent", ha="left", size=11)
    return plots.figure(
        fig,
        alt=f"The twelve values in one line: {', '.join(map(str, values))}. Cut correctly, each "
        "token's first two go to head 1 and its last two to head 2. Cut wrongly, the first six go "
        "to head 1 as (6, 0), (60, 0), (0, 6), the last six to head 2 as (0, 60), (6, 6), "
        "(60, 60). The queries are cut in the same way: token 2 of head 1 gets (1, 1).",
        caption="The wrong split cuts the line in the middle. In head 1, token 2 averages the 6 "
        "and the 60 of token 1; in head 2, token 1 gets a value of token 2.",
    )


@styled()
def wrong_merge() -> Figure:
    """Draw what the rows hold where two heads of four tokens are merged correctly and wrongly."""
    fig, axes = sheet(176)
    returned = [(head, token) for head in (0, 1) for token in (1, 2, 3, 4)]
    merges = {
        "correct merge": [returned[row::4] for row in range(4)],
        "without a transpose": [returned[2 * row : 2 * row + 2] for row in range(4)],
    }
    phrases = []
    for start, (name, rows) in zip((46, 206), merges.items(), strict=True):
        put_text(axes, start, 12, name, weight="bold", ha="left")
        for row, cells in enumerate(rows):
            for place, (head, token) in enumerate(cells):
                x, y = start + 36 + 72 * place, 40 + 29 * row
                if token > row + 1:
                    put_box(axes, x, y, 66, CELL - 4, "accent", linewidth=2)
                _filled(axes, x, y, 70, f"token {token}", HEADS[head])
        listed = "; ".join(
            " and ".join(f"head {head + 1} of token {token}" for head, token in cells)
            for cells in rows
        )
        phrases.append(f"{name}: {listed}")
    for row in range(4):
        put_text(axes, 2, 40 + 29 * row, f"row {row + 1}", ha="left")
    for x, head, role in zip((90, 250), ("head 1", "head 2"), HEADS, strict=True):
        _filled(axes, x, 158, 70, head, role)
    return plots.figure(
        fig,
        alt=f"What each of four rows holds. {'. '.join(phrases)}. What belongs "
        "to a later token is outlined: without a transpose, in rows 1 and 2.",
        caption="What each row holds: what a head, by its colour, returns for a token. Outlined: a "
        "later token. Merged without a transpose, rows 1 and 2 hold the future, whatever the mask.",
    )


def _filled(axes: Axes, x: Length, y: Length, width: Length, text: str, role: str) -> None:
    """Draw a cell of a head: on the colour of the head, or empty where the mask forbids."""
    if text:
        half, tall = (width - 3) / 2, (CELL - 3) / 2
        axes.fill_between([x - half, x + half], y - tall, y + tall, linewidth=0, alpha=0.35,
                          color=palette.light(role))  # fmt: skip
        put_text(axes, x, y, text, size=10.5)
    else:
        put_box(axes, x, y, width - 4, CELL - 4, "line", linewidth=1)


def _together(tokens: Sequence[int]) -> str:
    """List tokens in words: 1, 2 and 3."""
    *others, last = map(str, tokens)
    return f"{', '.join(others)} and {last}" if others else last


def _rows(table: Sequence[Sequence[Length]] | np.ndarray) -> str:
    """Write a table in words, row after row."""
    return " | ".join(", ".join(f"{number:.3g}" for number in row) for row in table)
