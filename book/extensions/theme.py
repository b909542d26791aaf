"""What the book needs beyond its theme: the front end copied in, and faults of the theme fixed."""

import re
import shutil
import time
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective

from book.concept_inventory import inventory
from figures import palette

FONTS = ("source-serif-4-*latin*-wght-*.woff2", "source-sans-3-*latin*-wght-normal.woff2")

# The pinned theme still writes each of these.
THEME_FIXES = [  # (what the theme writes, what the page needs)
    # 1.6 MB of script that draws again the icons that the web font has already drawn.
    (r'<script[^>]* src="[^"]*scripts/fontawesome\.js[^"]*"></script>\s*', ""),
    # 97 kB of script that a page needs last would come before its fonts.
    (r'<link rel="preload" as="script"[^>]*>\s*', ""),
    # Nothing is searched but on the search page, and that asks for the index itself.
    (r'(<meta name="docsearch:version"[^>]*>)(?:\s*<script src="[^"]*"></script>){3}', r"\1"),
    # A script that waits lets the page be painted first; the options are read as the page is.
    (r'<script (src="[^"]*(?<!documentation_options)\.js\b[^"]*"></script>)', r"<script defer \1"),
    # What changes the search comes after it, and before the index, whose coming starts it.
    (
        r'(?s)(<script type="module" src="_static/search\.js[^>]*></script>\s*)'
        r'(.*?)(<script defer src="searchindex\.js"></script>)',
        r"\2\1\3",
    ),
    # A dark page is painted dark at once, and not when the theme's script has come.
    (
        r'(dataset\.theme = )localStorage\.getItem\("theme"\) \|\| "auto"',
        r'\1document.documentElement.dataset.mode.replace("auto", '
        r'matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")',
    ),
    # Accessible names that differ from the words on the button.
    (r'<summary aria-label="Toggle hidden content">', "<summary>"),
    (r'(<button class="btn search-button-field[^>]*?) aria-label="Search"', r"\1"),
    # List items whose role no longer exists.
    (r'(<div class="citation"[^>]*) role="doc-biblioentry"', r'\1 role="listitem"'),
    # The sidebar stands outside every landmark.
    (r'(<div) (id="pst-primary-sidebar")', r'\1 role="region" aria-label="Contents" \2'),
    # The title of the first page is the title of the book, so it would stand there twice.
    (r"<title>(.+?) &#\d+; \1</title>", r"<title>\1</title>"),
    # Verdicts link to notebooks, which JupyterLab opens; the book has pages.
    (r'(<a class="course-read" href="[^"#]*)\.ipynb', r"\1.html"),
    (r'(<a class="course-misconception" href="[^"#]*)\.md', r"\1.html"),
]

# What a cell has printed, and behind it what `holds` has printed, line by line.
PROOFS = re.compile(
    r'(<div class="output stream [^"]*"><div class="highlight"><pre><span></span>)'
    r"((?:(?!Holds: |</pre>)[^\n]+\n|\n)*)((?:Holds: [^\n]*\n)+)(</pre></div>\n</div>)"
)


def fold_proofs(body):
    """The page with the checks of a figure's caption folded, for they repeat what it says."""

    def folded(match):
        head, printed, proofs, tail = match.groups()
        count = proofs.count("Holds: ")
        statements = "1 statement holds" if count == 1 else f"{count} statements hold"
        summary = f"<summary>Checked: {statements}</summary>"
        shown = f"{head}{printed}{tail}\n" if printed else ""
        return f'{shown}<details class="course-holds">{summary}\n{head}{proofs}{tail}\n</details>'

    return PROOFS.sub(folded, body)


def lay_in(app):
    """Copy fonts and widgets, and write the palette, to where the pages look for them."""
    if app.builder.format != "html":
        return
    app.course_began = time.time() - 2  # a file's time may lag a little behind the clock's
    source, static = Path(app.srcdir), Path(app.outdir) / "_static"
    packages = source / "node_modules"
    if not packages.is_dir():
        raise ExtensionError("The front end is not installed: `make book` installs and builds.")
    for font in FONTS:
        for file in sorted(packages.glob(f"@fontsource-variable/*/files/{font}")):
            copy(file, static / "fonts" / file.name)
    for script in sorted((source / "figures" / "widgets").glob("*.js")):
        copy(script, static / "widgets" / script.name)
    figures = source / "figures" / "widgets"
    copy(figures / "kit.css", static / "kit.css")
    # Too large to stand on each page that shows the figure, so its module asks for it.
    copy(figures / "word_arrows.json", static / "widgets" / "word_arrows.json")
    (static / "palette.css").write_text(palette.css(), "utf8")


def copy(source, target):
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target, dirs_exist_ok=True)
    else:
        shutil.copyfile(source, target)


def choose_scripts(app, page, template, context, doctree):
    """Add the scripts of what moves only where it is, and fold what few will read."""
    context["body"] = body = fold_proofs(context.get("body") or "")
    if 'class="course-widget' in body:
        app.add_js_file("mount.js", type="module")
    if '<details class="choice"' in body:
        app.add_js_file("quiz.js", type="module")
    if 'class="course-questions' in body:
        app.add_js_file("inventory.js", type="module")
        app.add_css_file("inventory.css")


def fix_pages(app, error):
    """Apply THEME_FIXES to every page that was written."""
    if error or app.builder.format != "html":
        return
    for page in Path(app.outdir).rglob("*.html"):
        if "_static" in page.parts or page.stat().st_mtime < app.course_began:
            continue
        text = fixed = page.read_text("utf8")
        for pattern, replacement in THEME_FIXES:
            fixed = re.sub(pattern, replacement, fixed)
        if fixed != text:
            page.write_text(fixed, "utf8")


class Inventory(SphinxDirective):
    """The concept inventory: every question, with its answers folded."""

    def run(self):
        self.env.note_dependency("book/catalogue/questions.yml")
        return [nodes.raw("", inventory()._repr_html_(), format="html")]


def allow_processes(app: Sphinx) -> None:
    """Declare the numbering of chapters, which Jupyter Book loads, safe for several processes.

    The extension forgets to; it runs when all pages are read.
    """
    app.extensions["sphinx_multitoc_numbering"].parallel_read_safe = True


def setup(app):
    app.add_directive("inventory", Inventory)
    app.connect("builder-inited", allow_processes)
    app.connect("builder-inited", lay_in)
    app.connect("html-page-context", choose_scripts, priority=900)
    app.connect("build-finished", fix_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
