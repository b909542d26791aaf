"""A page brings what it uses: of scripts, styles, icons and letters, the rest is left out."""

import hashlib
import re
from pathlib import Path

NEEDED_FOR = {  # what a file's name, or a script's text, says: what it serves on a page
    "thebe": r"(?!)",  # the cells run in JupyterLab
    "toggle": r'class="[^"]*(?<![\w-])(?:toggle|dropdown)(?![\w-])',
    "sphinx-design": r'class="[^"]*(?<![\w-])sd-',
    "design-tabs": r'class="[^"]*(?<![\w-])sd-tab-',
    "clipboard": r'class="highlight',
    "copybutton": r'class="highlight',
}
ICON = re.compile(rb"\bfa-([a-z0-9-]+)")
ICON_RULE = re.compile(r'((?:\.fa-[a-z0-9-]+:before,?)+)\{content:"\\([0-9a-f]+)"\}')
SAID_ICON = re.compile(r'content:"\\([ef][0-9a-f]{3})"')
EXTENDED = re.compile(
    rb"[\xc4-\xc9][\x80-\xbf]|\xe1[\xb8-\xbb][\x80-\xbf]"
)  # beyond western Europe
OLD_FONT = re.compile(r',url\([^)]*\) format\("(?:woff|truetype)"\)')  # for browsers before 2018


def leave_out(app, page, template, context, doctree):
    """Take off a page the files that nothing on it needs."""
    body = context.get("body") or ""
    unneeded = [word for word, use in NEEDED_FOR.items() if not re.search(use, body)]
    for kind in ("script_files", "css_files"):
        files = context.get(kind, [])
        files[:] = [
            file for file in files if not any(word in searched_text(file) for word in unneeded)
        ]


def searched_text(file):
    """The name of a script or style, or its text if it stands on the page."""
    name = str(getattr(file, "filename", None) or "").rpartition("/")[2]
    return (name + (getattr(file, "attributes", {}).get("body") or "")).lower()


def slim(app, error):
    """Cut the theme's icons, and the letters of rarer names, to those that the pages use."""
    if error or app.builder.format != "html":
        return
    out = Path(app.outdir)
    pages = [page.read_bytes() for page in out.rglob("*.html") if "_static" not in page.parts]
    scripts = [script.read_bytes() for script in (out / "_static" / "scripts").glob("*theme.js")]
    names = {name.decode() for text in pages + scripts for name in ICON.findall(text)}
    letters = {ord(letter.decode()) for text in pages for letter in EXTENDED.findall(text)}
    icons = keep_icons(out / "_static" / "styles", names)
    cache = Path(app.doctreedir) / "fonts"
    for font in (out / "_static" / "vendor" / "fontawesome").rglob("*.woff2"):
        cut(font, icons, cache)
    for font in (out / "_static" / "fonts").glob("*-latin-ext-*.woff2"):
        cut(font, letters, cache)


def keep_icons(styles, names):
    """Cut the theme's style to the icons of these names, and say at which points they lie."""
    theme = styles / "pydata-sphinx-theme.css"
    said_elsewhere = SAID_ICON.findall((styles / "sphinx-book-theme.css").read_text("utf8"))
    kept = {int(point, 16) for point in said_elsewhere}

    def keep(rule):
        if not names.intersection(re.findall(r"fa-([a-z0-9-]+)", rule[1])):
            return ""
        kept.add(int(rule[2], 16))
        return rule[0]

    text = OLD_FONT.sub("", ICON_RULE.sub(keep, theme.read_text("utf8")))
    theme.write_text(text, "utf8")
    return kept


def cut(font, points, cache):
    """Cut a font to these characters; what was cut before lies in the cache."""
    key = hashlib.sha256(repr(sorted(points)).encode() + font.read_bytes()).hexdigest()
    made = cache / key
    if not made.exists():
        from fontTools import subset  # a rebuild does without

        options = subset.Options(flavor="woff2")
        whole = subset.load_font(str(font), options)
        subsetter = subset.Subsetter(options)
        subsetter.populate(unicodes=points)
        subsetter.subset(whole)
        cache.mkdir(exist_ok=True)
        subset.save_font(whole, str(made), options)
    font.write_bytes(made.read_bytes())


def setup(app):
    app.connect("html-page-context", leave_out, priority=950)
    app.connect("build-finished", slim)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
