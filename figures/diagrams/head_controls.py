"""A schematic of chapter 4: one sentence, what a head should look at, and its controls."""

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch
from matplotlib.path import Path

from figures import palette, plots
from figures.drawing import Length, put_box, put_text, sheet
from figures.svg import Figure, styled

ROW, TOP = 27, 18  # the height of a token, and the middle of the first
WORD, HALF = 168, 40  # where the tokens stand, and half the width of their boxes


@styled()
def sentence_with_controls(
    tokens: Sequence[str], subject: int, controls: Mapping[str, int], weights: Sequence[float]
) -> Figure:
    """Draw a sentence downwards: arrows from its last token, and those of the words between.

    `controls` has the index of a token for each reason that is tested at the last token;
    `weights` are those of the subject, of these tokens, and the mean of the words between.
    Raises: ValueError unless there are a weight for the subject, for each control and one more.
    """
    if len(weights) != len(controls) + 2:
        raise ValueError(f"{len(controls)} controls need {len(controls) + 2} weights; "
                         f"got {len(weights)}.")  # fmt: skip
    last = len(tokens) - 1
    fig, axes = sheet(TOP + ROW * len(tokens))
    for i, token in enumerate(tokens):
        role = "query" if i == last else "key" if i == subject else "muted"
        put_box(axes, WORD, _middle(i), 2 * HALF, 20, role, linewidth=2.2 if role != "muted" else 1)
        put_text(axes, WORD, _middle(i), token, weight="bold" if role != "muted" else "normal")
    aims = {"the subject": subject, **controls}
    for (name, aim), weight in zip(aims.items(), weights, strict=False):
        role = "query" if aim == subject else "muted"
        _arc(axes, last, aim, 1, role, thick=aim == subject)
        put_text(axes, WORD + HALF + 60, _middle(aim) - 7, name, role, ha="left",
                 weight="bold" if aim == subject else "normal")  # fmt: skip
        put_text(axes, WORD + HALF + 60, _middle(aim) + 7, f"{weight:.2f}", role, ha="left")
    for i in range(subject + 1, last):
        _arc(axes, i, subject, -1, "muted", thick=False)
    for shift, line in ((-14, "the words"), (0, "between:"), (14, f"mean {weights[-1]:.2f}")):
        put_text(axes, 4, _middle(subject + 1) + shift, line, "muted", ha="left")
    listed = ", ".join(
        f"{weight:.2f} to {name}, {tokens[aim]}"
        for (name, aim), weight in zip(aims.items(), weights, strict=False)
    )
    return plots.figure(
        fig,
        alt=f"The sentence {' '.join(tokens)}, one token below the other. Arrows from the last "
        f"token, {tokens[last]}: {listed}. Arrows from the words between to the subject: "
        f"{weights[-1]:.2f} on average.",
        caption=f"On the right, the weights of {tokens[last]}. The strong arrow is the claim, "
        "each thin arrow a control, which should get little.",
    )


def _middle(i: int) -> int:
    return TOP + ROW * i


def _arc(axes: Axes, start: int, end: int, side: int, role: str, *, thick: bool) -> None:
    """Draw an arc from one token to an earlier one, to the right (1) or to the left (-1)."""
    x: Length = WORD + side * (HALF + 2)
    out = x + side * (18 + 5 * (start - end))
    shift = 4 * side if start == end else 0
    path = Path([(x, _middle(start) + shift), (out, _middle(start)), (out, _middle(end)),
                 (x, _middle(end))], [1, 4, 4, 4])  # fmt: skip
    axes.add_patch(
        FancyArrowPatch(
            path=path, arrowstyle="-|>", mutation_scale=11, linewidth=3.2 if thick else 1.3,
            linestyle="-", color=palette.light(role), joinstyle="miter", capstyle="butt",
        )
    )  # fmt: skip
