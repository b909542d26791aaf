"""Points and arrows in the plane, with names that keep out of each other's way."""

from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Real
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.figure import Figure as Drawing
from matplotlib.transforms import Bbox

from figures import palette
from figures.svg import Figure, canvas, described, figure, styled

_MARKERS = "osD^v"
Pairs = Real[np.ndarray, "n 2"] | Sequence[Sequence[float | int]]
_AROUND = [
    (1, 0), (0, 1), (0, -1), (-1, 0), (0.8, 0.8), (0.8, -0.8), (-0.8, 0.8), (-0.8, -0.8),
]  # fmt: skip


@styled()
def scatter(
    points: Pairs,
    names: Sequence[str],
    *,
    alt: str,
    caption: str,
    groups: Sequence[str] | None = None,
    roles: Mapping[str, str] | None = None,
    title: str = "",
    x_label: str = "",
    y_label: str = "",
    equal: bool = True,
) -> Figure:
    """Draw named points; `groups` names each point's family, which has a marker and a colour.

    Raises: ValueError if alt or caption is missing, or there is not one name to a point.
    """
    described(alt, caption)
    points = _pairs(points, names)
    families = list(groups) if groups is not None else [""] * len(points)
    kinds = list(dict.fromkeys(families))
    fig, ax = canvas(360, 330)
    for i, kind in enumerate(kinds):
        chosen = points[[family == kind for family in families]]
        role = (roles or {}).get(kind, f"series-{i % 5 + 1}")
        marker = {"marker": _MARKERS[i % 5], "s": 34, "color": palette.light(role)}
        ax.scatter(*chosen.T, label=kind, zorder=3, linewidth=0, **marker)
    _frame(ax, points, title, x_label, y_label, equal)
    if len(kinds) > 1:
        place = {"loc": "lower left", "bbox_to_anchor": (-0.02, 1), "ncols": min(len(kinds), 3)}
        ax.legend(**place, handletextpad=0.1, columnspacing=1)
    _name_points(fig, ax, points, names)
    return figure(fig, alt, caption)


@styled()
def arrows(
    vectors: Pairs,
    names: Sequence[str],
    *,
    alt: str,
    caption: str,
    roles: Sequence[str] | None = None,
    starts: Pairs | None = None,
    title: str = "",
    x_label: str = "",
    y_label: str = "",
) -> Figure:
    """Draw named arrows from the origin, or each from its place in `starts`.

    Raises: ValueError if alt or caption is missing, or there is not one name to a vector.
    """
    described(alt, caption)
    vectors = _pairs(vectors, names)
    begins = np.zeros_like(vectors) if starts is None else _pairs(starts, names)
    tips = begins + vectors
    fig, ax = canvas(360, 330)
    _frame(ax, np.vstack([tips, begins]), title, x_label, y_label, True)
    ax.axhline(0, color=palette.light("line"), linewidth=0.8)
    ax.axvline(0, color=palette.light("line"), linewidth=0.8)
    chosen = roles or [f"series-{i % 5 + 1}" for i in range(len(names))]
    for begin, tip, role in zip(begins, tips, chosen, strict=True):
        look = {"arrowstyle": "-|>,head_width=.28,head_length=.55", "lw": 2, "shrinkA": 0}
        arrow = look | {"shrinkB": 0, "color": palette.light(role), "joinstyle": "miter"}
        ax.annotate("", tip, begin, arrowprops=arrow)
    shafts = np.vstack([begins + (tips - begins) * share for share in (0.3, 0.5, 0.65, 0.8, 0.93)])
    inks = [palette.light(role) for role in chosen]
    _name_points(fig, ax, tips, names, also=shafts, inks=inks)
    return figure(fig, alt, caption)


def _pairs(points, names: Sequence[str]) -> Real[np.ndarray, "n 2"]:
    points = np.asarray(points, dtype=float)
    if points.shape != (len(names), 2):
        raise ValueError(
            f"{len(names)} names need an array of shape ({len(names)}, 2), and got {points.shape}."
        )
    return points


def _frame(ax: Axes, points, title: str, x_label: str, y_label: str, equal: bool) -> None:
    low, high = points.min(axis=0), points.max(axis=0)
    span = np.full(2, (high - low).max()) if equal else high - low
    # Room for the names: they stand beside the outermost points too.
    middle, half = (low + high) / 2, np.where(span == 0, 1, span) * (0.64, 0.6)
    ax.set_xlim(middle[0] - half[0], middle[0] + half[0])
    ax.set_ylim(middle[1] - half[1], middle[1] + half[1])
    if equal:
        ax.set_aspect("equal", adjustable="box")
    ax.grid(True)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    ax.set_title(title)
    ax.set(xlabel=x_label, ylabel=y_label)


def _name_points(fig: Drawing, ax: Axes, points, names, also=None, inks=None) -> None:
    """Put each name at the free place round its point that covers least of what is drawn."""
    renderer = RendererAgg(*(fig.get_size_inches() * 72), 72)
    fig.draw_without_rendering()
    centres = ax.transData.transform(points) * 72 / fig.dpi
    others = centres if also is None else np.vstack(
        [centres, ax.transData.transform(also) * 72 / fig.dpi]
    )  # fmt: skip
    frame = Bbox(ax.get_window_extent().get_points() * 72 / fig.dpi)
    placed: list[Bbox] = []
    for i, (centre, name) in enumerate(zip(centres, names, strict=True)):
        ink = inks[i] if inks else palette.light("ink")
        text = ax.text(*points[i], name, ha="center", va="center", color=ink)
        width, height, _ = renderer.get_text_width_height_descent(
            name, text.get_fontproperties(), False
        )
        boxes = _boxes(centre, width, max(height, 11.0))
        best = min(boxes, key=lambda box: _cost(box, centre, placed, others, frame))
        placed.append(best)
        middle = np.array([(best.x0 + best.x1) / 2, (best.y0 + best.y1) / 2]) * fig.dpi / 72
        text.set_position(ax.transData.inverted().transform(middle))


def _boxes(centre, width: float, height: float) -> list[Bbox]:
    boxes = []
    for gap in (6, 14, 24):
        for right, up in _AROUND:
            x = centre[0] + right * (gap + width / 2)
            y = centre[1] + up * (gap + height / 2)
            boxes.append(Bbox.from_bounds(x - width / 2, y - height / 2, width, height))
    return boxes


def _cost(box: Bbox, centre, placed: list[Bbox], points, frame: Bbox) -> float:
    """Overlap with names weighs most, then leaving the frame, covering points, and distance."""
    overlaps = 0.0
    for other in placed:
        common = Bbox.intersection(box.padded(2), other)
        overlaps += 0 if common is None else 5 + common.width * common.height
    inside = Bbox.intersection(box, frame)
    outside = box.width * box.height - (0 if inside is None else inside.width * inside.height)
    covered = sum(bool(box.padded(2).contains(*point)) for point in points)
    reach = np.hypot((box.x0 + box.x1) / 2 - centre[0], (box.y0 + box.y1) / 2 - centre[1])
    return 4 * overlaps + 2 * outside + 60 * covered + 0.3 * reach
