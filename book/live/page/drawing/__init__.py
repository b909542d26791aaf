"""The part of matplotlib that the course's figures need, written for the browser.

The figures of the course are drawn by their own modules, which call matplotlib; a page has no
matplotlib, whose compiled parts nobody offers for it, so these few classes stand in for it. They
write the same kind of SVG: the same texts, shapes and colours, with margins that are estimated and
not measured.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from book.live.page.drawing.axes import Axes
from book.live.page.drawing.boxes import Bbox, Renderer
from book.live.page.drawing.figure import Drawing
from book.live.page.drawing.shapes import (
    Arc,
    Circle,
    FancyArrowPatch,
    FancyBboxPatch,
    Path,
    PathPatch,
    Polygon,
    Rectangle,
)


@contextmanager
def rc_context(settings: dict[str, Any]) -> Iterator[None]:
    """Take the course's settings for granted: they are built into these classes."""
    yield


class ListedColormap:
    """A list of colours for the numbers from the lowest to the highest."""

    def __init__(self, colours: list[str], name: str) -> None:
        self.colours = colours

    def __call__(self, share: float) -> str:
        return self.colours[max(0, min(len(self.colours) - 1, int(share * len(self.colours))))]


PATCHES = (Arc, Circle, FancyArrowPatch, FancyBboxPatch, PathPatch, Polygon, Rectangle)
MODULES: dict[str, dict[str, Any]] = {
    "": {"rc_context": rc_context, "cycler": lambda **names: names},
    "axes": {"Axes": Axes},
    "figure": {"Figure": Drawing},
    "path": {"Path": Path},
    "patches": {patch.__name__: patch for patch in PATCHES},
    "colors": {"ListedColormap": ListedColormap},
    "transforms": {"Bbox": Bbox},
    "backends": {},
    "backends.backend_agg": {"RendererAgg": Renderer},
    "backends.backend_svg": {"FigureCanvasSVG": lambda figure: None},
}
"""What `import matplotlib` finds, by the name of the module; pyplot is not among them."""
