"""Write what depends on the book's own address: canonical links, previews, sitemap, 404 page.

The address stands in pyproject.toml alone.
"""

import tomllib
from html import escape
from pathlib import Path
from urllib.parse import urlsplit
from xml.etree import ElementTree

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config

LOST = """<h1>There is no page here</h1>
<p>It may have been renamed. <a href="{root}">The first page</a> lists the chapters, and
<a href="{root}search.html">the search</a> finds words and symbols in all of them.</p>"""
NOWHERE = """<meta name="robots" content="noindex" />
<meta name="description" content="There is no page at this address." />"""
ICONS = """
<link rel="icon" sizes="32x32" href="{small}" />
<link rel="apple-touch-icon" href="{large}" />
"""
CARD = {  # the picture that a message shows of a link to any page
    "og:image": "_static/icons/card.png",
    "og:image:width": 1200,
    "og:image:height": 630,
    "og:image:alt": "The title of the course, beside a triangle of causal attention weights",
}
SITEMAP = "http://www.sitemaps.org/schemas/sitemap/0.9"


def homepage(source: str | Path) -> str:
    """Read where the book is published, with a slash at its end."""
    project = tomllib.loads((Path(source) / "pyproject.toml").read_text("utf8"))["project"]
    return project["urls"]["Homepage"].rstrip("/") + "/"


def address(app: Sphinx, page: str) -> str:
    """Return the address of a page; the first page is the folder itself."""
    return app.config.html_baseurl + ("" if page == "index" else app.builder.get_target_uri(page))


def set_address(app: Sphinx, config: Config) -> None:
    """Tell Sphinx, for its canonical links, and the 404 page, which is met at any depth."""
    config.html_baseurl = homepage(app.srcdir)
    root = config.notfound_urls_prefix = urlsplit(config.html_baseurl).path
    config.notfound_context = {"title": "No such page", "body": LOST.format(root=root)}


def preview(app: Sphinx, page: str, doctree: nodes.document) -> str:
    """Write the Open Graph tags of a page, from which messages make the preview of a link.

    Source: the Open Graph protocol.
    """
    descriptions = [meta["content"] for meta in doctree.findall(nodes.meta)
                    if meta["name"] == "description"]  # fmt: skip
    properties = {
        "og:type": "website" if page == "index" else "article",
        "og:site_name": app.config.html_title,
        "og:title": app.env.titles[page].astext(),
        "og:description": next(iter(descriptions), ""),
        "og:url": address(app, page),
        **CARD,
        "og:image": app.config.html_baseurl + CARD["og:image"],
    }
    tags = [f'<meta property="{name}" content="{escape(str(content))}" />'
            for name, content in properties.items()]  # fmt: skip
    return "\n".join([*tags, '<meta name="twitter:card" content="summary_large_image" />', ""])


def describe_page(
    app: Sphinx, page: str, template: str, context: dict, doctree: nodes.document | None
) -> None:
    """Give a page its one address, its preview and its icons; the 404 page is nowhere."""
    context["pageurl"] = address(app, page) if doctree else None
    if page == app.config.notfound_pagename:
        context["metatags"] = NOWHERE
        context["content_root"] = app.config.notfound_urls_prefix
    small, large = (context["pathto"](f"_static/icons/{name}", True)
                    for name in ("favicon.ico", "apple-touch-icon.png"))  # fmt: skip
    tags = ICONS.format(small=small, large=large)
    context["metatags"] = context.get("metatags", "") + tags
    if doctree:
        context["metatags"] += preview(app, page, doctree)


def lead_crawlers(app: Sphinx, error: Exception | None) -> None:
    """Write sitemap.xml with every page of the contents, and robots.txt that names it."""
    if error or app.builder.format != "html":
        return
    root = ElementTree.Element("urlset", xmlns=SITEMAP)
    for page in sorted(app.env.found_docs):
        location = ElementTree.SubElement(ElementTree.SubElement(root, "url"), "loc")
        location.text = address(app, page)
    ElementTree.indent(root)
    out = Path(app.outdir)
    ElementTree.ElementTree(root).write(out / "sitemap.xml", "utf-8", xml_declaration=True)
    (out / "robots.txt").write_text(
        f"User-agent: *\nAllow: /\nSitemap: {app.config.html_baseurl}sitemap.xml\n", "utf8"
    )


def setup(app: Sphinx) -> dict:
    app.setup_extension("notfound.extension")
    app.connect("config-inited", set_address, priority=100)
    app.connect("html-page-context", describe_page, priority=600)
    app.connect("build-finished", lead_crawlers)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
