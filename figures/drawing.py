"""A sheet to draw on, with text, arrows and boxes at points of it."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing
from matplotlib.patches import FancyBboxPatch

from figures import palette
from figures.svg import canvas

Length = float | int
Point = tuple[Length, Length]


def sheet(height: Length, width: Length = 360) -> tuple[Drawing, Axes]:
    """Open an empty drawing whose units are its pixels, from the upper left corner."""
    fig, axes = canvas(width, height)
    axes.set(xlim=(0, width), ylim=(height, 0))
    axes.axis("off")
    fig.set_layout_engine("none")
    axes.set_position((0, 0, 1, 1))
    return fig, axes


def put_text(axes: Axes, x: Length, y: Length, text: str, role: str = "ink", **style) -> None:
    """Write at a point, in the colour of a role, and centred unless `style` says otherwise."""
    centred = {"ha": "center", "va": "center_baseline"}
    axes.text(x, y, text, color=palette.light(role), **{**centred, **style})


def put_arrow(
    axes: Axes, start: Point, end: Point, role: str = "muted", *, order: int = 1, **line
) -> None:
    """Draw an arrow from one point to another, in the colour of a role."""
    style = {"arrowstyle": "-|>", "color": palette.light(role), "linewidth": 1.5,
             "shrinkA": 0, "shrinkB": 0, **line}  # fmt: skip
    axes.annotate("", end, start, arrowprops=style, zorder=order)


def put_box(
    axes: Axes, x: Length, y: Length, width: Length, height: Length, role: str, **line
) -> None:
    """Draw a rounded box around a point, with a border in the colour of a role."""
    axes.add_patch(
        FancyBboxPatch(
            (x - width / 2, y - height / 2), width, height,
            boxstyle="round,pad=0,rounding_size=4", facecolor=palette.light("surface"),
            edgecolor=palette.light(role), **{"linewidth": 1.1, **line},
        )
    )  # fmt: skip
