"""Schematic of chapter 17: the twenty faults, each beside its step, and what a hunt leaves."""

from collections.abc import Collection, Mapping
from itertools import pairwise

from figures import plots
from figures.drawing import put_arrow, put_box, put_text, sheet
from figures.svg import Figure, styled

STEPS = {
    "embeddings": ("M58",),
    "layer norms": ("M51", "M53", "M50", "M56"),
    "Q, K, V": ("M43",),
    "split heads": ("M37",),
    "scores": ("M01", "M03"),
    "mask": ("M23", "M22", "M27", "M20", "M21"),
    "softmax": ("M11",),
    "merge heads": ("M38",),
    "output proj.": ("M40",),
    "residual": ("M35", "M62"),
    "feed-forward": ("M54",),
}
"""The steps of the model, from the input on, each with the keys of its faults."""

MEANS = {
    "M58": "each token gets the position after its own",
    "M51": "divides by d \N{MINUS SIGN} 1 instead of d",
    "M53": "mean over the tokens, not the components",
    "M50": "normalises after each addition",
    "M56": "the last block goes straight to the LM head",
    "M43": "queries and keys are exchanged",
    "M37": "a row of a head holds pieces of other tokens",
    "M01": "scores are not divided by \N{SQUARE ROOT}d_k",
    "M03": "scores are divided by \N{SQUARE ROOT}d_model",
    "M23": "allows the future and forbids the past",
    "M22": "no token may read itself",
    "M27": "masks the rows of padding, not its columns",
    "M20": "future scores are 0, not \N{MINUS SIGN}\N{INFINITY}",
    "M21": "future weights are set to 0 after the softmax",
    "M11": "the columns sum to 1, not the rows",
    "M38": "a row gets the outputs of other tokens",
    "M40": "heads are concatenated, and not projected",
    "M35": "x + x + change",
    "M62": "every call sets random numbers to 0",
    "M54": "GPT-2 has the tanh form",
}
"""What each fault does, in half a line."""

LINE = 30  # the height of a fault: its name and what it does


@styled()
def suspect_map(names: Mapping[str, str], left: Collection[str]) -> Figure:
    """Draw the steps of the model, from the input on, with the faults that each can have.

    `names` has the name of each fault by its key; names that are not `left` are crossed out.
    Raises: ValueError unless the keys are those of `STEPS`.
    """
    if set(names) != {key for keys in STEPS.values() for key in keys}:
        raise ValueError(f"`names` must have the keys of STEPS; got {sorted(names)}.")
    fig, axes = sheet(sum(LINE * len(keys) + 8 for keys in STEPS.values()) + 2)
    top, middles = 2.0, []
    for step, keys in STEPS.items():
        tall = LINE * len(keys) + 8
        middles.append(top + tall / 2)
        put_box(axes, 46, middles[-1], 88, 20, "muted")
        put_text(axes, 46, middles[-1], step, size=11)
        for line, key in enumerate(keys):
            y, kept = top + 4 + LINE * (line + 0.5), names[key] in left
            put_text(axes, 118, y - 7, names[key], "ink" if kept else "muted", ha="left", size=11.5,
                     weight="bold" if kept else "normal")  # fmt: skip
            put_text(axes, 118, y + 7, MEANS[key], "muted", ha="left", size=10.5)
            if not kept:
                put_text(axes, 106, y - 7, "\N{MULTIPLICATION SIGN}", "muted", size=14)
        top += tall
    for above, below in pairwise(middles):
        put_arrow(axes, (46, above + 10), (46, below - 10))
    listed = [
        f"{step}: " + ", ".join(f"{names[key]} ({MEANS[key]})" for key in keys)
        for step, keys in STEPS.items()
    ]
    return plots.figure(
        fig,
        alt=f"The steps of the model from the input on, and the faults of each. "
        f"{'; '.join(listed)}. Left: {', '.join(name for name in names.values() if name in left)}.",
        caption="The twenty faults, each beside the step that it breaks. Bold: the "
        f"{len(left)} that two tests leave of model 1.",
    )
