"""Formulas are set when the book is built: a page brings them ready, and as MathML too.

One node process sets them all with KaTeX, in under a second of its time.
A formula that KaTeX refuses is a warning with its page and line, so the build fails.
"""

import atexit
import json
import os
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

from docutils import nodes
from sphinx.errors import ExtensionError
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

from book.extensions.page_weight import OLD_FONT
from book.node import node

ROOT = Path(__file__).resolve().parents[2]
KATEX = ROOT / "node_modules" / "katex" / "dist"
# LaTeX numbers these itself; here the number stands beside them, as Sphinx counts.
NUMBERED = re.compile(r"\\(begin|end)\{(equation|align|alignat|gather)\}")

log = logging.getLogger(__name__)


@cache
def typesetter(process):
    """The node that sets formulas, one for each process of the build."""
    program = [node(), Path(__file__).with_name("katex.mjs"), (KATEX / "katex.mjs").as_uri()]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    started = subprocess.Popen(program, **pipes, encoding="utf8")
    atexit.register(started.communicate)
    return started


@cache
def typeset(tex, displayed):
    """A formula as {html}, or as {error}."""
    setter = typesetter(os.getpid())
    setter.stdin.write(json.dumps([tex, displayed]) + "\n")
    setter.stdin.flush()
    answer = setter.stdout.readline()
    if not answer:
        raise ExtensionError(f"node stopped at {tex!r}; is KaTeX whole? Run: npm ci")
    return json.loads(answer)


def formula(tex, displayed, place):
    """The HTML of a formula; where it cannot be set, a warning that names it, and its text."""
    answer = typeset(tex, displayed)
    if "error" in answer:
        log.warning("`%s` cannot be set. %s", tex, answer["error"], location=place)
        return ""
    return answer["html"]


def formula_lines(node):
    """The TeX of a display: lines and paragraphs stand one below the other."""
    text = NUMBERED.sub(r"\\\1{\2*}", node.astext())
    if node.get("nowrap"):
        return text
    parts = [part for part in text.split("\n\n") if part.strip()]
    parts = [rf"\begin{{split}}{part}\end{{split}}" if r"\\" in part else part for part in parts]
    if len(parts) == 1:
        return parts[0]
    return r"\begin{aligned}" + r"\\".join(parts) + r"\end{aligned}"


def visit_math(self, node):
    """A formula in a line of text."""
    self.body.append(self.starttag(node, "span", "", CLASS="math notranslate"))
    self.body.append(formula(node.astext(), False, node) + "</span>")
    raise nodes.SkipNode


def visit_math_block(self, node):
    """A displayed formula with its number; a wide one scrolls, so the keyboard must reach it."""
    self.body.append(self.starttag(node, "div", "", CLASS="math notranslate"))
    if node["number"]:
        self.body.append(f'<span class="eqno">({get_node_equation_number(self, node)})')
        self.add_permalink_ref(node, "Link to this equation")
        self.body.append("</span>")
    self.body.append('<div class="math-line" role="group" aria-label="Formula" tabindex="0">')
    self.body.append(formula(formula_lines(node), True, node) + "</div></div>\n")
    raise nodes.SkipNode


def lay_in(app):
    """Copy KaTeX's style and its fonts to where the pages look for them."""
    if app.builder.format != "html":
        return
    if not KATEX.is_dir():
        raise ExtensionError("KaTeX is not installed: `make book` installs it and builds.")
    static = Path(app.outdir) / "_static" / "katex"
    shutil.copytree(KATEX / "fonts", static / "fonts", dirs_exist_ok=True,
                    ignore=shutil.ignore_patterns("*.woff", "*.ttf"))  # fmt: skip
    style = (KATEX / "katex-swap.min.css").read_text("utf8")
    (static / "katex.css").write_text(OLD_FONT.sub("", style), "utf8")
    shutil.copyfile(KATEX / "contrib" / "copy-tex.min.js", static / "copy-tex.js")


def bring(app, page, template, context, doctree):
    """Where there is a formula, its style; and what makes a copied formula its TeX."""
    if 'class="katex' in (context.get("body") or ""):
        app.add_css_file("katex/katex.css")
        app.add_js_file("katex/copy-tex.js")


def setup(app):
    app.add_html_math_renderer("katex", (visit_math, None), (visit_math_block, None))
    app.connect("builder-inited", lay_in)
    app.connect("html-page-context", bring)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
