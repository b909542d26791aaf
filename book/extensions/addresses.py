"""What rests on the book's own address: canonical links, the sitemap, robots.txt, the 404 page.

The address stands in pyproject.toml alone. sphinx-sitemap was tried and left out: it lists only
the pages that this build wrote again, adds the search page, and installs a reader of git.
"""

import tomllib
from pathlib import Path
from urllib.parse import urlsplit
from xml.etree import ElementTree

LOST = """<h1>There is no page here</h1>
<p>It may have been renamed. <a href="{root}">The first page</a> lists the chapters, and
<a href="{root}search.html">the search</a> finds words and symbols in all of them.</p>"""
NOWHERE = """<meta name="robots" content="noindex" />
<meta name="description" content="There is no page at this address." />"""
SITEMAP = "http://www.sitemaps.org/schemas/sitemap/0.9"


def homepage(source):
    """Where the book is published, with a slash at its end."""
    project = tomllib.loads((Path(source) / "pyproject.toml").read_text("utf8"))["project"]
    return project["urls"]["Homepage"].rstrip("/") + "/"


def address(app, page):
    """The address of one page; the first page is the folder itself."""
    return app.config.html_baseurl + ("" if page == "index" else app.builder.get_target_uri(page))


def set_address(app, config):
    """Tell Sphinx, for its canonical links, and the 404 page, which is met at any depth."""
    config.html_baseurl = homepage(app.srcdir)
    root = config.notfound_urls_prefix = urlsplit(config.html_baseurl).path
    config.notfound_context = {"title": "No such page", "body": LOST.format(root=root)}


def name_one_address(app, page, template, context, doctree):
    """Pages of the contents have a canonical address; the 404 page is nowhere."""
    context["pageurl"] = address(app, page) if doctree else None
    if page == app.config.notfound_pagename:
        context["metatags"] = NOWHERE
        context["content_root"] = app.config.notfound_urls_prefix


def lead_crawlers(app, error):
    """Write sitemap.xml with every page of the contents, and robots.txt that names it."""
    if error or app.builder.format != "html":
        return
    root = ElementTree.Element("urlset", xmlns=SITEMAP)
    for page in sorted(app.env.found_docs):
        place = ElementTree.SubElement(ElementTree.SubElement(root, "url"), "loc")
        place.text = address(app, page)
    ElementTree.indent(root)
    out = Path(app.outdir)
    ElementTree.ElementTree(root).write(out / "sitemap.xml", "utf-8", xml_declaration=True)
    (out / "robots.txt").write_text(
        f"User-agent: *\nAllow: /\nSitemap: {app.config.html_baseurl}sitemap.xml\n", "utf8"
    )


def setup(app):
    app.setup_extension("notfound.extension")
    app.connect("config-inited", set_address, priority=100)
    app.connect("html-page-context", name_one_address)
    app.connect("build-finished", lead_crawlers)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
