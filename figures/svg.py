"""A drawing as text: a matplotlib figure turned into a small SVG that follows light and dark."""

import hashlib
import io
import re
from collections.abc import Collection
from dataclasses import dataclass
from html import escape

import matplotlib
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure as Drawing

from figures import palette

SETTINGS = {
    "font.size": 11.5,
    "font.family": "DejaVu Sans",
    "axes.titlesize": 11.5,
    "axes.labelsize": 11.5,
    "xtick.labelsize": 11.5,
    "ytick.labelsize": 11.5,
    "legend.fontsize": 11.5,
    "legend.frameon": False,
    "axes.titlelocation": "left",
    "axes.titlepad": 8,
    "axes.linewidth": 0.8,
    "axes.edgecolor": palette.light("muted"),
    "axes.labelcolor": palette.light("ink"),
    "axes.titlecolor": palette.light("ink"),
    "text.color": palette.light("ink"),
    "xtick.color": palette.light("muted"),
    "ytick.color": palette.light("muted"),
    "xtick.labelcolor": palette.light("ink"),
    "ytick.labelcolor": palette.light("ink"),
    "grid.color": palette.light("line"),
    "grid.linewidth": 0.6,
    "lines.linewidth": 2,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.unicode_minus": True,
    "axes.axisbelow": True,
    "hatch.linewidth": 0.8,
    "svg.fonttype": "none",
    "svg.hashsalt": "attention",
    "axes.prop_cycle": matplotlib.cycler(
        color=[palette.light(f"series-{i}") for i in range(1, 6)],
        linestyle=["-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1))],
    ),
}

_NAMES = {colour.light: name for name, colour in reversed(palette.VARIABLES.items())}
# A notebook that Jupyter does not trust loses its SVG elements and styles but not their text.
# There the picture stays hidden and its description is shown; wherever there is a style, this one
# turns it round.
_SEEN = ".course-picture{display:block!important}.course-unseen{display:none}"
_READABLE = 1.3  # pixels for each unit at most: 11.5 units become 15 pixels


@dataclass(frozen=True)
class Figure:
    """A picture for a page: SVG of real text, its description for those who hear it, its claim."""

    svg: str
    alt: str
    caption: str

    def _repr_html_(self) -> str:
        return (
            f'<figure class="course-figure" style="margin:1rem 0">'
            f'<div class="course-picture" style="display:none">{self.svg}</div>'
            f'<p class="course-unseen">{escape(self.alt)}</p>'
            f"<figcaption>{escape(self.caption, quote=False)}</figcaption></figure>"
        )

    def __repr__(self) -> str:
        return f"Figure: {self.alt}"


def described(alt: str, caption: str) -> None:
    """Refuse a figure that says nothing to those who cannot see it, or that claims nothing.

    Raises: ValueError that says which of the two is missing.
    """
    for name, text, wants in (
        ("alt", alt, "what is to be seen, for those who cannot see it"),
        ("caption", caption, "what the figure claims, in one sentence"),
    ):
        if not isinstance(text, str) or not text.strip():
            raise ValueError(f"A figure needs {name}=: {wants}.")
        if "\n" in text:
            raise ValueError(f"A figure's {name} is one line, and this one holds a line break.")


def styled():
    """The course's look, for as long as a figure is drawn: a context, and a decorator."""
    return matplotlib.rc_context(SETTINGS)


def canvas(width: float | int = 360, height: float | int = 240, **layout) -> tuple[Drawing, Axes]:
    """Open a styled figure of one pair of axes; 360 units fill a telephone's screen.

    What is drawn takes its colours from `figures.palette.light(role)`.
    """
    with styled():
        fig = Drawing(figsize=(width / 72, height / 72), layout="constrained")
        FigureCanvasSVG(fig)
        return fig, fig.add_subplot(**layout)


def figure(fig: Drawing, alt: str, caption: str) -> Figure:
    """Turn any matplotlib figure into a `Figure`.

    Raises: ValueError if the alt text or the caption is missing.
    """
    described(alt, caption)
    return Figure(picture(fig, f'role="img" aria-label="{escape(alt)}"'), alt, caption)


def picture(fig: Drawing, attributes: str) -> str:
    """The inline SVG of a matplotlib figure, opened with these attributes."""
    buffer = io.StringIO()
    with styled():
        nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        fig.savefig(buffer, format="svg", transparent=True, metadata=nothing)
    svg = _themed(_slim(buffer.getvalue()))
    width, height = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg).groups()
    body = svg[svg.index(">", svg.index("<svg")) + 1 :]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
        f'viewBox="0 0 {width} {height}" {attributes} '
        f'style="width:100%;max-width:{float(width) * _READABLE:.0f}px;height:auto;'
        f'font-family:var(--sans,system-ui,sans-serif);fill:currentColor;stroke-linejoin:round">{body}'
    )


def _slim(svg: str) -> str:
    """Drop what no browser needs: comments, metadata, unused ids, digits beyond a hundredth."""
    svg = svg[svg.index("<svg") :]
    unwanted = r"<!--.*?-->|<metadata>.*?</metadata>|<style.*?</style>"
    svg = re.sub(unwanted, "", svg, flags=re.DOTALL)
    used = set(re.findall(r'(?:href="#|url\(#)([^")]+)', svg))
    svg = re.sub(r' id="([^"]+)"', lambda m: m[0] if m[1] in used else "", svg)
    svg = re.sub(r"<[^>]+>", lambda tag: re.sub(r"\d+\.\d{3,}", _hundredths, tag[0]), svg)
    svg = re.sub(r' transform="rotate\(-?0 [^)]*\)"', "", svg)  # of every upright word
    svg = re.sub(r" font-family: [^;\"]*;?", "", svg)  # the page's, which is set on the root
    svg = re.sub(r"\s*\n\s*", " ", svg).replace("> <", "><").strip()
    salt = hashlib.sha256(svg.encode()).hexdigest()[:6]
    svg = re.sub(r' id="([^"]+)"', rf' id="f{salt}\1"', svg)
    return re.sub(r'(href="#|url\(#)', rf"\1f{salt}", svg)


def _hundredths(number: re.Match) -> str:
    return f"{float(number[0]):.2f}".rstrip("0").rstrip(".")


def _themed(svg: str) -> str:
    """Name each colour by its role, and take along the dark values for pages without the book."""
    names = []

    def named(match: re.Match) -> str:
        code = match[0].lower()
        if code in ("#000000", palette.light("ink")):
            return "currentColor"
        if code not in _NAMES:
            return code
        names.append(_NAMES[code])
        return f"var(--{_NAMES[code]},{code})"

    svg = re.sub(r"#[0-9a-fA-F]{6}\b", named, svg)
    css = palette.dark_css(sorted(set(names))) if names else ""
    end = svg.index(">") + 1
    return f"{svg[:end]}<style>{_SEEN}{css}</style>{svg[end:]}"


def legend_size(names: Collection[str]) -> tuple[int, int]:
    """Rows and columns for the names above the axes, as wide as fits; one curve needs none."""
    columns = max(1, min(len(names), 3, 50 // (max(map(len, names)) + 6)))
    return (-(-len(names) // columns) if len(names) > 1 else 0), columns


def put_head(ax: Axes, title: str, names: Collection[str]) -> None:
    """A title, and over several curves their names in rows above the axes."""
    rows, columns = legend_size(names)
    ax.set_title(title, pad=6 + 18 * rows if title and rows else 8)
    if rows:
        ax.legend(
            loc="lower left", bbox_to_anchor=(-0.02, 1), ncols=columns,
            handlelength=2, columnspacing=1.2, borderpad=0.2,
        )  # fmt: skip
