"""What a page looks like where it is linked or kept: its card in a message, its icon on a screen.

Cards are drawn with our own letters and colours. sphinxext-opengraph was tried and left out: it
draws with matplotlib, which the book does not need, in another size than the one asked for, and
describes a page by its first words and not by its description.
"""

import functools
import math
from html import escape
from pathlib import Path
from xml.etree import ElementTree

from docutils import nodes
from PIL import Image, ImageColor, ImageDraw, ImageFont, PngImagePlugin

from book.extensions.addresses import address
from figures.palette import light, step

SIZE = (1200, 630)
LEFT, WIDTH = 80, 660  # of the words
GRID = {"at": (800, 155), "cell": 40, "gap": 6, "tokens": 7}
LETTERS = "@fontsource-variable/source-sans-3/files/source-sans-3-latin-wght-normal.woff2"
ICONS = {"favicon.ico": 32, "apple-touch-icon.png": 180}  # for what cannot read the SVG


@functools.cache
def letters(source, size, weight):
    """The book's own typeface, at a size and a weight."""
    font = ImageFont.truetype(str(Path(source) / "node_modules" / LETTERS), size)
    font.set_variation_by_axes([weight])
    return font


def lines(text, font):
    """The text broken into lines that fit."""
    rows = [""]
    for word in text.split():
        longer = f"{rows[-1]} {word}".strip()
        if font.getlength(longer) <= WIDTH:
            rows[-1] = longer
        else:
            rows.append(word)
    return "\n".join(rows)


def weights(tokens):
    """A causal table of weights that fall with the distance: softmax of minus half of it."""
    for query in range(tokens):
        raised = [math.exp((key - query) / 2) for key in range(query + 1)]
        yield [one / sum(raised) for one in raised]


def draw_grid(draw):
    """The table, a row for each query, with its zeros as empty frames."""
    (x, y), size = GRID["at"], GRID["cell"] + GRID["gap"]
    for i, row in enumerate(weights(GRID["tokens"])):
        for j in range(GRID["tokens"]):
            left, top = x + j * size, y + i * size
            box = (left, top, left + GRID["cell"], top + GRID["cell"])
            fill = light(step(row[j])) if j <= i else light("paper")
            draw.rounded_rectangle(box, 7, fill=fill, outline=light("line"), width=1)


def draw_card(source, book, title, description):
    """A card of a page: whose it is, its title, what it says of itself."""
    card = Image.new("RGB", SIZE, light("paper"))
    draw = ImageDraw.Draw(card)
    draw.rectangle((0, 0, 14, SIZE[1]), fill=light("accent"))
    draw_grid(draw)
    draw.text((LEFT, 70), book, light("muted"), letters(source, 30, 500))
    head, body = letters(source, 76, 700), letters(source, 32, 400)
    broken = lines(title, head)
    draw.multiline_text((LEFT, 135), broken, light("ink"), head, spacing=8)
    below = draw.multiline_textbbox((LEFT, 135), broken, head, spacing=8)[3] + 34
    draw.multiline_text((LEFT, below), lines(description, body), light("muted"), body, spacing=12)
    return card.quantize(128, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)


def words_of(file):
    """What a card that was kept says."""
    with Image.open(file) as card:
        return card.text.get("Description")


def keep_card(app, page, title, description):
    """Draw the card of a page unless the one there says the same; give its name."""
    words = f"{title}: {description}"
    name = f"_static/cards/{page.replace('/', '-')}.png"
    file = Path(app.outdir) / name
    if not file.exists() or words_of(file) != words:
        said = PngImagePlugin.PngInfo()
        said.add_itxt("Description", words)
        file.parent.mkdir(parents=True, exist_ok=True)
        book = "A course that runs" if page == "index" else app.config.html_title
        draw_card(app.srcdir, book, title, description).save(file, pnginfo=said)
    return name


def described(doctree):
    """What the page says of itself, for search engines and for cards."""
    found = (one["content"] for one in doctree.findall(nodes.meta) if one["name"] == "description")
    return next(found, "")


def tag_page(app, page, template, context, doctree):
    """Say in the page's head which icons and which card it has."""
    small, large = (context["pathto"](f"_static/{name}", True) for name in ICONS)
    tags = [
        f'<link rel="icon" sizes="32x32" href="{small}" />',
        f'<link rel="apple-touch-icon" href="{large}" />',
    ]
    if doctree:
        title = app.env.titles[page].astext()
        description = described(doctree)
        card = app.config.html_baseurl + keep_card(app, page, title, description)
        said = {
            "og:type": "website" if page == "index" else "article",
            "og:site_name": app.config.html_title,
            "og:title": title,
            "og:description": description,
            "og:url": address(app, page),
            "og:image": card,
            "og:image:width": SIZE[0],
            "og:image:height": SIZE[1],
            "og:image:alt": f"{title}, beside a table of attention weights that looks back",
        }
        tags += [
            f'<meta property="{name}" content="{escape(str(value))}" />'
            for name, value in said.items()
        ]
        tags.append('<meta name="twitter:card" content="summary_large_image" />')
    context["metatags"] = context.get("metatags", "") + "\n".join(["", *tags, ""])


def draw_icons(app):
    """The icon as pixels, out of the rectangles of favicon.svg."""
    if app.builder.format != "html":
        return
    drawing = ElementTree.parse(Path(app.srcdir) / "book" / "assets" / "favicon.svg").getroot()
    large = draw_icon(drawing, 720)
    out = Path(app.outdir) / "_static"
    out.mkdir(parents=True, exist_ok=True)
    for name, size in ICONS.items():
        large.resize((size, size), Image.Resampling.LANCZOS).save(out / name)


def draw_icon(drawing, size):
    """Its rectangles, in order, each over what stands there; iOS rounds the corners itself."""
    scale = size / float(drawing.get("viewBox").split()[2])
    icon = Image.new("RGBA", (size, size))
    outer, group = drawing
    icon.paste(ImageColor.getrgb(outer.get("fill")), (0, 0, size, size))
    fill = ImageColor.getrgb(group.get("fill"))
    for cell in group:
        x, y, width, height, r = (
            scale * float(cell.get(name)) for name in ("x", "y", "width", "height", "rx")
        )
        over = Image.new("RGBA", icon.size)
        seen = (*fill, round(255 * float(cell.get("opacity", 1))))
        ImageDraw.Draw(over).rounded_rectangle((x, y, x + width, y + height), r, fill=seen)
        icon = Image.alpha_composite(icon, over)
    return icon


def setup(app):
    app.connect("builder-inited", draw_icons)
    app.connect("html-page-context", tag_page, priority=600)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
